//! What an interrupted run has finished, and what its rest is expected to take.

use crate::failure::{Failure, FailureKind};
use crate::page_file;
use crate::progress::rest_text;
use serde::{Deserialize, Serialize};
use ssdgauge_core::{Bytes, Plan, Restart, TargetKind};
use ssdgauge_lab::{Expectation, Outlook, Recorded, Remaining, assumed_rates};
use ssdgauge_runfile::{Head, MAX_WRITES, RunFile, RunFileError, StepPlace, StepState, Writer};
use std::collections::BTreeSet;
use std::path::Path;

/// What has to be known of an interrupted run before its drive is opened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outline {
    /// Plan, drive and host.
    pub(crate) head: Head,
    /// Whether it is a proof of the capacity.
    pub(crate) is_proof: bool,
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
}

impl Outline {
    /// Returns whether the rest needs no drive of this machine.
    pub(crate) fn needs_no_drive(&self) -> bool {
        self.is_over
            || self.head.drive.kind == TargetKind::Virtual
            || self.head.imported_from().is_some()
    }
}

/// Reads what the interrupted run in `file` has left to do, as its only writer.
///
/// # Errors
///
/// Fails where the file cannot be read, is in use or is not a run file, and where its page would replace a
/// file of another program.
pub(crate) fn outline(file: &Path) -> Result<Outline, Failure> {
    let (writer, run) = Writer::resume(file)?;
    let head = run.head().clone();
    let mut outline = Outline {
        is_proof: false,
        is_over: false,
        steps: 0,
        expected: Expectation::default(),
        earlier: Bytes(0),
        limit: recorded_limit(&run)?,
        head,
    };
    if outline.head.imported_from().is_some() {
        return Ok(outline);
    }
    if let Some(recorded) = Recorded::read(&run)? {
        outline.is_proof = true;
        outline.earlier = recorded.written();
        let left = recorded.settings.layout().written().0.saturating_sub(outline.earlier.0);
        outline.expected = Expectation { expected: Bytes(left), at_most: Bytes(left) };
        return Ok(outline);
    }
    page_file::check_page(&page_file::page_beside(file), &[file])?;
    outline.is_over = ssdgauge_lab::ended(&run).transpose().is_some();
    outline.steps = run.steps()?.len() as u32;
    outline.earlier =
        ssdgauge_lab::spent(&run)?.iter().fold(Bytes(0), |sum, test| sum + test.written);
    let head = &outline.head;
    let rates = assumed_rates(&head.drive);
    let whole = ssdgauge_lab::estimate(&head.plan, head.drive.capacity, &rates).written;
    let left = whole.map(|bytes| Bytes(bytes.0.saturating_sub(outline.earlier.0)));
    let expected = RestOfRun::read(&run)?.written().unwrap_or(left.expected);
    outline.expected = Expectation { expected, at_most: left.at_most.max(expected) };
    drop((writer, run));
    Ok(outline)
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

/// What is over of a run, and what is not.
#[derive(Clone, Debug)]
pub(crate) struct RestOfRun {
    /// The steps that have finished.
    finished: usize,
    /// All steps, and the rest; `None` where the plan does not determine them: of a search, of rounds,
    /// and of repetitions until an interval is narrow.
    rest: Option<(usize, Remaining)>,
    /// When the last step ended or began, in milliseconds since 1970 (UTC).
    pub(crate) last_unix_ms: Option<i64>,
}

impl RestOfRun {
    /// Reads it from `run`.
    ///
    /// # Errors
    ///
    /// Fails where the steps cannot be read.
    pub(crate) fn read(run: &RunFile) -> Result<RestOfRun, RunFileError> {
        let steps = run.steps()?;
        let head = run.head();
        let plan = &head.plan;
        let finished: BTreeSet<StepPlace> = steps
            .iter()
            .filter(|step| step.state == StepState::Finished)
            .map(|step| step.place)
            .collect();
        let is_open = plan.repeat_until.is_some()
            || plan.tests.iter().any(|test| test.search.is_some() || test.rounds.is_some());
        let next = if is_open { None } else { next(plan, &finished) };
        let rest = next.map(|place| {
            let mut outlook = Outlook::new(plan, head.drive.capacity, &assumed_rates(&head.drive));
            outlook.resume(&steps);
            (plan.steps().count(), outlook.remaining_from(place))
        });
        let last = |step: &ssdgauge_runfile::StepRecord| {
            step.ended_unix_ms.unwrap_or(step.started_unix_ms)
        };
        let last_unix_ms = steps.iter().map(last).max();
        Ok(RestOfRun { finished: finished.len(), rest, last_unix_ms })
    }

    /// Returns how many steps have finished, such as `87 of 180 steps are finished`.
    pub(crate) fn finished(&self) -> String {
        match self.rest {
            Some((all, _)) => format!("{} of {all} steps are finished", self.finished),
            None => format!("{} steps are finished", self.finished),
        }
    }

    /// Returns the bytes that the rest is expected to write; `None` where that is not known.
    pub(crate) fn written(&self) -> Option<Bytes> {
        self.rest.map(|(_, remaining)| remaining.written)
    }

    /// Returns what the rest takes, such as `2 h 48 min left, 610 GB to write`; `None` where that is not
    /// known.
    pub(crate) fn left(&self) -> Option<String> {
        self.rest.map(|(_, remaining)| rest_text(remaining.time, remaining.written))
    }
}

/// Returns the step with which the rest of `plan` begins; `None` where all have finished.
fn next(plan: &Plan, finished: &BTreeSet<StepPlace>) -> Option<StepPlace> {
    plan.tests.iter().enumerate().find_map(|(number, test)| {
        let mut places = test.phases.iter().enumerate().flat_map(|(phase, of_test)| {
            (0..of_test.steps.len()).map(move |step| StepPlace { test: number, phase, step })
        });
        let place = places.find(|place| !finished.contains(place))?;
        Some(match test.restart {
            Restart::Step => place,
            // A test whose steps depend on each other begins again.
            Restart::Test => StepPlace { test: number, phase: 0, step: 0 },
        })
    })
}
