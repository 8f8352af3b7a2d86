//! Failures of an X-ray.

use super::{Failure, FailureKind};
use ssdgauge_core::RigError;
use ssdgauge_lab::XrayError;

impl From<XrayError> for Failure {
    fn from(error: XrayError) -> Failure {
        let text = error.to_string();
        match error {
            XrayError::NoReads(_) => Failure::new(
                FailureKind::Refused,
                text,
                "nothing was written; name a drive, or a folder on a file system with O_DIRECT, such as \
                 ext4 or xfs",
            ),
            XrayError::TooSmall { .. } => Failure::new(
                FailureKind::Refused,
                text,
                "nothing was written; name another target, or a larger --size",
            ),
            XrayError::Differs(_) => Failure::new(
                FailureKind::Refused,
                text,
                "the run file was not changed; use the version of ssdgauge that began the X-ray, or start a new one",
            ),
            XrayError::Rig(RigError::Refused(_)) => {
                Failure::new(FailureKind::Refused, text, "name another target")
            }
            XrayError::Rig(error) => error.into(),
            XrayError::RunFile(error) => error.into(),
        }
    }
}
