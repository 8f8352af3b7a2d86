//! Polled completions (`--polled`): which plans and which drives have them.

use crate::failure::{Failure, FailureKind};
use ssdgauge_core::{DriveInfo, Engine, Plan};

/// Refuses a plan with polled completions where the drive or a step has none.
///
/// # Errors
///
/// The first reason. Nothing was written.
pub(crate) fn check(plan: &Plan, drive: &DriveInfo) -> Result<(), Failure> {
    if !plan.polled {
        return Ok(());
    }
    check_drive(drive)?;
    for (test, _, step) in plan.steps() {
        let is_synchronous =
            step.action.workload().is_some_and(|one| one.engine == Engine::Synchronous);
        let what = match (step.action.replay(), is_synchronous) {
            (Some(_), _) => "replays a trace, whose completions come by interrupts",
            (None, true) => "uses the synchronous engine, which waits for interrupts",
            (None, false) => continue,
        };
        return Err(Failure::new(
            FailureKind::Usage,
            format!("test '{}' {what}", test.id),
            "nothing was written; omit --polled, or choose other tests with --test",
        ));
    }
    Ok(())
}

/// Refuses a drive without polled completions.
///
/// # Errors
///
/// The reason. Nothing was written.
pub(crate) fn check_drive(drive: &DriveInfo) -> Result<(), Failure> {
    ssdgauge_host::check_polling(drive).map_err(refused)
}

/// Returns the failure where completions cannot be polled because of `cause`.
pub(crate) fn refused(cause: String) -> Failure {
    let hint = "nothing was written; poll an NVMe drive whose driver was loaded with poll queues (kernel \
                parameter nvme.poll_queues=1), or omit --polled";
    Failure::new(FailureKind::Refused, cause, hint)
}
