//! Reasons for a missing headline, and the limit that ended a search.

use crate::groups::group::Member;
use crate::model::{PointRun, metrics};
use crate::steps::headline_points;
use crate::text::sanitize;
use ssdgauge_core::{FindingKind, Score, is_covered};

/// Returns the reason for a missing headline, in a few words.
pub fn missing_reason(member: &Member<'_>) -> String {
    let test = member.test;
    match test.points.len() < test.planned {
        true => format!("unfinished: {} of {} steps", test.points.len(), test.planned),
        false if test.headline.metric.needs_power() => match metrics::power_scopes(test).as_slice()
        {
            [] => "no power meter".to_owned(),
            _ => missing_power(&headline_points::points(test)),
        },
        false => missing_step(member).unwrap_or_else(|| "not measured".to_owned()),
    }
}

/// Returns why `points` have no power, in a few words.
pub(crate) fn missing_power(points: &[&PointRun]) -> String {
    let refused = |point: &&PointRun| {
        let (_, power) = point.point.totals.metered()?;
        power.watts.is_none().then_some(power.coverage)
    };
    match points.iter().filter_map(refused).reduce(f64::min) {
        None => "no power readings at some steps".to_owned(),
        Some(coverage) if is_covered(coverage) => "the power meter contradicts itself".to_owned(),
        Some(coverage) => format!("power readings cover {:.0} % of the time", coverage * 100.0),
    }
}

/// Returns the position that the headline needs, where the test has no step there.
fn missing_step(member: &Member<'_>) -> Option<String> {
    let Score::At { position, .. } = &member.test.test.score else { return None };
    let has = member.test.points.iter().any(|point| point.point.position == *position);
    (!has).then(|| format!("no step at {position}"))
}

/// Returns the lowest load that failed, and the criterion that it missed.
pub fn stopped_by(member: &Member<'_>) -> Option<String> {
    let passing = member.test.headline.value.unwrap_or(0.0);
    let steps = || member.test.test.phases.iter().flat_map(|phase| &phase.steps);
    let failed = member.test.findings.iter().filter_map(|of_step| {
        let label = of_step.step.as_ref()?;
        let load = steps().find(|step| step.label == *label)?.position;
        let overloaded = of_step.finding.kind == FindingKind::Overloaded && load > passing;
        overloaded.then_some((load, label, &of_step.finding.text))
    });
    let (_, label, text) = failed.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!("{} failed: {}", sanitize::step(label), sanitize::prose(text)))
}
