//! What the host is: facts from /proc and /sys, in the field's words. Nothing is guessed.

use ssdgauge_core::Bytes;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the facts about this host that bear on a result, as pairs of key and value.
pub fn environment() -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut add = |key: &str, value: Option<String>| {
        facts.extend(value.filter(|value| !value.is_empty()).map(|value| (key.to_owned(), value)));
    };
    let system = rustix::system::uname();
    add("kernel", Some(system.release().to_string_lossy().into_owned()));
    add("architecture", Some(system.machine().to_string_lossy().into_owned()));
    add("host", Some(system.nodename().to_string_lossy().into_owned()));
    add("operating_system", line_after("/etc/os-release", "PRETTY_NAME="));
    add("processor", line_after("/proc/cpuinfo", "model name"));
    add("processors", std::thread::available_parallelism().ok().map(|n| n.to_string()));
    add("memory", line_after("/proc/meminfo", "MemTotal"));
    let sources = Path::new("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    add("clock_source", attribute(sources));
    let governor = Path::new("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    add("frequency_governor", attribute(governor));
    add("boot_id", attribute(Path::new("/proc/sys/kernel/random/boot_id")));
    add("io_uring_disabled", attribute(Path::new("/proc/sys/kernel/io_uring_disabled")));
    add("rights", crate::rights::in_words().map(str::to_owned));
    facts
}

fn line_after(file: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.trim_start_matches([' ', '\t', ':', '=']).trim().trim_matches('"').to_owned())
}

/// Returns the trimmed content of a file in /sys or /proc; `None` where it is absent or empty.
pub(crate) fn attribute(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// What /sys knows of a block device.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceFacts {
    pub(crate) model: Option<String>,
    pub(crate) serial: Option<String>,
    pub(crate) firmware: Option<String>,
    pub(crate) details: BTreeMap<String, String>,
}

/// Returns the folder in /sys of the device `number`; of the whole disk where it is a partition.
pub(crate) fn block_device_of(number: u64) -> Option<PathBuf> {
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let folder = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    match folder.join("partition").exists() {
        true => folder.parent().map(Path::to_owned),
        false => Some(folder),
    }
}

/// Returns the serial of a SCSI device, as SATA and USB drives are to the kernel, whose folder is
/// `folder`: page 80h of its product data, behind four bytes of header (SPC-4, section 7.8.18).
pub(crate) fn unit_serial(folder: &Path) -> Option<String> {
    let page = fs::read(folder.join("device/vpd_pg80")).ok()?;
    let text = String::from_utf8_lossy(page.get(4..)?).trim_matches(['\0', ' ']).to_owned();
    (!text.is_empty()).then_some(text)
}

/// Returns what /sys knows of the block device whose folder is `folder`.
pub(crate) fn device_facts(folder: &Path) -> DeviceFacts {
    let get = |name: &str| attribute(&folder.join(name));
    let mut facts = DeviceFacts {
        model: get("device/model"),
        serial: get("device/serial")
            .or_else(|| unit_serial(folder))
            .or_else(|| get("serial"))
            .or_else(|| get("wwid")),
        firmware: get("device/firmware_rev").or_else(|| get("device/rev")),
        details: BTreeMap::new(),
    };
    for (key, name) in [
        ("device", "dev"),
        ("scheduler", "queue/scheduler"),
        ("write_cache", "queue/write_cache"),
        ("rotational", "queue/rotational"),
        ("hardware_queues", "queue/nr_hw_queues"),
        ("queue_requests", "queue/nr_requests"),
        ("transport", "device/transport"),
        ("link_speed", "device/device/current_link_speed"),
        ("link_width", "device/device/current_link_width"),
        ("numa_node", "device/numa_node"),
    ] {
        facts.details.extend(get(name).map(|value| (key.to_owned(), value)));
    }
    if let Some(name) = folder.file_name() {
        facts.details.insert("kernel_name".into(), name.to_string_lossy().into_owned());
    }
    facts
}

/// Returns the size of the device whose folder is `folder`.
pub(crate) fn device_size(folder: &Path) -> Option<Bytes> {
    // The kernel counts in units of 512 bytes, whatever the device's own block is.
    attribute(&folder.join("size"))?.parse::<u64>().ok().map(|sectors| Bytes(sectors * 512))
}

/// Returns which file system holds `folder`, from the mount table.
pub(crate) fn file_system_of(folder: &Path) -> BTreeMap<String, String> {
    let table = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounts = table.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (source, point, kind) = (words.next()?, words.next()?, words.next()?);
        let inside = folder.starts_with(unescape(point));
        inside.then(|| (point.len(), source, kind, words.next().unwrap_or_default()))
    });
    let mut facts = BTreeMap::new();
    if let Some((_, source, kind, options)) = mounts.max_by_key(|mount| mount.0) {
        facts.insert("file_system".into(), kind.to_owned());
        facts.insert("mounted_from".into(), unescape(source));
        facts.insert("mount_options".into(), options.to_owned());
    }
    facts
}

/// Undoes the escapes of the mount table: blank, tab, line feed and backslash as octal numbers.
pub(crate) fn unescape(text: &str) -> String {
    let pairs = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
