//! Errors of reading a run.

use ssdgauge_runfile::RunFileError;
use thiserror::Error;

/// The reason why a report could not be made. Nothing was written.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The run file could not be read.
    #[error(transparent)]
    RunFile(#[from] RunFileError),
}
