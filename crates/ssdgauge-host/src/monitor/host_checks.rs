//! Host checks: settings of the kernel, the processor and the link that affect every result.
//!
//! Everything is read from sysfs and procfs below a root that tests replace. Nothing is changed,
//! and a setting that cannot be read is not a finding: `doctor` says that it is unknown.

use ssdgauge_core::{Finding, FindingKind, Processors, Severity, rounded};
use ssdgauge_os::sysfs::attribute;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The wake-up latency of an idle state, in µs, that is visible in requests of 50 to 100 µs.
const DEEP_SLEEP_US: u64 = 50;
/// The alignment of partitions: a multiple of every page and stripe size of drives, and the default
/// of partitioning tools.
const PARTITION_GRID: u64 = 1 << 20;
/// The clock sources that are read without a system call.
const FAST_CLOCKS: [&str; 4] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];

/// A setting of the host or of the link, as it was found before a run.
#[derive(Clone, Debug, PartialEq)]
pub struct HostCheck {
    /// Its name, such as `scheduler`.
    pub name: &'static str,
    /// What was found.
    pub state: CheckState,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckState {
    /// As it should be: the value.
    Fine(String),
    /// The finding of a run.
    Found(Finding),
    /// Not known: the reason.
    Unknown(String),
}
use CheckState::{Fine, Found, Unknown};

/// Returns a finding for each setting that affects results on the block device `number`, or on a
/// file that lies on it; `is_block` says which of the two is tested.
pub(crate) fn check_host(root: &Path, number: Option<u64>, is_block: bool) -> Vec<Finding> {
    let device = number.map(|number| check_device(root, number, is_block)).unwrap_or_default();
    let found = |check: HostCheck| match check.state {
        Found(finding) => Some(finding),
        Fine(_) | Unknown(_) => None,
    };
    check_machine(root).into_iter().chain(device).filter_map(found).collect()
}

/// Returns the settings of the machine, by the kernel's files below `root`.
pub(crate) fn check_machine(root: &Path) -> Vec<HostCheck> {
    vec![
        HostCheck { name: "governor", state: governor(root) },
        HostCheck { name: "idle-states", state: idle_states(root) },
        HostCheck { name: "clock-source", state: clock_source(root) },
    ]
}

/// Returns the settings of the block device `number`, its link and its place in the machine.
pub(crate) fn check_device(root: &Path, number: u64, is_block: bool) -> Vec<HostCheck> {
    let Some(folder) = device_folder(root, number) else {
        let state = Unknown("the kernel does not name the device below it".into());
        return vec![HostCheck { name: "scheduler", state }];
    };
    let disk = match folder.join("partition").exists() {
        true => folder.parent().map_or(folder.clone(), Path::to_owned),
        false => folder.clone(),
    };
    let mut checks = vec![
        HostCheck { name: "scheduler", state: scheduler(&disk) },
        HostCheck { name: "alignment", state: misaligned(&folder, is_block) },
    ];
    let controller = controller_of(&disk);
    if is_nvme(&disk) {
        let unknown = || Unknown("the kernel reports no PCIe link of it".into());
        let state = controller.as_deref().and_then(link).unwrap_or_else(unknown);
        checks.push(HostCheck { name: "link", state });
    }
    let node = [Some(disk.join("device/numa_node")), controller.map(|path| path.join("numa_node"))];
    let node = node.into_iter().flatten().find_map(|path| attribute(&path)?.parse::<u32>().ok());
    let state = remote_node(root, node, &ssdgauge_os::thread::allowed_processors());
    checks.push(HostCheck { name: "numa-node", state });
    checks
}

/// Returns the folder in sysfs of the block device `number`.
fn device_folder(root: &Path, number: u64) -> Option<PathBuf> {
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    fs::canonicalize(root.join(format!("sys/dev/block/{major}:{minor}"))).ok()
}

fn warning(kind: FindingKind, text: String, advice: impl Into<String>) -> CheckState {
    Found(Finding::new(kind, Severity::Warning, text, advice))
}

fn scheduler(disk: &Path) -> CheckState {
    let text = attribute(&disk.join("queue/scheduler")).unwrap_or_default();
    // A queue that has no scheduler at all shows "none" without brackets.
    let chosen = text.split_once('[').and_then(|(_, rest)| Some(rest.split_once(']')?.0));
    let name = disk.file_name().unwrap_or_default().to_string_lossy();
    match chosen.or((text == "none").then_some("none")) {
        None => Unknown("the kernel does not report its I/O scheduler".into()),
        Some("none") => Fine("none".into()),
        Some(chosen) => warning(
            FindingKind::Scheduler,
            format!("the drive uses the I/O scheduler {chosen}"),
            format!(
                "it may reorder and delay requests: echo none > /sys/block/{name}/queue/scheduler"
            ),
        ),
    }
}

fn governor(root: &Path) -> CheckState {
    let processors = fs::read_dir(root.join("sys/devices/system/cpu"));
    let governors: BTreeSet<String> = processors
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| attribute(&entry.path().join("cpufreq/scaling_governor")))
        .collect();
    if governors.is_empty() {
        return Unknown(
            "the kernel does not set the frequency of the processor (no cpufreq)".into(),
        );
    }
    let names: Vec<&str> =
        governors.iter().map(String::as_str).filter(|name| *name != "performance").collect();
    if names.is_empty() {
        return Fine("performance".into());
    }
    warning(
        FindingKind::FrequencyGovernor,
        format!("the processor's frequency governor is {}", names.join(" and ")),
        "latencies are longer at a low frequency: cpupower frequency-set -g performance",
    )
}

fn idle_states(root: &Path) -> CheckState {
    let states = fs::read_dir(root.join("sys/devices/system/cpu/cpu0/cpuidle"));
    let enabled =
        states.into_iter().flatten().flatten().map(|state| state.path()).filter(|state| {
            attribute(&state.join("disable")).is_none_or(|disabled| disabled == "0")
        });
    let deepest = enabled
        .filter_map(|state| {
            let latency: u64 = attribute(&state.join("latency"))?.parse().ok()?;
            Some((latency, attribute(&state.join("name"))?))
        })
        .max();
    let Some((latency, name)) = deepest else {
        return Unknown("the kernel reports no idle states of the processor (no cpuidle)".into());
    };
    let wake_up = rounded::latency(latency as f64);
    if latency < DEEP_SLEEP_US {
        return Fine(format!("{name} at the deepest, whose wake-up takes {wake_up}"));
    }
    Found(Finding::new(
        FindingKind::IdleStates,
        Severity::Note,
        format!("the processor may enter the idle state {name}, whose wake-up takes {wake_up}"),
        "latencies at low queue depth include the wake-up: cpupower idle-set -D 10",
    ))
}

fn clock_source(root: &Path) -> CheckState {
    let folder = root.join("sys/devices/system/clocksource/clocksource0");
    match attribute(&folder.join("current_clocksource")) {
        None => Unknown("the kernel does not report its clock source".into()),
        Some(source) if FAST_CLOCKS.contains(&source.as_str()) => Fine(source),
        Some(source) => warning(
            FindingKind::ClockSource,
            format!("the clock source of the kernel is {source}, which is slow to read"),
            "each reading costs 1 µs or more: see why the kernel rejected the time stamp counter of \
             the processor (dmesg | grep -i tsc)",
        ),
    }
}

fn is_nvme(disk: &Path) -> bool {
    disk.file_name().is_some_and(|name| name.to_string_lossy().starts_with("nvme"))
}

/// Returns the folder of the PCI device of an NVMe drive, also behind a multipath head, which has
/// no PCI device. The link of a SATA or SAS host adapter is shared by its drives and not checked.
fn controller_of(disk: &Path) -> Option<PathBuf> {
    let direct = disk.ancestors().find(|folder| folder.join("current_link_speed").exists());
    if !is_nvme(disk) {
        return None;
    }
    direct.map(Path::to_owned).or_else(|| {
        let subsystem = disk.parent()?;
        let paths = fs::read_dir(subsystem).ok()?.flatten().map(|entry| entry.path());
        let mut controllers = paths.filter_map(|path| fs::canonicalize(path.join("device")).ok());
        controllers.find(|folder| folder.join("current_link_speed").exists())
    })
}

/// Returns the state of the link; `None` where the kernel does not know it.
fn link(controller: &Path) -> Option<CheckState> {
    let speed = |name: &str| -> Option<f64> {
        attribute(&controller.join(name))?.split(' ').next()?.parse().ok()
    };
    let width = |name: &str| attribute(&controller.join(name))?.parse::<u32>().ok();
    let (is_speed, most_speed) = (speed("current_link_speed")?, speed("max_link_speed")?);
    let (is_width, most_width) = (width("current_link_width")?, width("max_link_width")?);
    // The kernel reports an unknown width as 255 or 0.
    let known = |width: u32| width > 0 && width < 255;
    if !known(is_width) || !known(most_width) {
        return None;
    }
    if is_speed >= most_speed && is_width >= most_width {
        return Some(Fine(format!("{is_speed} GT/s ×{is_width}, as the drive is capable of")));
    }
    Some(warning(
        FindingKind::LinkBelowCapability,
        format!(
            "the link runs at {is_speed} GT/s ×{is_width}; the drive is capable of {most_speed} \
             GT/s ×{most_width}"
        ),
        "use a faster slot, and check risers, cables and the settings of the firmware",
    ))
}

/// `folder` is that of the device under test, or of the one below the file system.
fn misaligned(folder: &Path, is_block: bool) -> CheckState {
    let number = |name: &str| attribute(&folder.join(name))?.parse::<u64>().ok();
    let start =
        number("start").filter(|_| folder.join("partition").exists()).map_or(0, |s| s * 512);
    let off = number("alignment_offset").unwrap_or(0);
    if start.is_multiple_of(PARTITION_GRID) && off == 0 {
        return Fine(format!("begins at byte {start}"));
    }
    let what = if is_block { "the target" } else { "the partition below the folder" };
    let text = match start.is_multiple_of(PARTITION_GRID) {
        false => format!("{what} begins at byte {start}, which is not a multiple of 1 MiB"),
        true => format!("{what} begins {off} bytes after a physical block of the drive"),
    };
    warning(
        FindingKind::Misaligned,
        text,
        "each request may touch one physical block more than necessary: begin the partition at a \
         multiple of 1 MiB",
    )
}

fn remote_node(root: &Path, node: Option<u32>, allowed: &[usize]) -> CheckState {
    let nodes = root.join("sys/devices/system/node");
    let online = attribute(&nodes.join("online")).and_then(|text| text.parse::<Processors>().ok());
    // Nodes are listed as processors are.
    match online.map(|online| online.count()) {
        None => return Unknown("the kernel does not list NUMA nodes".into()),
        Some(count) if count < 2 => return Fine("the only one".into()),
        Some(_) => {}
    }
    // A node of memory alone has an empty list.
    let list = |node: u32| Some((node, attribute(&nodes.join(format!("node{node}/cpulist")))?));
    let Some((node, near)) = node.and_then(list) else {
        return Unknown("the kernel does not report the NUMA node of the drive".into());
    };
    let near: Processors = near.parse().unwrap_or_default();
    let far = allowed.iter().filter(|processor| !near.contains(**processor)).count();
    if far == 0 {
        return Fine(format!("node {node}, as all usable processors"));
    }
    warning(
        FindingKind::RemoteNode,
        format!(
            "the drive is attached to NUMA node {node}; {far} of the {} usable processors are not",
            allowed.len()
        ),
        format!("requests cross between nodes: numactl --cpunodebind={node} --membind={node} …"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of sysfs with an NVMe drive (259:0), a partition of it (259:1), and the settings of a
    /// host without findings.
    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let pci = "sys/devices/pci0000:00/0000:01:00.0";
        let disk = format!("{pci}/nvme/nvme0/nvme0n1");
        for (path, text) in [
            (format!("{disk}/queue/scheduler"), "[none] mq-deadline"),
            (format!("{disk}/alignment_offset"), "0"),
            (format!("{disk}/device/numa_node"), "1"),
            (format!("{disk}/nvme0n1p1/partition"), "1"),
            (format!("{disk}/nvme0n1p1/start"), "2048"),
            (format!("{pci}/current_link_speed"), "16.0 GT/s PCIe"),
            (format!("{pci}/max_link_speed"), "16.0 GT/s PCIe"),
            (format!("{pci}/current_link_width"), "4"),
            (format!("{pci}/max_link_width"), "4"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor".into(), "performance"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency".into(), "2"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state0/name".into(), "C1"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/latency".into(), "133"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/name".into(), "C6"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/disable".into(), "1"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource".into(), "tsc"),
            ("sys/devices/system/node/online".into(), "0-1"),
            ("sys/devices/system/node/node1/cpulist".into(), "0-4095"),
        ] {
            write(root.path(), &path, text);
        }
        fs::create_dir_all(root.path().join("sys/dev/block")).unwrap();
        for (number, target) in [("259:0", ""), ("259:1", "/nvme0n1p1")] {
            let link = root.path().join("sys/dev/block").join(number);
            let to = format!("../../../{disk}{target}");
            std::os::unix::fs::symlink(to, link).unwrap();
        }
        root
    }

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }

    fn found(root: &Path, minor: u32) -> Vec<Finding> {
        check_host(root, Some(rustix::fs::makedev(259, minor)), true)
    }

    #[test]
    fn a_well_configured_host_has_no_findings() {
        let root = tree();
        assert_eq!(found(root.path(), 0), []);
        assert_eq!(found(root.path(), 1), []);
        assert_eq!(check_host(root.path(), None, true), []);
        assert_eq!(check_host(Path::new("/nowhere"), Some(1), true), []);
    }

    #[test]
    fn each_condition_is_reported_with_advice() {
        let pci = "sys/devices/pci0000:00/0000:01:00.0";
        let disk = format!("{pci}/nvme/nvme0/nvme0n1");
        let cpu = "sys/devices/system/cpu/cpu0";
        for (path, text, kind, words) in [
            (
                format!("{disk}/queue/scheduler"),
                "none [mq-deadline] kyber",
                FindingKind::Scheduler,
                "mq-deadline",
            ),
            (
                format!("{cpu}/cpufreq/scaling_governor"),
                "powersave",
                FindingKind::FrequencyGovernor,
                "powersave",
            ),
            (format!("{cpu}/cpuidle/state1/disable"), "0", FindingKind::IdleStates, "C6"),
            (
                "sys/devices/system/clocksource/clocksource0/current_clocksource".into(),
                "hpet",
                FindingKind::ClockSource,
                "hpet",
            ),
            (
                format!("{pci}/current_link_speed"),
                "2.5 GT/s PCIe",
                FindingKind::LinkBelowCapability,
                "2.5 GT/s ×4",
            ),
            (
                format!("{pci}/current_link_width"),
                "1",
                FindingKind::LinkBelowCapability,
                "16 GT/s ×1",
            ),
            (format!("{disk}/nvme0n1p1/start"), "63", FindingKind::Misaligned, "byte 32256"),
            (
                format!("{disk}/nvme0n1p1/alignment_offset"),
                "512",
                FindingKind::Misaligned,
                "512 bytes after",
            ),
            (
                "sys/devices/system/node/node1/cpulist".into(),
                "4000-4095",
                FindingKind::RemoteNode,
                "NUMA node 1",
            ),
        ] {
            let root = tree();
            write(root.path(), &path, text);
            let findings = found(root.path(), 1);
            assert_eq!(findings.len(), 1, "{path}: {findings:?}");
            assert_eq!(findings[0].kind, kind, "{path}");
            assert!(findings[0].text.contains(words), "{}", findings[0].text);
            assert!(!findings[0].advice.is_empty());
        }
    }

    #[test]
    fn a_drive_behind_a_multipath_head_is_found_through_its_controller() {
        let root = tree();
        let head = "sys/devices/virtual/nvme-subsystem/nvme-subsys0";
        write(root.path(), &format!("{head}/nvme9n1/size"), "2048");
        let at = root.path().join(head);
        std::os::unix::fs::symlink("../../../pci0000:00/0000:01:00.0/nvme/nvme0", at.join("nvme0"))
            .unwrap();
        let pci = root.path().join("sys/devices/pci0000:00/0000:01:00.0");
        std::os::unix::fs::symlink("../..", pci.join("nvme/nvme0/device")).unwrap();
        assert_eq!(controller_of(&at.join("nvme9n1")), Some(fs::canonicalize(pci).unwrap()));
    }

    #[test]
    fn what_cannot_be_read_is_unknown_and_never_fine() {
        let root = tree();
        let all = |root: &Path| {
            let device = check_device(root, rustix::fs::makedev(259, 1), true);
            check_machine(root).into_iter().chain(device).collect::<Vec<_>>()
        };
        let names: Vec<&str> = all(root.path()).iter().map(|check| check.name).collect();
        assert!(all(root.path()).iter().all(|check| matches!(check.state, Fine(_))));
        assert_eq!(names.len(), 7, "{names:?}");
        let pci = "sys/devices/pci0000:00/0000:01:00.0";
        for (path, name) in [
            (format!("{pci}/nvme/nvme0/nvme0n1/queue/scheduler"), "scheduler"),
            (format!("{pci}/current_link_width"), "link"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor".into(), "governor"),
            ("sys/devices/system/node/online".into(), "numa-node"),
        ] {
            let root = tree();
            fs::remove_file(root.path().join(&path)).unwrap();
            let unknown = all(root.path()).into_iter().filter(|check| match check.state {
                Unknown(_) => true,
                Fine(_) => false,
                Found(_) => panic!("{path}: {check:?}"),
            });
            assert_eq!(unknown.map(|check| check.name).collect::<Vec<_>>(), [name], "{path}");
        }
        let nothing = check_machine(Path::new("/nowhere"));
        assert!(nothing.iter().all(|check| matches!(check.state, Unknown(_))), "{nothing:?}");
    }
}
