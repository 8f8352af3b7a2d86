//! How requests reach the drive (`--polled`, `--pass-through`): which plans and which drives have it.

use crate::arguments::PlanOptions;
use crate::failure::{Failure, FailureKind};
use ssdgauge_core::{DriveInfo, Engine, Plan, RequestPath};
use std::path::Path;

/// The words about a path that an option chooses.
struct Words {
    /// Its option.
    option: &'static str,
    /// Why a test that replays a trace does not have it.
    no_replay: &'static str,
    /// Why a test with the synchronous engine does not have it.
    no_synchronous: &'static str,
    /// What a trace does instead.
    replays: &'static str,
    /// Which drives have it.
    remedy: &'static str,
}

const POLLED: Words = Words {
    option: "--polled",
    no_replay: "replays a trace, whose completions come by interrupts",
    no_synchronous: "uses the synchronous engine, which waits for interrupts",
    replays: "the completions of a replay come by interrupts",
    remedy: "poll an NVMe drive whose driver was loaded with poll queues (kernel parameter \
             nvme.poll_queues=1)",
};

const PASS_THROUGH: Words = Words {
    option: "--pass-through",
    no_replay: "replays a trace, whose requests go through the block layer",
    no_synchronous: "uses the synchronous engine, whose calls go through the block layer",
    replays: "the requests of a replay go through the block layer",
    remedy: "name a whole NVMe drive with one path",
};

/// Returns the words about `path`; `None` for the one that no option chooses.
fn words(path: RequestPath) -> Option<&'static Words> {
    match path {
        RequestPath::Interrupts => None,
        RequestPath::Polled => Some(&POLLED),
        RequestPath::PassThrough => Some(&PASS_THROUGH),
    }
}

impl PlanOptions {
    /// Returns how the requests of measured loads shall reach the drive.
    pub(crate) fn request_path(&self) -> RequestPath {
        RequestPath::chosen(self.polled, self.pass_through)
    }
}

/// Refuses a plan whose path the drive or a step does not have.
///
/// # Errors
///
/// The first reason. Nothing was written.
pub(crate) fn check(plan: &Plan, drive: &DriveInfo) -> Result<(), Failure> {
    let Some(words) = words(plan.request_path()) else { return Ok(()) };
    check_drive(plan.request_path(), drive)?;
    for (test, _, step) in plan.steps() {
        let is_synchronous =
            step.action.workload().is_some_and(|one| one.engine == Engine::Synchronous);
        let what = match (step.action.replay(), is_synchronous) {
            (Some(_), _) => words.no_replay,
            (None, true) => words.no_synchronous,
            (None, false) => continue,
        };
        return Err(Failure::new(
            FailureKind::Usage,
            format!("test '{}' {what}", test.id),
            format!(
                "nothing was written; omit {}, or choose other tests with --test",
                words.option
            ),
        ));
    }
    Ok(())
}

/// Refuses a replay on `path`.
///
/// # Errors
///
/// The requests of a replay take another one. Nothing was written.
pub(crate) fn check_replay(path: RequestPath) -> Result<(), Failure> {
    words(path).map_or(Ok(()), |words| {
        let hint = format!("nothing was written; omit {}", words.option);
        Err(Failure::new(FailureKind::Usage, words.replays, hint))
    })
}

/// Refuses a drive without `path`.
///
/// # Errors
///
/// The reason. Nothing was written.
pub(crate) fn check_drive(path: RequestPath, drive: &DriveInfo) -> Result<(), Failure> {
    match path {
        RequestPath::Interrupts => Ok(()),
        RequestPath::Polled => ssdgauge_host::check_polling(drive),
        RequestPath::PassThrough => ssdgauge_host::check_pass_through(drive),
    }
    .map_err(|cause| refused(path, cause))
}

/// Returns the failure where requests cannot take `path` because of `cause`.
pub(crate) fn refused(path: RequestPath, cause: String) -> Failure {
    let omit = |words: &Words| format!("; {}, or omit {}", words.remedy, words.option);
    let hint = format!("nothing was written{}", words(path).map(omit).unwrap_or_default());
    Failure::new(FailureKind::Refused, cause, hint)
}

/// Refuses to continue the run in `file`, whose requests took the path `was`, on `is`.
///
/// # Errors
///
/// The path of the run, and the option that it has. Nothing was written.
pub(crate) fn check_same(was: RequestPath, is: RequestPath, file: &Path) -> Result<(), Failure> {
    if was == is {
        return Ok(());
    }
    let file = file.display();
    let run = match (was, is) {
        (RequestPath::Polled, _) => format!("completions of {file} were polled"),
        (RequestPath::PassThrough, _) => {
            format!("requests of {file} were passed through as NVMe commands")
        }
        (RequestPath::Interrupts, RequestPath::PassThrough) => {
            format!("requests of {file} went through the block layer")
        }
        (RequestPath::Interrupts, _) => {
            format!("completions of {file} were announced by interrupts")
        }
    };
    let continued = match (words(was), words(is)) {
        (Some(words), _) => format!("continue it with {}", words.option),
        (None, Some(words)) => format!("continue it without {}", words.option),
        (None, None) => "continue it as it began".to_owned(),
    };
    let hint = format!("nothing was written; {continued}, or name another --out");
    Err(Failure::new(FailureKind::Refused, format!("the {run}"), hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_continues_on_its_own_path_alone() {
        use RequestPath::{Interrupts, PassThrough, Polled};
        let all = [Interrupts, Polled, PassThrough];
        for (was, is) in all.iter().flat_map(|was| all.map(|is| (*was, is))) {
            let result = check_same(was, is, Path::new("a.ssdg"));
            let (words, hint) = match (was, is) {
                _ if was == is => {
                    result.unwrap();
                    continue;
                }
                (Polled, _) => ("completions of a.ssdg were polled", "continue it with --polled,"),
                (PassThrough, _) => {
                    ("requests of a.ssdg were passed through", "continue it with --pass-through,")
                }
                (Interrupts, Polled) => ("by interrupts", "continue it without --polled,"),
                (Interrupts, _) => ("the block layer", "continue it without --pass-through,"),
            };
            let text = result.unwrap_err().lines().join("\n");
            assert!(text.contains(words) && text.contains(hint), "{was:?}, {is:?}: {text}");
        }
    }
}
