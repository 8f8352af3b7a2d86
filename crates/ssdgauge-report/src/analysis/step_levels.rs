//! Steps that contain two levels, such as in a cache and beyond it, or before and after a throttle.

use crate::analysis::slc_cache;
use crate::model::{PointRun, StepFinding, StepLevels, TestRun};
use crate::text::{number, sanitize};
use ssdgauge_core::statistics::change_point;
use ssdgauge_core::{Finding, FindingKind, Metric, ScoreFamily, Severity};

/// Finds the levels of every measured step of `test`, and adds a finding for each mixture that a number
/// of the test counts as one level.
pub(crate) fn annotate(test: &mut TestRun) {
    let metric = Some(test.test.score.metric()).filter(|metric| is_rate(*metric));
    let metric = metric.unwrap_or(Metric::ThroughputMbS);
    for point in &mut test.points {
        point.levels = levels(point, metric);
    }
    // A score of the last part excludes the first level on purpose, and a fill shows its levels as falls
    // of the write speed.
    if test.test.score.family() != ScoreFamily::LastPart {
        let counts = |point: &&PointRun| {
            let scores = std::iter::once(&test.test.score).chain(&test.test.also);
            scores.into_iter().any(|score| score.needs(point.point.position))
        };
        let mixed = test.points.iter().filter(counts).filter(|one| !slc_cache::fills(one));
        let found: Vec<StepFinding> = mixed.filter_map(finding).collect();
        test.findings.extend(found);
    }
}

fn is_rate(metric: Metric) -> bool {
    metric == Metric::Iops || metric == Metric::ThroughputMbS
}

/// Returns the levels of the full seconds of `point`. In an open loop, and with pauses, the rate is that of
/// the load.
fn levels(point: &PointRun, metric: Metric) -> Option<StepLevels> {
    if !point.workload.never_pauses() {
        return None;
    }
    let full = point.point.seconds.full();
    let found = change_point::levels(&full.rates(metric))?;
    let bytes = |seconds: usize| -> u64 {
        let directions = full.totals().take(seconds).flat_map(|second| second.directions);
        directions.map(|totals| totals.bytes).sum()
    };
    let (low, high) = found.interval;
    Some(StepLevels {
        metric,
        before: found.before,
        after: found.after,
        bytes: bytes(found.at),
        bytes_interval: (bytes(low), bytes(high)),
    })
}

/// Returns the finding on a step with two levels.
fn finding(point: &PointRun) -> Option<StepFinding> {
    let levels = point.levels?;
    let (low, high) = levels.bytes_interval;
    let text = format!(
        "two levels in one step: {} for the first {} ({} to {} at 95 % confidence), then {}",
        levels.metric.about(levels.before),
        number::capacity(levels.bytes),
        number::capacity(low),
        number::capacity(high),
        levels.metric.about(levels.after)
    );
    Some(StepFinding {
        step: Some(sanitize::prose(&point.point.label)),
        metrics: vec![levels.metric.key().to_owned()],
        finding: Finding::new(
            FindingKind::TwoLevels,
            Severity::Warning,
            text,
            "use the two levels; the mean of the step depends on its length",
        ),
    })
}
