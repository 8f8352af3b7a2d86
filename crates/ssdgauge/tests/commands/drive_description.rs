//! The card of one drive, as a person and as a program read it.

use crate::support::{Bench, Loop, text};
use snapbox::{assert_data_eq, file};

#[test]
fn a_virtual_drive_has_a_card_from_its_profile() {
    let bench = Bench::new();
    let words = bench.print(&["drives", "sim:tiny"]);
    // The serial changes with every figure of the profile.
    let words: String = words
        .lines()
        .map(|line| match line.split_once("MODEL-") {
            Some((before, _)) => format!("{before}MODEL-[DIGEST]\n"),
            None => format!("{line}\n"),
        })
        .collect();
    assert_data_eq!(words, file!["snapshots/virtual-drive-description.txt"]);
    let json: serde_json::Value =
        serde_json::from_str(&bench.print(&["drives", "sim:tiny", "--json"])).unwrap();
    assert_eq!(json["schema_version"], 1);
    assert_eq!(json["drive"]["health"]["used_percent"], serde_json::Value::Null);
    assert_eq!(json["drive"]["findings"][0]["kind"], "model");
}

#[test]
fn a_loop_device_has_a_card_of_what_the_kernel_knows() {
    let bench = Bench::new();
    let Some(device) = Loop::attach(bench.folder.path(), 16 << 20) else { return };
    let json: serde_json::Value =
        serde_json::from_str(&bench.print(&["drives", &device.path, "--json"])).unwrap();
    assert_eq!(json["drive"]["identity"]["capacity_bytes"], 16 << 20);
    assert_eq!(json["drive"]["identity"]["firmware"], serde_json::Value::Null);
    let words = bench.print(&["drives", &device.path]);
    assert!(words.contains("Firmware                            not available"), "{words}");
}

#[test]
fn what_is_no_drive_has_no_card() {
    let bench = Bench::new();
    for (target, words) in [("/dev/no-such-drive", "No such file"), (".", "no block device")] {
        let output = bench.call(&["drives", target]);
        let talk = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{talk}");
        assert!(talk.contains(words) && talk.contains("nothing was written"), "{talk}");
    }
}
