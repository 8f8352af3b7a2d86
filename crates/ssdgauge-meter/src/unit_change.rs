//! A meter whose readings change by a factor of 1,000 from one to the next, and stay there: its unit
//! changed, such as from watts to milliwatts.

use ssdgauge_core::Nanos;

/// The readings on both sides of the change that have to be of one level.
const READINGS: u32 = 5;
/// The factor around which readings of one level are.
const SPREAD: f64 = 1.25;
/// The deviation of the factor from 1,000. A drive that enters a power state may change its power by
/// any factor; that it is this one is not expected.
const TOLERANCE: f64 = 0.05;

/// The change of the unit of a meter within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Change {
    /// The time of the first reading in the new unit.
    pub(crate) at: Nanos,
    /// The last reading before it.
    pub(crate) from: f64,
    /// The first reading in the new unit.
    pub(crate) to: f64,
}

/// The search for a change of the unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitChange {
    /// The last reading, and the number of readings up to it that are of one level.
    level: Option<(f64, u32)>,
    /// A change that is not yet confirmed by the readings after it.
    candidate: Option<Change>,
    confirmed: Option<Change>,
}

impl UnitChange {
    /// Adds a reading.
    pub(crate) fn add(&mut self, at: Nanos, value: f64) {
        let Some((before, n)) = self.level.replace((value, 1)) else { return };
        let factor = if before > 0.0 && value > 0.0 { value / before } else { f64::NAN };
        let large = factor.max(1.0 / factor);
        if large <= SPREAD {
            let n = n.saturating_add(1);
            self.level = Some((value, n));
            if n >= READINGS {
                self.confirmed = self.confirmed.or(self.candidate.take());
            }
            return;
        }
        let is_unit = (large / 1_000.0 - 1.0).abs() <= TOLERANCE && n >= READINGS;
        self.candidate = is_unit.then_some(Change { at, from: before, to: value });
    }

    /// Returns the first change of the unit.
    pub(crate) fn changed(&self) -> Option<Change> {
        self.confirmed
    }
}
