//! The intervals over all full seconds of a step that are known so far: a page shows a number in several
//! places, and each interval is a pass over the seconds.

use crate::totals::confidence::ConfidenceInterval;
use crate::totals::metric::Metric;
use crate::totals::scope::Scope;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Intervals by metric and scope. They do not count when steps are compared: two steps are equal where
/// their seconds are.
#[derive(Debug, Default)]
pub(crate) struct KnownIntervals(Mutex<BTreeMap<(Metric, Scope), ConfidenceInterval>>);

impl KnownIntervals {
    /// Returns the interval of `key`: the known one, else what `compute` returns.
    pub(crate) fn get_or(
        &self,
        key: (Metric, Scope),
        compute: impl FnOnce() -> ConfidenceInterval,
    ) -> ConfidenceInterval {
        let known = self.all().get(&key).copied();
        known.unwrap_or_else(|| {
            let interval = compute();
            self.all().insert(key, interval);
            interval
        })
    }

    // An interval is added at once, so that a panic elsewhere leaves the map whole.
    fn all(&self) -> MutexGuard<'_, BTreeMap<(Metric, Scope), ConfidenceInterval>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<BTreeMap<(Metric, Scope), ConfidenceInterval>> for KnownIntervals {
    fn from(known: BTreeMap<(Metric, Scope), ConfidenceInterval>) -> KnownIntervals {
        KnownIntervals(Mutex::new(known))
    }
}

impl Clone for KnownIntervals {
    fn clone(&self) -> KnownIntervals {
        KnownIntervals::from(self.all().clone())
    }
}
