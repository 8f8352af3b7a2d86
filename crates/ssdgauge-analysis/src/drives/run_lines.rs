//! The lines of one run that a chart of another drive draws in grey: few points for each test.

use crate::findings::trust;
use crate::groups::group::{self, Member};
use crate::model::metrics;
use crate::model::{PointRun, Run, TestRun};
use crate::steps::slc_cache;
use crate::steps::written::writes;
use ssdgauge_core::Scope;
use ssdgauge_statistics::difference::{NOISE, are_apart};
use ssdgauge_statistics::summary;
use std::collections::BTreeMap;

/// The horizontal axis of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOver {
    /// Gigabytes written.
    Written,
    /// Seconds of one step.
    Seconds,
    /// The steps of a test, by their number in its order.
    Steps,
}

impl LineOver {
    fn key(self) -> &'static str {
        match self {
            LineOver::Written => "written",
            LineOver::Seconds => "seconds",
            LineOver::Steps => "steps",
        }
    }
}

/// Levels of a line at most.
const LEVELS: usize = 24;

/// The minimum number of seconds of a step that have a line.
const FEWEST: usize = 20;

/// The maximum number of steps in a line.
const MAX_STEPS: usize = 40;

/// Returns the key of the line of the test of `member`, equal for lines that may share a chart.
pub fn key(member: Member<'_>, over: LineOver) -> String {
    format!("{} {}", over.key(), group::background_key(member))
}

/// Returns the lines of the valid tests of `run` by their keys: MB/s over gigabytes, and the rate of the score over
/// seconds or steps.
pub fn lines(run: &Run) -> BTreeMap<String, Vec<(f64, f64)>> {
    let members = run.tests.iter().map(|test| Member { index: 0, run, test });
    let valid = members.filter(|member| trust::invalid(run, member.test).is_none());
    let line = |member: Member<'_>| {
        let (over, line) = line(member.test)?;
        Some((key(member, over), line))
    };
    valid.filter_map(line).collect()
}

/// Returns the part of `line` up to `end` on its horizontal axis.
pub fn up_to(line: &[(f64, f64)], end: f64) -> Vec<(f64, f64)> {
    let mut part: Vec<(f64, f64)> = line.iter().copied().filter(|(x, _)| *x <= end).collect();
    // A level that goes on beyond the end is drawn up to it.
    if let Some((_, rate)) = line.get(part.len()) {
        part.push((end, *rate));
    }
    part
}

fn line(test: &TestRun) -> Option<(LineOver, Vec<(f64, f64)>)> {
    let metric = test.test.score.metric().rate();
    if let Some(point) = slc_cache::sequential_write(test) {
        let line = levels(&writes(point).seconds);
        return (line.len() > 1).then_some((LineOver::Written, line));
    }
    match test.points.as_slice() {
        [] => None,
        [point] => {
            let rates = point.point.seconds.full().rates(metric);
            let second =
                |(second, rate): (usize, &f64)| (second as f64, second as f64 + 1.0, *rate);
            let seconds: Vec<(f64, f64, f64)> = rates.iter().enumerate().map(second).collect();
            (seconds.len() >= FEWEST).then(|| (LineOver::Seconds, levels(&seconds)))
        }
        points if points.len() <= MAX_STEPS => {
            let value = |(place, point): (usize, &PointRun)| {
                Some((place as f64, metrics::value(point, metric, Scope::All)?))
            };
            Some((LineOver::Steps, points.iter().enumerate().filter_map(value).collect()))
        }
        _ => None,
    }
}

/// Returns the levels of `parts`, each from, to and rate: neighbours within the noise are one, and the shortest ones
/// are joined until few are left.
fn levels(parts: &[(f64, f64, f64)]) -> Vec<(f64, f64)> {
    let mut margin = NOISE;
    let mut levels = joined(parts, margin);
    while levels.len() > LEVELS {
        margin *= 1.5;
        levels = joined(parts, margin);
    }
    levels.iter().flat_map(|(from, to, rate)| [(*from, *rate), (*to, *rate)]).collect()
}

/// Returns the mean of each stretch of `parts` that stays within `margin` of its first part.
fn joined(parts: &[(f64, f64, f64)], margin: f64) -> Vec<(f64, f64, f64)> {
    let mut stretches: Vec<&[(f64, f64, f64)]> = Vec::new();
    let mut rest = parts;
    while let Some((_, _, first)) = rest.first() {
        let next = rest[1..].iter().position(|part| are_apart(*first, part.2, margin));
        let (stretch, others) = rest.split_at(next.map_or(rest.len(), |next| next + 1));
        stretches.push(stretch);
        rest = others;
    }
    let level = |stretch: &&[(f64, f64, f64)]| {
        let rates: Vec<f64> = stretch.iter().map(|part| part.2).collect();
        (stretch[0].0, stretch[stretch.len() - 1].1, summary::mean(&rates).unwrap_or(0.0))
    };
    stretches.iter().map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_level_for_each_stretch_and_few_of_them() {
        let second = |at: u32, rate: f64| (f64::from(at), f64::from(at) + 1.0, rate);
        let parts: Vec<(f64, f64, f64)> =
            (0..100).map(|at| second(at, if at < 40 { 200.0 } else { 100.0 })).collect();
        assert_eq!(levels(&parts), [(0.0, 200.0), (40.0, 200.0), (40.0, 100.0), (100.0, 100.0)]);
        let restless: Vec<(f64, f64, f64)> =
            (0..1000).map(|at| second(at, f64::from(50 + at % 7 * 20))).collect();
        assert!(levels(&restless).len() <= 2 * LEVELS);
    }
}
