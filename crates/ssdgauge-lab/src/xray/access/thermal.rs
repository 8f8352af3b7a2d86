//! What the drive states about its temperature, around the questions of an experiment; records of earlier versions do not
//! have it.

use super::Access;
use crate::xray::error::Ended;
use crate::xray::exchange::{Reply, of_lanes};
use ssdgauge_core::{Lane, LaneLimits, Nanos, ThermalReport};

impl Access<'_> {
    /// Returns what the drive stated about its temperature before the experiment, where it did.
    pub(in crate::xray) fn thermal(&self) -> Option<ThermalReport> {
        self.current.thermal.flatten()
    }

    /// Lets the throttling before now be no concern of the experiment.
    pub(in crate::xray) fn forget_throttling(&mut self) -> Result<(), Ended> {
        self.current.thermal = Some(self.thermal_report()?);
        Ok(())
    }

    /// Returns the throttling that the drive has counted since the experiment began, or since it was forgotten, as the object
    /// of a clause.
    pub(in crate::xray) fn throttling(&mut self) -> Result<Option<String>, Ended> {
        let Some(before) = self.thermal() else { return Ok(None) };
        let now = self.thermal_report()?;
        Ok(now.and_then(|now| now.counted_since(&before)))
    }

    /// Returns whether the experiment is recorded without `question` at this place, as by an earlier version.
    fn was_not_asked(&self, question: &str) -> bool {
        let ahead = self.current.recorded.as_ref();
        ahead.is_some_and(|ahead| ahead.front().is_none_or(|next| next.asked != question))
    }

    /// Returns the same for a load of `lanes`.
    pub(in crate::xray) fn was_not_run(&self, lanes: &[Lane], limits: LaneLimits) -> bool {
        self.was_not_asked(&of_lanes(lanes, limits))
    }

    /// Asks for what the drive states about its temperature; records of earlier versions do not have it.
    pub(super) fn thermal_report(&mut self) -> Result<Option<ThermalReport>, Ended> {
        let question = "{\"thermal\":1}";
        if self.was_not_asked(question) {
            return Ok(None);
        }
        let reply = self.answer(question.into(), 0, |rig, _| {
            Ok(Some((Reply::Thermal(rig.thermal_report()), Nanos::ZERO)))
        })?;
        let Reply::Thermal(report) = reply else { return Err(self.differs()) };
        Ok(report)
    }
}
