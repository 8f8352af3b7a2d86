//! What can go wrong with a run file.

use std::path::PathBuf;
use thiserror::Error;

/// Why a run file could not be read or written. In every case the file is left as it was.
#[derive(Debug, Error)]
pub enum RunFileError {
    /// There is no such file.
    #[error("there is no file {0}")]
    Missing(PathBuf),
    /// A new run would replace a file.
    #[error("{0} exists already")]
    Exists(PathBuf),
    /// The file is something else, or was never finished.
    #[error("{path} is not a run file: {why}")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead, as far as one can see.
        why: String,
    },
    /// A newer program wrote the file.
    #[error("{path} has format {found}, and this program knows format {known}")]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format of the file.
        found: u32,
        /// The newest format that this program knows.
        known: u32,
    },
    /// Another process writes to the file.
    #[error("{0} is being written by another process")]
    Busy(PathBuf),
    /// A record does not match its checksum, or contradicts itself.
    #[error("{path} is damaged: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The table and the record.
        what: String,
    },
    /// The file system has no room left.
    #[error("no space left for {0}")]
    Full(PathBuf),
    /// The file system answered with an error.
    #[error("{path}: {cause}")]
    System {
        /// The file.
        path: PathBuf,
        /// What it answered.
        cause: std::io::Error,
    },
    /// SQLite answered with an error.
    #[error("{path}: {cause}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What it answered.
        cause: rusqlite::Error,
    },
}

impl RunFileError {
    /// Returns the error of the project for one of SQLite's.
    pub(crate) fn of(path: &std::path::Path, cause: rusqlite::Error) -> RunFileError {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        match cause.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => RunFileError::Full(path),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => RunFileError::Busy(path),
            Some(ErrorCode::NotADatabase) => {
                RunFileError::Foreign { path, why: "it is no SQLite file".into() }
            }
            Some(ErrorCode::DatabaseCorrupt) => {
                RunFileError::Damaged { path, what: cause.to_string() }
            }
            _ => RunFileError::Sqlite { path, cause },
        }
    }
}
