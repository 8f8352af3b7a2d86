//! Reasons for a missing headline, and the limit that ended a search.

use crate::analysis::group::Member;
use crate::analysis::{headline_points, power};
use crate::model::metrics;
use crate::text::sanitize;
use ssdgauge_core::{FindingKind, Score};

/// Returns the reason for a missing headline, in a few words.
pub(crate) fn missing_reason(member: &Member<'_>) -> String {
    let test = member.test;
    match test.points.len() < test.planned {
        true => format!("unfinished: {} of {} steps", test.points.len(), test.planned),
        false if test.headline.metric.needs_power() => match metrics::power_scopes(test).as_slice()
        {
            [] => "no power meter".to_owned(),
            _ => power::missing_at(&headline_points::points(test)),
        },
        false => missing_step(member).unwrap_or_else(|| "not measured".to_owned()),
    }
}

/// Returns the position that the headline needs, where the test has no step there.
fn missing_step(member: &Member<'_>) -> Option<String> {
    let Score::At { position, .. } = &member.test.test.score else { return None };
    let has = member.test.points.iter().any(|point| point.point.position == *position);
    (!has).then(|| format!("no step at {position}"))
}

/// Returns the lowest load that failed, and the criterion that it missed.
pub(crate) fn stopped_by(member: &Member<'_>) -> Option<String> {
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
