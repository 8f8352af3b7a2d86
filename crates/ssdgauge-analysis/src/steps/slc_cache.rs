//! Falls of the write speed of steps that write in order, and the SLC cache of a drive where a fall is its
//! end: the steps that wrote inside it, crossed its end, or wrote beyond it.

use crate::model::{CachePlace, FallCause, PointRun, SpeedFall, StepFinding, StepLevels, TestRun};
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::{
    Action, Direction, Finding, FindingKind, Metric, Nanos, PhaseKind, Severity, rounded,
};
use ssdgauge_statistics::cache::Edge;

/// Returns the falls of the write speed that `test` shows: a single step that writes sequentially.
pub fn falls(test: &TestRun) -> &[SpeedFall] {
    sequential_write(test).map_or(&[], |point| &point.falls)
}

/// Returns the first fall of the write speed of `point`; of a step with too few seconds for one its two levels,
/// where the first is the faster one. These do not show a cause.
pub fn first_fall(point: &PointRun) -> Option<SpeedFall> {
    if let Some(first) = point.falls.first() {
        return Some(*first);
    }
    let StepLevels { metric, before, after, bytes_interval: (low, high), .. } = point.levels?;
    let [stream] = point.workload.streams.as_slice() else { return None };
    if before <= after || stream.reads() || !stream.writes() || stream.has_sizes() {
        return None;
    }
    let bytes = if metric == Metric::Iops { stream.block_size.0 as f64 } else { 1e6 };
    let edge = Edge {
        bytes: low.midpoint(high),
        uncertainty: (high - low).div_ceil(2),
        before: before * bytes,
        after: after * bytes,
    };
    let (before_interval, after_interval) = (None, None);
    Some(SpeedFall { edge, before_interval, after_interval, cause: FallCause::Unknown })
}

/// Returns the end of the SLC cache that `test` shows: the first fall, where the cache caused it.
pub fn cache_edge(test: &TestRun) -> Option<Edge> {
    let first = falls(test).first()?;
    (first.cause == FallCause::Cache).then_some(first.edge)
}

/// Returns the single step of `test` where that writes in order and nothing else
/// (`writes_in_order`).
pub fn sequential_write(test: &TestRun) -> Option<&PointRun> {
    let [point] = test.points.as_slice() else { return None };
    writes_in_order(point).then_some(point)
}

/// Returns whether the step `point` writes in order, as fast as the drive takes it: the drive alone
/// changes its rate. After flushes, pauses or due times it does not.
pub(crate) fn writes_in_order(point: &PointRun) -> bool {
    let [stream] = point.workload.streams.as_slice() else { return false };
    let only_writes = stream.writes() && !stream.reads();
    let is_durable = stream.flush_every.is_some() || stream.sync;
    let is_paced = stream.pauses() || stream.arrival.per_second().is_some();
    stream.is_sequential() && only_writes && !is_durable && !is_paced
}

/// Returns whether `point` writes the whole of its span once or more: its result is a curve, in which
/// falls of the speed belong.
pub(crate) fn fills(point: &PointRun) -> bool {
    let [stream] = point.workload.streams.as_slice() else { return false };
    let written = point.point.totals.directions[Direction::Write as usize].bytes;
    writes_in_order(point) && written >= stream.span.0
}

/// Returns the share of the write speed that is left after `edge`, in percent, rounded as every place
/// of a report shows it: whole numbers, below 9.5 with one digit after the point.
pub fn percent_left(edge: &Edge) -> f64 {
    let left = 100.0 * edge.after / edge.before;
    if left < 9.5 { (left * 10.0).round() / 10.0 } else { left.round() }
}

/// Returns what is left behind `edge` in words: `30 %`, or `at most 73 %` where the speed before it is a
/// lower bound.
pub(crate) fn left_in_words(edge: &Edge) -> String {
    let left = percent_words(percent_left(edge));
    match edge.is_bounded_below() {
        true => format!("{left}\u{a0}%"),
        false => format!("at most {left}\u{a0}%"),
    }
}

/// Returns the part of the write speed that is lost after `edge`, in percent: what
/// [`percent_left`] leaves of 100.
pub fn percent_lost(edge: &Edge) -> f64 {
    100.0 - percent_left(edge)
}

/// Returns a percentage of [`percent_left`] or [`percent_lost`] in words, without its sign.
pub fn percent_words(percent: f64) -> String {
    let tenths = (percent * 10.0).round() / 10.0;
    if tenths.fract() == 0.0 { format!("{tenths:.0}") } else { format!("{tenths:.1}") }
}

/// Tells every step that writes where it lay, in all tests of a run in which one shows the cache
/// of a fresh drive.
pub(crate) fn classify_steps(tests: &mut [TestRun]) {
    let purged = |test: &&TestRun| {
        let mut phases =
            test.test.phases.iter().filter(|phase| phase.kind != PhaseKind::WriteCache);
        phases.next().is_some_and(|phase| phase.kind == PhaseKind::Purge)
    };
    let Some(edge) = tests.iter().filter(purged).find_map(cache_edge) else { return };
    for test in tests {
        classify_test(test, &edge);
    }
}

fn classify_test(test: &mut TestRun, edge: &Edge) {
    // The plan does not have the order of the steps of a search or of rounds.
    if test.test.search.is_some() || test.test.rounds.is_some() || !test.repetitions.is_empty() {
        return;
    }
    let full = edge.bytes.saturating_add(edge.uncertainty);
    let mut held = 0u64;
    let mut found = Vec::new();
    let mut points = test.points.iter_mut().peekable();
    for phase in &test.test.phases {
        for step in &phase.steps {
            let mut rest = Nanos::ZERO;
            match &step.action {
                Action::Prepare(preparation) if preparation.is_purge() => held = 0,
                Action::Prepare(preparation) => {
                    held = held.saturating_add(preparation.writes().0);
                }
                Action::Rest(time) | Action::Idle(time) => rest = *time,
                Action::Run { workload, .. } if phase.kind != PhaseKind::Measure => {
                    // Preconditioning writes more than any cache holds; its volume is not needed.
                    if workload.streams.iter().any(|stream| stream.writes()) {
                        held = full;
                    }
                }
                Action::Run { .. } | Action::Replay(_) => {
                    let is_here = |point: &&mut PointRun| {
                        point.point.label == step.label && point.point.position == step.position
                    };
                    let Some(point) = points.next_if(is_here) else { continue };
                    let written = point.point.totals.directions[Direction::Write as usize].bytes;
                    if written > 0 {
                        let position = classify(held, written, edge);
                        point.cache = Some(position);
                        found.extend(finding(position, &step.label, held, written, edge));
                    }
                    held = held.saturating_add(written);
                    rest = step.rest.after(point.point.totals.elapsed);
                }
            }
            // While it rests a drive moves what its cache holds to its other cells, at about the
            // rate at which it writes beyond the cache.
            let moved = edge.after * rest.as_secs_f64();
            held = held.min(full).saturating_sub(moved as u64);
        }
    }
    test.findings.extend(found);
}

fn classify(held: u64, written: u64, edge: &Edge) -> CachePlace {
    let (least, most) =
        (edge.bytes.saturating_sub(edge.uncertainty), edge.bytes.saturating_add(edge.uncertainty));
    let end = held.saturating_add(written);
    if end <= least {
        CachePlace::Inside
    } else if held >= most {
        CachePlace::Beyond
    } else if (held == 0 || held < least) && end >= most {
        CachePlace::Crossing
    } else {
        CachePlace::Unknown
    }
}

fn finding(
    position: CachePlace,
    label: &str,
    held: u64,
    written: u64,
    edge: &Edge,
) -> Option<StepFinding> {
    let size = rounded::edge(edge);
    let (held, written) = (number::capacity(held), number::capacity(written));
    let text = match position {
        CachePlace::Inside | CachePlace::Unknown => return None,
        CachePlace::Crossing => format!(
            "the step wrote {written} with about {held} already in the SLC cache (size from the \
             fill of this run: {size}); its result mixes writes inside and beyond the cache"
        ),
        CachePlace::Beyond => format!(
            "the SLC cache (size from the fill of this run: {size}) was full before the step \
             began; it wrote {written} beyond the cache"
        ),
    };
    let finding = Finding::new(FindingKind::CacheExceeded, Severity::Note, text, "");
    Some(StepFinding { step: Some(sanitize::prose(label)), metrics: Vec::new(), finding })
}

/// Returns which steps of `test` lay where, in words.
pub fn summary(test: &TestRun) -> Option<String> {
    let of = |position: CachePlace| -> Vec<String> {
        let here = test.points.iter().filter(|point| point.cache == Some(position));
        here.map(|point| sanitize::step(&point.point.label)).collect()
    };
    let positions = CachePlace::ALL;
    let words: Vec<String> = positions
        .into_iter()
        .map(|position| (position, of(position)))
        .filter(|(_, labels)| !labels.is_empty())
        .map(|(position, labels)| format!("{}: {}", position.name(), shortened(&labels)))
        .collect();
    (!words.is_empty()).then(|| format!("SLC cache: {}", words.join("; ")))
}

/// Returns a few labels, and how many more there are.
fn shortened(labels: &[String]) -> String {
    const MOST: usize = 6;
    match labels.len() {
        n if n > MOST => format!("{} and {} more steps", labels[..MOST].join(", "), n - MOST),
        _ => labels.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_within_the_uncertainty_is_unknown() {
        let edge = Edge { bytes: 20, uncertainty: 2, before: 2.0, after: 1.0 };
        for (held, written, position) in [
            (0, 18, CachePlace::Inside),
            (0, 19, CachePlace::Unknown),
            (0, 22, CachePlace::Crossing),
            (17, 2, CachePlace::Unknown),
            (17, 5, CachePlace::Crossing),
            (21, 1, CachePlace::Unknown),
            (22, 1, CachePlace::Beyond),
            (u64::MAX, u64::MAX, CachePlace::Beyond),
        ] {
            assert_eq!(classify(held, written, &edge), position, "{held} {written}");
        }
        let vague = Edge { bytes: 20, uncertainty: 20, before: 2.0, after: 1.0 };
        assert_eq!(classify(0, 1, &vague), CachePlace::Unknown, "the cache may be of any size");
        assert_eq!(classify(0, 40, &vague), CachePlace::Crossing, "it began in any cache");
    }
}
