//! How long reads take while the same test writes: what a database waits for, next to the speed of the same load.

use crate::groups::group::Member;
use crate::groups::uses;
use crate::model::plan::measured_steps;
use ssdgauge_core::{Direction, Family, Headline, Metric, Nanos, Score, Step, Stream, Test};

/// What is added to the id of a test.
pub const SUFFIX: &str = ".read-latency";

/// Steps of this length have intervals of percentiles ([`ssdgauge_statistics::percentile_interval::FEWEST`] seconds).
const LONG: Nanos = Nanos::from_secs(60);

/// Returns the rule of the latency of the reads of `test`, where its only step mixes random reads and writes, and the rate is
/// its headline: the 99.9th percentile, or the mean where the step is too short for an interval of that.
fn score(test: &Test) -> Option<Score> {
    let mut steps = measured_steps(test);
    let (step, None) = (steps.next()?, steps.next()) else { return None };
    let is_rate = test.score.metric().family() == Family::Rate;
    if !is_rate || test.search.is_some() || !mixes(step) || uses::is_sequential(test) {
        return None;
    }
    let is_long = step.action.until()?.time.is_some_and(|time| time >= LONG);
    let metric = if is_long { Metric::LatP999Us } else { Metric::LatMeanUs };
    Some(Score::OfDirection { metric, position: step.position, direction: Direction::Read })
}

fn mixes(step: &Step) -> bool {
    let streams = step.action.workload().map_or(&[][..], |load| &load.streams);
    streams.iter().any(Stream::reads) && streams.iter().any(Stream::writes)
}

/// Returns whether the latency of the reads of `test` is a number of its own, next to the rate.
pub(super) fn splits(test: &Test) -> bool {
    score(test).is_some()
}

/// Returns the latency of the reads of `member` with its rule; `None` where the test has none, and where it was repeated, because
/// a run keeps no latencies of each repetition.
pub(super) fn of(member: Member<'_>) -> Option<(Score, Headline)> {
    let score = score(&member.test.test).filter(|_| member.test.repetitions.is_empty())?;
    let points: Vec<_> = member.test.points.iter().map(|point| &point.point).collect();
    let headline = Headline::from_points(&score, &points);
    Some((score, headline))
}
