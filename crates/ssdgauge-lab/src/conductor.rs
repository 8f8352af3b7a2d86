//! The conductor: carries a plan out on a rig, step by step, and writes down what happens.
//!
//! Every finished step is durable before the next one begins. What was cut off is found again
//! from the run file alone.

mod act;
mod remaining;
mod rounds;
mod sink;
mod slices;

use act::{By, act};
use remaining::{TriedLoads, places, remaining, searches};
use rounds::RoundValues;
use sink::StepSink;
use slices::Slices;
use ssdgauge_core::search::{self, Next, Tried};
use ssdgauge_core::{
    Bytes, EndedBy, Finding, FindingKind, Nanos, Phase, Plan, Restart, Rig, RigError, Severity,
    Step, Test, Totals,
};
use ssdgauge_runfile::{
    FindingRecord, RunFile, RunFileError, StepEnd, StepId, StepPlace, StepState, Writer,
};
use std::collections::BTreeMap;
use thiserror::Error;

/// The world around a run: the time of day, the wish to stop, and whoever looks on.
pub trait Watcher {
    /// Returns the time of day in milliseconds since 1970 (UTC).
    fn unix_ms(&mut self) -> i64;

    /// Returns whether the run shall stop.
    fn stop(&mut self) -> bool;

    /// Is told that a step begins.
    fn begins(&mut self, test: &Test, phase: &Phase, step: &Step);

    /// Is told what a second was like.
    fn sees(&mut self, glimpse: &Glimpse);

    /// Is told that the drive rests.
    fn rests(&mut self, duration: Nanos);

    /// Is told of a finding.
    fn finds(&mut self, finding: &Finding);

    /// Is told that the results find no room, waits a moment, and returns whether to look again.
    fn waits_for_room(&mut self) -> bool {
        false
    }

    /// Is told that a step has ended.
    fn ended(&mut self, test: &Test, step: &Step, elapsed: Nanos);
}

/// What one second of a step was like, streams and directions together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Glimpse {
    /// The second in its step, from 0.
    pub second: u32,
    /// Requests that completed.
    pub ios: u64,
    /// Their bytes.
    pub bytes: Bytes,
    /// How long the second was.
    pub length: Nanos,
    /// The 99th percentile of latency, in nanoseconds: the worst of all streams and directions.
    pub lat_p99: Option<u64>,
}

/// How a run came to its end without breaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Every step is finished.
    Finished,
    /// It was stopped and can go on later.
    Interrupted,
}

/// Why a run broke. What was finished before is safe in the run file.
#[derive(Debug, Error)]
pub enum ConductError {
    /// The drive or the host failed.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The drive failed requests.
    #[error("the drive failed requests in step '{0}'")]
    Faults(String),
    /// The run file could not be written.
    #[error(transparent)]
    RunFile(#[from] RunFileError),
    /// The drive is another one than before.
    #[error("this is not the drive that the run began with ({began_with}, now {now})")]
    OtherDrive {
        /// The drive of the run file.
        began_with: String,
        /// The drive of the rig.
        now: String,
    },
}

/// Carries out a whole plan.
pub fn conduct(
    plan: &Plan,
    rig: &mut dyn Rig,
    writer: &mut Writer,
    watcher: &mut dyn Watcher,
) -> Result<Completion, ConductError> {
    let mut conductor = Conductor::new(plan, rig, writer, watcher);
    conductor.tell_conditions()?;
    let places = places(plan);
    conductor.carry_out(&places, 0)
}

/// Goes on with the run of `run`, which `writer` has open.
///
/// Finished steps stay. A test whose steps make sense only together begins anew; what a scratch
/// file lost is prepared again. The pause is recorded as a finding.
pub fn resume(
    run: &RunFile,
    rig: &mut dyn Rig,
    writer: &mut Writer,
    watcher: &mut dyn Watcher,
) -> Result<Completion, ConductError> {
    let head = run.head();
    let (was, is) = (head.drive.fingerprint(), rig.drive().fingerprint());
    if was != is {
        return Err(ConductError::OtherDrive { began_with: was, now: is });
    }
    let records = run.steps()?;
    let mut attempts = BTreeMap::new();
    let mut finished = Vec::new();
    for record in &records {
        attempts.insert(record.place, record.attempt);
        if record.state == StepState::Finished {
            finished.push(record.place);
        }
    }
    let (tried, searching) = searches(run)?;
    let Some((from, todo)) = remaining(&head.plan, &finished, searching, rig.drive()) else {
        return Ok(Completion::Finished);
    };
    let last = records.iter().map(|record| record.ended_unix_ms.unwrap_or(record.started_unix_ms));
    let last = last.max().unwrap_or(head.started_unix_ms);
    let pause = Nanos((watcher.unix_ms() - last).max(0) as u64 * 1_000_000);
    let mut conductor = Conductor::new(&head.plan, rig, writer, watcher);
    (conductor.attempts, conductor.tried) = (attempts, tried);
    let was_begun = records.iter().any(|record| record.place.test == from);
    let anew = match head.plan.tests.get(from) {
        Some(test) if test.restart == Restart::Test && was_begun => format!(
            "; '{}' began anew with its preparation, because its steps make sense only together",
            test.title
        ),
        Some(_) | None => String::new(),
    };
    conductor.find(Finding::new(
        FindingKind::Resumed,
        Severity::Note,
        format!("the run went on after a pause of {pause}{anew}"),
        "",
    ))?;
    conductor.carry_out(&todo, from)
}

struct Conductor<'a> {
    plan: &'a Plan,
    rig: &'a mut dyn Rig,
    writer: &'a mut Writer,
    watcher: &'a mut dyn Watcher,
    attempts: BTreeMap<StepPlace, u32>,
    tried: TriedLoads,
    /// The last step that was carried out, and what it came to.
    last_step: Option<StepId>,
    last_totals: Totals,
}

impl<'a> Conductor<'a> {
    /// Returns a conductor that has done nothing yet.
    fn new(
        plan: &'a Plan,
        rig: &'a mut dyn Rig,
        writer: &'a mut Writer,
        watcher: &'a mut dyn Watcher,
    ) -> Conductor<'a> {
        Conductor {
            plan,
            rig,
            writer,
            watcher,
            attempts: BTreeMap::new(),
            tried: BTreeMap::new(),
            last_step: None,
            last_totals: Totals::default(),
        }
    }

    /// Carries out `places`, and behind the last one of each test, from number `from` on, its
    /// search.
    fn carry_out(&mut self, places: &[StepPlace], from: usize) -> Result<Completion, ConductError> {
        let mut places = places.iter().peekable();
        for test in 0..self.plan.tests.len() {
            while let Some(place) = places.next_if(|place| place.test == test) {
                if self.watcher.stop() || !self.carry_out_step(*place)? {
                    return Ok(Completion::Interrupted);
                }
            }
            if test >= from && !(self.search(test)? && self.rounds(test)?) {
                return Ok(Completion::Interrupted);
            }
        }
        Ok(Completion::Finished)
    }

    /// Goes through the steps of `test` until five rounds are steady; returns false where a stop
    /// cut it short.
    fn rounds(&mut self, test: usize) -> Result<bool, ConductError> {
        let plan = self.plan;
        let Some(rounds) = plan.tests[test].rounds else { return Ok(true) };
        let steps = plan.tests[test].phases[rounds.phase].steps.len();
        let mut values = RoundValues::new(rounds.metric);
        for _ in 0..rounds.at_most {
            for step in 0..steps {
                let place = StepPlace { test, phase: rounds.phase, step };
                if self.watcher.stop() || !self.carry_out_step(place)? {
                    return Ok(false);
                }
                if step == rounds.tracking {
                    values.push(&self.last_totals);
                }
            }
            if values.steady().is_some() {
                break;
            }
        }
        let finding = values.finding("rounds");
        self.watcher.finds(&finding);
        let unix_ms = self.watcher.unix_ms();
        self.writer.finding(&FindingRecord { step: self.last_step, unix_ms, finding })?;
        self.writer.commit()?;
        Ok(true)
    }

    /// Searches for the highest load that `test` bears; returns false where a stop cut it short.
    fn search(&mut self, test: usize) -> Result<bool, ConductError> {
        let plan = self.plan;
        let Some(search) = &plan.tests[test].search else { return Ok(true) };
        let rungs = plan.tests[test].phases[search.trials].steps.len();
        // Over-driving spoils the next, lower load; what a pause did to the drive nobody knows.
        let mut spoilt = self.tried.values().any(|tried| !tried.is_empty());
        loop {
            let tried = |phase: usize| self.tried.get(&(test, phase)).cloned().unwrap_or_default();
            let (phase, step) =
                match search::next(rungs, &tried(search.probes), &tried(search.trials)) {
                    Next::Probe(rung) => (search.probes, rung),
                    Next::Trial(rung) => (search.trials, rung),
                    Next::Done(_) => return Ok(true),
                };
            let again = search.recondition.iter().filter(|_| spoilt).flat_map(|phase| {
                let steps = 0..plan.tests[test].phases[*phase].steps.len();
                steps.map(|step| StepPlace { test, phase: *phase, step })
            });
            for place in again.chain([StepPlace { test, phase, step }]) {
                if self.watcher.stop() || !self.carry_out_step(place)? {
                    return Ok(false);
                }
            }
            let last = self.tried.get(&(test, phase)).and_then(|tried| tried.last());
            spoilt = last.is_some_and(|last| !last.borne);
        }
    }

    /// Records what bears on every number of the run.
    fn tell_conditions(&mut self) -> Result<(), ConductError> {
        let plan = self.plan;
        for finding in self.rig.conditions() {
            self.find(finding)?;
        }
        if self.rig.drive().is_model() {
            self.find(Finding::new(
                FindingKind::Model,
                Severity::Note,
                "all figures come from a virtual drive: a shape, not a measurement",
                "never quote them as those of a product",
            ))?;
        }
        if plan.shortened > 1 {
            self.find(Finding::new(
                FindingKind::Shortened,
                Severity::Warning,
                format!("all durations and byte limits were divided by {}", plan.shortened),
                "a shortened run is a trial: it is not compared with full ones",
            ))?;
        }
        if plan.span_scaled {
            self.find(Finding::new(
                FindingKind::SpanScaled,
                Severity::Warning,
                format!("spans were cut down to the {} of the target", self.rig.drive().capacity),
                "use a target that is large enough for the protocol",
            ))?;
        }
        Ok(())
    }

    fn find(&mut self, finding: Finding) -> Result<(), ConductError> {
        self.watcher.finds(&finding);
        let unix_ms = self.watcher.unix_ms();
        // The beginning of the next step makes it durable.
        Ok(self.writer.finding(&FindingRecord { step: None, unix_ms, finding })?)
    }

    /// Carries out one step; returns false where a stop cut it short.
    fn carry_out_step(&mut self, place: StepPlace) -> Result<bool, ConductError> {
        let test = &self.plan.tests[place.test];
        let phase = &test.phases[place.phase];
        let step = &phase.steps[place.step];
        self.watcher.begins(test, phase, step);
        let attempt = self.attempts.entry(place).or_insert(0);
        *attempt += 1;
        let attempt = *attempt;
        self.find_room()?;
        let now = self.watcher.unix_ms();
        let id = self.writer.begin_step(place, attempt, self.plan, now)?;
        let mut sink = StepSink::new(self.writer, self.watcher, id, Nanos::ZERO);
        let search = test
            .search
            .as_ref()
            .filter(|search| place.phase == search.probes || place.phase == search.trials);
        sink.slices = search.map(|search| Slices::new(&search.limits));
        let result = act(self.rig, &step.action, &mut sink);
        sink.show();
        let borne = match (sink.slices.take(), &result) {
            (Some(slices), Ok(done)) => {
                Some(slices.tell(done.by, done.elapsed, done.service.as_ref(), &mut sink))
            }
            (Some(_), Err(_)) | (None, _) => None,
        };
        let (seen, failure) = (sink.elapsed, sink.failure.take());
        let totals = std::mem::take(&mut sink.totals);
        if let Some(failure) = failure {
            return Err(failure.into());
        }
        let done = match result {
            Ok(done) => done,
            Err(error) => {
                // A drive that hangs while somebody wants the run to stop does not change that
                // it was stopped; its finding stays.
                let stopped = matches!(error, RigError::Hung { .. }) && self.watcher.stop();
                let by = if stopped { EndedBy::Stop } else { EndedBy::Faults };
                self.close(id, StepState::Broken, seen, by.name(), error.to_string())?;
                return if stopped { Ok(false) } else { Err(error.into()) };
            }
        };
        let state = match done.by {
            By::Limit(EndedBy::Stop | EndedBy::Faults) => StepState::Broken,
            // A drive that cannot keep up has been measured: that is a result.
            By::Limit(EndedBy::Time | EndedBy::Bytes | EndedBy::DeviceLag | EndedBy::HostLag)
            | By::Steady
            | By::Done => StepState::Finished,
        };
        self.close(id, state, done.elapsed, done.by.name(), done.report)?;
        (self.last_step, self.last_totals) = (Some(id), totals);
        self.last_totals.elapsed = done.elapsed;
        if let (Some(borne), StepState::Finished) = (borne, state) {
            let tried = self.tried.entry((place.test, place.phase)).or_default();
            tried.push(Tried { rung: place.step, borne });
        }
        if done.by == By::Limit(EndedBy::Faults) {
            return Err(ConductError::Faults(step.label.clone()));
        }
        self.watcher.ended(test, step, done.elapsed);
        if state == StepState::Finished {
            self.rest_after(step, id, done.elapsed)?;
        }
        Ok(state == StepState::Finished)
    }

    /// Waits for room for the results, as long as the watcher is willing to.
    fn find_room(&mut self) -> Result<(), ConductError> {
        if self.writer.has_room()? {
            return Ok(());
        }
        let since = self.watcher.unix_ms();
        while self.watcher.waits_for_room() {
            if self.writer.has_room()? {
                let waited = Nanos((self.watcher.unix_ms() - since).max(0) as u64 * 1_000_000);
                return self.find(Finding::new(
                    FindingKind::ResultsFull,
                    Severity::Note,
                    format!("the results found no room for {waited}; nothing was lost"),
                    "the drive rested meanwhile: give the results more room",
                ));
            }
        }
        Err(RunFileError::Full(self.writer.path().to_owned()).into())
    }

    fn close(
        &mut self,
        id: StepId,
        state: StepState,
        elapsed: Nanos,
        ended_by: &str,
        report: String,
    ) -> Result<(), ConductError> {
        self.find_room()?;
        let unix_ms = self.watcher.unix_ms();
        let end = StepEnd { state, unix_ms, elapsed, ended_by: ended_by.into(), report };
        Ok(self.writer.finish_step(id, &end)?)
    }

    fn rest_after(&mut self, step: &Step, id: StepId, busy: Nanos) -> Result<(), ConductError> {
        let duration = step.rest.after(busy);
        if duration == Nanos::ZERO {
            return Ok(());
        }
        self.watcher.rests(duration);
        // Readings of the rest lie behind those of the step.
        let mut sink = StepSink::new(self.writer, self.watcher, id, busy);
        let rested = self.rig.rest(duration, &mut sink);
        match sink.failure.take() {
            Some(failure) => Err(failure.into()),
            None => Ok(rested?),
        }
    }
}
