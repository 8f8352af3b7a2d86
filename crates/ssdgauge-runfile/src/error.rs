//! Errors of reading and writing run files.

use ssdgauge_core::Bytes;
use std::path::PathBuf;
use thiserror::Error;

/// Error of reading or writing a run file. Finished records are unchanged in every case.
#[derive(Debug, Error)]
pub enum RunFileError {
    /// The file does not exist.
    #[error("file {0} does not exist")]
    Missing(PathBuf),
    /// The path of a new run file is taken.
    #[error("{0} exists already")]
    Exists(PathBuf),
    /// A file next to the path of a new run file, which SQLite would take for a part of it.
    #[error("{0} exists already, and SQLite would take it for a part of the new run file")]
    NextTo(PathBuf),
    /// A file next to the run file, which SQLite would take for a part of it.
    #[error("{neighbour} is not part of {path}: {why}")]
    Neighbour {
        /// The run file.
        path: PathBuf,
        /// The file next to it.
        neighbour: PathBuf,
        /// The reason, as a clause.
        why: String,
        /// Whether it has the name of a journal and is a regular file: a running writer may change it.
        is_journal: bool,
    },
    /// The file cannot be used, and an interrupted write was undone before: it has changed.
    #[error("{0}")]
    AfterRollback(Box<RunFileError>),
    /// The file is not a run file, or has no opening record.
    #[error("{path} is not a run file: {why}")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The reason, as a clause.
        why: String,
    },
    /// The file has a newer format.
    #[error("{path} has format {found}; this program reads formats up to {known}")]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format of the file.
        found: u32,
        /// The newest format that this program reads.
        known: u32,
    },
    /// A killed writer has left a commit that is half written.
    #[error("{0} is half written: the program that wrote it was killed")]
    HalfWritten(PathBuf),
    /// The name is that of another file than before.
    #[error("{0} was replaced by another file")]
    Replaced(PathBuf),
    /// The name of a run file that is written is no longer that of its file.
    #[error("{path} {how} while the run was written to it")]
    NameLost {
        /// The name.
        path: PathBuf,
        /// What happened to it, as a predicate.
        how: &'static str,
    },
    /// Another process writes to the file.
    #[error("{0} is locked: another process writes to it")]
    Busy(PathBuf),
    /// Another process reads the file, so that a commit has to wait. The records stay in the open
    /// transaction.
    #[error("{0} cannot be written: another process reads it")]
    BeingRead(PathBuf),
    /// A record does not match its checksum, or its values contradict each other.
    #[error("{path} is damaged: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The table, the number of the record, and the defect.
        what: String,
    },
    /// The run file holds values that no drive can reach.
    #[error("{path} holds impossible values: {what}")]
    Impossible {
        /// The file.
        path: PathBuf,
        /// The impossible value.
        what: String,
    },
    /// What a report keeps of the run file takes more memory than its size explains.
    #[error(
        "{path} holds more tests, steps, seconds, readings or findings than a report can keep in {most} MiB"
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The largest amount of memory, in MiB.
        most: u64,
    },
    /// The histograms of the run file unpack to more than its size explains.
    #[error(
        "{path} holds more latencies than its size explains: its histograms unpack to more than {most} MiB"
    )]
    TooManyLatencies {
        /// The file.
        path: PathBuf,
        /// The maximum that they may unpack to, in MiB.
        most: u64,
    },
    /// A plan or a drive exceeds what a run file may hold.
    #[error("a run file cannot hold {what}: {path}")]
    Excess {
        /// The file.
        path: PathBuf,
        /// What exceeds the limits.
        what: &'static str,
    },
    /// The file cannot be read.
    #[error("{path} cannot be read: {cause}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error.
        cause: String,
    },
    /// The file system is full.
    #[error("no space left for {0}")]
    Full(PathBuf),
    /// The file system has less free space than the next records take with the reserve, without which a commit
    /// could fail and lose them.
    #[error(
        "no space left for the next records of {path} with a reserve of {}: {} more are needed, and {} are free",
        Bytes(*reserve).about(), Bytes(*needed).about(), Bytes(*free).about()
    )]
    NoReserve {
        /// The file.
        path: PathBuf,
        /// The reserve in bytes.
        reserve: u64,
        /// The bytes that are not allocated yet, of the records and the reserve.
        needed: u64,
        /// The free bytes of the file system.
        free: u64,
    },
    /// The operating system returned an error.
    #[error("{path}: {cause}")]
    System {
        /// The file.
        path: PathBuf,
        /// The error.
        cause: std::io::Error,
    },
    /// SQLite returned an error.
    #[error("{path}: {cause}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The error.
        cause: rusqlite::Error,
    },
}

impl RunFileError {
    /// Returns the error of a look at `path`: a file can vanish between two looks.
    pub(crate) fn of_reading(path: &std::path::Path, cause: &std::io::Error) -> RunFileError {
        let path = path.to_owned();
        match cause.kind() {
            std::io::ErrorKind::NotFound => RunFileError::Missing(path),
            _ => RunFileError::Unreadable { path, cause: cause.to_string() },
        }
    }

    /// Returns the error of a writer whose file has another name now, or none.
    pub(crate) fn name_lost(path: &std::path::Path) -> RunFileError {
        let is_taken = path.symlink_metadata().is_ok();
        let how = if is_taken { "was replaced by another file" } else { "was removed or moved" };
        RunFileError::NameLost { path: path.to_owned(), how }
    }

    /// Classifies an error of SQLite by its code.
    pub(crate) fn from_sqlite(path: &std::path::Path, cause: rusqlite::Error) -> RunFileError {
        use rusqlite::{ErrorCode, ffi};
        let extended = cause.sqlite_error().map(|error| error.extended_code);
        // Before the primary code, which is that of any file that cannot be written.
        if extended == Some(ffi::SQLITE_READONLY_DBMOVED) {
            return RunFileError::name_lost(path);
        }
        let path = path.to_owned();
        match cause.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => RunFileError::Full(path),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => RunFileError::Busy(path),
            Some(ErrorCode::NotADatabase) => {
                RunFileError::Foreign { path, why: "it is not an SQLite file".into() }
            }
            Some(ErrorCode::DatabaseCorrupt) => {
                RunFileError::Damaged { path, what: cause.to_string() }
            }
            _ => RunFileError::Sqlite { path, cause },
        }
    }
}
