//! Steady state of a long step that is scored by its last part, by the criterion of the SNIA
//! Performance Test Specification over minutes, and the loss of that state.

use crate::model::{PointRun, StepFinding, TestRun};
use ssdgauge_core::{Finding, FindingKind, Metric, PhaseKind, Severity, SteadyRule};
use ssdgauge_statistics::steady::{self, RANGE, SLOPE, Steadiness};

/// The shortest part of a step that is judged, in seconds. Chosen: in a shorter one the variation from
/// second to second exceeds the limits of the criterion.
const SHORTEST_PART: usize = 5;

/// Returns when the only step of `test` reached steady state, in one-minute rounds; `None` where
/// it is too short for a decision or not scored by its last part.
pub fn summary(test: &TestRun) -> Option<String> {
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

/// Returns whether the only step of `test` never reached a steady state, or left it again; false
/// where it is too short for a decision.
pub(crate) fn is_unsteady(test: &TestRun) -> bool {
    let Some((_, minutes)) = minute_means(test) else { return false };
    match steady::find(&minutes) {
        Some((begun, _)) => steady::first_unsteady(&minutes, begun).is_some(),
        None => true,
    }
}

/// Returns whether the only step of `test` never reached a steady state; false where it is too short for
/// a decision.
pub fn is_never_steady(test: &TestRun) -> bool {
    minute_means(test).is_some_and(|(_, minutes)| steady::find(&minutes).is_none())
}

/// Returns a finding for each step of `test` that left the steady state.
pub(crate) fn left_findings(test: &TestRun) -> Vec<StepFinding> {
    left_in_last_part(test).into_iter().chain(left_after_precondition(test)).collect()
}

/// Returns a finding for each measured step that is not steady although the preconditioning of
/// `test` ended at a steady state: in five equal parts of the step, by the same criterion.
fn left_after_precondition(test: &TestRun) -> Vec<StepFinding> {
    let prepared = test.test.phases.iter().filter(|phase| phase.kind == PhaseKind::Precondition);
    let rule = prepared.flat_map(|phase| &phase.steps).find_map(|step| step.action.steady());
    let Some(SteadyRule { metric, .. }) = rule else { return Vec::new() };
    let unsteady = |point: &PointRun| {
        let rates = point.point.seconds.full().rates(metric);
        let part = rates.len() / steady::WINDOW;
        if part < SHORTEST_PART {
            return None;
        }
        let skipped = rates.len() - part * steady::WINDOW;
        let parts: Vec<f64> = rates[skipped..]
            .chunks_exact(part)
            .map(|part| part.iter().sum::<f64>() / part.len() as f64)
            .collect();
        let verdict = steady::judge(&parts).filter(|verdict| !verdict.steady)?;
        let text = format!(
            "not steady (SNIA criterion) in five parts of {part} s, although the preconditioning \
             ended at a steady state: {}",
            figures(&verdict)
        );
        Some(StepFinding {
            step: Some(point.point.label.clone()),
            metrics: vec![metric.key().to_owned()],
            finding: Finding::new(
                FindingKind::LeftSteadyState,
                Severity::Warning,
                text,
                "treat the result as not steady, and check the timeline",
            ),
        })
    };
    test.points.iter().filter_map(unsteady).collect()
}

/// Returns range and slope of a window with their limits, in words.
fn figures(verdict: &Steadiness) -> String {
    format!(
        "range {:.1} % (limit {:.0} %), slope {:.1} % (limit {:.0} %)",
        verdict.range * 100.0,
        RANGE * 100.0,
        verdict.slope * 100.0,
        SLOPE * 100.0
    )
}

/// Returns a finding where the only step of `test` reached steady state and lost it.
fn left_in_last_part(test: &TestRun) -> Option<StepFinding> {
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
                "steady state (SNIA criterion) reached after {} minutes and lost in minute {}: {}",
                begun + 1,
                round + 1,
                figures(&verdict)
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
    // The criterion is one of a load, not of an idle drive.
    if point.workload.streams.is_empty() {
        return None;
    }
    let rates = point.point.seconds.full().rates(metric);
    let minutes: Vec<f64> =
        rates.chunks_exact(60).map(|minute| minute.iter().sum::<f64>() / 60.0).collect();
    (minutes.len() >= steady::WINDOW).then_some((metric, minutes))
}
