//! Models and attributes of real drives: linuxhw/EnterpriseDrive (CC-BY-4.0, hw-probe contributors),
//! without serial numbers.

use super::*;
use crate::fixture::Fixture;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// The bytes or pages of media and hosts. The drives of the fixture have no count of sectors in their
/// Device Statistics unless `logged` says so.
fn amounts_of(
    model: &str,
    attributes: &[(u8, u64)],
    logged: Option<u64>,
) -> Result<(f64, f64), String> {
    let mut drive = Fixture::sata_of_model(model, attributes);
    drive.ata.remove(&(0x2f, 1 << 8 | 4));
    if let Some(sectors) = logged {
        let mut page = vec![0; 512];
        page[2] = 1;
        page[24..32].copy_from_slice(&(0xc0u64 << 56 | sectors).to_le_bytes());
        drive.ata.insert((0x2f, 1 << 8 | 4), page);
    }
    let (family, block) = Family::find(&drive)?;
    let found = family.read(&drive, block).map_err(|error| error.to_string())?;
    let amount = |counter: Counter| match counter.unit {
        Unit::Bytes(bytes) => counter.count as f64 * bytes as f64,
        Unit::Pages => counter.count as f64,
    };
    let Written { host, media, .. } = found.ok_or("missing")?;
    Ok((amount(media), amount(host.ok_or("no host")?)))
}

fn amounts(model: &str, attributes: &[(u8, u64)]) -> Option<(f64, f64)> {
    amounts_of(model, attributes, None).ok()
}

#[test]
fn each_family_has_its_own_attributes_and_units() {
    const GIB: f64 = 1_073_741_824.0;
    const MIB_32: f64 = 33_554_432.0;
    type Case<'a> = (&'a str, &'a [(u8, u64)], (f64, f64));
    let cases: [Case<'_>; 8] = [
        (
            "CT240BX500SSD1",
            &[(246, 56_396_440_333), (247, 1_762_388_760), (248, 7_756_545_042)],
            (9_518_933_802.0, 1_762_388_760.0),
        ),
        (
            "Micron_5100_MTFDDAK960TCB",
            &[(246, 688_339_145_013), (247, 21_507_338_654), (248, 18_561_438_392)],
            (40_068_777_046.0, 21_507_338_654.0),
        ),
        (
            "INTEL SSDSC2BA012T4",
            &[(225, 5_644_988), (233, 0), (241, 5_644_988), (243, 14_393_245)],
            (14_393_245.0 * MIB_32, 5_644_988.0 * MIB_32),
        ),
        (
            "INTEL SSDSC2BB012T7",
            &[(225, 7_015_733), (233, 0), (241, 7_015_733), (243, 11_952_373)],
            (11_952_373.0 * MIB_32, 7_015_733.0 * MIB_32),
        ),
        // Such a drive without attribute 225 counts the same in 241.
        (
            "INTEL SSDSC2KB480G8",
            &[(233, 0), (241, 227_835), (243, 314_436)],
            (314_436.0 * MIB_32, 227_835.0 * MIB_32),
        ),
        (
            "KINGSTON SEDC500M1920G",
            &[(233, 42_787), (241, 33_190), (246, 1_234_800)],
            (42_787.0 * GIB, 33_190.0 * GIB),
        ),
        (
            "SAMSUNG MZ7LM240HCGR-00005",
            &[(241, 365_538_099_852), (251, 889_385_936_376)],
            (889_385_936_376.0 * 512.0, 365_538_099_852.0 * 512.0),
        ),
        (
            "SSDSC2KB480G8R",
            &[(225, 227_835), (241, 227_835), (243, 314_436)],
            (314_436.0 * MIB_32, 227_835.0 * MIB_32),
        ),
    ];
    for (model, attributes, expected) in cases {
        assert_eq!(amounts(model, attributes), Some(expected), "{model}");
    }
}

#[test]
fn a_drive_of_another_brand_without_attribute_241_counts_hosts_by_the_device_statistics() {
    let attributes: &[(u8, u64)] = &[(251, 1_500_000)];
    let found = amounts_of("MZ7LH480HBHQ0D3", attributes, Some(1_000_000));
    assert_eq!(found, Ok((1_500_000.0 * 512.0, 1_000_000.0 * 512.0)));
    assert_eq!(amounts_of("MZ7LH480HBHQ0D3", attributes, None), Err("no host".into()));
}

#[test]
fn counters_that_contradict_each_other_are_not_used() {
    let samsung: &[(u8, u64)] = &[(241, 1_000_000), (251, 1_500_000)];
    assert!(amounts_of("SAMSUNG MZ7LH480HAHQ-00005", samsung, Some(1_020_000)).is_ok());
    let reason = amounts_of("SAMSUNG MZ7LH480HAHQ-00005", samsung, Some(65_536_000)).unwrap_err();
    assert!(reason.contains("512 MB by the attributes and 33.6 GB by the Device"), "{reason}");
    // The counter of pages of this M500 has overflowed, that of sectors has not.
    let micron: &[(u8, u64)] = &[(246, 120_768_000_000), (247, 184_671_238), (248, 900_000_000)];
    let reason = amounts_of("Crucial_CT240M500SSD1", micron, None).unwrap_err();
    assert!(reason.contains("a page of hosts would have 334829 bytes"), "{reason}");
}

#[test]
fn a_family_that_real_drives_contradict_is_not_used_and_says_why() {
    let all: &[(u8, u64)] = &[(225, 9), (233, 9), (241, 9), (246, 9), (247, 9), (248, 9), (249, 9)];
    for (model, words) in [
        ("CT500MX500SSD1", "244 of 326"),
        ("INTEL SSDSC2BW120A4", "83 of 198"),
        ("KINGSTON SKC400S37128G", "25 real drives"),
        ("OCZ-VECTOR150", "all 6"),
        ("SanDisk SD8SB8U128G1122", "20 of 42"),
        ("XA960LE10063", "133 of 167"),
        ("SuperMicro SSD", "19 of 21"),
    ] {
        let reason = amounts_of(model, all, None).unwrap_err();
        assert!(reason.contains("unconfirmed") && reason.contains(words), "{model}: {reason}");
    }
}

#[test]
fn a_pm871_is_not_decoded() {
    // With sectors in attribute 241, the write amplification of these would be above 2,000,000.
    for (host, other) in [(2_941, 2_941), (4_340, 4_340), (43_488, 44_640)] {
        let attributes: &[(u8, u64)] = &[(233, 16_735_271), (241, host), (249, other)];
        for model in ["SAMSUNG MZNLN512HMJP-00000", "SAMSUNG MZ7LN256HMJP-00000"] {
            let reason = amounts_of(model, attributes, None).unwrap_err();
            assert!(reason.starts_with("not decoded"), "{reason}");
        }
    }
}

#[test]
fn a_drive_of_another_family_or_without_the_attributes_is_not_decoded() {
    let both: &[(u8, u64)] = &[(233, 40), (241, 20), (247, 1), (248, 2), (249, 3)];
    // The attribute 233 of these is not a count of writes, or counts a part of them.
    let models = [
        "Samsung SSD 860 EVO 1TB",
        "WDC WDS500G2B0A-00SM50",
        "SanDisk SD9SB8W128G1122",
        "SanDisk SDSSDH3500G",
        "INTEL SSDSC2MH120A2",
        "",
        "SSD",
    ];
    for model in models {
        let reason = amounts_of(model, both, None).unwrap_err();
        assert!(reason.starts_with("not decoded"), "{reason}");
    }
    assert_eq!(amounts("CT1000BX500SSD1", &[(247, 1_000)]), None);
    assert_eq!(amounts("INTEL SSDSC2BB480G4", &[(241, 320), (249, 25)]), None);
    let mut broken = Fixture::sata_of_model("CT1000BX500SSD1", both);
    broken.ata.get_mut(&(0xb0, 0xc2_4f00)).unwrap()[511] ^= 1;
    assert!(Family::find(&broken).unwrap_err().contains("SMART data"));
}

/// Returns the outputs of `smartctl -a` of real drives; `None`, with the reason printed, where there are
/// none.
fn real_drives() -> Option<String> {
    let Some(folder) = std::env::var_os("SSDGAUGE_CORPUS") else {
        println!("skipped: SSDGAUGE_CORPUS does not name a folder with outputs of smartctl");
        return None;
    };
    let archive = PathBuf::from(folder).join("smartctl/texts.tar.xz");
    if !archive.exists() {
        println!("skipped: {} does not exist", archive.display());
        return None;
    }
    let output = Command::new("tar").arg("-xJOf").arg(&archive).output();
    match output {
        Ok(output) if output.status.success() => {
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(_) | Err(_) => {
            println!("skipped: tar cannot unpack {}", archive.display());
            None
        }
    }
}

/// Returns model and raw attributes of a SATA drive in an output of smartctl.
fn drive(text: &str) -> Option<(String, Vec<(u8, u64)>)> {
    let model = text.lines().find_map(|line| line.strip_prefix("Device Model:"))?.trim();
    let attribute = |line: &str| {
        let columns: Vec<&str> = line.split_ascii_whitespace().collect();
        let id = columns.first()?.parse().ok()?;
        // With `-f brief` the raw value is the eighth column, otherwise the tenth.
        let place = if columns.get(2)?.starts_with("0x") { 9 } else { 7 };
        Some((id, columns.get(place)?.parse().ok()?))
    };
    let table = text.lines().skip_while(|line| !line.starts_with("ID# ATTRIBUTE_NAME")).skip(1);
    let attributes = table.take_while(|line| !line.trim().is_empty()).filter_map(attribute);
    Some((model.to_owned(), attributes.collect()))
}

#[test]
fn the_write_amplification_of_real_drives_is_one_that_a_drive_can_have() {
    let Some(text) = real_drives() else { return };
    let (mut decoded, mut pm871) = (0, 0);
    let mut impossible: BTreeMap<String, u32> = BTreeMap::new();
    for text in text.split("\nsmartctl ") {
        let Some((model, attributes)) = drive(text) else { continue };
        let is_pm871 = ["MZ7LN", "MZNLN", "MZYLN"].iter().any(|part| model.contains(part));
        pm871 += u32::from(is_pm871);
        let Some((media, host)) = amounts(&model, &attributes) else { continue };
        assert!(!is_pm871, "{model} is decoded");
        if host > 0.0 && media > 0.0 {
            decoded += 1;
            if !(0.01..=1_000.0).contains(&(media / host)) {
                *impossible.entry(model).or_default() += 1;
            }
        }
    }
    println!("{decoded} outputs with both counters, {pm871} of the PM871");
    assert!(decoded >= 5_000 && pm871 > 0, "{decoded} {pm871}");
    // Hosts had written 256 MiB to one drive, at two dates, and less than 1 MB to eight, which moved data by
    // themselves. The description states no write amplification above 100.
    let few = [("INTEL SSDSC2KG480G7", 2), ("SAMSUNG MZ7L31T9HBLT-00A07", 8)];
    let few: Vec<_> = few.map(|(model, outputs)| (model.to_owned(), outputs)).into();
    assert_eq!(impossible, BTreeMap::from_iter(few));
}
