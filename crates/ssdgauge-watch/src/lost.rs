//! Why the observation of a run ended before the run did, or the run before its last step.

use ssdgauge_analysis::ReportError;
use ssdgauge_runfile::RunFileError;
use std::path::PathBuf;

/// The end of an observation, or of a run, that is not the last step.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// The file has no name any more.
    #[error("{0} has vanished while it was watched", path.display())]
    Vanished {
        /// The name that it had.
        path: PathBuf,
    },
    /// The file is no longer the run file that it was.
    #[error("{0} was cut or overwritten while it was watched: {why}", path.display())]
    Overwritten {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Another failure of a look at the file.
    #[error(transparent)]
    RunFile(RunFileError),
    /// The results of the run cannot be read.
    #[error(transparent)]
    Results(#[from] ReportError),
    /// The run was interrupted or killed. Its finished steps are safe.
    #[error("the run in {0} {how}{1}", path.display(), step.as_ref().map(|step| format!(" in {step}")).unwrap_or_default())]
    Ended {
        /// The file.
        path: PathBuf,
        /// How it ended: "was interrupted" or "was killed".
        how: &'static str,
        /// The step in which it ended.
        step: Option<String>,
    },
}

impl From<RunFileError> for Lost {
    fn from(error: RunFileError) -> Lost {
        match error {
            RunFileError::Missing(path) => Lost::Vanished { path },
            RunFileError::Foreign { path, why } => Lost::Overwritten { path, why: why.to_string() },
            other => Lost::RunFile(other),
        }
    }
}
