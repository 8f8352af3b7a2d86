//! Locks that prevent two programs from using one drive.
//!
//! Both are `flock` locks, which the kernel releases when their process ends, in whatever way it
//! ends. A file with a process id would outlive a killed run and block the drive until someone
//! deletes it.

use rustix::fs::{FlockOperation, flock};
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of the lease files of this machine. `/run` is emptied at each boot.
const FOLDER: &str = "/run/ssdgauge";

/// udev locks a new device while it probes it: such a lock is released within a second.
const TRIES: u32 = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// Takes the lock that udev and systemd honour for whole disks; returns whether it was free.
pub(crate) fn lock(file: &File) -> bool {
    (0..TRIES).any(|attempt| {
        if attempt > 0 {
            std::thread::sleep(BETWEEN_TRIES);
        }
        // Never blocking: another run holds its lock for hours.
        flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
    })
}

/// The result of taking a lease.
#[derive(Debug)]
pub(crate) enum Lease {
    /// This process holds the lease.
    Held(File),
    /// Another process holds the lease.
    Taken,
    /// The folder of leases cannot be made, or is not safe to use. `flock` on the node still
    /// protects the drive, so this is not an error.
    Unavailable,
}

/// Takes the lease called `name`, which is equal for every node of one drive.
pub(crate) fn take(name: &str) -> Lease {
    take_in(Path::new(FOLDER), name)
}

/// Returns whether another process holds the lease called `name`.
pub(crate) fn is_taken(name: &str) -> bool {
    is_taken_in(Path::new(FOLDER), name)
}

fn is_taken_in(folder: &Path, name: &str) -> bool {
    // Opened without creating it: a look must not leave a file behind. A shared lock, so that two
    // looks at the same time do not report each other.
    // A user who may not open the lease of root sees none: the drive is then in use, not busy.
    let file =
        OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(place(folder, name));
    file.is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_err())
}

/// Returns the path of the lease called `name`. File names have 255 bytes at most, and each byte
/// becomes up to three.
fn place(folder: &Path, name: &str) -> PathBuf {
    let name: String = name.bytes().take(80).map(character).collect();
    folder.join(format!("{name}.lock"))
}

fn take_in(folder: &Path, name: &str) -> Lease {
    // Fails where an earlier run made it; whether it can be trusted is checked next.
    let _ = DirBuilder::new().mode(0o700).create(folder);
    // In a folder of another user, a link could make this process lock or create any file.
    let own = rustix::process::geteuid().as_raw();
    let is_ours = std::fs::symlink_metadata(folder)
        .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == own);
    if !is_ours {
        return Lease::Unavailable;
    }
    // The file is never deleted: a second run could then create and lock a new one of the same name while
    // the first still holds the lock of the old one.
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let Ok(file) = options.open(place(folder, name)) else {
        return Lease::Unavailable;
    };
    match lock(&file) {
        true => Lease::Held(file),
        false => Lease::Taken,
    }
}

/// Replaces every byte with a meaning in a path by its number: a serial comes from the device and
/// may contain anything.
fn character(byte: u8) -> String {
    match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' => char::from(byte).to_string(),
        other => format!("={other:02x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_held_once_and_released_with_its_holder() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("leases");
        let first = take_in(&folder, "../S1\n/x");
        assert!(matches!(first, Lease::Held(_)));
        assert!(matches!(take_in(&folder, "../S1\n/x"), Lease::Taken));
        assert!(is_taken_in(&folder, "../S1\n/x"));
        assert!(matches!(take_in(&folder, "S2"), Lease::Held(_)));
        drop(first);
        // A process that another test starts has a copy of the descriptor until it executes its program.
        let is_released = (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            !is_taken_in(&folder, "../S1\n/x")
        });
        assert!(is_released);
        assert!(!is_taken_in(&folder, "never taken"));
        assert!(matches!(take_in(&folder, "../S1\n/x"), Lease::Held(_)));
        let names = std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["=2e=2e=2fS1=0a=2fx.lock", "S2.lock"]);
    }

    #[test]
    fn a_lease_folder_that_is_a_link_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/", &link).unwrap();
        assert!(matches!(take_in(&link, "S1"), Lease::Unavailable));
    }
}
