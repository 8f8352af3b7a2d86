//! Whether a run file is the one that a run of this user created here, or one that came from elsewhere.
//!
//! What a file contains proves nothing about its author, who can write anything into it. Its owner, its inode
//! and the time of its creation cannot be chosen: another user cannot create a file of this one, and a copy has
//! another inode and another time.

use rustix::fs::{AtFlags, CWD, Statx, StatxFlags, statx};
use std::fs::File;
use std::path::Path;

/// The bits of a mode with which other users may write.
const OTHERS_MAY_WRITE: u16 = 0o022;

/// Returns inode and time of creation of `file`; `None` where the file system does not state both.
pub(crate) fn identity(file: &File) -> Option<String> {
    let wanted = StatxFlags::INO | StatxFlags::BTIME;
    identity_of(&statx(file, "", AtFlags::EMPTY_PATH, wanted).ok()?)
}

fn identity_of(facts: &Statx) -> Option<String> {
    let wanted = StatxFlags::INO | StatxFlags::BTIME;
    let has_both = StatxFlags::from_bits_retain(facts.stx_mask).contains(wanted);
    let born = facts.stx_btime;
    has_both.then(|| format!("{} {}.{:09}", facts.stx_ino, born.tv_sec, born.tv_nsec))
}

/// Returns whether the run file `path`, which records `origin`, was created here by a run of this user, or of
/// the caller of sudo, and whether no other user may write to it.
pub fn is_own(path: &Path, origin: Option<&str>) -> bool {
    // Not opened: a descriptor that is closed would release the locks of SQLite.
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    let Ok(facts) = statx(CWD, path, AtFlags::empty(), wanted) else { return false };
    let user = rustix::process::geteuid();
    let caller = || std::env::var("SUDO_UID").ok()?.parse::<u32>().ok();
    let is_user = facts.stx_uid == user.as_raw();
    let is_caller = user.is_root() && caller() == Some(facts.stx_uid);
    identity_of(&facts).is_some_and(|identity| Some(identity.as_str()) == origin)
        && (is_user || is_caller)
        && facts.stx_mode & OTHERS_MAY_WRITE == 0
}
