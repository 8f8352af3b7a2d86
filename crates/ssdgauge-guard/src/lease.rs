//! The locks that keep two programs off one drive. Both end with the process that holds them,
//! however it ends, so no stale lock can be left behind.

use rustix::fs::{FlockOperation, flock};
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

/// Where the leases of this machine lie.
const FOLDER: &str = "/run/ssdgauge";

/// udev holds its lock for a moment after a device appears.
const TRIES: u32 = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// Takes the lock that udev and systemd honour for whole disks; returns whether it was free.
pub(crate) fn lock(file: &File) -> bool {
    (0..TRIES).any(|attempt| {
        if attempt > 0 {
            std::thread::sleep(BETWEEN_TRIES);
        }
        flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
    })
}

/// A lease of a drive by the words that name it, whatever node it was reached by.
#[derive(Debug)]
pub(crate) enum Lease {
    /// We hold it.
    Held(File),
    /// Another program does.
    Taken,
    /// There is no place for leases here, or no right to it.
    NoPlace,
}

/// Takes the lease of the drive that `words` name.
pub(crate) fn take(words: &str) -> Lease {
    take_below(Path::new(FOLDER), words)
}

fn take_below(folder: &Path, words: &str) -> Lease {
    let _ = DirBuilder::new().mode(0o700).create(folder);
    // A folder that somebody else made could lead anywhere.
    let own = rustix::process::geteuid().as_raw();
    let is_ours = std::fs::symlink_metadata(folder)
        .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == own);
    if !is_ours {
        return Lease::NoPlace;
    }
    let name: String = words.bytes().take(100).map(character).collect();
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let Ok(file) = options.open(folder.join(format!("{name}.lock"))) else { return Lease::NoPlace };
    match lock(&file) {
        true => Lease::Held(file),
        false => Lease::Taken,
    }
}

/// Every byte that could mean something in a path becomes its number.
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
    fn a_lease_is_held_once_and_free_again_with_its_holder() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("leases");
        let first = take_below(&folder, "../S1\n/x");
        assert!(matches!(first, Lease::Held(_)));
        assert!(matches!(take_below(&folder, "../S1\n/x"), Lease::Taken));
        assert!(matches!(take_below(&folder, "S2"), Lease::Held(_)));
        drop(first);
        assert!(matches!(take_below(&folder, "../S1\n/x"), Lease::Held(_)));
        let names = std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["=2e=2e=2fS1=0a=2fx.lock", "S2.lock"]);
    }

    #[test]
    fn a_folder_that_is_a_link_is_no_place_for_leases() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/", &link).unwrap();
        assert!(matches!(take_below(&link, "S1"), Lease::NoPlace));
    }
}
