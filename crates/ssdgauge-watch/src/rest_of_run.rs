//! What an interrupted run has finished, and what its rest is expected to take.

use ssdgauge_core::{Bytes, Nanos, Plan, Restart};
use ssdgauge_lab::{Outlook, Remaining, assumed_rates};
use ssdgauge_runfile::{RunFile, RunFileError, StepPlace, StepState};
use std::collections::BTreeSet;

/// What is over of a run, and what is not.
#[derive(Clone, Debug)]
pub struct RestOfRun {
    /// The steps that have finished.
    finished: usize,
    /// All steps, and the rest; `None` where the plan does not determine them: of a search, of rounds,
    /// and of repetitions until an interval is narrow.
    rest: Option<(usize, Remaining)>,
    /// When the last step ended or began, in milliseconds since 1970 (UTC).
    pub last_unix_ms: Option<i64>,
}

impl RestOfRun {
    /// Reads it from `run`.
    ///
    /// # Errors
    ///
    /// Fails where the steps cannot be read.
    pub fn read(run: &RunFile) -> Result<RestOfRun, RunFileError> {
        let steps = run.steps()?;
        let head = run.head();
        let plan = &head.plan;
        let finished: BTreeSet<StepPlace> = steps
            .iter()
            .filter(|step| step.state == StepState::Finished)
            .map(|step| step.place)
            .collect();
        let is_open = plan.repeat_until.is_some()
            || [ssdgauge_runfile::XRAY_SUITE, ssdgauge_runfile::PROOF_SUITE]
                .contains(&&*plan.suite.id)
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
    pub fn finished(&self) -> String {
        match self.rest {
            Some((all, _)) => format!("{} of {all} steps are finished", self.finished),
            None => format!("{} steps are finished", self.finished),
        }
    }

    /// Returns the bytes that the rest is expected to write; `None` where that is not known.
    pub fn written(&self) -> Option<Bytes> {
        self.rest.map(|(_, remaining)| remaining.written)
    }

    /// Returns what the rest takes, such as `2 h 48 min left, 610 GB to write`; `None` where that is not
    /// known.
    pub fn left(&self) -> Option<String> {
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

/// Returns the rest of a run in words.
pub fn rest_text(time: Nanos, written: Bytes) -> String {
    let time = whole(time).about();
    match written {
        Bytes(0) => format!("{time} left"),
        written => format!("{time} left, {} to write", written.about()),
    }
}

/// Returns `time` in whole seconds.
pub fn whole(time: Nanos) -> Nanos {
    Nanos::from_secs(time.0 / 1_000_000_000)
}
