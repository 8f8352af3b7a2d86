//! Attributes that are read from a simulated sysfs.

use super::*;
use crate::fixture::SysfsTree;

#[test]
fn a_namespace_has_the_attributes_of_its_controller() {
    let tree = SysfsTree::new();
    let device = tree.nvme_without_multipath("16.0 GT/s PCIe", "4");
    assert_eq!(device.controller_name().as_deref(), Some("nvme0"));
    assert_eq!((device.name(), device.namespace(), device.paths), ("nvme0n1".into(), Some(1), 1));
    assert_eq!(device.serial().as_deref(), Some("SERIAL42"));
    assert_eq!(device.transport().as_deref(), Some("pcie"));
    assert_eq!(device.numa_node(), None, "-1 means one node");
    assert_eq!(device.sensors().len(), 1);
    assert_eq!(device.link().unwrap().finding(), None);
}

#[test]
fn a_link_below_its_capability_is_a_finding_and_an_unknown_link_is_not() {
    for (speed, width, share) in [
        ("16.0 GT/s PCIe", "2", 0.5),
        ("8.0 GT/s PCIe", "4", 0.5),
        ("2.5 GT/s PCIe", "1", 0.0390625),
    ] {
        let tree = SysfsTree::new();
        let link = tree.nvme_without_multipath(speed, width).link().unwrap();
        assert!((link.share() - share).abs() < 1e-9);
        let finding = link.finding().unwrap();
        assert_eq!(finding.kind, FindingKind::LinkBelowCapability);
        assert!(finding.text.contains("16 GT/s × 4"), "{}", finding.text);
    }
    for (speed, width) in
        [("Unknown", "4"), ("8.0 GT/s PCIe", "255"), ("8.0 GT/s PCIe", "0"), ("", "")]
    {
        assert_eq!(
            SysfsTree::new().nvme_without_multipath(speed, width).link(),
            None,
            "{speed} {width}"
        );
    }
}

#[test]
fn a_multipath_head_is_resolved_to_the_controllers_of_its_subsystem() {
    let tree = SysfsTree::new();
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
    let device = SysfsDevice::from_number(&tree.root(), 259, 5).unwrap();
    assert_eq!((device.controller_name().as_deref(), device.paths), (Some("nvme0"), 2));
    assert_eq!(device.device_attribute("model").as_deref(), Some("behind nvme0"));
    assert_eq!(device.queue_attribute("nr_requests").as_deref(), Some("1023"), "that of the path");
}

#[test]
fn a_partition_resolves_to_its_drive_and_a_mapper_to_the_devices_below_it() {
    let tree = SysfsTree::new();
    tree.file("devices/x/ata3/host2/block/sda/dev", "8:0");
    tree.file("devices/x/ata3/host2/block/sda/sda1/partition", "1");
    tree.link("dev/block/8:1", "devices/x/ata3/host2/block/sda/sda1");
    tree.file("devices/virtual/block/dm-0/dev", "253:0");
    tree.link("devices/virtual/block/dm-0/slaves/sda1", "devices/x/ata3/host2/block/sda/sda1");
    tree.link("dev/block/253:0", "devices/virtual/block/dm-0");
    let device = SysfsDevice::from_number(&tree.root(), 8, 1).unwrap();
    assert_eq!((device.name(), device.transport().as_deref()), ("sda".into(), Some("sata")));
    let mapped = SysfsDevice::from_number(&tree.root(), 253, 0).unwrap();
    let names: Vec<String> = mapped.layers().iter().map(|folder| file_name(folder)).collect();
    assert_eq!(names, ["dm-0", "sda"]);
    assert_eq!(mapped.transport().as_deref(), Some("none"));
    assert!(SysfsDevice::from_number(&tree.root(), 1, 1).is_none());
}
