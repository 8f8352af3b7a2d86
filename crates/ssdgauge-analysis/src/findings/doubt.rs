//! Which findings put a number in doubt.

use crate::model::{PointRun, StepFinding, TestRun};
use crate::steps::headline_points;
use ssdgauge_core::{Finding, FindingKind, Score, Severity, Test};

/// The findings of a load that is too high.
const OF_OVERLOAD: [FindingKind; 2] = [FindingKind::Overloaded, FindingKind::Withheld];

/// Returns whether `finding` puts a number in doubt.
pub fn is_doubt(finding: &Finding, test: Option<&Test>) -> bool {
    let is_intended = is_intended(finding.kind, test);
    let is_settling = finding.kind == FindingKind::StillSettling;
    !is_intended && (finding.severity > Severity::Note || is_settling)
}

/// Returns whether a search produces findings of this kind on purpose: it tries loads until the drive
/// no longer keeps up.
pub fn is_intended(kind: FindingKind, test: Option<&Test>) -> bool {
    OF_OVERLOAD.contains(&kind) && test.is_some_and(|test| test.search.is_some())
}

/// Returns whether `found` concerns the result of `test`: not where it is about a measured step that the
/// headline does not count.
pub(crate) fn concerns_result(found: &StepFinding, test: &TestRun) -> bool {
    let Some(step) = &found.step else { return true };
    let mut points = test.points.iter().filter(|point| point.point.label == *step).peekable();
    points.peek().is_none() || points.any(|point| test.test.score.needs(point.point.position))
}

/// Returns whether `found` says that a load above the one that an open loop's headline quotes was too high: the loads go
/// up until the drive no longer keeps up.
pub(crate) fn is_beyond_knee(found: &StepFinding, test: &TestRun) -> bool {
    if !matches!(test.test.score, Score::KneeOfLoad(_))
        || !OF_OVERLOAD.contains(&found.finding.kind)
    {
        return false;
    }
    let points = headline_points::points(test);
    let Some(knee) = points.first().map(|point| point.point.position) else { return false };
    let is_above = |point: &&PointRun| found.step.as_ref() == Some(&point.point.label);
    test.points.iter().find(is_above).is_some_and(|point| point.point.position > knee)
}
