//! Replay of the recorded part of a run on a virtual drive.
//!
//! A virtual drive ends with its process. Its finished steps are executed again, in virtual time and
//! without a record, so the next step finds the drive as in an uninterrupted run. Each repeated step is
//! compared with its record: a drive, a model or a program that gives other samples is refused.

use super::comparison::{Comparison, Samples};
use super::sink::StepSink;
use super::{CarriedOut, ConductError, Conductor, carry_out};
use ssdgauge_core::Nanos;
use ssdgauge_runfile::{FLUSH, RunFile, RunFileError, StepId, StepPlace, StepRecord};
use std::collections::{BTreeSet, VecDeque};

/// The finished steps of a run that are not repeated yet.
pub(super) struct Replay<'a> {
    run: &'a RunFile,
    steps: VecDeque<StepRecord>,
    /// The steps after which the written data was flushed and read back.
    secured: BTreeSet<StepId>,
}

impl<'a> Replay<'a> {
    /// Returns the replay of `finished`, the finished steps of `run` in the order of their execution.
    pub(super) fn new(
        run: &'a RunFile,
        finished: VecDeque<StepRecord>,
    ) -> Result<Replay<'a>, RunFileError> {
        let properties = run.properties()?;
        let flushes = properties.iter().filter(|property| property.key == FLUSH);
        let secured = flushes.filter_map(|property| property.step).collect();
        Ok(Replay { run, steps: finished, secured })
    }

    /// Returns the next step to repeat.
    pub(super) fn next(&mut self) -> Option<StepRecord> {
        self.steps.pop_front()
    }

    /// Returns whether steps are left to repeat.
    pub(super) fn is_running(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Returns whether the data that `step` wrote was flushed and read back.
    pub(super) fn was_secured(&self, step: StepId) -> bool {
        self.is_running() || self.secured.contains(&step)
    }

    /// Returns whether the rounds in `phase` of `test` have a recorded verdict.
    pub(super) fn has_verdict(&self, test: usize, phase: usize) -> Result<bool, RunFileError> {
        self.run.has_steadiness_verdict(test, phase)
    }
}

impl Conductor<'_> {
    /// Executes the step at `place` again, and compares it with `record`; returns false after a stop.
    pub(super) fn replay_step(
        &mut self,
        place: StepPlace,
        record: &StepRecord,
    ) -> Result<bool, ConductError> {
        let plan = self.plan;
        let test = &plan.tests[place.test];
        let step = &test.phases[place.phase].steps[place.step];
        let differs = || ConductError::Differs { step: step.label.clone() };
        let Some(replay) = self.replay.as_ref().filter(|_| record.place == place) else {
            return Err(differs());
        };
        let is_last = !replay.is_running();
        let recorded = Samples::recorded(replay.run, record.id)?;
        let mut sink = StepSink::comparing(self.writer, self.watcher, record.id, recorded);
        let CarriedOut { result, passed } = carry_out(self.rig, test, place, &mut sink);
        let (comparison, totals) = (sink.comparison.take(), std::mem::take(&mut sink.totals));
        let done = result?;
        // A rig that was stopped returns an incomplete step.
        if self.watcher.stop() {
            return Ok(false);
        }
        let is_equal = record.elapsed == Some(done.elapsed)
            && record.ended_by.as_deref() == Some(done.by.name())
            && record.report.as_ref() == Some(&done.report);
        let Some(comparison) = comparison.filter(|one| is_equal && one.intervals_agree()) else {
            return Err(differs());
        };
        self.note_ended(place, record.id, done.elapsed, totals, passed);
        let comparison = self.replay_pause(place, record.id, done.elapsed, comparison)?;
        let Some(comparison) = comparison else { return Ok(false) };
        match comparison.missing() {
            Some(readings) if is_last || readings.is_empty() => {
                for reading in readings {
                    self.writer.reading(record.id, reading)?;
                }
            }
            Some(_) | None => return Err(differs()),
        }
        self.watcher.step_replayed(test, step);
        Ok(true)
    }

    /// Executes the pause after a repeated step; returns `None` after a stop.
    fn replay_pause(
        &mut self,
        place: StepPlace,
        id: StepId,
        busy: Nanos,
        comparison: Comparison,
    ) -> Result<Option<Comparison>, ConductError> {
        let step = &self.plan.tests[place.test].phases[place.phase].steps[place.step];
        let duration = step.rest.after(busy);
        if duration == Nanos::ZERO {
            return Ok(Some(comparison));
        }
        let mut sink = StepSink::new(self.writer, self.watcher, id, busy);
        sink.comparison = Some(comparison);
        self.rig.rest(duration, &mut sink)?;
        let comparison = sink.comparison.take();
        Ok(comparison.filter(|_| !self.watcher.stop()))
    }

    /// Returns whether the run repeats recorded steps.
    pub(super) fn is_replaying(&self) -> bool {
        self.replay.as_ref().is_some_and(Replay::is_running)
    }
}
