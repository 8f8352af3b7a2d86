//! Temporary and final name of a new run file, and its lock.

use crate::error::RunFileError;
use crate::neighbours::journal_of;
use crate::temp_files::stale_temp_files;
use ssdgauge_os::outputs;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Suffix of the temporary name, after the number of the process.
const OPENING: &str = ".opening";

/// How long another process may hold the lock that has no reason to. Chosen: the child of a run that
/// is killed between fork and exec holds it until the exec, and has no use for it.
const LOCKED_AT_MOST: Duration = Duration::from_secs(2);
/// The interval between two attempts to take the lock.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(50);

/// Takes the lock that keeps a second writer from the file.
pub(super) fn lock(path: &Path, file: &File) -> Result<(), RunFileError> {
    lock_within(path, file, LOCKED_AT_MOST)
}

fn lock_within(path: &Path, file: &File, limit: Duration) -> Result<(), RunFileError> {
    let began = Instant::now();
    while file.try_lock().is_err() {
        if began.elapsed() > limit {
            return Err(RunFileError::Busy(path.to_owned()));
        }
        std::thread::sleep(BETWEEN_ATTEMPTS);
    }
    Ok(())
}

/// Returns the temporary name of the run file `path`: `PATH.PID.opening`.
///
/// It lies in the folder of `path`, because a hard link does not reach another file system.
pub(super) fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}{OPENING}", std::process::id()));
    PathBuf::from(name)
}

/// Removes the temporary files that killed processes have left for `path`: incomplete files, or a
/// second name of the run file.
pub(super) fn remove_stale_files(path: &Path) {
    stale_temp_files(path, OPENING).iter().for_each(|stale| remove_with_journal(stale));
}

/// Removes a file and its journal. Errors are ignored: neither name is used again.
pub(super) fn remove_with_journal(path: &Path) {
    let _ = std::fs::remove_file(journal_of(path));
    let _ = std::fs::remove_file(path);
}

/// Removes the file `path` and its journal where it is still the file with the metadata `own`.
pub(super) fn remove_own(path: &Path, own: &Metadata) {
    let is_own = |found: &Metadata| (found.dev(), found.ino()) == (own.dev(), own.ino());
    if path.symlink_metadata().is_ok_and(|found| is_own(&found)) {
        remove_with_journal(path);
    }
}

/// Gives the file `temporary` the name `path`, durably, and never replaces another file.
///
/// The kernel refuses a name that is taken, in the same step.
pub(super) fn give_name(temporary: &Path, path: &Path) -> Result<(), RunFileError> {
    outputs::name(temporary, path).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::AlreadyExists => RunFileError::Exists(path.to_owned()),
        _ => RunFileError::System { path: path.to_owned(), cause },
    })?;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        // The new name is durable once its folder is synced. File systems that cannot sync a folder
        // return an error, which is ignored.
        let _ = folder.sync_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    // A test ends at the first error.
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_lock_that_is_released_soon_is_awaited_and_another_one_is_busy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ssdg");
        let holder = File::create(&path).unwrap();
        let file = File::open(&path).unwrap();
        holder.lock().unwrap();
        let refused = lock_within(&path, &file, Duration::from_millis(1));
        assert!(matches!(refused, Err(RunFileError::Busy(_))), "{refused:?}");
        let release = std::thread::spawn(move || {
            std::thread::sleep(2 * BETWEEN_ATTEMPTS);
            drop(holder);
        });
        lock_within(&path, &file, Duration::from_secs(600)).unwrap();
        release.join().unwrap();
    }
}
