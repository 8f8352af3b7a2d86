//! Errors of reading a run and drawing a report.

use ssdgauge_runfile::RunFileError;
use thiserror::Error;

/// The reason why a report could not be made. Nothing was written.
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
        /// The error of the drawing library.
        cause: String,
    },
}
