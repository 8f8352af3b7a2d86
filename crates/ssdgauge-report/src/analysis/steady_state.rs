//! Steady state of a long step that is scored by its last part, by the criterion of the SNIA
//! Performance Test Specification over minutes, and the loss of that state.

use crate::model::{StepFinding, TestRun};
use ssdgauge_core::statistics::steady::{self, RANGE, SLOPE};
use ssdgauge_core::{Finding, FindingKind, Metric, Nanos, Scope, Severity, Totals};

/// Returns when the only step of `test` reached steady state, in one-minute rounds; `None` where
/// it is too short for a decision or not scored by its last part.
pub(crate) fn summary(test: &TestRun) -> Option<String> {
    let (_, minutes) = minute_means(test)?;
    Some(match steady::find(&minutes) {
        Some((round, _)) => {
            format!("steady by the SNIA criterion after {} rounds of one minute", round + 1)
        }
        None => {
            format!("not steady by the SNIA criterion in {} rounds of one minute", minutes.len())
        }
    })
}

/// Returns a finding where the only step of `test` reached steady state and lost it.
pub(crate) fn left_finding(test: &TestRun) -> Option<StepFinding> {
    let (metric, minutes) = minute_means(test)?;
    let (begun, _) = steady::find(&minutes)?;
    let (round, verdict) = steady::first_unsteady(&minutes, begun)?;
    Some(StepFinding {
        step: test.points.first().map(|point| point.point.label.clone()),
        metrics: vec![metric.key().to_owned()],
        finding: Finding::new(
            FindingKind::LeftSteadyState,
            Severity::Warning,
            format!(
                "steady state (SNIA criterion) reached after {} minutes and lost in minute {}: \
                 range {:.1} % (limit {:.0} %), slope {:.1} % (limit {:.0} %)",
                begun + 1,
                round + 1,
                verdict.range * 100.0,
                RANGE * 100.0,
                verdict.slope * 100.0,
                SLOPE * 100.0
            ),
            "treat the result as not steady, and check the timeline",
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
