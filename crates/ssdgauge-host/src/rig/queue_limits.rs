//! Limits of the requests of a block device, as its queue states them.

use ssdgauge_os::sysfs::attribute;
use std::path::{Path, PathBuf};

/// The bytes of a page, which is a segment of a request of its own where no neighbour follows it in memory.
pub(super) const PAGE: u64 = 4_096;

/// The queue of a device. Each limit is read when it is asked for.
#[derive(Debug)]
pub(super) struct QueueLimits {
    folder: PathBuf,
}

impl QueueLimits {
    /// Returns the limits of the device whose folder in sysfs is `folder`.
    pub(super) fn of(folder: &Path) -> QueueLimits {
        QueueLimits { folder: folder.join("queue") }
    }

    /// Returns the attribute `name` as it is there; `None` where it does not exist.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        attribute(&self.folder.join(name))
    }

    /// Returns the attribute `name`; `None` where it is missing or is not a number.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    /// Returns the limit of a length that the attribute `name` has in KiB, in bytes. Without it, one page
    /// counts as the longest.
    pub(super) fn length(&self, name: &str) -> u64 {
        self.number(name).map_or(PAGE, |kib| kib << 10)
    }
}

#[cfg(test)]
pub(super) mod fixture;

#[cfg(test)]
mod tests {
    use super::fixture::write;
    use super::*;

    #[test]
    fn limits_that_are_missing_or_no_numbers_have_a_page() {
        let root = tempfile::tempdir().unwrap();
        write(
            root.path(),
            &[("max_sectors_kb", "512"), ("max_hw_sectors_kb", "many"), ("io_poll", "1")],
        );
        let limits = QueueLimits::of(root.path());
        assert_eq!(limits.length("max_sectors_kb"), 512 << 10);
        assert_eq!([limits.length("max_hw_sectors_kb"), limits.length("none")], [PAGE; 2]);
        assert_eq!(limits.number("max_hw_sectors_kb"), None);
        assert_eq!(limits.text("io_poll").as_deref(), Some("1"));
    }
}
