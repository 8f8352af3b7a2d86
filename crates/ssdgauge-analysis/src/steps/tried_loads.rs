//! The loads that a search tried in full length, with the shares of slow requests that decided: the
//! table that Aerospike ACT prints.

use crate::model::{PointRun, TestRun};
use ssdgauge_core::{FIRST_FAILED_SLICE, Nanos, PASSED};

/// A load that was tried in full length.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedLoad {
    /// The load, as a multiple of the rates of the streams.
    pub load: f64,
    /// Whether it passed every trial; `None` where that is not known.
    pub passed: Option<bool>,
    /// Whether it passed one of two trials.
    pub disagrees: bool,
    /// The requests that were judged, in words.
    pub requests: String,
    /// The duration of an attempt, the mean of two; a load that cannot pass ends early.
    pub elapsed: Nanos,
    /// The first slice, from 1, that exceeded a limit; of two trials their mean.
    pub failed_slice: Option<f64>,
    /// Each latency with the share of judged requests above it in the worst slice, and the share that a
    /// passing load stays below, in percent.
    pub above: Vec<(Nanos, Option<f64>, f64)>,
}

impl TriedLoad {
    /// Returns whether it passed none of its trials.
    pub fn has_failed(&self) -> bool {
        self.passed == Some(false) && !self.disagrees
    }
}

/// Returns the loads that the search of `test` tried, ascending; none where it has no search.
pub fn tried_loads(test: &TestRun) -> Vec<TriedLoad> {
    let Some(search) = &test.test.search else { return Vec::new() };
    let tried = |point: &PointRun| {
        let totals = &point.point.totals;
        let above = search.limits.above.iter().map(|(latency, allowed)| {
            let share = totals.reading(&format!("worst_slice_above_{}_percent", latency.exact()));
            (*latency, share, *allowed)
        });
        TriedLoad {
            load: point.point.position,
            passed: totals.reading(PASSED).map(|value| value > 0.75),
            disagrees: totals.reading(PASSED).is_some_and(|value| value > 0.0 && value < 1.0),
            requests: search.limits.of.words(&point.workload),
            elapsed: Nanos(totals.elapsed.0 / u64::from(totals.executions.max(1))),
            failed_slice: totals.reading(FIRST_FAILED_SLICE),
            above: above.collect(),
        }
    };
    let mut loads: Vec<TriedLoad> = test.points.iter().map(tried).collect();
    loads.sort_by(|a, b| a.load.total_cmp(&b.load));
    loads
}
