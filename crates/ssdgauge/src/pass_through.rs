//! NVMe pass-through (`--pass-through`): which plans and which drives have it.

use crate::arguments::PlanOptions;
use crate::failure::{Failure, FailureKind};
use ssdgauge_core::{DriveInfo, Engine, Plan, RequestPath};
use std::path::Path;

/// Refuses a plan with pass-through where the drive or a step has none.
///
/// # Errors
///
/// The first reason. Nothing was written.
pub(crate) fn check(plan: &Plan, drive: &DriveInfo) -> Result<(), Failure> {
    if !plan.pass_through {
        return Ok(());
    }
    check_drive(drive)?;
    for (test, _, step) in plan.steps() {
        let is_synchronous =
            step.action.workload().is_some_and(|one| one.engine == Engine::Synchronous);
        let what = match (step.action.replay(), is_synchronous) {
            (Some(_), _) => "replays a trace, whose requests go through the block layer",
            (None, true) => "uses the synchronous engine, whose calls go through the block layer",
            (None, false) => continue,
        };
        return Err(Failure::new(
            FailureKind::Usage,
            format!("test '{}' {what}", test.id),
            "nothing was written; omit --pass-through, or choose other tests with --test",
        ));
    }
    Ok(())
}

/// Refuses a drive to which NVMe commands cannot be passed through.
///
/// # Errors
///
/// The reason. Nothing was written.
pub(crate) fn check_drive(drive: &DriveInfo) -> Result<(), Failure> {
    ssdgauge_host::check_pass_through(drive).map_err(|cause| {
        let hint =
            "nothing was written; name a whole NVMe drive with one path, or omit --pass-through";
        Failure::new(FailureKind::Refused, cause, hint)
    })
}

/// Refuses to continue the run of `plan` in `file` with requests on another path.
///
/// # Errors
///
/// The path of the run, and the option that it has. Nothing was written.
pub(crate) fn check_same(options: &PlanOptions, plan: &Plan, file: &Path) -> Result<(), Failure> {
    if (options.polled, options.pass_through) == (plan.polled, plan.pass_through) {
        return Ok(());
    }
    let (was, hint) = match plan.request_path() {
        RequestPath::Polled => ("completions of {} were polled", "with --polled"),
        RequestPath::PassThrough => {
            ("requests of {} were passed through as NVMe commands", "with --pass-through")
        }
        RequestPath::Interrupts if options.polled => {
            ("completions of {} were announced by interrupts", "without --polled")
        }
        RequestPath::Interrupts => {
            ("requests of {} went through the block layer", "without --pass-through")
        }
    };
    Err(Failure::new(
        FailureKind::Refused,
        format!("the {}", was.replace("{}", &file.display().to_string())),
        format!("nothing was written; continue it {hint}, or name another --out"),
    ))
}
