//! The metrics of one measured step, and what its power meter saw.

use crate::model::run::{PointRun, TestRun};
use ssdgauge_core::{Metric, PowerScope, Scope};

/// Returns the scopes that are shown for `point`: all, and each direction that its workload has.
pub fn scopes(point: &PointRun) -> Vec<Scope> {
    [Scope::All].into_iter().chain(point.directions().into_iter().map(Scope::from)).collect()
}

/// Returns every metric that is shown for `point`, with its scope, key and value.
pub fn shown(point: &PointRun) -> Vec<(Metric, Scope, String, Option<f64>)> {
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

/// Returns `metric` of `point`, the number that its interval belongs to; `None` where it was not
/// measured. That of several repetitions counts the samples of all of them.
pub fn value(point: &PointRun, metric: Metric, scope: Scope) -> Option<f64> {
    let value = match &point.between {
        Some(between) => {
            let whole = whole(point, metric, scope)?;
            let middle = between.get(&(metric, scope)).map(|(low, high)| (low + high) / 2.0);
            Some(middle.filter(|middle| differ(*middle, whole)).unwrap_or(whole))
        }
        None => point.point.value(metric, scope),
    };
    value.filter(|value| value.is_finite())
}

/// Returns whether two numbers differ by more than rounding.
fn differ(a: f64, b: f64) -> bool {
    (a - b).abs() > 1e-9 * b.abs()
}

/// Returns `metric` of `point` by the protocol, which also counts a start that flatters; `None` where it
/// is that of [`value`].
pub fn protocol(point: &PointRun, metric: Metric, scope: Scope) -> Option<f64> {
    let (settled, whole) = (value(point, metric, scope)?, whole(point, metric, scope)?);
    differ(settled, whole).then_some(whole)
}

/// Returns `metric` over all samples of `point`, which a protocol counts.
pub fn whole(point: &PointRun, metric: Metric, scope: Scope) -> Option<f64> {
    point.point.totals.value(metric, scope).filter(|value| value.is_finite())
}

/// Returns what the meters of `test` saw, each scope once, the narrowest first.
pub fn power_scopes(test: &TestRun) -> Vec<PowerScope> {
    let mut scopes: Vec<PowerScope> =
        test.points.iter().filter_map(|point| Some(point.point.totals.metered()?.0)).collect();
    scopes.sort_unstable();
    scopes.dedup();
    scopes
}
