//! What a drive is: the sections of a card that do not change while it is used.

use super::source::{
    ATA, CONTROLLER, FEATURES, NAMESPACE, SYSFS, bytes, either, first, kernel, of,
};
use super::{Answers, NO_NVME, SATA_GBIT};
use crate::controller::{Controller, Deallocated, Namespace};
use crate::state::{PROTOCOL_1667, SanitizeState};
use crate::sysfs_device::{SysfsDevice, file_name};
use ssdgauge_core::{Section, Table, Value};
use ssdgauge_os::sysfs::attribute;
use ssdgauge_os::sysfs::device_size;
use std::path::Path;

pub(super) fn identity(place: &SysfsDevice, answers: &Answers) -> Section {
    let mut section = Section::new("identity", "Identity");
    let namespace = &answers.namespace;
    let mut add = |source, key, label, unit, value| section.add(source, key, label, unit, value);
    let asked = |nvme: fn(&Controller) -> &Option<String>,
                 ata: fn(&crate::ata::Identity) -> &Option<String>,
                 told: Option<String>| {
        first([kernel(told), either(answers, |c| nvme(c).clone(), |i| ata(i).clone())])
    };
    // IDENTIFY DEVICE has the whole model where the SCSI form of it is cut.
    let whole = answers.ata.as_ref().ok().and_then(|identity| identity.model.clone());
    let model = whole.or_else(|| place.device("model"));
    add(SYSFS, "model", "Model", "", asked(|c| &c.model, |i| &i.model, model));
    add(SYSFS, "serial", "Serial", "", asked(|c| &c.serial, |i| &i.serial, place.serial()));
    let own = answers.ata.as_ref().ok().and_then(|identity| identity.firmware.clone());
    let firmware = own.or_else(|| place.device("firmware_rev")).or_else(|| place.device("rev"));
    add(SYSFS, "firmware", "Firmware", "", asked(|c| &c.firmware, |i| &i.firmware, firmware));
    let size = device_size(&place.folder).map(|size| size.0).filter(|size| *size > 0);
    add(SYSFS, "capacity_bytes", "Capacity", "B", kernel(size));
    add(SYSFS, "kernel_name", "Kernel name", "", Value::Text(place.name()));
    add(SYSFS, "controller", "Controller", "", kernel(place.controller_name()));
    add(
        SYSFS,
        "paths",
        "Controllers that lead to it",
        "",
        match place.paths {
            0 => Value::Missing(NO_NVME.into()),
            paths => Value::Count(paths as u64),
        },
    );
    add(SYSFS, "wwid", "World-wide name", "", kernel(place.wwid()));
    let version = |c: &Controller| c.version.map(|(a, b, t)| format!("{a}.{b}.{t}"));
    add(CONTROLLER, "nvme_version", "NVMe version", "", of(&answers.controller, version));
    let vendor = |c: &Controller| Some(format!("{:04x}:{:04x}", c.vendor, c.subsystem_vendor));
    add(CONTROLLER, "vendor_id", "Vendor and subsystem", "", of(&answers.controller, vendor));
    let oui = |c: &Controller| Some(c.ieee_oui.clone());
    add(CONTROLLER, "ieee_oui", "Maker's number", "", of(&answers.controller, oui));
    let slots = |c: &Controller| Some(c.firmware_slots).filter(|slots| *slots > 0);
    add(CONTROLLER, "firmware_slots", "Firmware slots", "", of(&answers.controller, slots));
    let name = |c: &Controller| c.subsystem_name.clone();
    add(CONTROLLER, "subsystem_name", "Subsystem", "", of(&answers.controller, name));
    let id = |c: &Controller| Some(c.controller_id);
    add(CONTROLLER, "controller_id", "Controller number", "", of(&answers.controller, id));
    add(NAMESPACE, "nguid", "NGUID", "", of(namespace, |n| n.nguid.clone()));
    add(NAMESPACE, "eui64", "EUI-64", "", of(namespace, |n| n.eui64.clone()));
    add(ATA, "ata_wwn", "ATA world-wide name", "", of(&answers.ata, |i| i.wwn.clone()));
    section
}

pub(super) fn link(place: &SysfsDevice, answers: &Answers) -> Section {
    let mut section = Section::new("link", "Link");
    let mut add = |source, key, label, unit, value| section.add(source, key, label, unit, value);
    let link = place.link();
    let on_pcie = |value: Option<f64>| match place.controller {
        Some(_) => kernel(value),
        None => Value::Missing(NO_NVME.into()),
    };
    add(SYSFS, "transport", "Transport", "", kernel(place.transport()));
    let pci = place.pci().map(|folder| file_name(&folder));
    add(SYSFS, "pci_address", "PCI address", "", kernel(pci));
    add(SYSFS, "pcie_speed_gt_s", "PCIe speed", "GT/s", on_pcie(link.map(|link| link.speed_gt)));
    let most = link.map(|link| link.most_speed_gt);
    add(SYSFS, "pcie_most_speed_gt_s", "Speed the drive can", "GT/s", on_pcie(most));
    let width = link.map(|link| f64::from(link.width));
    add(SYSFS, "pcie_lanes", "PCIe lanes", "", on_pcie(width));
    let most = link.map(|link| f64::from(link.most_width));
    add(SYSFS, "pcie_most_lanes", "Lanes the drive can", "", on_pcie(most));
    let gigabits = |generation: Option<u8>| Some(SATA_GBIT[usize::from(generation?)]);
    let now = of(&answers.ata, |i| gigabits(i.generation));
    add(ATA, "sata_gbit_s", "SATA speed", "Gb/s", now);
    let most = of(&answers.ata, |i| gigabits(i.most_generation));
    add(ATA, "sata_most_gbit_s", "Speed the drive can", "Gb/s", most);
    add(SYSFS, "numa_node", "NUMA node", "", kernel(place.numa_node()));
    section
}

pub(super) fn blocks(place: &SysfsDevice, answers: &Answers) -> Section {
    let mut section = Section::new("blocks", "Blocks and namespaces");
    let namespace = &answers.namespace;
    let mut add = |source, key, label, unit, value| section.add(source, key, label, unit, value);
    let number = |name: &str| place.queue(name)?.parse::<u64>().ok().filter(|bytes| *bytes > 0);
    add(SYSFS, "logical_block_bytes", "Logical block", "B", kernel(number("logical_block_size")));
    let physical = kernel(number("physical_block_size"));
    add(SYSFS, "physical_block_bytes", "Physical block", "B", physical);
    add(NAMESPACE, "formats", "Formats", "", of(namespace, |n| Some(formats(n))));
    add(SYSFS, "namespace", "Namespace", "", kernel(place.namespace()));
    let active = of(&answers.active, |list| Some(list.len() as u64));
    add(CONTROLLER, "active_namespaces", "Namespaces in use", "", active);
    let most = of(&answers.controller, |c| Some(c.most_namespaces));
    add(CONTROLLER, "most_namespaces", "Most namespaces", "", most);
    let block = |n: &Namespace| n.current_format().map(|format| format.block);
    let used = of(namespace, |n| n.used_blocks.checked_mul(block(n)?));
    add(NAMESPACE, "used_bytes", "In use by the drive's count", "B", used);
    let total = of(&answers.controller, |c| bytes(c.total_capacity));
    add(CONTROLLER, "total_capacity_bytes", "Capacity of all namespaces", "B", total);
    let left = of(&answers.controller, |c| bytes(c.unallocated_capacity));
    add(CONTROLLER, "unallocated_bytes", "In no namespace", "B", left);
    let write = of(namespace, |n| Some(block(n)? * u64::from(n.preferred_write?)));
    add(NAMESPACE, "preferred_write_bytes", "Preferred unit of writes", "B", write);
    let most = of(&answers.controller, |c| c.most_transfer);
    add(CONTROLLER, "most_transfer_bytes", "Most bytes of a command", "B", most);
    add(NAMESPACE, "shared", "Shared between controllers", "", of(namespace, |n| Some(n.shared)));
    add(
        SYSFS,
        "rotational",
        "Turning medium",
        "",
        kernel(place.queue("rotational").map(|v| v == "1")),
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

pub(super) fn erasing(place: &SysfsDevice, answers: &Answers) -> Section {
    let mut section = Section::new("erasing", "Cache, TRIM and erasing");
    let mut add = |source, key, label, unit, value| section.add(source, key, label, unit, value);
    let has = either(answers, |c| Some(c.has_volatile_cache), |i| Some(i.has_write_cache));
    add(CONTROLLER, "volatile_write_cache", "Volatile write cache", "", has);
    let on = first([
        of(&answers.write_cache, |value| Some(value & 1 == 1)),
        of(&answers.ata, |i| i.has_write_cache.then_some(i.write_cache_on)),
    ]);
    add(FEATURES, "write_cache_on", "Write cache switched on", "", on);
    add(
        SYSFS,
        "kernel_write_cache",
        "The kernel treats it as",
        "",
        kernel(place.queue("write_cache")),
    );
    let trims = either(answers, |c| Some(c.can_deallocate()), |i| Some(i.can_trim));
    add(CONTROLLER, "trim", "TRIM (deallocate)", "", trims);
    let most = place.queue("discard_max_bytes").and_then(|bytes| bytes.parse::<u64>().ok());
    add(SYSFS, "kernel_trim_bytes", "Most the kernel trims at a time", "B", kernel(most));
    let reads = first([
        of(&answers.namespace, |n| Deallocated::words(n.deallocated)),
        of(&answers.ata, |i| match (i.trim_zeros, i.trim_is_deterministic) {
            (true, _) => Some("zeros"),
            (false, true) => Some("always the same"),
            (false, false) => None,
        }),
    ]);
    add(NAMESPACE, "trimmed_reads_as", "Trimmed blocks read as", "", reads);
    let format = of(&answers.controller, |c| Some(c.can_format()));
    add(CONTROLLER, "format", "Format", "", format);
    let crypto = of(&answers.controller, |c| c.can_format().then_some(c.format.cryptographic));
    add(CONTROLLER, "format_cryptographic", "Format with cryptographic erase", "", crypto);
    let all =
        |c: &Controller| c.can_format().then_some(c.format.formats_all || c.format.erases_all);
    add(
        CONTROLLER,
        "format_all_namespaces",
        "A format reaches all namespaces",
        "",
        of(&answers.controller, all),
    );
    let ways = |c: &Controller| {
        let ways = [
            (c.sanitize.crypto, "crypto"),
            (c.sanitize.block, "block"),
            (c.sanitize.overwrite, "overwrite"),
        ];
        let names: Vec<&str> = ways.iter().filter(|way| way.0).map(|way| way.1).collect();
        Some(if names.is_empty() { "none".to_owned() } else { names.join(", ") })
    };
    let ata_sanitize = |i: &crate::ata::Identity| Some(if i.sanitize { "yes" } else { "none" });
    add(CONTROLLER, "sanitize", "Sanitize", "", either(answers, ways, ata_sanitize));
    let state = of(&answers.sanitize, |log| match log.state {
        SanitizeState::Never => Some("never done"),
        SanitizeState::Completed => Some("completed"),
        SanitizeState::Running => Some("running"),
        SanitizeState::Failed => Some("failed"),
        SanitizeState::Unknown(_) => None,
    });
    add("sanitize log", "last_sanitize", "Last sanitize", "", state);
    let erase = |i: &crate::ata::Identity| {
        let security = i.security?;
        Some(match (security.frozen, security.locked) {
            (true, _) => "there, but closed by the host's firmware until a power cycle",
            (false, true) => "there, but the drive is locked",
            (false, false) => "possible",
        })
    };
    add(ATA, "ata_secure_erase", "ATA secure erase", "", of(&answers.ata, erase));
    section
}

pub(super) fn security(answers: &Answers) -> Section {
    let mut section = Section::new("security", "Security (reported; boot use not tested)");
    const DISCOVERY: &str = "level 0 discovery";
    let security = &answers.security;
    let standards = of(security, |security| {
        Some(match security.standards.is_empty() {
            true => "none".to_owned(),
            false => security.standards.join(", "),
        })
    });
    section.add(DISCOVERY, "standards", "TCG standards", "", standards);
    let has = |name: &'static str| {
        of(security, move |security| {
            Some(security.standards.iter().any(|one| one.starts_with(name)))
        })
    };
    section.add(DISCOVERY, "opal", "Opal", "", has("Opal "));
    section.add(DISCOVERY, "pyrite", "Pyrite", "", has("Pyrite"));
    let locking = |get: fn(&crate::state::Locking) -> bool| {
        of(security, move |security| security.locking.as_ref().map(get))
    };
    section.add(DISCOVERY, "locking_supported", "Locking", "", locking(|one| one.supported));
    section.add(DISCOVERY, "locking_enabled", "Locking in use", "", locking(|one| one.enabled));
    section.add(DISCOVERY, "locked", "Locked now", "", locking(|one| one.locked));
    section.add(DISCOVERY, "encrypts", "Encrypts its media", "", locking(|one| one.encrypts));
    let ieee = of(&answers.protocols, |list| Some(list.contains(&PROTOCOL_1667)));
    section.add("security protocols", "ieee_1667", "IEEE 1667", "", ieee);
    let ata = of(&answers.ata, |identity| {
        let security = identity.security?;
        Some(match (security.enabled, security.locked, security.frozen) {
            (_, true, _) => "locked",
            (true, false, _) => "a password is set",
            (false, false, true) => "no password, frozen",
            (false, false, false) => "no password",
        })
    });
    section.add(ATA, "ata_security", "ATA passwords", "", ata);
    section
}

pub(super) fn queue(place: &SysfsDevice) -> Section {
    let mut section = Section::new("queue", "Queue of the kernel");
    let mut add = |key: &str, label: &str, unit, value| section.add(SYSFS, key, label, unit, value);
    let text = |name: &str| kernel(place.queue(name));
    let number = |name: &str| kernel(place.queue(name).and_then(|text| text.parse::<u64>().ok()));
    // The one in use stands in brackets.
    let scheduler = place.queue("scheduler").map(|text| {
        let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        chosen.map_or(text.clone(), |(chosen, _)| chosen.to_owned())
    });
    add("scheduler", "Scheduler", "", kernel(scheduler));
    let queues = std::fs::read_dir(place.queue.join("mq")).ok().map(|list| list.flatten().count());
    add("hardware_queues", "Hardware queues", "", kernel(queues.map(|count| count as u64)));
    add("requests", "Requests of a queue", "", number("nr_requests"));
    let polls = place.queue("io_poll").map(|text| text == "1");
    add("polling", "Polling possible", "", kernel(polls));
    let polled = match place.controller {
        Some(_) => attribute(Path::new("/sys/module/nvme/parameters/poll_queues")),
        None => None,
    };
    add(
        "poll_queues",
        "Poll queues of the driver",
        "",
        kernel(polled.and_then(|n| n.parse::<u64>().ok())),
    );
    add("most_request_kib", "Most of a request", "KiB", number("max_sectors_kb"));
    add("timeout_ms", "Time-out", "ms", number("io_timeout"));
    add("merges_off", "Merging switched off", "", number("nomerges"));
    add("zoned", "Zones", "", text("zoned"));
    section
}
