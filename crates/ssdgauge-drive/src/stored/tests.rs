//! Facts of real outputs (linuxhw/EnterpriseDrive, CC-BY-4.0, hw-probe contributors; smartctl_exporter,
//! Apache-2.0), without serial numbers, and forms of nvme-cli by its source.

use super::*;
use ssdgauge_core::{DriveDescription, Value};

pub(super) fn one(text: &str) -> DriveDescription {
    let mut drives = describe_stored(text.as_bytes()).unwrap();
    assert_eq!(drives.len(), 1);
    drives.pop().unwrap()
}

#[track_caller]
pub(super) fn has(drive: &DriveDescription, section: &str, key: &str, value: impl Into<Value>) {
    assert_eq!(drive.value(section, key), Some(&value.into()), "{section} {key}");
}

/// The lines of a Samsung PM883 that count.
const SATA: &str = "\
smartctl 7.1 2020-06-20 r5066 [x86_64-linux-3.10.0-1160...] (local build)

=== START OF INFORMATION SECTION ===
Device Model:     SAMSUNG MZ7LH1T9HMLT-00005
Serial Number:    --
Firmware Version: HXT7904Q
User Capacity:    1,920,383,410,176 bytes [1.92 TB]
Sector Sizes:     512 bytes logical, 4096 bytes physical
Rotation Rate:    Solid State Device
SATA Version is:  SATA 3.2, 6.0 Gb/s (current: 3.0 Gb/s)
Write cache is:   Enabled
ATA Security is:  Disabled, NOT FROZEN [SEC1]

=== START OF READ SMART DATA SECTION ===
ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE
  9 Power_On_Hours          -O--CK   099   099   000    -    499
194 Temperature_Celsius     -O---K   076   026   000    -    24 (Min/Max 21/37)
241 Total_LBAs_Written      -O--CK   099   099   000    -    30303463508
251 NAND_Writes             -O--CK   100   100   000    -    39961384704

Device Statistics (GP Log 0x04)
Page  Offset Size        Value Flags Description
0x01  =====  =               =  ===  == General Statistics (rev 1) ==
0x01  0x010  4             499  ---  Power-on Hours
0x01  0x018  6     30303463508  ---  Logical Sectors Written
0x05  0x008  1              24  ---  Current Temperature
0x07  0x008  1               0  N--  Percentage Used Endurance Indicator
";

const NVME: &str = "\
smartctl 7.4 2023-08-01 r5530 [x86_64-linux-5.4.0] (local build)

=== START OF INFORMATION SECTION ===
Model Number:                       Dell Ent NVMe AGN RI U.2 7.68TB
Firmware Version:                   2.3.0
PCI Vendor ID:                      0x144d
PCI Vendor Subsystem ID:            0x1028
Namespace 1 Size/Capacity:          7,681,501,126,656 [7.68 TB]
Namespace 1 Formatted LBA Size:     512

=== START OF READ SMART DATA SECTION ===
SMART/Health Information (NVMe Log 0x02)
Critical Warning:                   0x04
Temperature:                        33 Celsius
Available Spare:                    100%
Available Spare Threshold:          10%
Percentage Used:                    0%
Data Units Read:                    22,760,033 [11.6 TB]
Data Units Written:                 20,616,578 [10.5 TB]
Power On Hours:                     4,983
Temperature Sensor 1:               33 Celsius
";

#[test]
fn a_sata_drive_has_the_facts_of_its_text() {
    let drive = one(SATA);
    has(&drive, "identity", "model", "SAMSUNG MZ7LH1T9HMLT-00005");
    assert_eq!(drive.value("identity", "serial"), None);
    has(&drive, "identity", "capacity_bytes", 1_920_383_410_176_u64);
    has(&drive, "blocks", "physical_block_bytes", 4_096_u64);
    has(&drive, "health", "power_on_hours", 499_u64);
    has(&drive, "health", "written_bytes", 30_303_463_508_u64 * 512);
    has(&drive, "health", "media_written_bytes", 39_961_384_704_u64 * 512);
    // 39,961,384,704 ÷ 30,303,463,508
    has(&drive, "health", "write_amplification", 1.319);
    has(&drive, "thermal", "temperature_c", 24.0);
    has(&drive, "security", "ata_security", "no password");
    let Some(Value::Table(attributes)) = drive.value("health", "attributes") else { panic!() };
    assert_eq!(attributes.rows.len(), 4);
    assert_eq!(attributes.rows[1][4], Value::Text("24 (Min/Max 21/37)".into()));
    // The link of this text was made slow.
    assert!(drive.findings[0].text.contains("3 Gb/s"), "{:?}", drive.findings);
}

#[test]
fn an_nvme_drive_has_the_facts_of_its_text_and_no_other() {
    let drive = one(NVME);
    has(&drive, "identity", "vendor_id", "144d:1028");
    has(&drive, "health", "written_bytes", 20_616_578_u64 * 512_000);
    has(&drive, "health", "power_on_hours", 4_983_u64);
    has(&drive, "thermal", "temperature_c", 33.0);
    has(&drive, "health", "spare_percent", 100_u64);
    for key in ["media_errors", "power_cycles", "warning_minutes", "write_amplification"] {
        assert_eq!(drive.value("health", key), None, "{key}");
    }
    assert!(drive.findings.iter().any(|one| one.text.contains("degraded")), "bit 2 of the warning");
}

#[test]
fn line_ends_encodings_and_locales_change_no_number() {
    let expected = one(NVME);
    let utf16: Vec<u8> = std::iter::once('\u{feff}')
        .chain(NVME.chars())
        .flat_map(|c| (c as u16).to_le_bytes())
        .collect();
    assert_eq!(describe_stored(&utf16).unwrap(), std::slice::from_ref(&expected));
    assert_eq!(one(&NVME.replace('\n', "\r\n")), expected);
    // German, Swiss, French (a narrow no-break space) and Indian groups of digits.
    for (from, to) in [(",", "."), (",", "'"), (",", "\u{202f}")] {
        assert_eq!(one(&NVME.replace(from, to)), expected, "{to}");
    }
    let indian = NVME.replace("20,616,578", "2,06,16,578").replace("22,760,033", "2,27,60,033");
    assert_eq!(one(&indian), expected);
    // A byte of Latin-1 that is not UTF-8 separates the groups.
    let latin: Vec<u8> = NVME.bytes().map(|byte| if byte == b',' { 0xa0 } else { byte }).collect();
    assert_eq!(describe_stored(&latin).unwrap(), [expected]);
}

#[test]
fn a_text_that_ends_anywhere_has_no_number_that_the_whole_text_does_not_have() {
    for text in [SATA, NVME] {
        let whole = one(text);
        for end in 0..text.len() {
            let Ok(drives) = describe_stored(&text.as_bytes()[..end]) else { continue };
            for section in &drives[0].sections {
                for fact in &section.facts {
                    let is_equal = whole.value(section.key, &fact.key) == Some(&fact.value);
                    // Fewer attributes are a shorter table, and without a log they count.
                    let is_known = !matches!(fact.value, Value::Missing(_))
                        && !["attributes", "host_counter"].contains(&&fact.key[..]);
                    assert!(!is_known || is_equal, "{end} {}: {:?}", fact.key, fact.value);
                }
            }
        }
    }
}

#[test]
fn several_outputs_in_one_file_are_several_drives() {
    let text = format!("$ smartctl -x /dev/sda\n{SATA}\n$ smartctl -x /dev/nvme0\n{NVME}");
    let drives = describe_stored(text.as_bytes()).unwrap();
    assert_eq!(drives, [one(SATA), one(NVME)]);
    // Without the first line of each output, too.
    let without: Vec<&str> = text.lines().filter(|line| !line.starts_with("smartctl ")).collect();
    assert_eq!(describe_stored((without.join("\n") + "\n").as_bytes()).unwrap(), drives);
}

#[test]
fn a_file_without_a_drive_names_the_line_and_the_remedy() {
    let refused = |text: &str| describe_stored(text.as_bytes()).unwrap_err();
    let denied = "smartctl 7.3 2022-02-28 r5338\nCopyright\n\n\
                  Smartctl open device: /dev/sda failed: Permission denied\n";
    let error = refused(denied);
    assert_eq!((error.line, error.remedy), (4, AS_ROOT));
    assert!(error.what.contains("Permission denied"), "{error}");
    assert_eq!(refused("{\n\"smartctl\": {},\n\"device\": ").line, 3);
    assert!(refused("{\"a\": 1}").what.contains("neither"));
    assert!(refused("").what.contains("empty"));
    assert!(refused("\u{0}\u{1}ELF").what.contains("nothing in this file"));
    assert!(refused("[]").what.contains("no JSON document"));
    assert!(refused("smartctl 7.3 2022-02-28 r5338\n").what.contains("before the model"));
    let json = r#"{"smartctl": {"messages": [{"string": "No such device", "severity": "error"}]}}"#;
    assert!(refused(json).what.contains("No such device"));
}

#[test]
fn the_json_of_smartctl_has_the_facts_of_the_text() {
    let json = r#"{"smartctl": {"version": [7, 3]}, "device": {"protocol": "NVMe"},
      "model_name": "SAMSUNG MZQL2960HCJR-00A07", "nvme_pci_vendor": {"id": 5197, "subsystem_id": 5197},
      "nvme_ieee_oui_identifier": 9528, "nvme_version": {"string": "1.4", "value": 66560},
      "nvme_total_capacity": 960197124096, "nvme_smart_health_information_log": {"critical_warning": 0,
      "data_units_written": 3055861, "percentage_used": 0, "power_on_hours": 1999, "temperature": 22,
      "temperature_sensors": [22, 31]}}"#;
    let drive = one(json);
    has(&drive, "identity", "vendor_id", "144d:144d");
    has(&drive, "identity", "ieee_oui", "002538");
    has(&drive, "identity", "nvme_version", "1.4.0");
    has(&drive, "health", "written_bytes", 3_055_861_u64 * 512_000);
    has(&drive, "thermal", "temperature_c", 22.0);
    assert_eq!(drive.value("health", "spare_percent"), None);
    // Two documents, one after the other or in a list.
    assert_eq!(describe_stored(format!("{json}\n{json}").as_bytes()).unwrap().len(), 2);
    assert_eq!(describe_stored(format!("[{json},{json}]").as_bytes()).unwrap().len(), 2);
}

/// The outputs of nvme-cli 2.3 for a drive, as text: its SMART log, Identify data and OCP log.
const NVME_CLI: &str = "\
NVME Identify Controller:
vid       : 0x144d
ssvid     : 0x144d
sn        : S64G           \n\
mn        : SAMSUNG MZQL21T9HCJR-00A07              \n\
fr        : GDC5602Q
ieee      : 002538
mdts      : 9
ver       : 0x10400
oacs      : 0x5f
npss      : 1
wctemp    : 353 (80 °C)
cctemp    : 356
tnvmcap   : 1,920,383,410,176 (1.92 TB)
nn        : 32
oncs      : 0x5f
vwc       : 0x6
ps    0 : mp:25.00W operational enlat:70 exlat:70 rrt:0 rrl:0
          rwt:0 rwl:0 idle_power:4.00W active_power:14.00W
ps    1 : mp:0.0050W non-operational enlat:500 exlat:1200 rrt:1 rrl:1
NVME Identify Namespace 1:
nsze    : 0xdf8fe2b0
ncap    : 0xdf8fe2b0
nuse    : 0x1000
nlbaf   : 1
flbas   : 0
lbaf  0 : ms:0   lbads:9  rp:0 (in use)
lbaf  1 : ms:0   lbads:12 rp:0x1 \n\
Smart Log for NVME device:nvme0n1 namespace-id:ffffffff
critical_warning\t\t\t: 0
temperature\t\t\t\t: 36 °C (309 K)
available_spare\t\t\t\t: 100%
percentage_used\t\t\t\t: 3%
Data Units Written\t\t\t: 20616578 (10.56 TB)
power_on_hours\t\t\t\t: 4,983
SMART Cloud Attributes :-
  Physical media units written -               \t0 21111375872000
";

#[test]
fn outputs_of_nvme_cli_about_one_drive_are_one_description() {
    let drive = one(NVME_CLI);
    has(&drive, "identity", "model", "SAMSUNG MZQL21T9HCJR-00A07");
    has(&drive, "identity", "nvme_version", "1.4.0");
    has(&drive, "identity", "ieee_oui", "002538");
    has(&drive, "identity", "capacity_bytes", 0xdf8f_e2b0_u64 * 512);
    has(&drive, "blocks", "logical_block_bytes", 512_u64);
    has(&drive, "blocks", "most_transfer_bytes", 4_096_u64 << 9);
    has(&drive, "blocks", "total_capacity_bytes", 1_920_383_410_176_u64);
    has(&drive, "thermal", "temperature_c", 36.0);
    has(&drive, "health", "used_percent", 3_u64);
    // 21,111,375,872,000 ÷ (20,616,578 × 512,000)
    has(&drive, "health", "write_amplification", 2.0);
    let Some(Value::Table(states)) = drive.value("power", "states") else { panic!() };
    assert_eq!((&states.rows[0][2], &states.rows[1][2]), (&25.0.into(), &0.005.into()));
    assert_eq!((&states.rows[1][1], &states.rows[1][6]), (&false.into(), &1_200_u64.into()));
    let Some(Value::Table(formats)) = drive.value("blocks", "formats") else { panic!() };
    assert_eq!(formats.rows[1][1], Value::Count(4_096));
    // The log alone: what it does not have is missing, not zero.
    let log = &NVME_CLI[NVME_CLI.find("Smart Log").unwrap()..NVME_CLI.find("SMART Cloud").unwrap()];
    let drive = one(log);
    assert_eq!(drive.value("health", "media_errors"), None);
    assert_eq!(drive.value("identity", "model"), None);
    assert_eq!(describe_stored(format!("{log}{log}").as_bytes()).unwrap().len(), 2);
}

#[test]
fn the_json_of_nvme_cli_has_temperatures_in_kelvin_and_counts_in_several_forms() {
    for written in ["20616578", "\"20616578\"", "2.0616578e7", "{\"value\": 20616578}"] {
        let json = format!(
            "{{\"critical_warning\": 0, \"temperature\": 309, \"percent_used\": 3, \
             \"data_units_written\": {written}, \"temperature_sensor_1\": 310}}"
        );
        let drive = one(&json);
        has(&drive, "health", "written_bytes", 20_616_578_u64 * 512_000);
        has(&drive, "thermal", "temperature_c", 35.85);
    }
}

#[test]
fn a_sas_drive_has_the_facts_of_its_text() {
    let text = "smartctl 7.1\n=== START OF INFORMATION SECTION ===\nVendor:               HITACHI\n\
        Product:              H109060SESUN600G\nRevision:             A690\n\
        User Capacity:        600,127,266,816 bytes [600 GB]\nLogical block size:   512 bytes\n\
        Rotation Rate:        10020 rpm\nTransport protocol:   SAS (SPL-4)\n\
        Current Drive Temperature:     27 C\nAccumulated power on time, hours:minutes 982:01\n\
        read:   2272755        0         0   2272755    2272755     111593.179           0\n\
        write:        0        0         0         0    4882199     292086.584           0\n";
    let drive = one(text);
    has(&drive, "identity", "model", "HITACHI H109060SESUN600G");
    has(&drive, "blocks", "rotational", true);
    has(&drive, "link", "transport", "sas");
    has(&drive, "thermal", "temperature_c", 27.0);
    has(&drive, "health", "power_on_hours", 982_u64);
    has(&drive, "health", "written_bytes", 292_086_584_000_000_u64);
}

/// An output with attributes and values of the Device Statistics log: place, value.
pub(super) fn sata(
    model: &str,
    attributes: &[(u8, &str)],
    log: &[(&str, i64)],
) -> DriveDescription {
    let mut text = format!(
        "smartctl 7.1\nDevice Model: {model}\nID# ATTRIBUTE_NAME FLAGS VALUE WORST THRESH FAIL RAW_VALUE\n"
    );
    for (id, raw) in attributes {
        text += &format!("{id:3} Name -O--CK 100 100 000 - {raw}\n");
    }
    text += "\nDevice Statistics (GP Log 0x04)\nPage  Offset Size        Value Flags Description\n";
    for (place, value) in log {
        text += &format!("{place}  6  {value}  ---  Text\n\n");
    }
    one(&text)
}

/// Returns why a value is missing.
pub(super) fn why<'a>(drive: &'a DriveDescription, section: &str, key: &str) -> &'a str {
    let section = drive.sections.iter().find(|one| one.key == section).unwrap();
    match &section.facts.iter().find(|fact| fact.key == key).unwrap().value {
        Value::Missing(reason) => reason,
        known => panic!("{key}: {known:?}"),
    }
}

#[test]
fn a_write_amplification_is_not_made_of_a_log_that_may_have_32_bits() {
    // A Samsung PM863 without attribute 241; sectors of the media, written and read.
    let life = |media: i64, written: i64, read: i64| {
        let log = [("0x01  0x018", written), ("0x01  0x028", read)];
        sata("SAMSUNG MZ7LM480HCHP", &[(251, &media.to_string())], &log)
    };
    let round = 1i64 << 32;
    let unknown = life(3 * round, round / 2, 5_000_000);
    for key in ["write_amplification", "written_bytes", "read_bytes", "host_counter"] {
        let reason = why(&unknown, "health", key);
        assert!(reason.contains("may have only the low 32 bits"), "{key}: {reason}");
    }
    // More than 32 bits, in either field of the log; a drive that cannot have written so much.
    for (media, written, read, expected) in [
        (3 * round, 2 * round, 5_000_000, 1.5),
        (3 * round, round / 2, round, 6.0),
        (round / 2, round / 4, 5_000_000, 2.0),
    ] {
        let known = life(media, written, read);
        let value = known.value("health", "write_amplification");
        assert_eq!(value, Some(&Value::Real(expected)), "{media} {written} {read}");
        has(&known, "health", "written_bytes", written as u64 * 512);
    }
    // Without any attribute. A new drive had too few commands for more than 32 bits.
    let bytes = |written: i64, commands: i64| {
        let drive = sata("A", &[], &[("0x01  0x018", written), ("0x01  0x020", commands)]);
        drive.value("health", "written_bytes").cloned()
    };
    let known = |written: i64| Some(Value::Count(written as u64 * 512));
    assert_eq!(bytes(round - 1, 40_000_000), None);
    assert_eq!(bytes(round, 40_000_000), known(round));
    assert_eq!(bytes(20_000_000, 100_000), known(20_000_000));
}

#[test]
fn a_log_of_32_bits_gives_way_to_the_attribute_that_has_all() {
    // A Crucial MX500: 126,424,699,233 modulo 2^32 is 1,870,647,649.
    let log = [("0x01  0x018", 1_870_647_649), ("0x01  0x028", 5)];
    let drive = sata("CT1000MX500SSD4", &[(246, "126424699233")], &log);
    has(&drive, "health", "written_bytes", 126_424_699_233_u64 * 512);
    assert!(why(&drive, "health", "read_bytes").contains("low 32 bits"));
    let Some(Value::Text(counter)) = drive.value("health", "host_counter") else { panic!() };
    assert!(counter.starts_with("attribute 246"), "{counter}");
}

#[test]
fn two_counters_of_one_thing_that_contradict_each_other_are_not_used() {
    // A WD Blue (hours of 0 in the log), a Kingston A400 (a constant temperature), an Intel 520 (cycles).
    let drive = sata("WDC WDS100T2B0A-00SM50", &[(9, "26614")], &[("0x01  0x010", 0)]);
    assert!(
        why(&drive, "health", "power_on_hours")
            .contains("0 h by the Device Statistics log, 26,614 h by attribute 9")
    );
    let celsius = [(194, "26 (Min/Max 21/50)")];
    let drive = sata("KINGSTON SA400S37240G", &celsius, &[("0x05  0x008", 40)]);
    assert!(why(&drive, "thermal", "temperature_c").contains("40 °C by the Device"));
    let drive = sata("INTEL SSDSC2CW120A3", &[(12, "37")], &[("0x01  0x008", 53)]);
    assert!(why(&drive, "health", "power_cycles").contains("contradict"));
    let drive = sata("SanDisk SD8SN8U-256G-1006", &[(241, "1700")], &[("0x01  0x018", 0)]);
    assert!(why(&drive, "health", "written_bytes").contains("contradict"));
    // Of two sensors, one that agrees is enough; -128 °C is none.
    let sensors = [(190, "22"), (194, "31")];
    has(&sata("INTEL A", &sensors, &[("0x05  0x008", 22)]), "thermal", "temperature_c", 22.0);
    assert_eq!(sata("A", &[], &[("0x05  0x008", -128)]).value("thermal", "temperature_c"), None);
    // Hours by the attribute alone, unless it has more than thirty years.
    has(&sata("A", &[(9, "8210")], &[]), "health", "power_on_hours", 8_210_u64);
    assert_eq!(sata("A", &[(9, "894780")], &[]).value("health", "power_on_hours"), None);
    // An Intel 320 and an S3700 print more than a number.
    has(&sata("A", &[(9, "22532h+00m+00.000s")], &[]), "health", "power_on_hours", 22_532_u64);
    has(&sata("A", &[(9, "45144 (208 126 0)")], &[]), "health", "power_on_hours", 45_144_u64);
    // Without a log, the attributes.
    let drive = sata("A", &[(12, "37"), (194, "46 (Min/Max 21/50)")], &[]);
    has(&drive, "health", "power_cycles", 37_u64);
    has(&drive, "thermal", "temperature_c", 46.0);
}

#[test]
fn a_log_of_32_bits_is_recognised_in_coarse_units_where_reads_agree_too() {
    // An Apacer AS340 of 960 GB: 2,132,850 units of 32 MiB are 139,778,457,600 sectors, modulo 2^32 2,339,504,128.
    let (written, read) = (2_132_850_u64, 1_100_002_u64);
    let low = |units: u64| (units * 65_536 % (1 << 32)) as i64 + 5_354;
    let attributes = |read: &str| [(241, "2132850".to_owned()), (242, read.to_owned())];
    let drive = |read_units: &str, log_read: i64| {
        let attributes = attributes(read_units);
        let attributes: Vec<(u8, &str)> =
            attributes.iter().map(|(id, raw)| (*id, &raw[..])).collect();
        sata("A", &attributes, &[("0x01  0x018", low(written)), ("0x01  0x028", log_read)])
    };
    let right = drive("1100002", low(read));
    has(&right, "health", "written_bytes", written * (32 << 20));
    has(&right, "health", "read_bytes", read * (32 << 20));
    let Some(Value::Text(counter)) = right.value("health", "host_counter") else { panic!() };
    assert!(counter.starts_with("attribute 241, in units of 32 MiB"), "{counter}");
    // Reads that do not agree: the remainder of the writes may be chance.
    let chance = drive("1100002", low(read) / 2);
    assert!(why(&chance, "health", "written_bytes").contains("may have only the low 32 bits"));
    // Only the reads have more than 32 bits.
    let reads = [(241, "30000"), (242, "1100002")];
    let log = [("0x01  0x018", 30_000 * 65_536), ("0x01  0x028", low(read))];
    has(&sata("A", &reads, &log), "health", "read_bytes", read * (32 << 20));
}

#[test]
fn the_unit_of_an_attribute_is_that_in_which_it_agrees_with_the_log() {
    let counter = |raw: &str, sectors: i64| {
        let drive = sata("A", &[(241, raw)], &[("0x01  0x018", sectors)]);
        has(&drive, "health", "written_bytes", sectors as u64 * 512);
        let Some(Value::Text(counter)) = drive.value("health", "host_counter") else { panic!() };
        counter.clone()
    };
    assert!(counter("30303463508", 30_303_463_508).contains("units of 512 B"));
    assert!(counter("227835", 227_835 * 65_536).contains("units of 32 MiB"));
    assert!(counter("33190", 33_190 * 2_097_152).contains("units of 1 GiB"));
    assert!(counter("100", 123_456_789_012).contains("none of the usual units"));
}

#[test]
fn a_model_in_service_has_the_numbers_of_its_drives_with_their_source() {
    let drive = one(SATA);
    let Some(Value::Text(words)) = drive.value("health", "field_write_amplification") else {
        panic!()
    };
    assert!(words.contains(" drives of this model in service: median 1.3"), "{words}");
    let Some(Value::Text(source)) = drive.value("health", "field_source") else { panic!() };
    assert!(source.contains("linuxhw/EnterpriseDrive") && source.contains("CC-BY-4.0"), "{source}");
}
