//! Remaining time and bytes of a run in progress, with the rate of writes that its fills have shown.
//!
//! It must never learn from another run: a run file that is not given is not guessed at.

use super::drive_state::Effort;
use super::forecast::{Quantity, TestForecast, forecast};
use super::rates::AssumedRates;
use ssdgauge_core::{Action, Bytes, Nanos, PhaseKind, Plan, Restart, Step, Until};
use ssdgauge_runfile::{StepPlace, StepRecord, StepState};
use std::collections::BTreeSet;

/// The expected rest of a run.
#[derive(Clone, Debug)]
pub struct Outlook<'a> {
    plan: &'a Plan,
    capacity: Bytes,
    assumed: AssumedRates,
    /// By the assumed rates.
    first: Vec<TestForecast>,
    /// By the rates that the fills have shown.
    current: Vec<TestForecast>,
    /// The expected and the actual duration of all finished fills, in seconds.
    fills: (f64, f64),
    /// The steps that an earlier part of the run has finished, which are not executed again.
    finished: BTreeSet<StepPlace>,
    /// What the rounds or the search of each test have taken so far, in seconds.
    repeated_s: Vec<f64>,
    /// Duration of all finished steps with their rests.
    elapsed: Nanos,
}

/// The expected rest of a run: time and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remaining {
    /// Time, rests included.
    pub time: Nanos,
    /// Bytes that the host writes.
    pub written: Bytes,
}

impl<'a> Outlook<'a> {
    /// Returns the outlook before the first step of `plan`, on a drive of `capacity` with the rates
    /// `assumed`.
    pub fn new(plan: &'a Plan, capacity: Bytes, assumed: &AssumedRates) -> Outlook<'a> {
        let first = forecast(plan, capacity, assumed, Quantity::Expected);
        Outlook {
            plan,
            capacity,
            assumed: *assumed,
            current: first.clone(),
            first,
            fills: (0.0, 0.0),
            finished: BTreeSet::new(),
            repeated_s: vec![0.0; plan.tests.len()],
            elapsed: Nanos::ZERO,
        }
    }

    /// Counts the steps of an earlier part of the run.
    pub fn resume(&mut self, earlier: &[StepRecord]) {
        for record in earlier.iter().filter(|record| record.state == StepState::Finished) {
            self.count(record.place, record.elapsed.unwrap_or_default());
            if self.plan.tests[record.place.test].restart == Restart::Step {
                self.finished.insert(record.place);
            }
        }
        self.learn();
    }

    /// Counts the step at `place`, which took `elapsed` without its rest. Returns the bytes of the first
    /// fill of the run, from whose rate the remaining steps follow.
    pub fn step_ended(&mut self, place: StepPlace, elapsed: Nanos) -> Option<Bytes> {
        let knew = self.measured_factor().is_some();
        let filled = self.count(place, elapsed)?;
        self.learn();
        (!knew).then_some(filled)
    }

    /// Counts a step; returns the bytes of a fill.
    fn count(&mut self, place: StepPlace, elapsed: Nanos) -> Option<Bytes> {
        let step = self.step(place);
        let time = elapsed + step.rest.after(elapsed);
        let seconds = time.as_secs_f64();
        let filled = self.filled_by(place);
        self.elapsed += time;
        if let (Some(_), Some(expected)) = (filled, in_order(&self.first, place)) {
            self.fills.0 += expected.seconds;
            self.fills.1 += seconds;
        }
        if self.is_repeating(place) {
            self.repeated_s[place.test] += seconds;
        }
        filled
    }

    /// Returns the bytes of a step that only fills: a fill, or a preconditioning by writes that bytes
    /// alone end.
    fn filled_by(&self, place: StepPlace) -> Option<Bytes> {
        let kind = self.plan.tests[place.test].phases[place.phase].kind;
        match &self.step(place).action {
            Action::Prepare(preparation) => preparation.fill_span(),
            Action::Run { workload, until: Until { time: None, bytes }, steady: None } => {
                let only_writes =
                    workload.streams.iter().all(|stream| stream.writes() && !stream.reads());
                bytes.filter(|_| only_writes && kind == PhaseKind::Precondition)
            }
            Action::Run { .. } | Action::Replay(_) | Action::Rest(_) | Action::Idle(_) => None,
        }
    }

    /// Returns whether the step at `place` belongs to the rounds or to the search of its test: the
    /// preparation of a search is executed again once it has begun.
    fn is_repeating(&self, place: StepPlace) -> bool {
        let test = &self.plan.tests[place.test];
        let is_again = test.search.as_ref().is_some_and(|search| {
            self.repeated_s[place.test] > 0.0 && search.recondition.contains(&place.phase)
        });
        is_again || !test.is_in_order(place.phase)
    }

    /// Returns the ratio of the measured rate of the fills to the expected one; `None` before the first
    /// fill.
    fn measured_factor(&self) -> Option<f64> {
        let (expected, actual) = self.fills;
        (actual > 0.0 && expected > 0.0).then(|| expected / actual)
    }

    fn learn(&mut self) {
        if let Some(factor) = self.measured_factor() {
            let rates = self.assumed.with_writes_times(factor);
            self.current = forecast(self.plan, self.capacity, &rates, Quantity::Expected);
        }
    }

    /// Returns the expected duration of the step at `place`, with its rest.
    pub fn expected(&self, place: StepPlace) -> Nanos {
        let alone = in_order(&self.current, place);
        let until = self.step(place).action.until().and_then(|until| until.time);
        // A step of a search or of rounds has no expectation of its own: most reach their time limit.
        nanos(alone.map_or_else(|| until.unwrap_or_default().as_secs_f64(), |step| step.seconds))
    }

    /// Returns the rest of the run from the start of the step at `place` on.
    pub fn remaining_from(&self, place: StepPlace) -> Remaining {
        let tests = self.current.iter().enumerate().skip(place.test);
        let sum = tests.fold(Effort::default(), |sum, (number, test)| {
            // The phases of a search and of rounds follow all steps that run in order.
            let is_repeating = number == place.test && self.is_repeating(place);
            let from = if number == place.test { (place.phase, place.step) } else { (0, 0) };
            let pending = test.in_order.iter().filter(|(phase, step, _)| {
                let other = StepPlace { test: number, phase: *phase, step: *step };
                let is_over = other != place && self.finished.contains(&other);
                !is_repeating && (*phase, *step) >= from && !is_over
            });
            let in_order = pending.fold(sum, |sum, (_, _, effort)| sum.plus(*effort));
            in_order.plus(self.repeated_from(number, test, is_repeating.then_some(place)))
        });
        Remaining { time: nanos(sum.seconds), written: Bytes(sum.written as u64) }
    }

    /// Returns the rest of the rounds or of the search of a test; at `place`, where one of its steps
    /// begins, it is at least that step.
    fn repeated_from(&self, test: usize, of: &TestForecast, place: Option<StepPlace>) -> Effort {
        let least = place.map_or(0.0, |place| self.expected(place).as_secs_f64());
        let left = (of.repeated.seconds - self.repeated_s[test]).max(least);
        of.repeated.times(left / of.repeated.seconds.max(1e-9))
    }

    /// Returns the duration of all finished steps, with their rests.
    pub fn elapsed(&self) -> Nanos {
        self.elapsed
    }

    fn step(&self, place: StepPlace) -> &'a Step {
        &self.plan.tests[place.test].phases[place.phase].steps[place.step]
    }
}

/// Returns the cost of a step that runs in order.
fn in_order(forecasts: &[TestForecast], place: StepPlace) -> Option<Effort> {
    let mut steps = forecasts[place.test].in_order.iter();
    let found = steps.find(|(phase, step, _)| (*phase, *step) == (place.phase, place.step));
    found.map(|(_, _, effort)| *effort)
}

fn nanos(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9) as u64)
}
