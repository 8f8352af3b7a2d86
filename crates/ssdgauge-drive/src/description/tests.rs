//! Cards of made-up drives in made-up trees of /sys.

use super::*;
use crate::fixture::Tree;
use crate::fixture::{self, Fixture};
use ssdgauge_core::{Table, Value};

fn nvme_card(drive: &Fixture, speed: &str) -> DriveCard {
    let tree = Tree::new();
    let place = tree.plain_nvme(speed, "4");
    tree.file(
        &format!("{}/size", place.folder.strip_prefix(tree.root()).unwrap().display()),
        "1000215216",
    );
    assemble("/dev/nvme0n1", &place, &Answers::of(&place, drive))
}

fn check(card: &DriveCard, expected: &[(&str, &str, Value)]) {
    for (section, key, value) in expected {
        let found = card.value(section, key);
        assert_eq!(found, Some(value), "{section}.{key}");
    }
}

#[test]
fn an_nvme_drive_tells_everything_with_its_units() {
    let card = nvme_card(&Fixture::nvme(), "16.0 GT/s PCIe");
    let text = |text: &str| Value::Text(text.into());
    check(
        &card,
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
    assert_eq!(card.findings, []);
}

#[test]
fn power_states_keep_their_scales_and_their_silences() {
    let drive = Fixture::nvme();
    let controller = query::controller(&drive).unwrap();
    let states: Vec<_> = controller
        .power_states
        .iter()
        .map(|state| (state.most_w, state.operational, state.entry_us, state.exit_us))
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
fn a_drive_that_measures_its_power_shows_the_distribution() {
    let mut drive = Fixture::nvme();
    drive.has_power_log(fixture::power_log());
    let card = nvme_card(&drive, "16.0 GT/s PCIe");
    let row = |from, to, samples| vec![Value::Real(from), Value::Real(to), Value::Count(samples)];
    let rows = vec![row(2.75, 3.0, 60), row(6.75, 7.0, 40)];
    let table = Table { columns: vec!["from_w", "to_w", "samples"], rows };
    check(
        &card,
        &[
            ("measured_power", "mean_w", Value::Real(3.1)),
            ("measured_power", "highest_w", Value::Real(7.2)),
            ("measured_power", "is_estimated", Value::Flag(false)),
            ("measured_power", "distribution", Value::Table(table)),
        ],
    );
    let plain = nvme_card(&Fixture::nvme(), "16.0 GT/s PCIe");
    assert_eq!(plain.value("measured_power", "mean_w"), None, "it is not available, never 0");
}

#[test]
fn what_a_drive_does_not_answer_is_not_available_and_never_zero() {
    let card = nvme_card(&Fixture::mute(), "16.0 GT/s PCIe");
    for section in ["health", "power", "security"] {
        let facts = &card.sections.iter().find(|one| one.key == section).unwrap().facts;
        for fact in facts {
            assert!(matches!(fact.value, Value::Missing(_)), "{}: {:?}", fact.key, fact.value);
        }
    }
    check(&card, &[("identity", "model", Value::Text("Fixture NVMe".into()))]);
    assert_eq!(card.findings, []);
}

#[test]
fn a_sata_drive_tells_what_is_standard_and_shows_the_rest_raw() {
    let tree = Tree::new();
    tree.file("devices/pci0/ata3/host2/block/sda/dev", "8:0");
    tree.file("devices/pci0/ata3/host2/block/sda/device/scsi_level", "6");
    tree.link("dev/block/8:0", "devices/pci0/ata3/host2/block/sda");
    let place = SysfsDevice::of_number(&tree.root(), 8, 0).unwrap();
    let card = assemble("/dev/sda", &place, &Answers::of(&place, &Fixture::sata()));
    check(
        &card,
        &[
            ("identity", "model", Value::Text("Fixture SATA SSD".into())),
            ("link", "sata_gbit_s", Value::Real(3.0)),
            ("link", "sata_most_gbit_s", Value::Real(6.0)),
            ("health", "used_percent", Value::Count(12)),
            ("health", "written_bytes", Value::Count(1_024_000_000)),
            ("erasing", "trimmed_reads_as", Value::Text("zeros".into())),
        ],
    );
    assert_eq!(card.findings.len(), 1, "{:?}", card.findings);
    assert_eq!(card.findings[0].kind, FindingKind::LinkBelowCapability);
    assert_eq!(card.value("health", "read_bytes"), None, "that statistic is not there");
}

#[test]
fn a_device_of_another_kind_has_a_card_of_what_the_kernel_knows() {
    let tree = Tree::new();
    tree.file("loop0/queue/scheduler", "[none] mq-deadline").file("loop0/size", "2048");
    let place = SysfsDevice::of_folder(&tree.root(), &tree.root().join("loop0"));
    let card = assemble("/dev/loop0", &place, &Answers::of(&place, &Fixture::nvme()));
    check(
        &card,
        &[
            ("identity", "capacity_bytes", Value::Count(1 << 20)),
            ("queue", "scheduler", Value::Text("none".into())),
        ],
    );
    let reasons: Vec<_> = card.sections.iter().flat_map(|section| &section.facts).collect();
    let about_kinds =
        |value: &Value| matches!(value, Value::Missing(text) if text.contains("drive"));
    assert!(!reasons.iter().any(|fact| about_kinds(&fact.value)), "{reasons:?}");
}

#[test]
fn lies_are_named_and_not_shown_as_numbers() {
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
    let card = nvme_card(&drive, "16.0 GT/s PCIe");
    let lies: Vec<&str> = card.findings.iter().map(|finding| finding.text.as_str()).collect();
    for lie in ["0 K", "200 %", "bytes written", "9999 K", "in use", "format 7"] {
        assert!(lies.iter().any(|text| text.contains(lie)), "{lie}: {lies:?}");
    }
    for (section, key) in [
        ("thermal", "temperature_c"),
        ("health", "spare_percent"),
        ("health", "written_bytes"),
        ("blocks", "used_bytes"),
    ] {
        assert_eq!(card.value(section, key), None, "{key}");
    }
}

#[test]
fn a_slow_link_and_a_sick_drive_are_findings() {
    let mut drive = Fixture::nvme();
    let mut smart = fixture::smart();
    smart[0] = 0b101;
    drive.logs.insert(2, smart);
    let kinds: Vec<_> =
        nvme_card(&drive, "8.0 GT/s PCIe").findings.iter().map(|finding| finding.kind).collect();
    let sick = FindingKind::HealthWarning;
    assert_eq!(kinds, [FindingKind::LinkBelowCapability, sick, sick]);
}

#[test]
fn no_bytes_of_a_drive_bring_a_decoder_down() {
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
        // Every second drive answers with too few bytes, too.
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
        let card = nvme_card(&drive, "16.0 GT/s PCIe");
        assert!(card.sections.len() > 7);
        drive.ata.insert((0xec, 0), noise(512));
        let tree = Tree::new();
        tree.file("sda/dev", "8:0").file("sda/device/scsi_level", "6");
        let place = SysfsDevice::of_folder(&tree.root(), &tree.root().join("sda"));
        assert!(assemble("x", &place, &Answers::of(&place, &drive)).sections.len() > 5);
    }
}
