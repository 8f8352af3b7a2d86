//! The conductor: executes a plan on a rig, step by step, and records the samples.
//!
//! Every finished step is durable before the next one begins, so a run that is interrupted at any
//! point is continued from the run file alone. The conductor decides nothing by the time of day.

mod act;
mod durability;
mod remaining;
mod rounds;
mod sink;
mod slices;
mod turns;

use act::{By, act};
use remaining::{TriedLoads, count_earlier, places, remaining, searches};
use rounds::RoundValues;
use sink::StepSink;
use slices::Slices;
use ssdgauge_core::search::{self, Attempt, Next, SearchRule};
use ssdgauge_core::{
    Bytes, EndedBy, Finding, FindingKind, Nanos, Phase, Plan, Restart, Rig, RigError, Severity,
    Step, Test, Totals,
};
use ssdgauge_runfile::{
    FindingRecord, RunFile, RunFileError, StepEnd, StepId, StepPlace, StepState, Writer,
};
use std::collections::BTreeMap;
use thiserror::Error;
use turns::Numbers;

/// The surroundings of a run: time of day, stop requests and progress display.
///
/// The lab has no clock and no signals; the binary implements them here.
pub trait Watcher {
    /// Returns the time of day in milliseconds since 1970 (UTC).
    fn unix_ms(&mut self) -> i64;

    /// Returns whether a stop of the run is requested.
    fn stop(&mut self) -> bool;

    /// Called at the start of each step.
    fn step_began(&mut self, test: &Test, phase: &Phase, step: &Step);

    /// Called with each complete second of a step.
    fn second_ended(&mut self, summary: &SecondSummary);

    /// Called before each pause behind a step.
    fn pause_began(&mut self, duration: Nanos);

    /// Called with each finding.
    fn finding_recorded(&mut self, finding: &Finding);

    /// Called while the file system of the run file is full: waits a moment and returns whether to
    /// check again; false ends the run. The default does not wait.
    fn wait_for_room(&mut self) -> bool {
        false
    }

    /// Called while another process reads the run file, so that a commit cannot end: waits a moment
    /// and returns whether to try again; false ends the run. The default does not wait.
    fn wait_for_reader(&mut self) -> bool {
        false
    }

    /// Called after each turn of a run that ends when the intervals between its repetitions are
    /// narrow, with the widest of them in words. The default shows nothing.
    fn turn_ended(&mut self, _text: &str) {}

    /// Called at the end of each step.
    fn step_ended(&mut self, test: &Test, step: &Step, elapsed: Nanos);
}

/// One second of a step, all streams and directions together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SecondSummary {
    /// Number of the second in its step, from 0.
    pub second: u32,
    /// Completed requests.
    pub ios: u64,
    /// Their bytes.
    pub bytes: Bytes,
    /// Length of the interval: a second, or less at the end of a step.
    pub length: Nanos,
    /// 99th percentile of latency in nanoseconds: the highest of all streams and directions.
    pub lat_p99: Option<u64>,
}

/// Regular end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Every step is finished, or the intervals between the repetitions are as narrow as requested.
    Finished,
    /// A stop was requested; the run can be resumed.
    Interrupted,
}

/// Error that ends a run. The finished steps are durable in the run file.
#[derive(Debug, Error)]
pub enum ConductError {
    /// The drive or the host failed.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The step ended because requests completed with errors.
    #[error("the drive failed requests in step '{0}'")]
    Faults(String),
    /// The run file could not be written.
    #[error(transparent)]
    RunFile(#[from] RunFileError),
    /// The drive to resume on has another fingerprint than that of the run.
    #[error("the run began on another drive: {began_with}; this one is {now}")]
    OtherDrive {
        /// Fingerprint of the drive in the run file.
        began_with: String,
        /// Fingerprint of the drive of the rig.
        now: String,
    },
}

/// Executes `plan` from its first step.
///
/// # Errors
///
/// [`ConductError::Rig`] or [`ConductError::Faults`] where drive or host fail: the step is recorded
/// as broken. [`ConductError::RunFile`] where the run file cannot be written.
pub fn conduct(
    plan: &Plan,
    rig: &mut dyn Rig,
    writer: &mut Writer,
    watcher: &mut dyn Watcher,
) -> Result<Completion, ConductError> {
    let mut conductor = Conductor::new(plan, rig, writer, watcher);
    conductor.record_conditions()?;
    let places = places(plan);
    conductor.execute(&places, 0)
}

/// Continues the run of `run`, which `writer` has open.
///
/// Finished steps are kept. A test with [`Restart::Test`] is executed again from its preparation,
/// because its steps depend on each other without a pause; the content of a scratch file or of a
/// virtual drive is written again. The pause is recorded as a finding, and `program`, which
/// continues the run, as the property `resumed_by`.
///
/// # Errors
///
/// [`ConductError::OtherDrive`] before anything is written, where the drive is not that of the run;
/// otherwise those of [`conduct`].
pub fn resume(
    run: &RunFile,
    rig: &mut dyn Rig,
    writer: &mut Writer,
    watcher: &mut dyn Watcher,
    program: &str,
) -> Result<Completion, ConductError> {
    let head = run.head();
    let (began_with, now) = (head.drive.fingerprint(), rig.drive().fingerprint());
    if began_with != now {
        return Err(ConductError::OtherDrive { began_with, now });
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
    let (attempts_of_searches, unfinished) = searches(run)?;
    let is_judged = run.repetitions()?.is_some();
    // Where every step is finished, the verdict on the last turn may be missing.
    let awaits_verdict = head.plan.repeat_until.is_some() && !is_judged;
    let todo = remaining(&head.plan, &finished, unfinished, rig.drive()).filter(|_| !is_judged);
    let todo = todo.or(awaits_verdict.then(|| (head.plan.tests.len(), Vec::new())));
    let Some((from, todo)) = todo else { return Ok(Completion::Finished) };
    count_earlier(&head.plan, &records, &todo, rig);
    let last = records.iter().map(|record| record.ended_unix_ms.unwrap_or(record.started_unix_ms));
    let last = last.max().unwrap_or(head.started_unix_ms);
    // The time of day may have been set meanwhile: a negative pause counts as none.
    let pause = Nanos((watcher.unix_ms() - last).max(0) as u64 * 1_000_000);
    let mut conductor = Conductor::new(&head.plan, rig, writer, watcher);
    (conductor.attempts, conductor.tried) = (attempts, attempts_of_searches);
    let was_begun = records.iter().any(|record| record.place.test == from);
    let again = match head.plan.tests.get(from) {
        Some(test) if test.restart == Restart::Test && was_begun => format!(
            "; test '{}' was started again with its preparation, because its steps depend on each \
             other without a pause",
            test.title
        ),
        Some(_) | None => String::new(),
    };
    conductor.find(Finding::new(
        FindingKind::Resumed,
        Severity::Note,
        format!("the run was resumed after a pause of {pause}{again}"),
        "",
    ))?;
    // Durable with the start of the next step, like the finding.
    conductor.writer.property(None, "resumed_by", program)?;
    conductor.execute(&todo, from)
}

/// A run in progress.
struct Conductor<'a> {
    plan: &'a Plan,
    rig: &'a mut dyn Rig,
    writer: &'a mut Writer,
    watcher: &'a mut dyn Watcher,
    /// The attempts at each step so far, in earlier parts of the run as well.
    attempts: BTreeMap<StepPlace, u32>,
    /// The loads that searches have tried so far.
    tried: TriedLoads,
    /// The last executed step and its sums, which the rounds track.
    last_step: Option<StepId>,
    last_totals: Totals,
    /// The numbers of the finished tests, which decide on further turns.
    numbers: Numbers,
}

impl<'a> Conductor<'a> {
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
            numbers: Numbers::new(),
        }
    }

    /// Executes `places`, and behind the last one of each test, from number `from` on, its search
    /// and its rounds.
    ///
    /// Tests before `from` are complete; of them `places` holds at most preparations that are
    /// executed again, which must not start their searches.
    fn execute(&mut self, places: &[StepPlace], from: usize) -> Result<Completion, ConductError> {
        let mut places = places.iter().peekable();
        // A run may be killed behind the last step of a turn, before the verdict.
        if self.ends_before(from)? {
            return Ok(Completion::Finished);
        }
        for test in 0..self.plan.tests.len() {
            while let Some(place) = places.next_if(|place| place.test == test) {
                if self.watcher.stop() || !self.execute_step(*place)? {
                    return Ok(Completion::Interrupted);
                }
            }
            if test >= from && !(self.search(test)? && self.rounds(test)?) {
                return Ok(Completion::Interrupted);
            }
            if test >= from && self.ends_before(test + 1)? {
                break;
            }
        }
        Ok(Completion::Finished)
    }

    /// Executes the rounds of `test` until five of them are steady; returns false after a stop.
    ///
    /// Rounds are not resumed in the middle: the reader of suites requires [`Restart::Test`],
    /// because a pause between rounds would change the state that the rule judges.
    fn rounds(&mut self, test: usize) -> Result<bool, ConductError> {
        let plan = self.plan;
        let Some(rounds) = plan.tests[test].rounds else { return Ok(true) };
        let steps = plan.tests[test].phases[rounds.phase].steps.len();
        let mut values = RoundValues::new(rounds.metric);
        for _ in 0..rounds.at_most {
            for step in 0..steps {
                let place = StepPlace { test, phase: rounds.phase, step };
                if self.watcher.stop() || !self.execute_step(place)? {
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
        self.watcher.finding_recorded(&finding);
        let unix_ms = self.watcher.unix_ms();
        self.writer.finding(&FindingRecord { step: self.last_step, unix_ms, finding })?;
        self.commit()?;
        Ok(true)
    }

    /// Searches for the highest load that `test` passes; returns false after a stop.
    ///
    /// Every load is a step of the plan; `search::next` selects the next one from the attempts so
    /// far, so a resumed search continues where it was interrupted.
    fn search(&mut self, test: usize) -> Result<bool, ConductError> {
        let plan = self.plan;
        let Some(search) = &plan.tests[test].search else { return Ok(true) };
        let loads = plan.tests[test].phases[search.attempts].steps.len();
        // A load that did not pass leaves a backlog of garbage collection, which would fail the
        // next, lower load. The state after a pause is unknown, so a resumed search reconditions
        // too.
        let mut needs_recondition = self.tried.values().any(|attempts| !attempts.is_empty());
        loop {
            let tried = |phase: usize| self.tried.get(&(test, phase)).cloned().unwrap_or_default();
            let (probes, attempts) = (tried(search.probes), tried(search.attempts));
            let (phase, step) = match search::next(search.rule, loads, &probes, &attempts) {
                Next::Probe(load_index) => (search.probes, load_index),
                Next::Attempt(load_index) => (search.attempts, load_index),
                Next::Done(_) => return Ok(true),
            };
            needs_recondition = match search.rule {
                SearchRule::DownFromProbe => needs_recondition,
                // Every attempt begins in one state; probes only select the first attempt.
                SearchRule::FromOneState => phase == search.attempts,
            };
            let phases = search.recondition.iter().filter(|_| needs_recondition);
            let recondition = phases.flat_map(|phase| {
                let steps = 0..plan.tests[test].phases[*phase].steps.len();
                steps.map(|step| StepPlace { test, phase: *phase, step })
            });
            for place in recondition.chain([StepPlace { test, phase, step }]) {
                if self.watcher.stop() || !self.execute_step(place)? {
                    return Ok(false);
                }
            }
            let last = self.tried.get(&(test, phase)).and_then(|tried| tried.last());
            needs_recondition = last.is_some_and(|last| !last.passed);
        }
    }

    /// Records the findings that affect every number of the run.
    fn record_conditions(&mut self) -> Result<(), ConductError> {
        let plan = self.plan;
        for finding in self.rig.conditions() {
            self.find(finding)?;
        }
        if self.rig.drive().is_model() {
            self.find(Finding::new(
                FindingKind::Model,
                Severity::Note,
                "all figures are results of a virtual drive, not measurements",
                "do not quote them as results of a product",
            ))?;
        }
        if plan.shortened > 1 {
            self.find(Finding::new(
                FindingKind::Shortened,
                Severity::Warning,
                format!("all durations and byte limits were divided by {}", plan.shortened),
                "use a shortened run as a test run: it is not compared with full runs",
            ))?;
        }
        if plan.span_scaled {
            self.find(Finding::new(
                FindingKind::SpanScaled,
                Severity::Warning,
                format!("spans were reduced to the {} of the target", self.rig.drive().capacity),
                "use a target as large as the protocol requires",
            ))?;
        }
        Ok(())
    }

    /// Records a finding of the whole run.
    fn find(&mut self, finding: Finding) -> Result<(), ConductError> {
        self.watcher.finding_recorded(&finding);
        let unix_ms = self.watcher.unix_ms();
        // It becomes durable with the start of the next step.
        Ok(self.writer.finding(&FindingRecord { step: None, unix_ms, finding })?)
    }

    /// Executes one step; returns false after a stop.
    fn execute_step(&mut self, place: StepPlace) -> Result<bool, ConductError> {
        let test = &self.plan.tests[place.test];
        let phase = &test.phases[place.phase];
        let step = &phase.steps[place.step];
        self.watcher.step_began(test, phase, step);
        let attempt = self.attempts.entry(place).or_insert(0);
        *attempt += 1;
        let attempt = *attempt;
        self.wait_for_room()?;
        let now = self.watcher.unix_ms();
        let id = self.writer.begin_step(place, attempt, self.plan, now)?;
        self.commit()?;
        let mut sink = StepSink::new(self.writer, self.watcher, id, Nanos::ZERO);
        let search = test
            .search
            .as_ref()
            .filter(|search| place.phase == search.probes || place.phase == search.attempts);
        sink.slices = search.map(|search| Slices::new(search, &step.action));
        let result = act(self.rig, &step.action, &mut sink);
        sink.show();
        let passed = match (sink.slices.take(), &result) {
            (Some(slices), Ok(done)) => {
                Some(slices.judge(done.by, done.elapsed, done.service.as_ref(), &mut sink))
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
                // A hang after a stop request is an interruption, not a broken run: the step is
                // executed again on resume, and the finding of the rig is kept.
                let stopped = matches!(error, RigError::Hung { .. }) && self.watcher.stop();
                let by = if stopped { EndedBy::Stop } else { EndedBy::Faults };
                self.close(id, StepState::Broken, seen, by.name(), error.to_string())?;
                return if stopped { Ok(false) } else { Err(error.into()) };
            }
        };
        let state = match done.by {
            By::Limit(EndedBy::Stop | EndedBy::Faults) => StepState::Broken,
            // Saturation is a result: a drive or host that falls behind the load was measured.
            By::Limit(EndedBy::Time | EndedBy::Bytes | EndedBy::DeviceLag | EndedBy::HostLag)
            | By::Steady
            | By::TooSlow
            | By::Done => StepState::Finished,
        };
        self.close(id, state, done.elapsed, done.by.name(), done.report)?;
        (self.last_step, self.last_totals) = (Some(id), totals);
        // Empty steps have no intervals, and the last second is shorter: the rig's time counts.
        self.last_totals.elapsed = done.elapsed;
        if let (Some(passed), StepState::Finished) = (passed, state) {
            let tried = self.tried.entry((place.test, place.phase)).or_default();
            tried.push(Attempt { load: place.step, passed });
        }
        if done.by == By::Limit(EndedBy::Faults) {
            return Err(ConductError::Faults(step.label.clone()));
        }
        self.watcher.step_ended(test, step, done.elapsed);
        if state == StepState::Finished {
            self.pause_after(step, id, done.elapsed)?;
        }
        Ok(state == StepState::Finished)
    }

    /// Records the end of a step.
    fn close(
        &mut self,
        id: StepId,
        state: StepState,
        elapsed: Nanos,
        ended_by: &str,
        report: String,
    ) -> Result<(), ConductError> {
        self.wait_for_room()?;
        let unix_ms = self.watcher.unix_ms();
        let end = StepEnd { state, unix_ms, elapsed, ended_by: ended_by.into(), report };
        self.writer.finish_step(id, &end)?;
        self.commit()
    }

    /// Makes all records durable.
    fn commit(&mut self) -> Result<(), ConductError> {
        let finding = durability::commit(self.writer, self.watcher)?;
        finding.map_or(Ok(()), |finding| self.find(finding))
    }

    /// Waits until the file system of the run file has room.
    fn wait_for_room(&mut self) -> Result<(), ConductError> {
        let finding = durability::wait_for_room(self.writer, self.watcher)?;
        finding.map_or(Ok(()), |finding| self.find(finding))
    }

    /// Executes the pause behind a step.
    fn pause_after(&mut self, step: &Step, id: StepId, busy: Nanos) -> Result<(), ConductError> {
        let duration = step.rest.after(busy);
        if duration == Nanos::ZERO {
            return Ok(());
        }
        self.watcher.pause_began(duration);
        // Readings of the pause belong to the step, with times behind its end.
        let mut sink = StepSink::new(self.writer, self.watcher, id, busy);
        let result = self.rig.rest(duration, &mut sink);
        match sink.failure.take() {
            Some(failure) => Err(failure.into()),
            None => Ok(result?),
        }
    }
}
