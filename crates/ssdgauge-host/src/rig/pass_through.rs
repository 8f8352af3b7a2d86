//! NVMe pass-through: where it is possible, which privileges it needs, and what it does not reach.

use super::LinuxRig;
use super::queue_limits::{PAGE, QueueLimits};
use crate::capabilities;
use crate::monitor::Counted;
use ssdgauge_core::{
    Bytes, Detail, DriveInfo, Finding, FindingKind, Severity, Stream, TargetKind, Workload,
};
use ssdgauge_engine::{CommandLimits, Namespace, RequestError, read_beginning, transfer};
use ssdgauge_guard::{Admitted, OpenTarget, Refusal, TargetError};
use std::path::Path;

/// Returns why requests to `drive` cannot be passed through as NVMe commands, if they cannot. Only sysfs is
/// read.
///
/// # Errors
/// The target is not a whole NVMe namespace with a node for commands.
pub fn check_pass_through(drive: &DriveInfo) -> Result<(), String> {
    let target = &drive.target;
    let what = match drive.kind {
        TargetKind::Block => {
            return ssdgauge_guard::check_pass_through(Path::new(target))
                .map_err(|refusal| refusal.to_string());
        }
        TargetKind::File => "a file, whose blocks its file system places",
        TargetKind::Virtual => "a virtual drive (MODEL), without a kernel",
        TargetKind::Null => "not a drive",
    };
    Err(format!("NVMe commands are passed through to whole NVMe drives; {target} is {what}"))
}

/// The namespace of a target to which commands are passed through.
#[derive(Debug)]
pub(super) struct Passage {
    pub(super) namespace: Namespace,
    /// Whether this process has to keep CAP_SYS_ADMIN for its commands.
    pub(super) needs_capability: bool,
}

impl Passage {
    /// Returns the passage to `target`, where the guard has opened one. Its first blocks are read in both
    /// ways and compared. Called while the process has a single thread.
    pub(super) fn open(target: &OpenTarget, name: &str) -> Result<Option<Passage>, TargetError> {
        let OpenTarget::Drive(drive) = target else { return Ok(None) };
        let Some(namespace) = namespace(drive) else { return Ok(None) };
        let refuse = |cause: String| {
            TargetError::Refused(Refusal::NoPassThrough { path: name.to_owned(), cause })
        };
        let by_block = read_first_page(drive).map_err(|error| {
            refuse(format!("its first blocks cannot be read to compare them ({error})"))
        })?;
        let read = || read_beginning(&namespace, PAGE as u32);
        // Linux up to 6.1 demands CAP_SYS_ADMIN for each command, later kernels only for unusual drives.
        let without = capabilities::without_any(read).map_err(|error| refuse(error.to_string()))?;
        let (by_command, needs_capability) = match without {
            Ok(data) => (data, false),
            Err(_) => (read().map_err(refuse)?, true),
        };
        if by_command != by_block {
            return Err(refuse("its first blocks differ when a command reads them".into()));
        }
        Ok(Some(Passage { namespace, needs_capability }))
    }
}

/// Returns the namespace of `drive` with the limits of its queue.
fn namespace(drive: &Admitted) -> Option<Namespace> {
    let node = drive.commands()?;
    let limits = command_limits(drive.folder(), node.logical_block());
    let capacity = ssdgauge_os::block_device::device_size(drive.file()).map_or(Bytes(0), Bytes);
    Some(Namespace { file: node.file().clone(), id: node.namespace(), capacity, limits })
}

/// Returns the limits of commands to the device whose folder in sysfs is `folder`: those of its hardware,
/// because the kernel splits no command. Without a limit there, one page counts as the longest.
fn command_limits(folder: &Path, logical_block: Bytes) -> CommandLimits {
    let limits = QueueLimits::of(folder);
    let by_length = limits.length("max_hw_sectors_kb");
    // Data that does not begin on a page has one segment more than pages.
    let segments = limits.number("max_segments").unwrap_or(0).saturating_sub(1).max(1);
    CommandLimits {
        logical_block,
        longest: Bytes(by_length.min(segments.saturating_mul(PAGE))),
        longest_trim: Bytes(limits.number("discard_max_hw_bytes").unwrap_or(0)),
    }
}

/// Reads the first page of `drive` through its block device.
fn read_first_page(drive: &Admitted) -> Result<Vec<u8>, RequestError> {
    let mut region = transfer::buffer(PAGE as usize)?;
    transfer::read(drive.file(), &region, PAGE as usize, 0)?;
    Ok(region.bytes().to_vec())
}

impl LinuxRig {
    /// Passes measured loads through as commands from now on, where there is a passage. Fills take the block
    /// device.
    pub(super) fn pass_through(&mut self, passage: Option<Passage>) {
        self.namespace = passage.map(|passage| passage.namespace);
        if let (Some(_), OpenTarget::Drive(drive)) = (&self.namespace, &self.target)
            && let Some(node) = drive.commands()
        {
            self.info.state(Detail::CommandNode, node.name());
        }
    }

    /// Returns which requests of `workload` the counters of the block device count; `covering` says that it is a
    /// fill, which takes the block device.
    pub(super) fn counted(&self, workload: &Workload, covering: bool) -> Counted {
        let namespace = self.namespace.as_ref().filter(|_| !covering);
        let Some(namespace) = namespace else { return Counted::All };
        let folder = self.backing.as_ref().map(|backing| backing.folder.as_path());
        // Linux 6.14 counts them on request.
        let is_counted = folder.is_some_and(|folder| {
            QueueLimits::of(folder).text("iostats_passthrough").as_deref() == Some("1")
        });
        let passing = workload.streams.iter().filter(|one| namespace.limits.contain(one)).count();
        match passing {
            _ if is_counted => Counted::All,
            0 => Counted::All,
            some if some < workload.streams.len() => Counted::Some,
            _ => Counted::None,
        }
    }

    /// Returns the finding about requests of `workload` that are not passed through, where requests are.
    pub(super) fn not_passed_through(&self, workload: &Workload) -> Option<Finding> {
        not_contained(workload, self.namespace.as_ref()?.limits)
    }

    /// Drops what the page cache of the block device holds: commands have changed the drive below it.
    pub(super) fn forget_cached_pages(&self) {
        if let (Some(_), OpenTarget::Drive(drive)) = (&self.namespace, &self.target) {
            let all = (0, None);
            let advice = rustix::fs::Advice::DontNeed;
            // Only another program that keeps the device open can have pages there.
            let _ = rustix::fs::fadvise(drive.file(), all.0, all.1, advice);
        }
    }
}

/// Returns the finding about streams of `workload` whose requests do not fit into one command each.
fn not_contained(workload: &Workload, limits: CommandLimits) -> Option<Finding> {
    let is_outside = |one: &&Stream| !limits.contain(one);
    let longest = workload.streams.iter().filter(is_outside).map(|one| one.block_size).max()?;
    let text = format!(
        "requests of {} do not fit into one NVMe command for this drive (reads and writes: {}, \
         trims: {}); they went through the block layer, which divides them",
        longest.as_block(),
        limits.longest.as_block(),
        limits.longest_trim.as_block()
    );
    let advice =
        "their latencies are those without --pass-through; choose steps with smaller blocks";
    Some(Finding::new(FindingKind::NotPassedThrough, Severity::Warning, text, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::queue_limits::fixture;
    use ssdgauge_core::{Engine, Operation};

    #[test]
    fn the_limits_of_commands_are_those_of_the_hardware() {
        let root = tempfile::tempdir().unwrap();
        let limits = |longest, longest_trim| CommandLimits {
            logical_block: Bytes(512),
            longest: Bytes(longest),
            longest_trim: Bytes(longest_trim),
        };
        assert_eq!(command_limits(root.path(), Bytes(512)), limits(4_096, 0));
        let attributes = [
            ("max_hw_sectors_kb", "512"),
            ("max_sectors_kb", "64"),
            ("max_segments", "127"),
            ("discard_max_hw_bytes", "2199023255040"),
        ];
        fixture::write(root.path(), &attributes);
        assert_eq!(command_limits(root.path(), Bytes(512)), limits(126 * 4_096, 2_199_023_255_040));
        fixture::write(root.path(), &[("max_hw_sectors_kb", "128")]);
        assert_eq!(command_limits(root.path(), Bytes(512)).longest, Bytes(128 << 10));
    }

    #[test]
    fn requests_longer_than_a_command_are_reported_and_others_are_not() {
        let limits = CommandLimits {
            logical_block: Bytes(512),
            longest: Bytes(128 << 10),
            longest_trim: Bytes(1 << 20),
        };
        let stream = |kib: u64, operation| Stream {
            block_size: Bytes(kib << 10),
            operation,
            ..Stream::default()
        };
        let check = |streams: Vec<Stream>| {
            let workload = Workload { engine: Engine::IoUring, streams };
            not_contained(&workload, limits).map(|finding| (finding.kind, finding.text))
        };
        let transfer = Operation::Transfer;
        assert_eq!(check(vec![stream(128, transfer), stream(1_024, Operation::Trim)]), None);
        let (kind, text) = check(vec![stream(4, transfer), stream(256, transfer)]).unwrap();
        assert_eq!(kind, FindingKind::NotPassedThrough);
        assert!(text.contains("requests of 256 KiB") && text.contains("writes: 128 KiB"), "{text}");
    }

    #[test]
    fn only_block_devices_take_commands() {
        for (kind, words) in [
            (TargetKind::File, "is a file"),
            (TargetKind::Virtual, "virtual drive (MODEL)"),
            (TargetKind::Null, "is not a drive"),
            (TargetKind::Block, "/no-such-target: No such file"),
        ] {
            let drive = DriveInfo {
                kind,
                target: "/no-such-target".into(),
                model: None,
                serial: None,
                firmware: None,
                capacity: Bytes(1 << 30),
                logical_block: Bytes(512),
                physical_block: Bytes(512),
                details: std::collections::BTreeMap::new(),
            };
            let cause = check_pass_through(&drive).unwrap_err();
            assert!(cause.contains(words), "{cause}");
        }
    }
}
