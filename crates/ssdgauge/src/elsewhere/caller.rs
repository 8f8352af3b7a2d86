//! The user who calls the program, on systems other than Linux: it has no more rights than any program of theirs.

use std::fs::Metadata;
use std::path::PathBuf;

/// Leaves descriptors and limits as they are: no drive is opened.
pub(crate) fn leave() {}

/// Returns whether other users are to be kept from what the program reads: the system decides that.
pub(crate) fn is_root() -> bool {
    false
}

/// Returns the caller of sudo, which counts for root only.
pub(crate) fn of_sudo() -> Option<(u32, u32)> {
    None
}

/// Returns the home folder of the caller.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir()
}

/// Returns whether others may write a file, which is asked for root only.
pub(crate) fn others_write(_: &Metadata, _: u32) -> bool {
    false
}
