//! Polled completions: where they are possible, and which requests they do not reach.

use super::LinuxRig;
use super::queue_limits::{PAGE, QueueLimits};
use ssdgauge_core::{
    Bytes, DriveInfo, Finding, FindingKind, Operation, Severity, Stream, TargetKind, Workload,
};
use ssdgauge_engine::{RingChoice, RingFlags, WholeRequests};
use ssdgauge_os::sysfs::block_device_of;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Returns why completions of requests to `drive` cannot be polled, if they cannot. Only sysfs is read.
///
/// # Errors
/// The target is not a drive, or its queue does not support polling: the kernel would fail such requests,
/// or use interrupts without notice.
pub fn check_polling(drive: &DriveInfo) -> Result<(), String> {
    let target = &drive.target;
    match drive.kind {
        TargetKind::Block => {
            let number = std::fs::metadata(target).map(|facts| facts.rdev()).ok();
            check_queue(number.and_then(block_device_of).as_deref(), target)
        }
        TargetKind::File => Err(format!(
            "completions are polled on whole drives; {target} is a file, whose file system sends requests \
             of its own"
        )),
        TargetKind::Virtual => {
            Err(format!("{target} is a virtual drive (MODEL), without interrupts"))
        }
        TargetKind::Null => Err(format!("{target} is not a drive, and has no completions to poll")),
    }
}

/// Checks the queue of the device whose folder in sysfs is `folder`.
fn check_queue(folder: Option<&Path>, target: &str) -> Result<(), String> {
    let polls = folder.and_then(|folder| QueueLimits::of(folder).text("io_poll"));
    match polls.as_deref() {
        Some("1") => Ok(()),
        Some(_) | None => Err(format!("the queue of {target} does not support polling")),
    }
}

impl LinuxRig {
    /// Polls for the completions of measured loads (IOPOLL) from now on. Fills use interrupts.
    ///
    /// # Errors
    /// As [`check_polling`], on the opened target.
    pub fn poll(&mut self) -> Result<(), String> {
        match self.info.kind {
            TargetKind::Block => {
                let folder = self.backing.as_ref().map(|backing| backing.folder.as_path());
                check_queue(folder, &self.info.target)?;
            }
            TargetKind::File | TargetKind::Virtual | TargetKind::Null => {
                check_polling(&self.info)?;
            }
        }
        let folder = self.backing.as_ref().map(|backing| backing.folder.as_path());
        let whole = folder.map(whole_requests).ok_or("its limits are not known")?;
        let seen = "polled as requested".to_owned();
        self.ring = Some(RingChoice { flags: RingFlags::Polled(whole), seen });
        Ok(())
    }

    /// Returns the flags of the rings of a load; `covering` says that it is a fill, which is not measured.
    pub(super) fn ring_flags(&self, covering: bool) -> RingFlags {
        match self.ring.as_ref().map_or(RingFlags::Plain, |choice| choice.flags) {
            RingFlags::Polled(_) if covering => RingFlags::Plain,
            flags => flags,
        }
    }

    /// Returns whether measured loads poll for their completions.
    pub(super) fn is_polled(&self) -> bool {
        matches!(self.ring_flags(false), RingFlags::Polled(_))
    }

    /// Returns the finding about requests of `workload` that are not polled, where completions are.
    pub(super) fn not_polled(&self, workload: &Workload) -> Option<Finding> {
        match self.ring_flags(false) {
            RingFlags::Polled(whole) => split_requests(workload, whole),
            RingFlags::Plain | RingFlags::Cooperative | RingFlags::Deferred => None,
        }
    }
}

/// Returns the requests that the kernel does not split for the device whose folder in sysfs is `folder`.
/// Without a limit there, one page counts as the longest.
fn whole_requests(folder: &Path) -> WholeRequests {
    let limits = QueueLimits::of(folder);
    let by_length = limits.length("max_sectors_kb");
    let by_segments = limits.number("max_segments").unwrap_or(1).saturating_mul(PAGE);
    let boundary = limits.number("chunk_sectors").unwrap_or(0).saturating_mul(512);
    WholeRequests { longest: Bytes(by_length.min(by_segments)), boundary: Bytes(boundary) }
}

/// Returns the finding about streams of `workload` whose requests are not `whole`.
fn split_requests(workload: &Workload, whole: WholeRequests) -> Option<Finding> {
    let transfers = workload.streams.iter().filter(|one| one.operation == Operation::Transfer);
    let is_split = |one: &&Stream| !whole.contain(one);
    let longest = transfers.filter(is_split).map(|one| one.block_size).max()?;
    let limit = match longest > whole.longest {
        true => format!("are longer than {}, what it takes at once", whole.longest.as_block()),
        false => format!("cross multiples of {}, what it takes at once", whole.boundary.as_block()),
    };
    let text = format!(
        "the kernel splits requests of {} for this drive, because they {limit}; split requests \
         cannot be polled, so interrupts announced their completions",
        longest.as_block()
    );
    let advice = "their latencies are those without --polled; choose steps with smaller blocks";
    Some(Finding::new(FindingKind::NotPolled, Severity::Warning, text, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::queue_limits::fixture;
    use ssdgauge_core::Engine;

    #[test]
    fn requests_that_the_kernel_splits_are_reported_and_others_are_not() {
        let stream = |kib: u64, operation| Stream {
            block_size: Bytes(kib << 10),
            operation,
            ..Stream::default()
        };
        let check = |streams: Vec<Stream>, boundary: u64| {
            let workload = Workload { engine: Engine::IoUring, streams };
            let whole = WholeRequests { longest: Bytes(512 << 10), boundary: Bytes(boundary) };
            split_requests(&workload, whole).map(|finding| finding.text)
        };
        let transfer = Operation::Transfer;
        assert_eq!(check(vec![stream(512, transfer), stream(4, transfer)], 0), None);
        assert_eq!(check(vec![stream(4, transfer), stream(4_096, Operation::Trim)], 0), None);
        let text = check(vec![stream(4, transfer), stream(1_024, transfer)], 0).unwrap();
        assert!(
            text.contains("requests of 1 MiB") && text.contains("longer than 512 KiB"),
            "{text}"
        );
        let text = check(vec![stream(12, transfer)], 128 << 10).unwrap();
        assert!(text.contains("requests of 12 KiB") && text.contains("cross multiples of 128 KiB"));
    }

    #[test]
    fn the_limits_of_a_queue_are_those_of_the_kernel() {
        let root = tempfile::tempdir().unwrap();
        let whole = |longest, boundary| WholeRequests {
            longest: Bytes(longest),
            boundary: Bytes(boundary),
        };
        assert_eq!(whole_requests(root.path()), whole(4_096, 0));
        let attributes =
            [("max_sectors_kb", "512"), ("max_segments", "127"), ("chunk_sectors", "0")];
        fixture::write(root.path(), &attributes);
        assert_eq!(whole_requests(root.path()), whole(127 * 4_096, 0));
        let attributes = [("max_segments", "65535"), ("chunk_sectors", "256")];
        fixture::write(root.path(), &attributes);
        assert_eq!(whole_requests(root.path()), whole(512 << 10, 128 << 10));
    }

    #[test]
    fn only_whole_drives_are_polled() {
        let info = |kind, target: &str| DriveInfo {
            kind,
            target: target.into(),
            model: None,
            serial: None,
            firmware: None,
            capacity: Bytes(1 << 30),
            logical_block: Bytes(512),
            physical_block: Bytes(512),
            details: std::collections::BTreeMap::new(),
        };
        for (kind, target, words) in [
            (TargetKind::File, "/tmp/file", "/tmp/file is a file"),
            (TargetKind::Virtual, "sim:tlc-client", "virtual drive (MODEL)"),
            (TargetKind::Null, "null:", "not a drive"),
            (TargetKind::Block, "/dev/no-such-device", "does not support polling"),
        ] {
            let cause = check_polling(&info(kind, target)).unwrap_err();
            assert!(cause.contains(words), "{cause}");
        }
    }
}
