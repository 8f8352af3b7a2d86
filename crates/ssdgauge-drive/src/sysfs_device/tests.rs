//! What is read from a made-up tree of sysfs.

use super::*;
use crate::fixture::Tree;

#[test]
fn a_plain_namespace_lies_below_its_controller() {
    let tree = Tree::new();
    let place = tree.plain_nvme("16.0 GT/s PCIe", "4");
    assert_eq!(place.controller_name().as_deref(), Some("nvme0"));
    assert_eq!((place.name(), place.namespace(), place.paths), ("nvme0n1".into(), Some(1), 1));
    assert_eq!(place.serial().as_deref(), Some("SERIAL42"));
    assert_eq!(place.transport().as_deref(), Some("pcie"));
    assert_eq!(place.numa_node(), None, "-1 is no node");
    assert_eq!(place.sensors().len(), 1);
    assert_eq!(place.link().unwrap().finding(), None);
}

#[test]
fn a_link_below_its_capability_is_a_finding_and_an_unknown_one_is_not() {
    for (speed, width, share) in [
        ("16.0 GT/s PCIe", "2", 0.5),
        ("8.0 GT/s PCIe", "4", 0.5),
        ("2.5 GT/s PCIe", "1", 0.0390625),
    ] {
        let tree = Tree::new();
        let link = tree.plain_nvme(speed, width).link().unwrap();
        assert!((link.share() - share).abs() < 1e-9);
        let finding = link.finding().unwrap();
        assert_eq!(finding.kind, FindingKind::LinkBelowCapability);
        assert!(finding.text.contains("16 GT/s × 4"), "{}", finding.text);
    }
    for (speed, width) in
        [("Unknown", "4"), ("8.0 GT/s PCIe", "255"), ("8.0 GT/s PCIe", "0"), ("", "")]
    {
        assert_eq!(Tree::new().plain_nvme(speed, width).link(), None, "{speed} {width}");
    }
}

#[test]
fn a_multipath_head_is_resolved_to_its_controller_whatever_the_numbers_are() {
    let tree = Tree::new();
    // Subsystem 1 is reached through controllers 0 and 2; controller 1 belongs to another drive.
    let head = "devices/virtual/nvme-subsystem/nvme-subsys1/nvme1n1";
    tree.file(&format!("{head}/dev"), "259:5").file(&format!("{head}/queue/nr_requests"), "128");
    tree.link("dev/block/259:5", head);
    for (controller, path) in
        [("nvme0", "nvme1c0n1"), ("nvme2", "nvme1c2n1"), ("nvme1", "nvme0c1n1")]
    {
        let folder = format!("devices/pci0000:00/{controller}-slot/nvme/{controller}");
        tree.file(&format!("{folder}/model"), &format!("behind {controller}"));
        tree.file(&format!("{folder}/{path}/nsid"), "1");
        tree.file(&format!("{folder}/{path}/queue/nr_requests"), "1023");
        tree.link(&format!("class/nvme/{controller}"), &folder);
    }
    let place = SysfsDevice::of_number(&tree.root(), 259, 5).unwrap();
    assert_eq!((place.controller_name().as_deref(), place.paths), (Some("nvme0"), 2));
    assert_eq!(place.device("model").as_deref(), Some("behind nvme0"));
    assert_eq!(place.queue("nr_requests").as_deref(), Some("1023"), "that of the path");
}

#[test]
fn a_partition_stands_for_its_drive_and_a_stack_is_followed_down() {
    let tree = Tree::new();
    tree.file("devices/x/ata3/host2/block/sda/dev", "8:0");
    tree.file("devices/x/ata3/host2/block/sda/sda1/partition", "1");
    tree.link("dev/block/8:1", "devices/x/ata3/host2/block/sda/sda1");
    tree.file("devices/virtual/block/dm-0/dev", "253:0");
    tree.link("devices/virtual/block/dm-0/slaves/sda1", "devices/x/ata3/host2/block/sda/sda1");
    tree.link("dev/block/253:0", "devices/virtual/block/dm-0");
    let place = SysfsDevice::of_number(&tree.root(), 8, 1).unwrap();
    assert_eq!((place.name(), place.transport().as_deref()), ("sda".into(), Some("sata")));
    let mapped = SysfsDevice::of_number(&tree.root(), 253, 0).unwrap();
    let names: Vec<String> = mapped.layers().iter().map(|folder| file_name(folder)).collect();
    assert_eq!(names, ["dm-0", "sda"]);
    assert_eq!(mapped.transport().as_deref(), Some("none"));
    assert!(SysfsDevice::of_number(&tree.root(), 1, 1).is_none());
}
