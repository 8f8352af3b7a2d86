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
            XrayError::Rig(RigError::Refused(_))
            | XrayError::Experiment { cause: RigError::Refused(_), .. } => {
                Failure::new(FailureKind::Refused, text, "name another target")
            }
            XrayError::Experiment { found, .. } if found.written.0 == 0 && !found.is_trimmed => {
                Failure::new(
                    FailureKind::Failed,
                    text,
                    "nothing was written; the card has what was found until then; check the kernel log (dmesg)",
                )
            }
            XrayError::Experiment { found, .. } if found.is_trimmed => Failure::new(
                FailureKind::Failed,
                text,
                "all data of the drive were discarded; check the kernel log (dmesg) and its health",
            ),
            XrayError::Rig(_) | XrayError::Experiment { .. } => Failure::new(
                FailureKind::Failed,
                text,
                "data on the drive may be overwritten; check the kernel log (dmesg) and its health",
            ),
        }
    }
}
