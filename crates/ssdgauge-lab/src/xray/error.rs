//! Why an X-ray ends.

use super::sizes::Sizes;
use ssdgauge_core::{Bytes, RigError};
use ssdgauge_runfile::RunFileError;
use thiserror::Error;

/// Error that ends an X-ray.
#[derive(Debug, Error)]
pub enum XrayError {
    /// The drive or the host failed.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The record cannot be written or read.
    #[error(transparent)]
    RunFile(#[from] RunFileError),
    /// Reads of the target do not reach a drive.
    #[error("reads of {0} cannot be sent past the page cache")]
    NoReads(String),
    /// The drive is too small.
    #[error("{drive} has {}; an X-ray needs {}", capacity.about(), Sizes::LEAST.about())]
    TooSmall {
        /// The target.
        drive: String,
        /// Its capacity.
        capacity: Bytes,
    },
    /// The record has answers to other questions, or a virtual drive does not repeat them.
    #[error("the recorded answers of experiment '{0}' are not those of this X-ray")]
    Differs(&'static str),
}

/// Why experiments end before the last one.
#[derive(Debug)]
pub(super) enum Ended {
    /// The watcher stopped them, or the record ends here.
    Stopped,
    /// The drive or the host failed.
    Failed(XrayError),
}

impl From<XrayError> for Ended {
    fn from(error: XrayError) -> Ended {
        Ended::Failed(error)
    }
}

impl From<RigError> for Ended {
    fn from(error: RigError) -> Ended {
        Ended::Failed(error.into())
    }
}

impl From<RunFileError> for Ended {
    fn from(error: RunFileError) -> Ended {
        Ended::Failed(error.into())
    }
}
