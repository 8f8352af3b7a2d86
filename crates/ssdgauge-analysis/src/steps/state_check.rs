//! Comparison of the first point of a test with the same point at its end.
//!
//! The points of a ladder belong together only where they were measured in one state of the drive.

use crate::model::{PointRun, StepFinding, TestRun};
use crate::text::sanitize;
use ssdgauge_core::{Finding, FindingKind, Metric, Scope, Severity};

/// The largest change of the first point that leaves a knee in its place: the rule of the knee
/// counts points within 5 % of the best as equal (definition D7).
const CHANGE: f64 = 0.05;

/// The first point of a test, and the same point at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct StateCheck {
    /// The label of the point.
    pub step: String,
    /// The metric.
    pub metric: Metric,
    /// Its value at the beginning.
    pub first: f64,
    /// Its value at the end.
    pub again: f64,
}

impl StateCheck {
    /// Returns the change as a share of the first value.
    pub fn change(&self) -> f64 {
        self.again / self.first - 1.0
    }
}

/// Returns each point of `test` that was measured again, with both values.
pub fn checks(test: &TestRun) -> Vec<StateCheck> {
    let metric = Some(test.test.score.metric()).filter(|metric| metric.adds_up());
    let metric = metric.unwrap_or(Metric::Iops);
    let compare = |again: &PointRun| {
        let point = &again.point;
        let first = test.points.iter().map(|first| &first.point).find(|first| {
            (first.position, first.label.as_str()) == (point.position, point.label.as_str())
        })?;
        Some(StateCheck {
            step: point.label.clone(),
            metric,
            first: first.totals.value(metric, Scope::All).filter(|value| *value > 0.0)?,
            again: point.totals.value(metric, Scope::All)?,
        })
    };
    test.checks.iter().filter_map(compare).collect()
}

/// Returns a finding for each point of `test` that changed.
pub(crate) fn changed_findings(test: &TestRun) -> Vec<StepFinding> {
    let changed = checks(test).into_iter().filter(|check| check.change().abs() > CHANGE);
    let finding = |check: StateCheck| StepFinding {
        step: Some(check.step.clone()),
        metrics: vec![check.metric.key().to_owned()],
        finding: Finding::new(
            FindingKind::StateChanged,
            Severity::Warning,
            format!(
                "the drive changed during the test: {} gave {} at its beginning and {} at its end \
                 ({:+.1} %)",
                sanitize::step(&check.step),
                check.metric.about(check.first),
                check.metric.about(check.again),
                check.change() * 100.0
            ),
            "do not compare the points of this test with each other: precondition longer, or check \
             the temperature",
        ),
    };
    changed.map(finding).collect()
}
