//! Room for records and journal, allocated before it is needed: a full file system is met before a
//! commit and not in it.

use crate::neighbours::journal_of;
use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::Errno;
use ssdgauge_core::Bytes;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Room allocated beyond the pages of the file, and for the journal, in bytes. The journal holds
/// the old content of the pages that a transaction changes: the last ones of each of fourteen tables
/// and three indices, 4 KiB each. 64 pages are several times that.
pub const RESERVE: Bytes = Bytes(256 << 10);

/// Allocates blocks for the first `length` bytes of `file` without changing its size.
pub(super) fn allocate(file: &File, length: u64) -> Result<(), Errno> {
    // The size stays: SQLite takes it for the number of pages.
    rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, 0, length)
}

/// Returns how many of the first `length` bytes of `file` have no blocks yet, and the free bytes of its file
/// system; 0 for what the system does not report.
pub(super) fn missing(file: &File, length: u64) -> (u64, u64) {
    let allocated = file.metadata().map_or(0, |facts| facts.blocks() * 512);
    let free = rustix::fs::fstatvfs(file).map_or(0, |facts| facts.f_bavail * facts.f_frsize);
    (length.saturating_sub(allocated), free)
}

/// Allocates the room that the journal of `path` needs, so that a commit does not fail for want of
/// it.
pub(super) fn reserve_journal(path: &Path) {
    let flags = OFlags::NOFOLLOW.bits() as i32;
    if let Ok(file) = OpenOptions::new().write(true).custom_flags(flags).open(journal_of(path)) {
        // Without this room the commit itself fails, as on file systems without allocation.
        let _ = allocate(&file, RESERVE.0);
    }
}
