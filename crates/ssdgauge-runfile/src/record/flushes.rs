//! Flushes: which written data no flush is recorded after.

use super::reader::{FLUSH, RunFile, XRAY};
use super::{StepId, StepRecord, StepState};
use crate::error::RunFileError;
use ssdgauge_core::TargetKind;

impl RunFile {
    /// Returns the last finished one of `records` that wrote, where no flush after it is recorded: the
    /// run has not ended, or was killed before. `None` for a scratch file, whose content ended with its
    /// process, for a file of format 1, which records no flushes, and for an imported result.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a record fails its check.
    pub fn unflushed(&self, records: &[StepRecord]) -> Result<Option<StepId>, RunFileError> {
        let keeps = matches!(self.head().drive.kind, TargetKind::Block | TargetKind::Virtual);
        if !keeps || self.format() < 2 || self.head().imported_from().is_some() {
            return Ok(None);
        }
        let tests = &self.head().plan.tests;
        let wrote = |record: &&StepRecord| {
            let place = record.place;
            let phase = tests.get(place.test).and_then(|test| test.phases.get(place.phase));
            let step = phase.and_then(|phase| phase.steps.get(place.step));
            record.state == StepState::Finished && step.is_some_and(|step| step.action.writes())
        };
        let last = records.iter().filter(wrote).map(|record| record.id).max();
        let properties = self.properties()?;
        // An X-ray reads nothing back later.
        if properties.iter().any(|property| property.step.is_none() && property.key == XRAY) {
            return Ok(None);
        }
        let flushed = properties.iter().filter(|property| property.key == FLUSH);
        let flushed = flushed.filter_map(|property| property.step).max();
        Ok(last.filter(|last| flushed.is_none_or(|flushed| flushed < *last)))
    }
}
