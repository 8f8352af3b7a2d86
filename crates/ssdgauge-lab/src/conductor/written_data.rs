//! Written data: flushed, and read back, as soon as no load follows.
//!
//! A flush would empty the write buffer of the drive, so none is sent before a load, and none within a
//! measured sequence: those steps follow each other as their source defines. The data is then flushed
//! after the last of them. Nothing is sent to the drive while a step is measured.

use super::sink::StepSink;
use super::{ConductError, Conductor};
use ssdgauge_core::{
    Action, Finding, FindingKind, Flush, Nanos, PhaseKind, Plan, ReadBack, RigError, Severity, Step,
};
use ssdgauge_runfile::{FLUSH, READ_BACK, StepId, StepPlace};

/// How long a drive may take to return the blocks that are read back: reads begin in the first quarter,
/// so each of them may take 30 s, as any other request (see the watchdog of the engine).
const READ_BACK_TIMEOUT: Nanos = Nanos::from_secs(40);
/// The same once a stop was requested, which must not keep a user waiting.
const STOP_TIMEOUT: Nanos = Nanos::from_secs(4);

impl Conductor<'_> {
    /// Flushes and reads back what was written since the last call, unless the step at `next`
    /// continues the load; `None` at the end of the run.
    pub(super) fn secure(&mut self, next: Option<StepPlace>) -> Result<(), ConductError> {
        if next.is_some_and(|place| continues_load(self.plan, place)) {
            return Ok(());
        }
        let Some(written_by) = self.written_by.take() else { return Ok(()) };
        if self.replay.as_ref().is_some_and(|replay| replay.was_secured(written_by)) {
            return Ok(());
        }
        if let Some(flush) = self.flush(written_by)? {
            self.record(written_by, FLUSH, &flush)?;
        }
        match self.rig.read_back(READ_BACK_TIMEOUT) {
            Ok(Some(read_back)) => self.judge(written_by, &read_back)?,
            Ok(None) => {}
            Err(error) => return Err(self.not_read_back(error)),
        }
        // The next step begins with a commit of its own.
        if next.is_none() { self.commit() } else { Ok(()) }
    }

    /// Reads back what was written when the run was stopped. It is not flushed: the step that was
    /// stopped is executed again.
    pub(super) fn read_back_after_stop(&mut self) -> Result<(), ConductError> {
        let Some(written_by) = self.written_by.take().filter(|_| !self.is_replaying()) else {
            return Ok(());
        };
        // A drive that does not respond in time leaves the run interrupted, as requested.
        if let Ok(Some(read_back)) = self.rig.read_back(STOP_TIMEOUT) {
            self.judge(written_by, &read_back)?;
            self.commit()?;
        }
        Ok(())
    }

    fn flush(&mut self, written_by: StepId) -> Result<Option<Flush>, ConductError> {
        let mut sink = StepSink::new(self.writer, self.watcher, written_by, Nanos::ZERO);
        let flushed = self.rig.flush(&mut sink);
        match (sink.failure.take(), flushed) {
            (Some(failure), _) => Err(failure.into()),
            (None, Ok(flush)) => Ok(flush),
            (None, Err(error)) => {
                self.commit()?;
                Err(error.into())
            }
        }
    }

    /// Records what was read back after the step `written_by`.
    ///
    /// # Errors
    ///
    /// [`RigError::NotKept`] where a write is lost.
    fn judge(&mut self, written_by: StepId, read_back: &ReadBack) -> Result<(), ConductError> {
        self.record(written_by, READ_BACK, read_back)?;
        let Some(what) = read_back.describe() else { return Ok(()) };
        self.find(Finding::new(
            FindingKind::LostWrites,
            Severity::Invalid,
            what.clone(),
            "do not use the results of this run, and do not store data on this drive; check its actual \
             capacity, the layers above it, and whether another program writes to it",
        ))?;
        self.commit()?;
        let drive = self.rig.drive().target.clone();
        Err(RigError::NotKept { drive, what }.into())
    }

    /// Records that what was written could not be read back.
    pub(super) fn not_read_back(&mut self, error: RigError) -> ConductError {
        let finding = Finding::new(
            FindingKind::Faults,
            Severity::Invalid,
            error.to_string(),
            "check the kernel log and the health of the drive before you use any number",
        );
        match self.find(finding).and_then(|()| self.commit()) {
            Ok(()) => error.into(),
            Err(failure) => failure,
        }
    }

    fn record(
        &mut self,
        step: StepId,
        key: &str,
        value: &impl serde::Serialize,
    ) -> Result<(), ConductError> {
        let json = serde_json::to_string(value).expect("counts and texts always serialise");
        Ok(self.writer.property(Some(step), key, &json)?)
    }
}

/// Returns whether the step at `place` follows the one before it directly: it is a load, or it is
/// measured.
fn continues_load(plan: &Plan, place: StepPlace) -> bool {
    let phase = &plan.tests[place.test].phases[place.phase];
    let is_measured = match phase.kind {
        PhaseKind::Measure | PhaseKind::Check | PhaseKind::Search => true,
        PhaseKind::Purge
        | PhaseKind::Trim
        | PhaseKind::Fill
        | PhaseKind::Precondition
        | PhaseKind::Rest
        | PhaseKind::Power
        | PhaseKind::WriteCache => false,
    };
    is_measured || writes_or_reads(&phase.steps[place.step])
}

fn writes_or_reads(step: &Step) -> bool {
    match &step.action {
        Action::Run { .. } | Action::Replay(_) => true,
        Action::Prepare(preparation) => preparation.fill_span().is_some(),
        Action::Rest(_) | Action::Idle(_) => false,
    }
}
