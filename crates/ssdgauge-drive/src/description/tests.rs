//! Descriptions of simulated drives in a simulated sysfs.

use super::*;
use crate::fixture::{self, Fixture, SysfsTree};
use ssdgauge_core::{Table, Value};

fn describe_nvme(drive: &Fixture, speed: &str) -> DriveDescription {
    let tree = SysfsTree::new();
    let device = tree.nvme_without_multipath(speed, "4");
    tree.file(
        &format!("{}/size", device.folder.strip_prefix(tree.root()).unwrap().display()),
        "1000215216",
    );
    assemble("/dev/nvme0n1", &device, &QueryResults::query(&device, drive))
}

fn describe_sata(drive: &Fixture) -> DriveDescription {
    let tree = SysfsTree::new();
    tree.file("sda/dev", "8:0").file("sda/device/scsi_level", "6");
    let device = SysfsDevice::from_folder(&tree.root(), &tree.root().join("sda"));
    assemble("/dev/sda", &device, &QueryResults::query(&device, drive))
}

fn check(description: &DriveDescription, expected: &[(&str, &str, Value)]) {
    for (section, key, value) in expected {
        let found = description.value(section, key);
        assert_eq!(found, Some(value), "{section}.{key}");
    }
}

#[test]
fn an_nvme_drive_is_described_with_all_values_in_their_units() {
    let description = describe_nvme(&Fixture::nvme(), "16.0 GT/s PCIe");
    let text = |text: &str| Value::Text(text.into());
    check(
        &description,
        &[
            ("identity", "nvme_version", text("1.3.0")),
            ("identity", "ieee_oui", text("002538")),
            ("identity", "vendor_id", text("144d:144d")),
            ("identity", "eui64", text("0025385b01020304")),
            ("identity", "capacity_bytes", Value::Count(512_110_190_592)),
            ("blocks", "used_bytes", Value::Count(128_000_000_000)),
            ("blocks", "most_transfer_bytes", Value::Count(2 << 20)),
            ("erasing", "volatile_write_cache", Value::Flag(true)),
            ("erasing", "write_cache_on", Value::Flag(true)),
            ("erasing", "format_cryptographic", Value::Flag(true)),
            ("erasing", "format_all_namespaces", Value::Flag(true)),
            ("erasing", "sanitize", text("crypto, block")),
            ("erasing", "trimmed_reads_as", text("zeros")),
            ("power", "state", Value::Count(3)),
            ("power", "autonomous_on", Value::Flag(true)),
            ("thermal", "temperature_c", Value::Real(36.85)),
            ("thermal", "sensor_1_c", Value::Real(49.85)),
            ("thermal", "warning_c", Value::Real(84.85)),
            ("thermal", "light_throttle_c", Value::Real(80.85)),
            ("thermal", "heavy_throttle_c", Value::Real(83.85)),
            ("health", "used_percent", Value::Count(3)),
            ("health", "written_bytes", Value::Count(1_024_000_000)),
            ("health", "light_throttles", Value::Count(2)),
            ("security", "standards", text("Opal 2")),
            ("security", "opal", Value::Flag(true)),
            ("security", "locking_enabled", Value::Flag(false)),
            ("security", "ieee_1667", Value::Flag(true)),
        ],
    );
    assert_eq!(description.findings, []);
}

#[test]
fn power_states_are_scaled_and_unreported_values_are_missing() {
    let drive = Fixture::nvme();
    let controller = query::controller(&drive).unwrap();
    let states: Vec<_> = controller
        .power_states
        .iter()
        .map(|state| (state.max_w, state.operational, state.entry_us, state.exit_us))
        .collect();
    let expected = [
        (Some(6.2), true, None, None),
        (Some(4.3), true, None, None),
        (Some(2.1), true, None, None),
        (Some(0.04), false, Some(210), Some(1_200)),
        (Some(0.005), false, Some(2_000), Some(8_000)),
    ];
    assert_eq!(states, expected);
    assert_eq!(controller.power_states[0].active_w, Some(4.5));
    assert_eq!(controller.power_states[0].idle_w, None, "it is not reported");
}

#[test]
fn a_power_measurement_log_is_described_with_its_distribution() {
    let mut drive = Fixture::nvme();
    drive.add_power_log(fixture::power_log());
    let description = describe_nvme(&drive, "16.0 GT/s PCIe");
    let row = |from, to, samples| vec![Value::Real(from), Value::Real(to), Value::Count(samples)];
    let rows = vec![row(2.75, 3.0, 60), row(6.75, 7.0, 40)];
    let table = Table { columns: vec!["from_w", "to_w", "samples"], rows };
    check(
        &description,
        &[
            ("measured_power", "mean_w", Value::Real(3.1)),
            ("measured_power", "highest_w", Value::Real(7.2)),
            ("measured_power", "is_estimated", Value::Flag(false)),
            ("measured_power", "distribution", Value::Table(table)),
        ],
    );
    let without_log = describe_nvme(&Fixture::nvme(), "16.0 GT/s PCIe");
    assert_eq!(without_log.value("measured_power", "mean_w"), None, "it is missing, never 0");
}

#[test]
fn values_that_a_drive_does_not_report_are_missing_and_never_zero() {
    let description = describe_nvme(&Fixture::without_responses(), "16.0 GT/s PCIe");
    for section in ["health", "power", "security"] {
        let facts = &description.sections.iter().find(|one| one.key == section).unwrap().facts;
        for fact in facts {
            assert!(matches!(fact.value, Value::Missing(_)), "{}: {:?}", fact.key, fact.value);
        }
    }
    check(&description, &[("identity", "model", Value::Text("Fixture NVMe".into()))]);
    assert_eq!(description.findings, []);
}

#[test]
fn a_sata_drive_is_described_from_identify_device_and_device_statistics() {
    let tree = SysfsTree::new();
    tree.file("devices/pci0/ata3/host2/block/sda/dev", "8:0");
    tree.file("devices/pci0/ata3/host2/block/sda/device/scsi_level", "6");
    tree.link("dev/block/8:0", "devices/pci0/ata3/host2/block/sda");
    let device = SysfsDevice::from_number(&tree.root(), 8, 0).unwrap();
    let description =
        assemble("/dev/sda", &device, &QueryResults::query(&device, &Fixture::sata()));
    check(
        &description,
        &[
            ("identity", "model", Value::Text("Fixture SATA SSD".into())),
            ("link", "sata_gbit_s", Value::Real(3.0)),
            ("link", "sata_most_gbit_s", Value::Real(6.0)),
            ("health", "used_percent", Value::Count(12)),
            ("erasing", "trimmed_reads_as", Value::Text("zeros".into())),
        ],
    );
    assert_eq!(description.findings.len(), 1, "{:?}", description.findings);
    assert_eq!(description.findings[0].kind, FindingKind::LinkBelowCapability);
    assert_eq!(description.value("health", "read_bytes"), None, "the statistic is not valid");
    assert_eq!(description.value("health", "written_bytes"), None, "it may have only 32 bits");
}

#[test]
fn a_device_without_query_commands_is_described_from_sysfs() {
    let tree = SysfsTree::new();
    tree.file("loop0/queue/scheduler", "[none] mq-deadline").file("loop0/size", "2048");
    let device = SysfsDevice::from_folder(&tree.root(), &tree.root().join("loop0"));
    let description =
        assemble("/dev/loop0", &device, &QueryResults::query(&device, &Fixture::nvme()));
    check(
        &description,
        &[
            ("identity", "capacity_bytes", Value::Count(1 << 20)),
            ("queue", "scheduler", Value::Text("none".into())),
        ],
    );
    let reasons: Vec<_> = description.sections.iter().flat_map(|section| &section.facts).collect();
    let names_a_command_set =
        |value: &Value| matches!(value, Value::Missing(text) if text.contains("drive"));
    assert!(!reasons.iter().any(|fact| names_a_command_set(&fact.value)), "{reasons:?}");
}

#[test]
fn implausible_values_are_findings_and_missing_in_the_description() {
    let mut drive = Fixture::nvme();
    let mut smart = fixture::smart();
    smart[1..3].copy_from_slice(&[0, 0]);
    smart[3] = 200;
    smart[48..64].copy_from_slice(&[0xff; 16]);
    smart[200..202].copy_from_slice(&9_999u16.to_le_bytes());
    drive.logs.insert(2, smart);
    let mut namespace = fixture::namespace();
    namespace[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    namespace[26] = 7;
    drive.identify.insert((0, 1), namespace);
    let description = describe_nvme(&drive, "16.0 GT/s PCIe");
    let texts: Vec<&str> =
        description.findings.iter().map(|finding| finding.text.as_str()).collect();
    for words in ["0 K", "200 %", "bytes written", "9999 K", "utilization", "format 7"] {
        assert!(texts.iter().any(|text| text.contains(words)), "{words}: {texts:?}");
    }
    for (section, key) in [
        ("thermal", "temperature_c"),
        ("health", "spare_percent"),
        ("health", "written_bytes"),
        ("blocks", "used_bytes"),
    ] {
        assert_eq!(description.value(section, key), None, "{key}");
    }
}

#[test]
fn a_slow_link_and_critical_warnings_are_findings() {
    let mut drive = Fixture::nvme();
    let mut smart = fixture::smart();
    smart[0] = 0b101;
    drive.logs.insert(2, smart);
    let kinds: Vec<_> = describe_nvme(&drive, "8.0 GT/s PCIe")
        .findings
        .iter()
        .map(|finding| finding.kind)
        .collect();
    let warning = FindingKind::HealthWarning;
    assert_eq!(kinds, [FindingKind::LinkBelowCapability, warning, warning]);
}

#[test]
fn the_overall_health_of_a_sata_drive_is_asked_for_and_a_failing_one_has_a_warning() {
    // The LBA field of SMART RETURN STATUS (ACS-3, table 136): 4Fh C2h without a threshold exceeded, F4h 2Ch with
    // one; its lowest byte is not defined.
    for (lba, expected) in [
        (Some(0xc2_4f00), Ok("passed")),
        (Some(0xc2_4f01), Ok("passed")),
        (Some(0x2c_f400), Ok("failing")),
        (Some(0x2c_4f00), Err("the SMART status that the drive returned is malformed")),
        (Some(0), Err("the SMART status that the drive returned is malformed")),
        (None, Err("the drive rejects the command (sense 05 20 00)")),
    ] {
        let mut drive = Fixture::sata();
        drive.smart_status = lba;
        let description = describe_sata(&drive);
        let health = description.sections.iter().find(|one| one.key == "health").unwrap();
        let fact = health.facts.iter().find(|fact| fact.key == "overall_health").unwrap();
        let found = match &fact.value {
            Value::Text(text) => Ok(text.as_str()),
            Value::Missing(reason) => Err(reason.as_str()),
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{lba:x?}");
        let warns = |one: &&Finding| one.kind == FindingKind::HealthWarning;
        let warnings: Vec<&Finding> = description.findings.iter().filter(warns).collect();
        assert_eq!(warnings.len(), usize::from(found == Ok("failing")), "{warnings:?}");
        assert!(warnings.iter().all(|one| one.text.contains("overall health: FAILED")));
    }
    // An NVMe drive has critical warnings instead.
    let nvme = describe_nvme(&Fixture::nvme(), "16.0 GT/s PCIe");
    let health = nvme.sections.iter().find(|one| one.key == "health").unwrap();
    assert!(health.facts.iter().all(|fact| fact.key != "overall_health"));
}

#[test]
fn decoders_accept_random_and_truncated_data_without_a_panic() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut noise = |length: usize| -> Vec<u8> {
        (0..length)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect()
    };
    for round in 0..60 {
        let mut drive = Fixture::nvme();
        // Every second drive returns truncated data, too.
        let cut = |length: usize| if round % 2 == 0 { length } else { length * round / 60 };
        drive.identify.insert((1, 0), noise(cut(4_096)));
        drive.identify.insert((0, 1), noise(cut(4_096)));
        drive.identify.insert((2, 0), noise(cut(4_096)));
        drive.logs.insert(2, noise(cut(512)));
        drive.logs.insert(0x81, noise(cut(32)));
        drive.logs.insert(0, vec![0xff; 1_024]);
        drive.logs.insert(0x25, noise(cut(512)));
        drive.features.insert(0x0c, (u32::MAX, noise(cut(256))));
        drive.security.insert((1, 1), noise(cut(512)));
        drive.security.insert((0, 0), noise(cut(512)));
        let description = describe_nvme(&drive, "16.0 GT/s PCIe");
        assert!(description.sections.len() > 7);
        drive.ata.insert((0xec, 0), noise(512));
        let tree = SysfsTree::new();
        tree.file("sda/dev", "8:0").file("sda/device/scsi_level", "6");
        let device = SysfsDevice::from_folder(&tree.root(), &tree.root().join("sda"));
        assert!(assemble("x", &device, &QueryResults::query(&device, &drive)).sections.len() > 5);
    }
}
