//! Failures of a drive and its host.

use super::{Failure, FailureKind};
use ssdgauge_core::RigError;

impl From<RigError> for Failure {
    fn from(error: RigError) -> Failure {
        match error {
            RigError::Refused(_) => Failure::new(
                FailureKind::Refused,
                error.to_string(),
                "fill the range in the suite before it is read: prepare = [{ fill = \"sequential\" }]",
            ),
            RigError::Holds { ref confirmation, .. } => {
                let hint = format!(
                    "nothing was written; if all of this data may be lost, add --erase {confirmation} and \
                     --confirm {confirmation}"
                );
                Failure::new(FailureKind::Refused, error.to_string(), hint)
            }
            RigError::CannotPurge { .. } => Failure::new(
                FailureKind::Refused,
                error.to_string(),
                "omit --purge to use the best method that the drive supports; `ssdgauge drives \
                 TARGET` lists them",
            ),
            RigError::OverLimit { .. } => Failure::new(
                FailureKind::Failed,
                error.to_string(),
                "finished steps are safe; continue with `ssdgauge resume FILE --max-writes SIZE`, or run \
                 fewer tests (--test)",
            ),
            RigError::NotKept { .. } => Failure::new(
                FailureKind::Failed,
                error.to_string(),
                "do not use the results of this run, and do not store data on this drive; check its actual \
                 capacity, the layers above it, and whether another program writes to it",
            ),
            _ => of_drive_or_host(error.to_string()),
        }
    }
}

/// Returns the failure of a run whose cause the kernel or the drive may know.
pub(super) fn of_drive_or_host(error: String) -> Failure {
    Failure::new(
        FailureKind::Failed,
        error,
        "check the kernel log (dmesg), the limits of the process (ulimit -a) and the health of the drive; \
         finished steps are safe; continue with `ssdgauge resume FILE`",
    )
}
