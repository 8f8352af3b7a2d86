//! The limit of an operational power state: work waits until its energy fits the power of the state.
//!
//! It must never let the power of a second exceed that of the state by more than the work of one
//! [`WINDOW`] and of the commands that wait: their energy counts when they are submitted.

use crate::time::SimTime;

/// The time over which unused power is carried over. Chosen: short against the seconds of readings,
/// long against a program operation, so that work is delayed and not rounded to single operations.
const WINDOW: SimTime = 10_000_000;

/// A budget of energy that is refilled at a constant rate.
#[derive(Clone, Debug)]
pub(crate) struct PowerLimit {
    /// Power that is left for operations, in watts: nanojoules per nanosecond.
    watts: f64,
    /// Energy of operations that is paid for, in nanojoules.
    paid_nj: f64,
    /// The time up to which the budget is used.
    used_until: SimTime,
}

impl PowerLimit {
    /// Returns a limit of `watts` for operations from `now` on, of a drive whose operations took
    /// `spent_nj` so far.
    pub(crate) fn new(watts: f64, spent_nj: f64, now: SimTime) -> PowerLimit {
        debug_assert!(watts > 0.0, "the geometry demands a limit above the idle power");
        PowerLimit { watts, paid_nj: spent_nj, used_until: now }
    }

    /// Pays for the operations up to `at`, which took `spent_nj` in total; returns when the next one
    /// may begin.
    pub(crate) fn pay(&mut self, at: SimTime, spent_nj: f64) -> SimTime {
        let duration = (spent_nj - self.paid_nj) / self.watts;
        self.paid_nj = spent_nj;
        self.used_until = self.used_until.max(at.saturating_sub(WINDOW)) + duration as SimTime;
        self.used_until
    }

    /// Begins to count at zero, for a drive that was purged.
    pub(crate) fn restart(&mut self) {
        self.paid_nj = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_waits_until_its_energy_is_paid_and_unused_power_is_kept_for_a_window() {
        // 2 W are 2 nJ per ns.
        let mut limit = PowerLimit::new(2.0, 500.0, 100);
        assert_eq!(limit.pay(100, 500.0), 100);
        assert_eq!(limit.pay(100, 2_500.0), 1_100);
        assert_eq!(limit.pay(2 * WINDOW, 2_500.0), WINDOW);
        assert_eq!(limit.pay(2 * WINDOW, 12_500.0), WINDOW + 5_000);
        limit.restart();
        assert_eq!(limit.pay(2 * WINDOW, 100.0), WINDOW + 5_050);
    }
}
