//! What a drive says that it cannot have, or that contradicts itself, and that it fails.

use super::tests::{has, one, sata, why};
use ssdgauge_core::{DriveDescription, FindingKind};

#[test]
fn counts_that_no_drive_can_have_are_left_out_with_a_finding() {
    let is_implausible = |drive: &DriveDescription, words: &str| {
        let mut all = drive.findings.iter().filter(|one| one.kind == FindingKind::Implausible);
        assert!(all.any(|one| one.text.contains(words)), "{words}: {:?}", drive.findings);
    };
    // A Transcend 230S.
    let drive = sata("A", &[], &[("0x01  0x010", 1_194_732)]);
    assert!(why(&drive, "health", "power_on_hours").contains("more than thirty years"));
    is_implausible(&drive, "1,194,732 power-on hours");
    // 4 TB by more than 2^33 commands; 600 MB/s for an hour are 2.2 TB.
    let log =
        [("0x01  0x018", 8_000_000_000), ("0x01  0x020", 9_000_000_000_i64 & 0xffff_ffff_ffff)];
    let drive = sata("A", &[], &log);
    assert!(why(&drive, "health", "written_bytes").contains("less than a block each"));
    assert!(why(&drive, "health", "write_commands").contains("less than a block each"));
    is_implausible(&drive, "9,000,000,000 commands");
    let drive = sata("A", &[], &[("0x01  0x018", 9_000_000_000), ("0x01  0x010", 0)]);
    is_implausible(&drive, "faster than its link");
    // A counter of ones is not filled.
    let drive = sata("A", &[], &[("0x01  0x018", 0xffff_ffff_ffff)]);
    assert_eq!(drive.value("health", "written_bytes"), None);
    // An attribute of a known unit that contradicts the log.
    let drive = sata(
        "INTEL SSDSC2BB480G4",
        &[(225, "867000"), (243, "900000")],
        &[("0x01  0x018", 9_000_000)],
    );
    assert!(
        why(&drive, "health", "written_bytes").contains("hosts wrote 29.1 TB by the attributes")
    );
    // NVMe: 9,999,999 hours; 1,063 TB in an hour.
    let nvme = |hours: u64, units: u64| {
        one(&format!(
            "smartctl 7.1\nModel Number: A\nPercentage Used: 1%\nTemperature: 30 Celsius\n\
             Data Units Written: {units}\nHost Write Commands: 30000000000\nPower On Hours: {hours}\n"
        ))
    };
    let old = nvme(9_999_999, 1_000_000);
    assert_eq!(old.value("health", "power_on_hours"), None);
    is_implausible(&old, "9,999,999 power-on hours");
    let fast = nvme(1, 2_076_171_875);
    assert_eq!(fast.value("health", "written_bytes"), None);
    is_implausible(&fast, "faster than its link");
}

#[test]
fn temperatures_that_contradict_each_other_or_are_none_are_not_stated() {
    let with_sct = |log: &[(&str, i64)], sct: &str| {
        let mut text = "smartctl 7.1\nDevice Model: A\nID# ATTRIBUTE_NAME FLAGS VALUE WORST THRESH FAIL RAW_VALUE\n\
            194 Name -O---K 100 100 000 - 46\n\n".to_owned();
        text += sct;
        text +=
            "\nDevice Statistics (GP Log 0x04)\nPage  Offset Size        Value Flags Description\n";
        log.iter()
            .for_each(|(place, value)| text += &format!("{place}  6  {value}  ---  Text\n\n"));
        one(&text)
    };
    let sct = "Current Temperature:                    43 Celsius\n\
        Power Cycle Min/Max Temperature:     21/50 Celsius\n\
        Lifetime    Min/Max Temperature:     18/76 Celsius\n";
    let low = with_sct(&[("0x05  0x020", 37)], sct);
    assert!(
        why(&low, "thermal", "highest_c").contains("37 °C as the maximum of its life, and 76 °C")
    );
    has(&low, "thermal", "temperature_c", 43.0);
    has(&with_sct(&[("0x05  0x020", 75)], sct), "thermal", "highest_c", 75.0);
    has(&with_sct(&[], sct), "thermal", "highest_c", 76.0);
    // 0 °C and 127 °C stand for none; an attribute has a temperature.
    let none =
        with_sct(&[("0x05  0x008", 0), ("0x05  0x020", 127)], "Current Temperature: 0 Celsius\n");
    has(&none, "thermal", "temperature_c", 46.0);
    assert_eq!(none.value("thermal", "highest_c"), None);
    // 0 K in JSON of nvme-cli.
    let json = r#"{"temperature": 0, "avail_spare": 100, "spare_thresh": 10, "percent_used": 1,
        "data_units_written": 5, "power_on_hours": 3}"#;
    assert_eq!(one(json).value("thermal", "temperature_c"), None);
}

#[test]
fn a_drive_that_says_it_fails_has_a_warning() {
    let warns = |drive: &DriveDescription, words: &str| {
        let mut all = drive.findings.iter().filter(|one| one.kind == FindingKind::HealthWarning);
        assert!(all.any(|one| one.text.contains(words)), "{words}: {:?}", drive.findings);
    };
    let head = "smartctl 7.1\nDevice Model: A\n";
    let result = "SMART overall-health self-assessment test result:";
    let table = "ID# ATTRIBUTE_NAME FLAG VALUE WORST THRESH TYPE UPDATED WHEN_FAILED RAW_VALUE\n\
        5 Reallocated_Sector_Ct 0x0033 001 001 010 Pre-fail Always FAILING_NOW 800\n";
    let failing = one(&format!("{head}{result} FAILED!\n{table}"));
    warns(&failing, "overall health: FAILED");
    warns(&failing, "Reallocated_Sector_Ct");
    let overall = |drive: &DriveDescription| drive.value("health", "overall_health").cloned();
    assert_eq!(overall(&failing), Some("failing".into()));
    let passing = one(&format!("{head}{result} PASSED\n"));
    assert_eq!((overall(&passing), passing.findings), (Some("passed".into()), vec![]));
    assert_eq!(overall(&one(&format!("{head}{result} UNKNOWN!\n"))), None);
    let scsi = "smartctl 7.1\nVendor: A\nProduct: B\nSMART Health Status:";
    warns(
        &one(&format!("{scsi} FAILURE PREDICTION THRESHOLD EXCEEDED [asc=5d, ascq=0]\n")),
        "FAILURE",
    );
    assert_eq!(one(&format!("{scsi} OK\n")).findings, []);
    let json = r#"{"smartctl": {"version": [7, 3]}, "device": {"protocol": "ATA"}, "model_name": "A",
        "smart_status": {"passed": false}, "ata_smart_attributes": {"table": [{"id": 5, "name": "Bad",
        "value": 1, "worst": 1, "when_failed": "now", "raw": {"value": 9}}]}}"#;
    warns(&one(json), "FAILED");
    warns(&one(json), "Bad");
}
