//! The files that SQLite takes as a part of a run file by their names: `FILE-journal`, `FILE-wal` and
//! `FILE-shm`.
//!
//! SQLite replaces or removes them without a question, so they are examined before it opens the run
//! file. Nothing here changes a file.

use crate::error::RunFileError;
use crate::header::open;
use crate::journal::{self, Journal};
use std::fs::TryLockError;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The suffix of the rollback journal.
const JOURNAL: &str = "-journal";

/// The suffix of the write-ahead log.
const LOG: &str = "-wal";

/// The suffix of the index of the write-ahead log.
const INDEX: &str = "-shm";

/// Returns the rollback journal of `path`.
pub(crate) fn journal_of(path: &Path) -> PathBuf {
    next_to(path, JOURNAL)
}

/// Refuses the name of a new run file where it, or a file of SQLite next to it, exists. Nothing is
/// changed.
///
/// # Errors
///
/// [`RunFileError::Exists`] where `path` is taken, [`RunFileError::NextTo`] where a file of its name and
/// a suffix of SQLite exists.
pub fn check_new(path: &Path) -> Result<(), RunFileError> {
    if path.symlink_metadata().is_ok() {
        return Err(RunFileError::Exists(path.to_owned()));
    }
    // Links are not followed: one without a target takes the name as well.
    let taken = [JOURNAL, LOG, INDEX].map(|suffix| next_to(path, suffix));
    match taken.into_iter().find(|file| file.symlink_metadata().is_ok()) {
        Some(file) => Err(RunFileError::NextTo(file)),
        None => Ok(()),
    }
}

/// Returns the state of the journal of the run file `path`, which is never a foreign one.
///
/// The journal of a writer that runs is left to it.
///
/// # Errors
///
/// [`RunFileError::Neighbour`] where a write-ahead log is next to the file, or a journal that is not
/// one of this file; [`RunFileError::System`] where they cannot be read.
pub(crate) fn check(path: &Path) -> Result<Journal, RunFileError> {
    // A writer can begin while its journal is examined, so the lock is looked at after it.
    match check_as_writer(path) {
        Err(RunFileError::Neighbour { is_journal: true, .. }) if has_writer(path) => {
            Ok(Journal::Complete)
        }
        other => other,
    }
}

/// Returns what [`check`] returns, for the process that has locked the run file.
///
/// # Errors
///
/// Those of [`check`].
pub(crate) fn check_as_writer(path: &Path) -> Result<Journal, RunFileError> {
    // SQLite takes the names from the resolved path.
    let system = |path: &Path, cause| RunFileError::System { path: path.to_owned(), cause };
    let real = path.canonicalize().map_err(|cause| system(path, cause))?;
    let refused = |neighbour: PathBuf, is_journal, why: &str| {
        let (path, why) = (path.to_owned(), why.to_owned());
        Err(RunFileError::Neighbour { path, neighbour, why, is_journal })
    };
    let log = next_to(&real, LOG);
    if log.symlink_metadata().is_ok() {
        return refused(log, false, "run files have no write-ahead log");
    }
    let name = journal_of(&real);
    match name.symlink_metadata() {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Journal::None),
        Err(cause) => return Err(system(&name, cause)),
        Ok(metadata) if !metadata.is_file() => {
            return refused(name, false, "it is not a regular file");
        }
        Ok(metadata) if metadata.len() == 0 => return Ok(Journal::None),
        Ok(_) => {}
    }
    let found = open(&name).and_then(|mut file| journal::examine(&mut file, &mut open(&real)?));
    match found {
        // The writer has ended and removed it since.
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Journal::None),
        Err(cause) => Err(system(&name, cause)),
        Ok(Journal::Foreign(why)) => refused(name, true, &why),
        Ok(own) => Ok(own),
    }
}

/// Returns whether the journal of `path` is that of a completed transaction, or none: its header is zero
/// or empty. Nothing is locked.
///
/// # Errors
///
/// The error of the read.
pub(crate) fn is_journal_clear(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    match open(&journal_of(&path.canonicalize()?)) {
        Ok(journal) => journal.take(8).read_to_end(&mut start)?,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(cause) => return Err(cause),
    };
    Ok(start.iter().all(|byte| *byte == 0))
}

/// Returns whether a writer holds the lock of the run file `path`.
fn has_writer(path: &Path) -> bool {
    open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn next_to(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
