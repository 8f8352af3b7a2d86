//! The conductor: executes a plan on a rig, step by step, and records the samples.
//!
//! Every finished step is durable before the next one begins, so a run that is interrupted at any
//! point is continued from the run file alone. The conductor decides nothing by the time of day.

mod act;
mod comparison;
mod durability;
mod examining;
mod proving;
mod remaining;
mod replay;
mod resuming;
mod rounds;
mod searches;
mod sink;
mod slices;
mod turns;
mod verification;
mod watcher;
mod written_data;

pub use examining::conduct_xray;
pub use proving::conduct_proof;
pub use resuming::{ended, resume};
pub use watcher::{Boot, SEPARATE_COMMIT_INTERVAL, SHARED_COMMIT_INTERVAL, Watcher};

use crate::proof::ProofError;
use crate::xray::XrayError;
use act::{By, Done, act};
use remaining::{TriedLoads, places};
use replay::Replay;
use sink::StepSink;
use slices::Slices;
use ssdgauge_core::rounded::count;
use ssdgauge_core::search::Attempt;
use ssdgauge_core::{
    EndedBy, Finding, FindingKind, Nanos, Plan, Rig, RigError, Severity, Sink, Step, Test, Totals,
};
use ssdgauge_runfile::{
    FindingRecord, Outcome, OutcomeKind, RunFileError, StepEnd, StepId, StepPlace, StepState,
    Writer,
};
use std::collections::BTreeMap;
use thiserror::Error;
use turns::Numbers;

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
    /// The virtual drive does not repeat the recorded part of the run, which is not changed.
    #[error("the virtual drive does not repeat step '{step}' as it is recorded")]
    Differs {
        /// Label of the step.
        step: String,
    },
    /// The X-ray cannot be carried out, or not continued.
    #[error(transparent)]
    Xray(XrayError),
    /// The proof failed, cannot be carried out, or not continued.
    #[error(transparent)]
    Proof(#[from] ProofError),
}

impl From<XrayError> for ConductError {
    fn from(error: XrayError) -> ConductError {
        match error {
            XrayError::Rig(error) => error.into(),
            XrayError::RunFile(error) => error.into(),
            XrayError::NoReads(_) | XrayError::TooSmall { .. } | XrayError::Differs(_) => {
                ConductError::Xray(error)
            }
        }
    }
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
    /// The last step that wrote data which was not flushed and read back since.
    written_by: Option<StepId>,
    /// The recorded steps that are repeated before the run continues, on a virtual drive.
    replay: Option<Replay<'a>>,
    /// The finding of a resumed run and the program that resumed it, until the first new record.
    resumed: Option<(Finding, String)>,
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
            written_by: None,
            replay: None,
            resumed: None,
        }
    }

    /// Executes `places`, and after the last one of each test, from number `from` on, its search
    /// and its rounds; then records how the run ended.
    ///
    /// Tests before `from` are complete; of them `places` holds at most preparations that are
    /// executed again, which must not start their searches.
    fn execute(&mut self, places: &[StepPlace], from: usize) -> Result<Completion, ConductError> {
        let ended = self.execute_to_end(places, from);
        self.end_run(ended)
    }

    /// Records how the run `ended`, which is returned.
    fn end_run(
        &mut self,
        ended: Result<Completion, ConductError>,
    ) -> Result<Completion, ConductError> {
        let recorded = self.record_outcome(&ended);
        ended.and_then(|completion| recorded.map(|()| completion))
    }

    /// Records how and why the run ended, where anything new was recorded and the file can be written.
    fn record_outcome(
        &mut self,
        ended: &Result<Completion, ConductError>,
    ) -> Result<(), ConductError> {
        let (kind, reason) = match ended {
            Ok(Completion::Finished) => (OutcomeKind::Complete, String::new()),
            Ok(Completion::Interrupted) => (OutcomeKind::Unfinished, "a stop was requested".into()),
            Err(ConductError::RunFile(_)) => return Ok(()),
            Err(error) => (OutcomeKind::Failed, error.to_string()),
        };
        // A run that is continued is unchanged until its first new record.
        if self.resumed.is_some() || !self.writer.has_room()? {
            return Ok(());
        }
        let unix_ms = self.watcher.unix_ms();
        self.writer.end_run(&Outcome { unix_ms, kind, reason })?;
        self.commit()
    }

    fn execute_to_end(
        &mut self,
        places: &[StepPlace],
        from: usize,
    ) -> Result<Completion, ConductError> {
        let ended = self.execute_all(places, from);
        let completion = self.note_gone(ended)?;
        match completion {
            Completion::Finished => {
                self.record_resumed()?;
                self.secure(None)?;
                return self.verify();
            }
            Completion::Interrupted => self.read_back_after_stop()?,
        }
        Ok(completion)
    }

    /// Records that the drive is gone, where that ended the run.
    fn note_gone(
        &mut self,
        ended: Result<Completion, ConductError>,
    ) -> Result<Completion, ConductError> {
        if let Err(ConductError::Rig(RigError::Gone(drive))) = &ended {
            self.find(Finding::new(
                FindingKind::DriveGone,
                Severity::Warning,
                format!("the run ended because {drive} is gone"),
                "the finished steps are valid; look at the drive and its link, then resume the run",
            ))?;
            self.commit()?;
        }
        ended
    }

    fn execute_all(
        &mut self,
        places: &[StepPlace],
        from: usize,
    ) -> Result<Completion, ConductError> {
        let mut places = places.iter().peekable();
        // A run may be killed after the last step of a turn, before the verdict.
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

    /// Records the findings that affect every number of the run.
    fn record_conditions(&mut self) -> Result<(), ConductError> {
        self.record_boot()?;
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
            let divisor = count(u64::from(plan.shortened));
            self.find(Finding::new(
                FindingKind::Shortened,
                Severity::Warning,
                format!("all durations and byte limits were divided by {divisor}"),
                "use a shortened run as a test run: it is not compared with full runs",
            ))?;
        }
        if plan.span_scaled {
            self.find(Finding::new(
                FindingKind::SpanScaled,
                Severity::Warning,
                format!(
                    "spans were reduced to the {} of the target",
                    self.rig.drive().capacity.about()
                ),
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

    /// Records that the run was resumed, before the first new record.
    fn record_resumed(&mut self) -> Result<(), ConductError> {
        let Some((finding, program)) = self.resumed.take() else { return Ok(()) };
        self.find(finding)?;
        // Durable with the start of the next step, like the finding.
        self.writer.property(None, "resumed_by", &program)?;
        self.record_boot()
    }

    /// Records the boot of the machine: the times of day of the run belong to it.
    fn record_boot(&mut self) -> Result<(), ConductError> {
        let is_model = self.rig.drive().is_model();
        let Some(boot) = self.watcher.boot().filter(|_| !is_model) else { return Ok(()) };
        Ok(self.writer.property(None, Boot::KEY, &boot.text())?)
    }

    /// Executes one step; returns false after a stop.
    fn execute_step(&mut self, place: StepPlace) -> Result<bool, ConductError> {
        if let Some(record) = self.replay.as_mut().and_then(Replay::next) {
            return self.replay_step(place, &record);
        }
        self.record_resumed()?;
        self.secure(Some(place))?;
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
        let CarriedOut { result, passed } = carry_out(self.rig, test, place, &mut sink);
        if let Ok(done) = &result
            && let Some(finding) = done.fell_behind(test, step)
        {
            sink.finding(finding);
        }
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
                // Nothing more is sent to a drive that does not respond.
                self.written_by = None;
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
        self.close(id, state, done.elapsed, done.by.name(), done.report.clone())?;
        let passed = passed.filter(|_| state == StepState::Finished);
        self.note_ended(place, id, done.elapsed, totals, passed);
        if done.by == By::Limit(EndedBy::Faults) {
            return Err(ConductError::Faults(step.label.clone()));
        }
        if state == StepState::Finished {
            if step.action.preparation().is_some()
                && let Ok(prepared) = serde_json::from_str(&done.report)
            {
                self.watcher.preparation_ended(step, &prepared);
            }
            self.watcher.step_ended(test, step, done.elapsed);
            self.pause_after(step, id, done.elapsed)?;
        } else {
            self.watcher.step_interrupted(test, step, done.elapsed);
        }
        Ok(state == StepState::Finished)
    }

    /// Takes a step into account that has ended: its sums, the load that it tried, and its writes.
    fn note_ended(
        &mut self,
        place: StepPlace,
        id: StepId,
        elapsed: Nanos,
        totals: Totals,
        passed: Option<bool>,
    ) {
        // Empty steps have no intervals, and the last second is shorter: the rig's time counts.
        (self.last_step, self.last_totals) = (Some(id), totals);
        self.last_totals.elapsed = elapsed;
        if let Some(passed) = passed {
            let tried = self.tried.entry((place.test, place.phase)).or_default();
            tried.push(Attempt { load: place.step, passed });
        }
        let step = &self.plan.tests[place.test].phases[place.phase].steps[place.step];
        if step.action.writes() {
            self.written_by = Some(id);
        }
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

    /// Executes the pause after a step.
    fn pause_after(&mut self, step: &Step, id: StepId, busy: Nanos) -> Result<(), ConductError> {
        let duration = step.rest.after(busy);
        if duration == Nanos::ZERO {
            return Ok(());
        }
        self.watcher.pause_began(duration);
        // Readings of the pause belong to the step, with times after its end.
        let mut sink = StepSink::new(self.writer, self.watcher, id, busy);
        let result = self.rig.rest(duration, &mut sink);
        match sink.failure.take() {
            Some(failure) => Err(failure.into()),
            None => Ok(result.map(drop)?),
        }
    }
}

/// A step that was carried out.
struct CarriedOut {
    result: Result<Done, RigError>,
    /// Whether it passed, where it is a load of a search.
    passed: Option<bool>,
}

/// Carries out the step at `place` of `test`, and judges it where it is a load of a search.
fn carry_out(
    rig: &mut dyn Rig,
    test: &Test,
    place: StepPlace,
    sink: &mut StepSink<'_>,
) -> CarriedOut {
    let step = &test.phases[place.phase].steps[place.step];
    let search = test
        .search
        .as_ref()
        .filter(|search| place.phase == search.probes || place.phase == search.attempts);
    sink.slices = search.map(|search| Slices::new(search, &step.action));
    let result = act(rig, &step.action, sink);
    let passed = match (sink.slices.take(), &result) {
        (Some(slices), Ok(done)) => {
            Some(slices.judge(done.by, done.elapsed, &done.open_loops, sink))
        }
        (Some(_), Err(_)) | (None, _) => None,
    };
    CarriedOut { result, passed }
}
