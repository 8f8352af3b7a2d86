//! What has to be known of an interrupted run before it is continued.

use crate::failure::{Failure, FailureKind};
use crate::page_file;
use crate::reader::{self, Input};
use serde::{Deserialize, Serialize};
use ssdgauge_core::{Bytes, Plan, TargetKind};
use ssdgauge_lab::{Expectation, Recorded, RecordedXray, assumed_rates};
use ssdgauge_runfile::{
    Head, MAX_WRITES, RunFile, RunFileError, StepPlace, StepRecord, StepState, Writer,
};
use ssdgauge_watch::rest_of_run::RestOfRun;
use std::path::Path;

/// What has to be known of an interrupted run before its drive is opened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outline {
    /// Plan, drive and host.
    pub(crate) head: Head,
    /// Whether it is a proof of the capacity.
    pub(crate) is_proof: bool,
    /// Whether it is an X-ray.
    pub(crate) is_xray: bool,
    /// Whether nothing is left to do.
    pub(crate) is_over: bool,
    /// The number of its attempts at steps.
    pub(crate) steps: u32,
    /// The bytes that its rest is expected to write: those of the rest of the whole plan where it is not
    /// known which steps are left.
    pub(crate) expected: Expectation<Bytes>,
    /// The bytes that it has written.
    pub(crate) earlier: Bytes,
    /// The bytes that it may write, as it was begun or last continued.
    pub(crate) limit: Option<Bytes>,
    /// The identity of the file in which it was begun, as it states it.
    pub(crate) origin: Option<String>,
}

impl Outline {
    /// Returns whether the rest needs no drive of this machine.
    pub(crate) fn needs_no_drive(&self) -> bool {
        self.head.drive.kind == TargetKind::Virtual || self.head.imported_from().is_some()
    }
}

/// Returns what the interrupted run in `file` has left to do, as its only writer until then; an interrupted write is
/// undone.
///
/// # Errors
///
/// Fails where the file cannot be read, is in use or is not a run file, and where its page would replace a
/// file of another program.
pub(crate) fn read(file: &Path) -> Result<Outline, Failure> {
    reader::ask(|| read_here(file), &["rest"], &[file.into()], Input::None)
}

fn read_here(file: &Path) -> Result<Outline, Failure> {
    let (writer, run) = Writer::resume(file)?;
    let head = run.head().clone();
    let mut outline = Outline {
        is_proof: false,
        is_xray: false,
        is_over: false,
        steps: 0,
        expected: Expectation::default(),
        earlier: Bytes(0),
        limit: recorded_limit(&run)?,
        origin: run.origin()?,
        head,
    };
    if outline.head.imported_from().is_some() {
        return Ok(outline);
    }
    if let Some(recorded) = Recorded::read(&run)? {
        (outline.is_proof, outline.is_over) = (true, recorded.is_over());
        outline.earlier = recorded.written();
        let left = recorded.settings.layout().written().0.saturating_sub(outline.earlier.0);
        outline.expected = Expectation { expected: Bytes(left), at_most: Bytes(left) };
        return Ok(outline);
    }
    outline.is_over = ssdgauge_lab::ended(&run).transpose().is_some();
    outline.steps = run.steps()?.len() as u32;
    match RecordedXray::read(&run)? {
        Some(xray) => (outline.is_xray, outline.earlier) = (true, xray.written),
        None => {
            page_file::check_page(&page_file::page_next_to(file), &[file])?;
            let spent = ssdgauge_lab::spent(&run)?;
            outline.earlier = spent.iter().fold(Bytes(0), |sum, test| sum + test.written);
        }
    }
    let head = &outline.head;
    let rates = assumed_rates(&head.drive);
    let written = |plan: &Plan| ssdgauge_lab::estimate(plan, head.drive.capacity, &rates).written;
    let whole = written(&head.plan);
    // A finished experiment may be carried out again where a later one needs its state of the drive.
    let over = if outline.is_xray { Bytes(0) } else { outline.earlier };
    let left = whole.map(|bytes| Bytes(bytes.0.saturating_sub(over.0)));
    let expected = match outline.is_xray {
        true => written(&unfinished_tests(&head.plan, &run.steps()?)).expected,
        false => RestOfRun::read(&run)?.written().unwrap_or(left.expected),
    };
    outline.expected = Expectation { expected, at_most: left.at_most.max(expected) };
    drop((writer, run));
    Ok(outline)
}

/// Returns `plan` with the tests alone of which a step has not finished.
fn unfinished_tests(plan: &Plan, steps: &[StepRecord]) -> Plan {
    let is_finished = |place: StepPlace| {
        steps.iter().any(|one| one.place == place && one.state == StepState::Finished)
    };
    let tests = plan.tests.iter().enumerate().filter(|(test, rules)| {
        let last = rules.phases.first().map_or(0, |phase| phase.steps.len().saturating_sub(1));
        !is_finished(StepPlace { test: *test, phase: 0, step: last })
    });
    Plan { tests: tests.map(|(_, test)| test.clone()).collect(), ..plan.clone() }
}

/// Returns the bytes that the run may write, as it was begun or last continued.
fn recorded_limit(run: &RunFile) -> Result<Option<Bytes>, RunFileError> {
    let properties = run.properties()?;
    let found = properties.iter().rfind(|one| one.step.is_none() && one.key == MAX_WRITES);
    Ok(found.and_then(|one| one.value.parse().ok()).map(Bytes))
}

/// Opens `file` to continue the run of `outline`, whose drive is open.
///
/// # Errors
///
/// As [`Writer::resume`], and where the file holds another run, or the run was continued meanwhile.
pub(crate) fn continued(file: &Path, outline: &Outline) -> Result<(Writer, RunFile), Failure> {
    let changed = |cause: String| {
        let hint = "nothing was written to the drive; resume it again";
        Failure::new(FailureKind::Failed, cause, hint)
    };
    let opened = Writer::resume(file).map_err(|error| match error {
        // Not a reason to wait: the drive is held.
        RunFileError::Busy(_) => changed(error.to_string()),
        error => error.into(),
    })?;
    let head = opened.1.head();
    let is_same = head.id == outline.head.id
        && head.drive == outline.head.drive
        && (outline.is_proof || opened.1.steps()?.len() as u32 == outline.steps);
    match is_same {
        true => Ok(opened),
        false => Err(changed(format!("{} was changed while its drive was opened", file.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Rig;

    #[test]
    fn the_rest_of_an_x_ray_is_the_experiments_that_have_not_finished() {
        let rig = ssdgauge_sim::VirtualRig::open("tiny", 1).unwrap();
        let options =
            ssdgauge_lab::XrayOptions { gentle: false, steady: false, only: vec![], seed: 1 };
        let plan = ssdgauge_lab::xray_plan(rig.drive(), &options).unwrap();
        let record = |test: usize, state: StepState| StepRecord {
            id: ssdgauge_runfile::StepId(1),
            place: StepPlace { test, phase: 0, step: plan.tests[test].phases[0].steps.len() - 1 },
            attempt: 1,
            started_unix_ms: 0,
            ended_unix_ms: None,
            state,
            elapsed: None,
            ended_by: None,
            report: None,
        };
        let steps = [record(0, StepState::Finished), record(1, StepState::Broken)];
        let left = unfinished_tests(&plan, &steps);
        assert_eq!(left.tests, plan.tests[1..]);
    }
}
