//! Failures of run files.

use super::{Failure, FailureKind};
use ssdgauge_runfile::RunFileError;

impl From<RunFileError> for Failure {
    fn from(error: RunFileError) -> Failure {
        let (kind, hint) = match &error {
            RunFileError::AfterRollback(cause) => return Failure::after_rollback(cause),
            RunFileError::NextTo(_) => (
                FailureKind::Refused,
                "nothing was written; move that file away, or name another --out".into(),
            ),
            RunFileError::Neighbour { .. } => {
                (FailureKind::Usage, "no file was changed; move the first file away".into())
            }
            RunFileError::Missing(_) => (FailureKind::Usage, "check the path".to_owned()),
            RunFileError::Exists(_) => (
                FailureKind::Refused,
                "nothing was written; name another --out, or continue the run with `ssdgauge resume`".into(),
            ),
            RunFileError::Foreign { .. } => {
                (FailureKind::Usage, "the file was not changed; run files end in .ssdg".into())
            }
            RunFileError::Newer { .. } => {
                (FailureKind::Usage, "the file was not changed; use a newer ssdgauge".into())
            }
            RunFileError::HalfWritten(path) => (
                FailureKind::Interrupted,
                format!(
                    "the file was not changed; `ssdgauge resume {}` undoes that write and continues",
                    path.display()
                ),
            ),
            RunFileError::Replaced(_) => {
                (FailureKind::Failed, "watch the file under its new name, or start again".into())
            }
            RunFileError::NameLost { .. } => (
                FailureKind::Failed,
                "the run has stopped; a file that was moved holds what was recorded before; leave a run file in its place \
                 while it is written"
                    .into(),
            ),
            RunFileError::Busy(_) => (FailureKind::Busy, "wait until the other process ends".into()),
            RunFileError::BeingRead(_) => (
                FailureKind::Interrupted,
                "close that program, then continue with `ssdgauge resume`; finished steps are safe"
                    .into(),
            ),
            RunFileError::Unreadable { .. } => (
                FailureKind::Failed,
                "the file was not changed; check that it is a run file that you may read, and any file \
                 next to it that ends in -journal"
                    .into(),
            ),
            RunFileError::Damaged { .. } => {
                (FailureKind::Failed, "the file was not changed; restore it from a copy".into())
            }
            RunFileError::Impossible { .. }
            | RunFileError::TooLarge { .. }
            | RunFileError::TooManyLatencies { .. } => {
                (FailureKind::Usage, "the file was not changed".to_owned())
            }
            RunFileError::Excess { .. } => (
                FailureKind::Usage,
                "a run holds up to 4,000 tests with their repetitions; divide the suite".into(),
            ),
            RunFileError::Full(_) | RunFileError::NoReserve { .. } => (
                FailureKind::Interrupted,
                "free disk space, then continue with `ssdgauge resume`; finished steps are safe".into(),
            ),
            RunFileError::System { path, cause }
                if ssdgauge_os::outputs::is_among_device_nodes(cause) =>
            {
                return Failure::not_created(path, cause);
            }
            RunFileError::System { path, cause }
                if matches!(
                    cause.kind(),
                    std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                return Failure::not_created(path, cause);
            }
            RunFileError::System { cause, .. }
                if cause.kind() == std::io::ErrorKind::StorageFull =>
            {
                (FailureKind::Interrupted, "free disk space, then try again".into())
            }
            RunFileError::System { .. } | RunFileError::Sqlite { .. } => {
                (FailureKind::Failed, "check that the folder is writable, or choose another with --out".into())
            }
        };
        Failure::new(kind, error.to_string(), hint)
    }
}
