//! Attributes of block devices in sysfs.

use ssdgauge_core::{Bytes, Detail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the trimmed content of a file in /sys or /proc; `None` where it is absent or empty.
pub fn attribute(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// The attributes of a block device.
#[derive(Clone, Debug, Default)]
pub struct DeviceFacts {
    /// The model name.
    pub model: Option<String>,
    /// The serial number.
    pub serial: Option<String>,
    /// The firmware revision.
    pub firmware: Option<String>,
    /// Further attributes, by the keys of the run file.
    pub details: BTreeMap<String, String>,
}

/// Returns the sysfs folder of the block device or the partition with this device number.
pub fn block_node_of(number: u64) -> Option<PathBuf> {
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()
}

/// Returns the sysfs folder of the block device with this device number; for a partition, that of
/// its disk.
pub fn block_device_of(number: u64) -> Option<PathBuf> {
    let folder = block_node_of(number)?;
    match folder.join("partition").exists() {
        true => folder.parent().map(Path::to_owned),
        false => Some(folder),
    }
}

/// Returns the unit serial number of the SCSI device whose folder is `folder`; SATA and USB drives
/// are SCSI devices to the kernel. It is VPD page 80h, after its header of four bytes (SPC-4,
/// section 7.8.18).
pub fn unit_serial(folder: &Path) -> Option<String> {
    let page = fs::read(folder.join("device/vpd_pg80")).ok()?;
    let text = String::from_utf8_lossy(page.get(4..)?).trim_matches(['\0', ' ']).to_owned();
    (!text.is_empty()).then_some(text)
}

/// Returns the attributes of the block device whose folder is `folder`.
pub fn device_facts(folder: &Path) -> DeviceFacts {
    let get = |name: &str| attribute(&folder.join(name));
    let mut facts = DeviceFacts {
        model: get("device/model"),
        // In this order: NVMe, SCSI with SATA and USB, virtio; the worldwide name for drives without a serial.
        serial: get("device/serial")
            .or_else(|| unit_serial(folder))
            .or_else(|| get("serial"))
            .or_else(|| get("wwid")),
        firmware: get("device/firmware_rev").or_else(|| get("device/rev")),
        details: BTreeMap::new(),
    };
    for (key, name) in [
        (Detail::Device.key(), "dev"),
        ("scheduler", "queue/scheduler"),
        (Detail::WriteCache.key(), "queue/write_cache"),
        (Detail::Rotational.key(), "queue/rotational"),
        ("hardware_queues", "queue/nr_hw_queues"),
        ("queue_requests", "queue/nr_requests"),
        (Detail::Transport.key(), "device/transport"),
        // The device of a namespace is its controller, the device of that is the PCI function.
        (Detail::LinkSpeed.key(), "device/device/current_link_speed"),
        (Detail::LinkWidth.key(), "device/device/current_link_width"),
        ("numa_node", "device/numa_node"),
    ] {
        facts.details.extend(get(name).map(|value| (key.to_owned(), value)));
    }
    if !facts.details.contains_key(Detail::Transport.key()) {
        let transport = transport_by_place(folder).filter(|transport| *transport != "none");
        facts
            .details
            .extend(transport.map(|name| (Detail::Transport.key().to_owned(), name.to_owned())));
    }
    // A partition lies in the folder of its disk.
    let disk = if folder.join("partition").exists() { folder.parent() } else { Some(folder) };
    if let Some(size) = disk.and_then(device_size) {
        facts.details.insert(Detail::WholeCapacity.key().into(), size.0.to_string());
    }
    if let Some(name) = folder.file_name() {
        facts.details.insert(Detail::KernelName.key().into(), name.to_string_lossy().into_owned());
    }
    facts
}

/// Returns the transport of the block device whose folder is `folder` by its place in the tree of
/// devices: `usb`, `sata`, `virtio`, `mmc`, or `none` for a virtual device; `None` where the place does
/// not show it.
pub fn transport_by_place(folder: &Path) -> Option<&'static str> {
    let real = fs::canonicalize(folder).ok()?;
    let parts: Vec<&str> = real.iter().filter_map(|part| part.to_str()).collect();
    let has = |prefix: &str| {
        parts.iter().any(|part| {
            let rest = part.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    };
    // The path of a SATA drive in a USB enclosure may contain both: USB is checked first.
    let known = [("usb", "usb"), ("ata", "sata"), ("virtio", "virtio"), ("mmc", "mmc")];
    let known = known.iter().find(|(prefix, _)| has(prefix)).map(|(_, name)| *name);
    known.or_else(|| parts.contains(&"virtual").then_some("none"))
}

/// Returns the size of the block device whose folder is `folder`.
pub fn device_size(folder: &Path) -> Option<Bytes> {
    // sysfs counts in sectors of 512 bytes, also for drives with logical blocks of 4,096 bytes.
    attribute(&folder.join("size"))?.parse::<u64>().ok().map(|sectors| Bytes(sectors * 512))
}

/// Returns the folders of the other whole block devices that have a device node. The paths of a
/// native NVMe multipath drive are hidden and have none.
pub fn siblings(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let own = folder.to_owned();
    let all = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let all = all.filter_map(|entry| fs::canonicalize(entry.path()).ok());
    all.filter(move |other| {
        *other != own && attribute(&other.join("hidden")).is_none_or(|hidden| hidden == "0")
    })
}

/// Returns the worldwide identifier of the device whose folder is `folder`.
pub fn wwid(folder: &Path) -> Option<String> {
    // NVMe states it for the namespace, SCSI for the device.
    attribute(&folder.join("wwid")).or_else(|| attribute(&folder.join("device/wwid")))
}

/// Returns the kernel name (such as `nvme0n1`) of the device whose folder is `folder`.
pub fn name_of(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

    use super::*;

    fn check(place: &str, expected: Option<&str>) {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(place);
        fs::create_dir_all(folder.join("queue")).unwrap();
        fs::write(folder.join("queue/write_cache"), "write back\n").unwrap();
        let facts = device_facts(&folder);
        assert_eq!(facts.details.get("transport").map(String::as_str), expected, "{place}");
        assert_eq!(facts.details["write_cache"], "write back");
    }

    #[test]
    fn a_disk_and_its_partition_state_the_capacity_of_the_disk() {
        let root = tempfile::tempdir().unwrap();
        let disk = root.path().join("nvme0n1");
        let partition = disk.join("nvme0n1p1");
        fs::create_dir_all(&partition).unwrap();
        fs::write(disk.join("size"), "1953525168\n").unwrap();
        fs::write(partition.join("size"), "2048\n").unwrap();
        fs::write(partition.join("partition"), "1\n").unwrap();
        for folder in [&disk, &partition] {
            let details = device_facts(folder).details;
            assert_eq!(details[Detail::WholeCapacity.key()], "1000204886016", "{folder:?}");
        }
        fs::remove_file(disk.join("size")).unwrap();
        assert!(!device_facts(&disk).details.contains_key(Detail::WholeCapacity.key()));
    }

    #[test]
    fn the_transport_of_a_drive_follows_from_its_place() {
        check("pci0000:00/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0/block/sda", Some("sata"));
        check("pci0000:00/usb2/2-1/ata1/host6/target6:0:0/6:0:0:0/block/sdb", Some("usb"));
        check("pci0000:00/virtio1/block/vda", Some("virtio"));
        check("virtual/block/loop0", None);
        check("pci0000:00/0000:02:00.0/host0/target0:2:0/0:2:0:0/block/sdc", None);
    }
}
