//! The metrics of one measured step, and what its power meter saw.

use crate::model::run::{PointRun, TestRun};
use ssdgauge_core::{Metric, PowerScope, Scope};

/// Returns the scopes that are shown for `point`: all, and each direction that its workload has.
pub(crate) fn scopes(point: &PointRun) -> Vec<Scope> {
    [Scope::All].into_iter().chain(point.directions().into_iter().map(Scope::from)).collect()
}

/// Returns every metric that is shown for `point`, with its scope, key and value.
pub(crate) fn shown(point: &PointRun) -> Vec<(Metric, Scope, String, Option<f64>)> {
    let mut rows = Vec::new();
    for scope in scopes(point) {
        for metric in Metric::ALL {
            if scope != Scope::All && !metric.is_split() {
                continue;
            }
            if point.workload.streams.is_empty() && metric.is_of_requests() {
                continue;
            }
            let value = value(point, metric, scope);
            if value.is_some() || !metric.is_optional() {
                rows.push((metric, scope, format!("{}{}", scope.prefix(), metric.key()), value));
            }
        }
    }
    rows
}

/// Returns `metric` of `point`; `None` where it was not measured.
pub(crate) fn value(point: &PointRun, metric: Metric, scope: Scope) -> Option<f64> {
    point.point.totals.value(metric, scope).filter(|value| value.is_finite())
}

/// Returns what the meters of `test` saw, each scope once, the narrowest first.
pub(crate) fn power_scopes(test: &TestRun) -> Vec<PowerScope> {
    let mut scopes: Vec<PowerScope> =
        test.points.iter().filter_map(|point| Some(point.point.totals.metered()?.0)).collect();
    scopes.sort_unstable();
    scopes.dedup();
    scopes
}
