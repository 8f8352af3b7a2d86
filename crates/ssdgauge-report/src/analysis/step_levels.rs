//! Steps that contain two levels: in a cache and behind it, or before and after a throttle.

use crate::analysis::slc_cache;
use crate::model::{PointRun, StepFinding, StepLevels, TestRun};
use crate::text::{number, sanitize};
use ssdgauge_core::statistics::change_point;
use ssdgauge_core::{Finding, FindingKind, Metric, ScoreFamily, Severity};

/// Finds the levels of every measured step of `test`, and adds a finding for each mixture that the
/// headline counts as one level.
pub(crate) fn annotate(test: &mut TestRun) {
    let metric = Some(test.test.score.metric()).filter(|metric| is_rate(*metric));
    let metric = metric.unwrap_or(Metric::ThroughputMbS);
    for point in &mut test.points {
        point.levels = levels(point, metric);
    }
    // A score of the last part excludes the first level on purpose, and the fill of a whole drive
    // shows both levels as the size of its cache.
    let is_expected = test.test.score.family() == ScoreFamily::LastPart
        || slc_cache::sequential_write(test).is_some();
    if !is_expected {
        let found: Vec<StepFinding> = test.points.iter().filter_map(finding).collect();
        test.findings.extend(found);
    }
}

fn is_rate(metric: Metric) -> bool {
    metric == Metric::Iops || metric == Metric::ThroughputMbS
}

/// Returns the levels of the full seconds of `point`. In an open loop the rate is that of the load.
fn levels(point: &PointRun, metric: Metric) -> Option<StepLevels> {
    let streams = &point.workload.streams;
    if streams.iter().any(|stream| stream.arrival.per_second().is_some()) {
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
