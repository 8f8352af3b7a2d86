//! An X-ray as a run: each of its experiments is a step, whose answers are recorded at its end.

use super::watcher::Watcher;
use super::{Completion, ConductError, Conductor, durability};
use crate::xray::{
    CutShort, ENDED, EndedExperiment, Experiment, ExperimentReport, RecordedXray, XrayWatcher, xray,
};
use ssdgauge_core::{Bytes, EndedBy, Finding, Plan, Rig};
use ssdgauge_runfile::{
    FindingRecord, RunFileError, StepEnd, StepId, StepPlace, StepState, Writer,
};
use std::collections::BTreeMap;

/// Carries out the X-ray of `plan`, of which nothing is `recorded` yet.
///
/// # Errors
///
/// As [`super::conduct`], and [`ConductError::Xray`] before anything is sent.
pub fn conduct_xray(
    plan: &Plan,
    recorded: &RecordedXray,
    rig: &mut dyn Rig,
    writer: &mut Writer,
    watcher: &mut dyn Watcher,
) -> Result<Completion, ConductError> {
    let mut conductor = Conductor::new(plan, rig, writer, watcher);
    conductor.record_conditions()?;
    conductor.examine(recorded)
}

impl Conductor<'_> {
    /// Carries out what is left of the X-ray.
    pub(super) fn examine(&mut self, recorded: &RecordedXray) -> Result<Completion, ConductError> {
        let mut recorder = Recorder {
            plan: self.plan,
            writer: &mut *self.writer,
            watcher: &mut *self.watcher,
            attempts: &mut self.attempts,
            open: None,
            failure: None,
        };
        let examined = xray(&mut *self.rig, recorded, &mut recorder);
        if let Some(failure) = recorder.failure.take() {
            return Err(failure.into());
        }
        let ended = examined.map_err(ConductError::from).map(|examined| {
            if examined.is_complete { Completion::Finished } else { Completion::Interrupted }
        });
        let ended = self.note_gone(ended);
        if let Ok(Completion::Finished) = ended {
            self.writer.property(None, ENDED, "1")?;
        }
        self.end_run(ended)
    }
}

/// Keeps the record of an X-ray.
struct Recorder<'a> {
    plan: &'a Plan,
    writer: &'a mut Writer,
    watcher: &'a mut dyn Watcher,
    attempts: &'a mut BTreeMap<StepPlace, u32>,
    /// The step in progress.
    open: Option<(StepId, StepPlace)>,
    /// The first error of a record that had no caller to return it to.
    failure: Option<RunFileError>,
}

impl Recorder<'_> {
    /// Returns the place of `experiment`: the last step of its test.
    fn place(&self, experiment: Experiment) -> Option<StepPlace> {
        let test = self.plan.tests.iter().position(|test| test.id == experiment.key())?;
        let step = self.plan.tests[test].phases.first()?.steps.len().checked_sub(1)?;
        Some(StepPlace { test, phase: 0, step })
    }

    fn find(&mut self, finding: Finding) -> Result<(), RunFileError> {
        self.watcher.finding_recorded(&finding);
        let (step, unix_ms) = (self.open.map(|(id, _)| id), self.watcher.unix_ms());
        self.writer.finding(&FindingRecord { step, unix_ms, finding })
    }

    fn wait_for_room(&mut self) -> Result<(), RunFileError> {
        let finding = durability::wait_for_room(self.writer, self.watcher)?;
        finding.map_or(Ok(()), |finding| self.find(finding))
    }

    fn commit(&mut self) -> Result<(), RunFileError> {
        let finding = durability::commit(self.writer, self.watcher)?;
        finding.map_or(Ok(()), |finding| self.find(finding))
    }
}

impl XrayWatcher for Recorder<'_> {
    fn stop(&mut self) -> bool {
        self.failure.is_some() || self.watcher.stop()
    }

    fn doing(&mut self, what: &str, written: Bytes) {
        self.watcher.doing(&format!("{what} ({} written)", written.about()));
    }

    fn finding(&mut self, finding: Finding) {
        if let (Err(error), None) = (self.find(finding), &self.failure) {
            self.failure = Some(error);
        }
    }

    fn experiment_began(&mut self, experiment: Experiment) -> Result<(), RunFileError> {
        // A run file that somebody has made can have another plan than its settings ask for.
        let place = self.place(experiment).ok_or_else(|| RunFileError::Damaged {
            path: self.writer.path().to_owned(),
            what: format!("its plan has no experiment '{}'", experiment.key()),
        })?;
        let test = &self.plan.tests[place.test];
        let phase = &test.phases[place.phase];
        self.watcher.step_began(test, phase, &phase.steps[place.step]);
        let attempt = self.attempts.entry(place).or_insert(0);
        *attempt += 1;
        let attempt = *attempt;
        self.wait_for_room()?;
        let now = self.watcher.unix_ms();
        self.open = Some((self.writer.begin_step(place, attempt, self.plan, now)?, place));
        self.commit()
    }

    fn experiment_ended(&mut self, ended: &EndedExperiment) -> Result<(), RunFileError> {
        let Some((id, place)) = self.open else { return Ok(()) };
        let unix_ms = self.watcher.unix_ms();
        for exchange in &ended.exchanges {
            self.writer.answer(id, &exchange.record(unix_ms))?;
        }
        for reading in &ended.readings {
            self.writer.reading(id, reading)?;
        }
        self.wait_for_room()?;
        let (state, ended_by, error) = match &ended.cut_short {
            None => (StepState::Finished, "done", None),
            Some(CutShort::Stop) => (StepState::Broken, EndedBy::Stop.name(), None),
            Some(CutShort::Fault(error)) => {
                (StepState::Broken, EndedBy::Faults.name(), Some(error.clone()))
            }
        };
        let report = ExperimentReport { written_bytes: ended.written.0, error }.text();
        let (elapsed, ended_by) = (ended.elapsed, ended_by.into());
        self.writer.finish_step(id, &StepEnd { state, unix_ms, elapsed, ended_by, report })?;
        self.commit()?;
        self.open = None;
        let test = &self.plan.tests[place.test];
        let step = &test.phases[place.phase].steps[place.step];
        match state {
            StepState::Finished => self.watcher.step_ended(test, step, elapsed),
            StepState::Broken | StepState::Running => {
                self.watcher.step_interrupted(test, step, elapsed);
            }
        }
        Ok(())
    }
}
