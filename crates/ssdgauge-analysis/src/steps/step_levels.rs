//! Steps that contain two levels, such as in a cache and beyond it, or before and after a throttle.

use crate::model::{PointRun, StepFinding, StepLevels, TestRun};
use crate::steps::slc_cache;
use crate::steps::stalls;
use crate::text::{number, sanitize};
use ssdgauge_core::{Finding, FindingKind, Metric, Scope, ScoreFamily, Severity};
use ssdgauge_statistics::change_point;
use ssdgauge_statistics::trend::{self, Trend};

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
    let changes: Vec<StepFinding> = changes(test).collect();
    test.findings.extend(changes);
}

/// Returns a finding for each step that changes by more than the interval of its mean, where the headline
/// counts it as one level. A test of a fill states its levels, and the rate of an open loop is that of the
/// load.
fn changes(test: &TestRun) -> impl Iterator<Item = StepFinding> {
    let score = &test.test.score;
    let metric = Some(score.metric()).filter(|metric| is_rate(*metric));
    let of_point = move |point: &PointRun| {
        let (metric, full) = (metric?, point.point.seconds.full());
        let all = full.len();
        let counted = match score.last_part() {
            Some((_, window)) => window.select(full)?,
            None => full,
        };
        let is_counted = score.needs(point.point.position) && point.workload.never_pauses();
        if !is_counted || point.levels.is_some() || slc_cache::fills(point) {
            return None;
        }
        let interval = point.interval(metric, Scope::All);
        let cut = match score.last_part() {
            Some(_) => 0,
            None => interval.within_run().map_or(0, |within| within.cut),
        };
        let rates = counted.rates(metric);
        // A stall is an event, no change of the speed.
        let shows_speed = stalls::shows_speed(point);
        let before = all - rates.len();
        let places: Vec<usize> =
            (cut.min(rates.len())..rates.len()).filter(|at| shows_speed[before + at]).collect();
        let values: Vec<f64> = places.iter().map(|at| rates[*at]).collect();
        let text = words(trend::find(&values)?, rates.len() - cut, |at| before + places[at]);
        Some(StepFinding {
            step: Some(sanitize::prose(&point.point.label)),
            metrics: vec![metric.key().to_owned()],
            finding: Finding::new(
                FindingKind::ChangesWithin,
                Severity::Note,
                text,
                "measure a longer step: the mean depends on its length, and the interval does not hold \
                 for a longer one",
            ),
        })
    };
    test.points.iter().filter_map(of_point)
}

/// Returns a change over `n` seconds in words; `second` is the second of the step at a place among them.
fn words(found: Trend, n: usize, second: impl Fn(usize) -> usize) -> String {
    let percent = format!("{:+.1}\u{a0}%", 100.0 * found.share()).replace('-', "−");
    match found {
        Trend::Drift { .. } => format!("drifts by {percent} over {n}\u{a0}s"),
        Trend::Shift { at, .. } => {
            format!("shifts by {percent} at {}\u{a0}s of the step", second(at))
        }
    }
}

fn is_rate(metric: Metric) -> bool {
    metric == Metric::Iops || metric == Metric::ThroughputMbS
}

/// Returns the levels of the full seconds of `point` without stalls. In an open loop, and with pauses, the
/// rate is that of the load.
fn levels(point: &PointRun, metric: Metric) -> Option<StepLevels> {
    if !point.workload.never_pauses() {
        return None;
    }
    let full = point.point.seconds.full();
    let shows_speed = stalls::shows_speed(point);
    let rates = full.rates(metric).into_iter().zip(&shows_speed);
    let rates: Vec<f64> = rates.filter(|(_, shows)| **shows).map(|(rate, _)| rate).collect();
    let found = change_point::levels(&rates)?;
    let bytes = |seconds: usize| -> u64 {
        let shown = full.counts().zip(&shows_speed).filter(|(_, shows)| **shows);
        let directions = shown.take(seconds).flat_map(|(second, _)| second.directions);
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
