//! Hints of runs that can no longer be watched, and of runs that have ended too early.

use super::{Failure, FailureKind};
use ssdgauge_watch::Lost;

impl From<Lost> for Failure {
    fn from(lost: Lost) -> Failure {
        let error = lost.to_string();
        let (kind, hint) = match lost {
            Lost::Vanished { .. } => (
                FailureKind::Failed,
                "a run that writes it ends at its next commit; watch the file under its new name"
                    .to_owned(),
            ),
            Lost::Overwritten { .. } => (
                FailureKind::Failed,
                "restore the file from a copy; a run that writes it must begin again".to_owned(),
            ),
            Lost::RunFile(other) => return other.into(),
            Lost::Results(other) => return other.into(),
            Lost::Ended { path, .. } => {
                let path = path.display();
                let hint =
                    format!("finished steps are safe; continue with `ssdgauge resume {path}`");
                (FailureKind::Interrupted, hint)
            }
        };
        Failure::new(kind, error, hint)
    }
}
