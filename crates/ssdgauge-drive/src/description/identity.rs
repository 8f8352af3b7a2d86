//! The sections of a drive description that do not change during use: identity, link, blocks,
//! erasing, security, queue.

use super::source::{
    ATA, CONTROLLER, FEATURES, NAMESPACE, SYSFS, bytes, first_known, from_kernel, nvme_or_ata,
    reported,
};
use super::{NOT_NVME, QueryResults, gbit};
use crate::controller::{Controller, Deallocated, Namespace};
use crate::state::{PROTOCOL_1667, SanitizeState};
use crate::sysfs_device::{SysfsDevice, file_name};
use ssdgauge_core::{Section, Table, Value};
use ssdgauge_os::sysfs::attribute;
use ssdgauge_os::sysfs::device_size;
use std::path::Path;

pub(super) fn identity(device: &SysfsDevice, results: &QueryResults) -> Section {
    let mut section = Section::new("identity", "Identity");
    let namespace = &results.namespace;
    let mut add = |source, key, label, unit, value| section.add(source, key, label, unit, value);
    let text = |nvme: fn(&Controller) -> &Option<String>,
                ata: fn(&crate::ata::Identity) -> &Option<String>,
                sysfs: Option<String>| {
        first_known([
            from_kernel(sysfs),
            nvme_or_ata(results, |c| nvme(c).clone(), |i| ata(i).clone()),
        ])
    };
    // SCSI truncates the model and the firmware of an ATA drive, IDENTIFY DEVICE does not.
    let whole = results.ata.as_ref().ok().and_then(|identity| identity.model.clone());
    let model = whole.or_else(|| device.device_attribute("model"));
    add(SYSFS, "model", "Model", "", text(|c| &c.model, |i| &i.model, model));
    add(SYSFS, "serial", "Serial", "", text(|c| &c.serial, |i| &i.serial, device.serial()));
    let own = results.ata.as_ref().ok().and_then(|identity| identity.firmware.clone());
    let firmware = own
        .or_else(|| device.device_attribute("firmware_rev"))
        .or_else(|| device.device_attribute("rev"));
    add(SYSFS, "firmware", "Firmware", "", text(|c| &c.firmware, |i| &i.firmware, firmware));
    let size = device_size(&device.folder).map(|size| size.0).filter(|size| *size > 0);
    add(SYSFS, "capacity_bytes", "Capacity", "B", from_kernel(size));
    add(SYSFS, "kernel_name", "Kernel name", "", Value::Text(device.name()));
    add(SYSFS, "controller", "Controller", "", from_kernel(device.controller_name()));
    add(
        SYSFS,
        "paths",
        "Controllers that lead to the drive",
        "",
        match device.paths {
            0 => Value::Missing(NOT_NVME.into()),
            paths => Value::Count(paths as u64),
        },
    );
    add(SYSFS, "wwid", "World-wide name", "", from_kernel(device.wwid()));
    let version = |c: &Controller| c.version.map(|(a, b, t)| format!("{a}.{b}.{t}"));
    add(CONTROLLER, "nvme_version", "NVMe version", "", reported(&results.controller, version));
    let vendor = |c: &Controller| Some(format!("{:04x}:{:04x}", c.vendor, c.subsystem_vendor));
    add(CONTROLLER, "vendor_id", "Vendor and subsystem", "", reported(&results.controller, vendor));
    let oui = |c: &Controller| Some(c.ieee_oui.clone());
    add(CONTROLLER, "ieee_oui", "IEEE OUI of the vendor", "", reported(&results.controller, oui));
    let slots = |c: &Controller| Some(c.firmware_slots).filter(|slots| *slots > 0);
    add(CONTROLLER, "firmware_slots", "Firmware slots", "", reported(&results.controller, slots));
    let name = |c: &Controller| c.subsystem_name.clone();
    add(CONTROLLER, "subsystem_name", "Subsystem (NQN)", "", reported(&results.controller, name));
    let id = |c: &Controller| Some(c.controller_id);
    add(
        CONTROLLER,
        "controller_id",
        "Controller identifier",
        "",
        reported(&results.controller, id),
    );
    add(NAMESPACE, "nguid", "NGUID", "", reported(namespace, |n| n.nguid.clone()));
    add(NAMESPACE, "eui64", "EUI-64", "", reported(namespace, |n| n.eui64.clone()));
    add(ATA, "ata_wwn", "ATA world-wide name", "", reported(&results.ata, |i| i.wwn.clone()));
    section
}

pub(super) fn link(device: &SysfsDevice, results: &QueryResults) -> Section {
    let mut section = Section::new("link", "Link");
    let mut add = |source, key, label, unit, value| section.add(source, key, label, unit, value);
    let link = device.link();
    let on_pcie = |value: Option<f64>| match device.controller {
        Some(_) => from_kernel(value),
        None => Value::Missing(NOT_NVME.into()),
    };
    add(SYSFS, "transport", "Transport", "", from_kernel(device.transport()));
    let pci = device.pci().map(|folder| file_name(&folder));
    add(SYSFS, "pci_address", "PCI address", "", from_kernel(pci));
    add(SYSFS, "pcie_speed_gt_s", "PCIe speed", "GT/s", on_pcie(link.map(|link| link.speed_gt)));
    let most = link.map(|link| link.max_speed_gt);
    add(SYSFS, "pcie_most_speed_gt_s", "PCIe speed, maximum", "GT/s", on_pcie(most));
    let width = link.map(|link| f64::from(link.width));
    add(SYSFS, "pcie_lanes", "PCIe lanes", "", on_pcie(width));
    let most = link.map(|link| f64::from(link.max_width));
    add(SYSFS, "pcie_most_lanes", "PCIe lanes, maximum", "", on_pcie(most));
    let now = reported(&results.ata, |i| gbit(i.generation));
    add(ATA, "sata_gbit_s", "SATA speed", "Gb/s", now);
    let most = reported(&results.ata, |i| gbit(i.max_generation));
    add(ATA, "sata_most_gbit_s", "SATA speed, maximum", "Gb/s", most);
    add(SYSFS, "numa_node", "NUMA node", "", from_kernel(device.numa_node()));
    section
}

pub(super) fn blocks(device: &SysfsDevice, results: &QueryResults) -> Section {
    let mut section = Section::new("blocks", "Blocks and namespaces");
    let namespace = &results.namespace;
    let mut add = |source, key, label, unit, value| section.add(source, key, label, unit, value);
    let number =
        |name: &str| device.queue_attribute(name)?.parse::<u64>().ok().filter(|bytes| *bytes > 0);
    add(
        SYSFS,
        "logical_block_bytes",
        "Logical block",
        "B",
        from_kernel(number("logical_block_size")),
    );
    let physical = from_kernel(number("physical_block_size"));
    add(SYSFS, "physical_block_bytes", "Physical block", "B", physical);
    add(NAMESPACE, "formats", "Formats", "", reported(namespace, |n| Some(formats(n))));
    add(SYSFS, "namespace", "Namespace", "", from_kernel(device.namespace()));
    let active = reported(&results.active, |list| Some(list.len() as u64));
    add(CONTROLLER, "active_namespaces", "Active namespaces", "", active);
    let most = reported(&results.controller, |c| Some(c.max_namespaces));
    add(CONTROLLER, "most_namespaces", "Maximum number of namespaces", "", most);
    let block = |n: &Namespace| n.current_format().map(|format| format.block);
    let used = reported(namespace, |n| n.used_blocks.checked_mul(block(n)?));
    add(NAMESPACE, "used_bytes", "Utilization reported by the drive", "B", used);
    let total = reported(&results.controller, |c| bytes(c.total_capacity));
    add(CONTROLLER, "total_capacity_bytes", "Capacity of all namespaces", "B", total);
    let left = reported(&results.controller, |c| bytes(c.unallocated_capacity));
    add(CONTROLLER, "unallocated_bytes", "Capacity without a namespace", "B", left);
    let write = reported(namespace, |n| Some(block(n)? * u64::from(n.preferred_write?)));
    add(NAMESPACE, "preferred_write_bytes", "Preferred write granularity", "B", write);
    let most = reported(&results.controller, |c| c.max_transfer);
    add(CONTROLLER, "most_transfer_bytes", "Maximum data transfer size", "B", most);
    add(
        NAMESPACE,
        "shared",
        "Shared between controllers",
        "",
        reported(namespace, |n| Some(n.shared)),
    );
    add(
        SYSFS,
        "rotational",
        "Rotational",
        "",
        from_kernel(device.queue_attribute("rotational").map(|v| v == "1")),
    );
    section
}

fn formats(namespace: &Namespace) -> Table {
    let performance = ["best", "better", "good", "degraded"];
    Table {
        columns: vec!["format", "block_bytes", "metadata_bytes", "performance", "in_use"],
        rows: namespace
            .formats
            .iter()
            .map(|format| {
                vec![
                    format.number.into(),
                    format.block.into(),
                    format.metadata.into(),
                    performance[usize::from(format.performance & 3)].into(),
                    (format.number == namespace.format).into(),
                ]
            })
            .collect(),
    }
}

pub(super) fn erasing(device: &SysfsDevice, results: &QueryResults) -> Section {
    let mut section = Section::new("erasing", "Cache, TRIM and erasing");
    let mut add = |source, key, label, unit, value| section.add(source, key, label, unit, value);
    let has = nvme_or_ata(results, |c| Some(c.has_volatile_cache), |i| Some(i.has_write_cache));
    add(CONTROLLER, "volatile_write_cache", "Volatile write cache", "", has);
    let on = first_known([
        reported(&results.write_cache, |value| Some(value & 1 == 1)),
        reported(&results.ata, |i| i.has_write_cache.then_some(i.write_cache_on)),
    ]);
    add(FEATURES, "write_cache_on", "Write cache enabled", "", on);
    add(
        SYSFS,
        "kernel_write_cache",
        "Write cache mode of the kernel",
        "",
        from_kernel(device.queue_attribute("write_cache")),
    );
    let trims = nvme_or_ata(results, |c| Some(c.can_deallocate()), |i| Some(i.can_trim));
    add(CONTROLLER, "trim", "TRIM (deallocate)", "", trims);
    let most =
        device.queue_attribute("discard_max_bytes").and_then(|bytes| bytes.parse::<u64>().ok());
    add(SYSFS, "kernel_trim_bytes", "Maximum TRIM size of the kernel", "B", from_kernel(most));
    let reads = first_known([
        reported(&results.namespace, |n| Deallocated::words(n.deallocated)),
        reported(&results.ata, |i| match (i.trim_zeros, i.trim_is_deterministic) {
            (true, _) => Some("zeros"),
            (false, true) => Some("deterministic data"),
            (false, false) => None,
        }),
    ]);
    add(NAMESPACE, "trimmed_reads_as", "Trimmed blocks read as", "", reads);
    let format = reported(&results.controller, |c| Some(c.can_format()));
    add(CONTROLLER, "format", "Format", "", format);
    let crypto =
        reported(&results.controller, |c| c.can_format().then_some(c.format.cryptographic));
    add(CONTROLLER, "format_cryptographic", "Format with cryptographic erase", "", crypto);
    let all =
        |c: &Controller| c.can_format().then_some(c.format.formats_all || c.format.erases_all);
    add(
        CONTROLLER,
        "format_all_namespaces",
        "Format applies to all namespaces",
        "",
        reported(&results.controller, all),
    );
    let operations = |c: &Controller| {
        let operations = [
            (c.sanitize.crypto, "crypto"),
            (c.sanitize.block, "block"),
            (c.sanitize.overwrite, "overwrite"),
        ];
        let names: Vec<&str> = operations.iter().filter(|one| one.0).map(|one| one.1).collect();
        Some(if names.is_empty() { "none".to_owned() } else { names.join(", ") })
    };
    let ata_sanitize = |i: &crate::ata::Identity| Some(if i.sanitize { "yes" } else { "none" });
    add(CONTROLLER, "sanitize", "Sanitize", "", nvme_or_ata(results, operations, ata_sanitize));
    let state = reported(&results.sanitize, |log| match log.state {
        SanitizeState::Never => Some("never"),
        SanitizeState::Completed => Some("completed"),
        SanitizeState::Running => Some("running"),
        SanitizeState::Failed => Some("failed"),
        SanitizeState::Unknown(_) => None,
    });
    add("sanitize log", "last_sanitize", "Last sanitize", "", state);
    let erase = |i: &crate::ata::Identity| {
        let security = i.security?;
        Some(match (security.frozen, security.locked) {
            (true, _) => "supported, but frozen by the host firmware until a power cycle",
            (false, true) => "supported, but the drive is locked",
            (false, false) => "supported",
        })
    };
    add(ATA, "ata_secure_erase", "ATA secure erase", "", reported(&results.ata, erase));
    section
}

pub(super) fn security(results: &QueryResults) -> Section {
    let mut section = Section::new("security", "Security (reported; boot use not tested)");
    const DISCOVERY: &str = "level 0 discovery";
    let security = &results.security;
    let standards = reported(security, |security| {
        Some(match security.standards.is_empty() {
            true => "none".to_owned(),
            false => security.standards.join(", "),
        })
    });
    section.add(DISCOVERY, "standards", "TCG standards", "", standards);
    let has = |name: &'static str| {
        reported(security, move |security| {
            Some(security.standards.iter().any(|one| one.starts_with(name)))
        })
    };
    section.add(DISCOVERY, "opal", "Opal", "", has("Opal "));
    section.add(DISCOVERY, "pyrite", "Pyrite", "", has("Pyrite"));
    let locking = |get: fn(&crate::state::Locking) -> bool| {
        reported(security, move |security| security.locking.as_ref().map(get))
    };
    section.add(
        DISCOVERY,
        "locking_supported",
        "Locking supported",
        "",
        locking(|one| one.supported),
    );
    section.add(DISCOVERY, "locking_enabled", "Locking enabled", "", locking(|one| one.enabled));
    section.add(DISCOVERY, "locked", "Locked", "", locking(|one| one.locked));
    section.add(DISCOVERY, "encrypts", "Media encryption", "", locking(|one| one.encrypts));
    let ieee = reported(&results.protocols, |list| Some(list.contains(&PROTOCOL_1667)));
    section.add("security protocols", "ieee_1667", "IEEE 1667", "", ieee);
    let ata = reported(&results.ata, |identity| {
        let security = identity.security?;
        Some(match (security.enabled, security.locked, security.frozen) {
            (_, true, _) => "locked",
            (true, false, _) => "a password is set",
            (false, false, true) => "no password, frozen",
            (false, false, false) => "no password",
        })
    });
    section.add(ATA, "ata_security", "ATA security", "", ata);
    section
}

pub(super) fn queue(device: &SysfsDevice) -> Section {
    let mut section = Section::new("queue", "Queue of the block layer");
    let mut add = |key: &str, label: &str, unit, value| section.add(SYSFS, key, label, unit, value);
    let text = |name: &str| from_kernel(device.queue_attribute(name));
    let number = |name: &str| {
        from_kernel(device.queue_attribute(name).and_then(|text| text.parse::<u64>().ok()))
    };
    // The active scheduler is in brackets.
    let scheduler = device.queue_attribute("scheduler").map(|text| {
        let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        chosen.map_or(text.clone(), |(chosen, _)| chosen.to_owned())
    });
    add("scheduler", "Scheduler", "", from_kernel(scheduler));
    let queues = std::fs::read_dir(device.queue.join("mq")).ok().map(|list| list.flatten().count());
    add("hardware_queues", "Hardware queues", "", from_kernel(queues.map(|count| count as u64)));
    add("requests", "Requests per queue", "", number("nr_requests"));
    let polls = device.queue_attribute("io_poll").map(|text| text == "1");
    add("polling", "Polling supported", "", from_kernel(polls));
    let polled = match device.controller {
        Some(_) => attribute(Path::new("/sys/module/nvme/parameters/poll_queues")),
        None => None,
    };
    add(
        "poll_queues",
        "Poll queues of the driver",
        "",
        from_kernel(polled.and_then(|n| n.parse::<u64>().ok())),
    );
    add("most_request_kib", "Maximum request size", "KiB", number("max_sectors_kb"));
    add("timeout_ms", "Time-out", "ms", number("io_timeout"));
    add("merges_off", "Merging disabled", "", number("nomerges"));
    add("zoned", "Zones", "", text("zoned"));
    section
}
