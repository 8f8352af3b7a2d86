//! Power of several drives: which meters read it, in which scope, and its mean.

use crate::groups::group::{Group, Member};
use crate::groups::headline_reasons::{missing_power, missing_reason};
use crate::model::{PointRun, metrics};
use crate::steps::headline_points;
use ssdgauge_core::{Finding, FindingKind, Metric, PowerScope, Scope, Severity};
use ssdgauge_statistics::summary;

/// The share of the time from which on readings count as complete: the first and the last second of
/// a step of minutes.
const COMPLETE: f64 = 0.99;

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
pub fn measured_by(group: &Group<'_>, scope: &[PowerScope]) -> String {
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

/// Returns the mean of `metric` over the steps of the headline of `member`.
///
/// # Errors
/// The reason why there is none, in a few words: meters of different scopes include different parts
/// of the host, so only those of the first scope of `group` have a value.
pub fn at_headline(group: &Group<'_>, member: &Member<'_>, metric: Metric) -> Result<f64, String> {
    let own = metrics::power_scopes(member.test);
    let points = headline_points::points(member.test);
    match mean(&points, metric) {
        _ if own.is_empty() => Err("no power meter".to_owned()),
        _ if own.len() > 1 => Err("several power scopes in one test".to_owned()),
        _ if own != scope(group) => Err(other_scope(&own)),
        _ if points.is_empty() => Err(missing_reason(member)),
        None => Err(missing_power(&points)),
        Some(value) => Ok(value),
    }
}

/// Returns the finding that the power readings of `point` do not cover all of its time; `None` where
/// they do, or where there are none.
pub(crate) fn gaps(point: &PointRun) -> Option<Finding> {
    let (_, power) = point.point.totals.metered()?;
    if power.coverage >= COMPLETE {
        return None;
    }
    let text =
        format!("the power readings cover {:.1} % of the time of the step", power.coverage * 100.0);
    let (severity, advice) = match power.watts {
        Some(_) => (Severity::Note, "in the gaps, the power counts as a straight line"),
        None => (
            Severity::Warning,
            "below 90 %, a step has no power, energy or efficiency; use a meter that is read more often",
        ),
    };
    Some(Finding::new(FindingKind::PowerGaps, severity, text, advice))
}

/// Returns the scopes of the first member of `group` whose power was measured.
pub fn scope(group: &Group<'_>) -> Vec<PowerScope> {
    let scopes = group.members.iter().map(|member| metrics::power_scopes(member.test));
    scopes.into_iter().find(|scopes| !scopes.is_empty()).unwrap_or_default()
}

/// Returns whether the power of `member` was measured in another scope than that of `group`.
pub(crate) fn is_elsewhere(group: &Group<'_>, member: &Member<'_>) -> bool {
    let own = metrics::power_scopes(member.test);
    !own.is_empty() && own != scope(group)
}

/// Returns the mean of `metric` over `points`; `None` where one of them has none.
pub fn mean(points: &[&PointRun], metric: Metric) -> Option<f64> {
    let values: Option<Vec<f64>> =
        points.iter().map(|point| metrics::value(point, metric, Scope::All)).collect();
    summary::mean(&values?)
}
