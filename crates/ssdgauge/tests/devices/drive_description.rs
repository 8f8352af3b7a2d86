//! `ssdgauge drives TARGET`: the description of a drive, as text and as JSON.

use crate::support::{Bench, Loop, text};
use snapbox::{assert_data_eq, file};

#[test]
fn a_virtual_drive_is_described_from_its_profile() {
    let bench = Bench::new();
    let description = bench.print(&["drives", "sim:tiny"]);
    // The serial is a digest of the profile.
    let description: String = description
        .lines()
        .map(|line| match line.split_once("MODEL-") {
            Some((before, _)) => format!("{before}MODEL-[DIGEST]\n"),
            None => format!("{line}\n"),
        })
        .collect();
    assert_data_eq!(description, file!["snapshots/virtual-drive-description.txt"]);
    let json: serde_json::Value =
        serde_json::from_str(&bench.print(&["drives", "sim:tiny", "--json"])).unwrap();
    assert_eq!(json["schema_version"], 1);
    assert_eq!(json["drive"]["health"]["used_percent"], serde_json::Value::Null);
    assert_eq!(json["drive"]["findings"][0]["kind"], "model");
}

#[test]
fn a_loop_device_is_described_with_the_values_of_the_kernel() {
    let bench = Bench::new();
    let Some(device) = Loop::attach(bench.folder.path(), 16 << 20) else { return };
    let json: serde_json::Value =
        serde_json::from_str(&bench.print(&["drives", &device.path, "--json"])).unwrap();
    assert_eq!(json["drive"]["identity"]["capacity_bytes"], 16 << 20);
    assert_eq!(json["drive"]["identity"]["firmware"], serde_json::Value::Null);
    let description = bench.print(&["drives", &device.path]);
    assert!(
        description.contains("Firmware                            not available"),
        "{description}"
    );
}

#[test]
fn a_description_of_a_target_that_is_not_a_drive_is_a_usage_error() {
    let bench = Bench::new();
    for (target, expected) in
        [("/dev/no-such-drive", "does not exist"), (".", "not a block device")]
    {
        let output = bench.call(&["drives", target]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(expected) && stderr.contains("nothing was written"), "{stderr}");
    }
}
