//! Room for records and journal, allocated before it is needed: a full file system is met before a
//! commit and not in it.

use crate::neighbours::journal_of;
use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Room allocated beyond the pages of the file, and for the journal, in bytes. The journal holds
/// the old content of the pages that a transaction changes: the last ones of each of eight tables
/// and three indices, 4 KiB each. 64 pages are several times that.
pub(super) const RESERVE: u64 = 256 << 10;

/// Allocates blocks for the first `length` bytes of `file` without changing its size.
pub(super) fn allocate(file: &File, length: u64) -> Result<(), Errno> {
    rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, 0, length)
}

/// Allocates the room that the journal of `path` needs, so that a commit does not fail for want of
/// it.
pub(super) fn reserve_journal(path: &Path) {
    let flags = OFlags::NOFOLLOW.bits() as i32;
    if let Ok(file) = OpenOptions::new().write(true).custom_flags(flags).open(journal_of(path)) {
        // Without this room the commit itself fails, as on file systems without allocation.
        let _ = allocate(&file, RESERVE);
    }
}
