//! Failures of a run, and of its meters.

use super::{Failure, FailureKind, rig};
use ssdgauge_lab::ConductError;
use ssdgauge_meter::MeterError;

impl From<ConductError> for Failure {
    fn from(error: ConductError) -> Failure {
        match error {
            ConductError::RunFile(error) => error.into(),
            ConductError::Xray(error) => error.into(),
            ConductError::Proof(error) => error.into(),
            ConductError::Rig(error) => error.into(),
            ConductError::Faults(_) => rig::of_drive_or_host(error.to_string()),
            ConductError::Differs { .. } => Failure::new(
                FailureKind::Refused,
                error.to_string(),
                "the run file was not changed; resume it with the program that began it, or start a new \
                 run: its seed gives the same results",
            ),
            ConductError::OtherDrive { .. } => Failure::new(
                FailureKind::Refused,
                error.to_string(),
                "nothing was written; attach the drive that the run was started on; a model is resumed \
                 by a program with the same model revision",
            ),
        }
    }
}

impl From<MeterError> for Failure {
    fn from(error: MeterError) -> Failure {
        let kind = match error {
            MeterError::Spec { .. } => FailureKind::Usage,
            MeterError::Absent { .. } | MeterError::Implausible { .. } => FailureKind::Refused,
        };
        Failure::new(kind, error.to_string(), error.hint())
    }
}
