//! Why an X-ray ends.

use super::examined::Examined;
use super::sizes::Sizes;
use ssdgauge_core::{Bytes, RigError};
use thiserror::Error;

/// Error that ends an X-ray.
#[derive(Debug, Error)]
pub enum XrayError {
    /// The drive or the host failed.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The drive or the host failed in an experiment.
    #[error("{cause}")]
    Experiment {
        /// The failure.
        cause: RigError,
        /// What was found until then.
        found: Box<Examined>,
    },
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
}

/// Why experiments end before the last one.
#[derive(Debug)]
pub(super) enum Ended {
    /// The watcher stopped them.
    Stopped,
    /// The drive or the host failed.
    Failed(XrayError),
}

impl From<RigError> for Ended {
    fn from(error: RigError) -> Ended {
        Ended::Failed(error.into())
    }
}
