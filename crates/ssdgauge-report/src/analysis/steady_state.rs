//! Whether a long step that is scored by its last part is steady by the rule of the SNIA
//! Performance Test Specification, which knows no fixed window, and whether it stays so.

use crate::model::{StepFinding, TestRun};
use ssdgauge_core::statistics::steady::{self, RANGE, SLOPE};
use ssdgauge_core::{Finding, FindingKind, Metric, Nanos, Scope, Severity, Totals};

/// Returns in words when the only step of `test` was steady, in rounds of a minute; `None` where
/// it is too short for a verdict or not scored by its last part.
pub(crate) fn summary(test: &TestRun) -> Option<String> {
    let (_, minutes) = minute_means(test)?;
    Some(match steady::find(&minutes) {
        Some((round, _)) => {
            format!("steady by the SNIA rule after {} rounds of a minute", round + 1)
        }
        None => format!("not steady by the SNIA rule in {} rounds of a minute", minutes.len()),
    })
}

/// Returns a finding where the only step of `test` left its steady state again.
pub(crate) fn left_finding(test: &TestRun) -> Option<StepFinding> {
    let (metric, minutes) = minute_means(test)?;
    let (begun, _) = steady::find(&minutes)?;
    let (round, verdict) = steady::left(&minutes, begun)?;
    Some(StepFinding {
        step: test.points.first().map(|point| point.point.label.clone()),
        metrics: vec![metric.key().to_owned()],
        finding: Finding::new(
            FindingKind::LeftSteadyState,
            Severity::Warning,
            format!(
                "steady after {} minutes by the SNIA rule, and no longer in minute {}: range \
                 {:.1} % of {:.0} % allowed, slope {:.1} % of {:.0} % allowed",
                begun + 1,
                round + 1,
                verdict.range * 100.0,
                RANGE * 100.0,
                verdict.slope * 100.0,
                SLOPE * 100.0
            ),
            "read the numbers as those of a drive that still changes, and look at the timeline",
        ),
    })
}

/// Returns the tracked metric and its values in full minutes, for a test with a single step that
/// is scored by its last part and lasts five minutes at least.
fn minute_means(test: &TestRun) -> Option<(Metric, Vec<f64>)> {
    let (metric, _) = test.test.score.last_part()?;
    let [point] = test.points.as_slice() else { return None };
    let full: Vec<&Totals> =
        point.point.seconds.iter().filter(|second| second.elapsed == Nanos::SECOND).collect();
    let rate = |second: &&Totals| second.value(metric, Scope::All).unwrap_or(0.0);
    let minutes: Vec<f64> =
        full.chunks_exact(60).map(|minute| minute.iter().map(rate).sum::<f64>() / 60.0).collect();
    (minutes.len() >= steady::WINDOW).then_some((metric, minutes))
}
