//! What can go wrong with a report.

use ssdgauge_runfile::RunFileError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a report could not be made. Nothing was written.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The run file could not be read.
    #[error(transparent)]
    RunFile(#[from] RunFileError),
    /// A picture could not be drawn.
    #[error("the picture {name} could not be drawn: {cause}")]
    Picture {
        /// The name of the figure.
        name: String,
        /// What the drawing library answered.
        cause: String,
    },
    /// The run file says what cannot be.
    #[error("{path} cannot be true: {what}")]
    Impossible {
        /// The file.
        path: PathBuf,
        /// What contradicts physics or itself.
        what: String,
    },
}
