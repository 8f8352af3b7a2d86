//! Models and attributes of real drives: linuxhw/EnterpriseDrive (CC-BY-4.0, hw-probe contributors),
//! without serial numbers.

use super::*;
use crate::fixture::Fixture;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// The bytes or pages of media and hosts.
fn amounts(model: &str, attributes: &[(u8, u64)]) -> Option<(f64, f64)> {
    let drive = Fixture::sata_of_model(model, attributes);
    let found = Family::find(&drive).ok()?.decode(&query::ata_attributes(&drive).ok()?)?;
    let amount = |counter: Counter| match counter.unit {
        Unit::Bytes(bytes) => counter.count as f64 * bytes as f64,
        Unit::Pages => counter.count as f64,
    };
    Some((amount(found.media), amount(found.host?)))
}

#[test]
fn each_family_has_its_own_attributes_and_units() {
    const GIB: f64 = 1_073_741_824.0;
    const MIB_32: f64 = 33_554_432.0;
    type Case<'a> = (&'a str, &'a [(u8, u64)], (f64, f64));
    let cases: [Case<'_>; 12] = [
        (
            "CT500MX500SSD1",
            &[(246, 56_396_440_333), (247, 2_689_695_903), (248, 7_756_545_042)],
            (10_446_240_945.0, 2_689_695_903.0),
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
        (
            "INTEL SSDSC2KB480G8",
            &[(225, 227_835), (233, 0), (241, 227_835), (243, 314_436)],
            (314_436.0 * MIB_32, 227_835.0 * MIB_32),
        ),
        (
            "INTEL SSDSC2BW120A4",
            &[(225, 1_601_657), (233, 0), (241, 1_601_657), (249, 111_833)],
            (111_833.0 * GIB, 1_601_657.0 * MIB_32),
        ),
        (
            "INTEL SSDSC2KW120H6",
            &[(225, 336_817), (233, 0), (241, 336_817), (249, 9_564)],
            (9_564.0 * GIB, 336_817.0 * MIB_32),
        ),
        // Such a drive without attribute 225 counts the same in 241.
        (
            "INTEL SSDSC2KW120H6",
            &[(241, 336_817), (249, 9_564)],
            (9_564.0 * GIB, 336_817.0 * MIB_32),
        ),
        (
            "KINGSTON SEDC500M1920G",
            &[(233, 42_787), (241, 33_190), (246, 1_234_800)],
            (42_787.0 * GIB, 33_190.0 * GIB),
        ),
        (
            "SanDisk SD8SB8U128G1122",
            &[(233, 119_239), (241, 5_354)],
            (119_239.0 * GIB, 5_354.0 * GIB),
        ),
        (
            "SanDisk SD8SB8U256G1122",
            &[(233, 19_477), (241, 10_039)],
            (19_477.0 * GIB, 10_039.0 * GIB),
        ),
        ("XA960LE10063", &[(233, 337_479), (241, 218_381), (243, 0)], (337_479e9, 218_381e9)),
    ];
    for (model, attributes, expected) in cases {
        assert_eq!(amounts(model, attributes), Some(expected), "{model}");
    }
}

#[test]
fn a_pm871_is_not_decoded() {
    // With sectors in attribute 241, the write amplification of these would be above 2,000,000.
    for (host, other) in [(2_941, 2_941), (4_340, 4_340), (43_488, 44_640)] {
        let attributes: &[(u8, u64)] = &[(233, 16_735_271), (241, host), (249, other)];
        for model in ["SAMSUNG MZNLN512HMJP-00000", "SAMSUNG MZ7LN256HMJP-00000"] {
            assert_eq!(amounts(model, attributes), None, "{model}");
            let reason = Family::find(&Fixture::sata_of_model(model, attributes)).unwrap_err();
            assert!(reason.starts_with("not decoded"), "{reason}");
        }
    }
}

#[test]
fn a_drive_of_another_family_or_without_the_attributes_is_not_decoded() {
    let both: &[(u8, u64)] = &[(233, 40), (241, 20), (247, 1), (248, 2), (249, 3)];
    // The attribute 233 of these is no count of writes, or counts a part of them.
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
        assert_eq!(amounts(model, both), None, "{model}");
        let reason = Family::find(&Fixture::sata_of_model(model, both)).unwrap_err();
        assert!(reason.starts_with("not decoded"), "{reason}");
    }
    assert_eq!(amounts("CT1000MX500SSD1", &[(247, 1_000)]), None);
    assert_eq!(amounts("INTEL SSDSC2BB480G4", &[(241, 320), (249, 25)]), None);
    assert_eq!(amounts("INTEL SSDSC2BW240H6", &[(249, 25)]), None);
    let mut broken = Fixture::sata_of_model("CT1000MX500SSD1", both);
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
    // One drive at two dates: hosts had written 256 MiB to it, and it moved its data by itself.
    assert_eq!(impossible, BTreeMap::from([("INTEL SSDSC2KG480G7".to_owned(), 2)]));
}
