//! Power of several drives: which meters read it, in which scope, and its mean.

use crate::analysis::group::{Group, Member};
use crate::model::{PointRun, metrics};
use ssdgauge_core::statistics::summary;
use ssdgauge_core::{Metric, PowerScope, Scope};

/// Returns the instruments that read `quantity` in the test of `member`.
pub(crate) fn meters(member: &Member<'_>, quantity: &str) -> Vec<String> {
    let mut meters: Vec<String> = Vec::new();
    for point in &member.test.points {
        for name in point.instruments.get(quantity).into_iter().flatten() {
            if !meters.contains(name) {
                meters.push(name.clone());
            }
        }
    }
    meters
}

/// Returns what measured the power of the members of `group` that were measured in `scope`.
pub(crate) fn measured_by(group: &Group<'_>, scope: &[PowerScope]) -> String {
    let mut meters: Vec<String> = group
        .members
        .iter()
        .filter(|member| metrics::power_scopes(member.test) == scope)
        .flat_map(|member| scope.iter().flat_map(|scope| meters(member, scope.quantity())))
        .collect();
    meters.sort();
    meters.dedup();
    let name = scope.first().map_or("drive", |scope| scope.name());
    format!("scope of the power meter: {name}; instrument: {}", meters.join(", "))
}

/// Returns why a drive is not ranked with the others, whose power was measured elsewhere.
pub(crate) fn other_scope(scopes: &[PowerScope]) -> String {
    let names: Vec<&str> = scopes.iter().map(|scope| scope.name()).collect();
    format!("different power scope: {}", names.join(", "))
}

/// Returns the mean of `metric` over `points`; `None` where one of them has none.
pub(crate) fn mean(points: &[&PointRun], metric: Metric) -> Option<f64> {
    let values: Option<Vec<f64>> =
        points.iter().map(|point| metrics::value(point, metric, Scope::All)).collect();
    summary::mean(&values?)
}
