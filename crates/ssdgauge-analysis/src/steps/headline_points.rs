//! The measured steps of a headline, so that latency and power refer to the same steps.

use crate::model::metrics;
use crate::model::{PointRun, TestRun};
use ssdgauge_core::{Headline, Metric, PASSED, Scope, Score, ScoreFamily, Stream};
use ssdgauge_statistics::knee::{self, Knee, SweepPoint};

/// Returns the points that the headline of `test` is taken from: the knee of a sweep, the best
/// point, the highest passing load, or all that a mean is over.
///
/// Empty where the headline has no value.
pub fn points(test: &TestRun) -> Vec<&PointRun> {
    points_by(test, &test.test.score, &test.headline)
}

/// Returns the points that the number `headline` of `test` by `score` is taken from, as [`points`] does.
pub(crate) fn points_by<'a>(
    test: &'a TestRun,
    score: &Score,
    headline: &Headline,
) -> Vec<&'a PointRun> {
    let Some(value) = headline.value else { return Vec::new() };
    let all = || test.points.iter();
    let has_value =
        |point: &&PointRun| metrics::value(point, score.metric(), Scope::All) == Some(value);
    match score.family() {
        ScoreFamily::Knee => match score.depth_knee() {
            Some(metric) => {
                let depth = depth_sweep(test, metric).map(|(_, knee)| f64::from(knee.depth));
                all().filter(|point| Some(point.point.position) == depth).collect()
            }
            None => all().filter(has_value).take(1).collect(),
        },
        ScoreFamily::HighestLoad => {
            // By the due times, a load that ran and did not pass is at the same position.
            let passed = |point: &&PointRun| {
                score != &Score::HighestPassing || point.point.totals.reading(PASSED) == Some(1.0)
            };
            all().filter(passed).filter(|point| point.point.position == value).collect()
        }
        // The number of a repeated test is a mean, which no point has to the last digit.
        ScoreFamily::Point if score.position().is_none() && !test.repetitions.is_empty() => {
            let value = |point: &&PointRun| metrics::value(point, score.metric(), Scope::All);
            let valued = all().filter_map(|point| Some((value(&point)?, point)));
            let best = valued.reduce(|a, b| {
                let is_better = match score.metric().more_is_better() {
                    true => b.0 > a.0,
                    false => b.0 < a.0,
                };
                if is_better { b } else { a }
            });
            best.map(|(_, point)| point).into_iter().collect()
        }
        ScoreFamily::Point if score.position().is_none() => {
            all().filter(has_value).take(1).collect()
        }
        ScoreFamily::Point | ScoreFamily::Mean | ScoreFamily::LastPart => {
            all().filter(|point| score.needs(point.point.position)).collect()
        }
    }
}

/// Returns the points of a ladder of queue depths with its knee; `None` where one is missing.
pub(crate) fn depth_sweep(test: &TestRun, metric: Metric) -> Option<(Vec<SweepPoint>, Knee)> {
    let sweep_point = |point: &PointRun| {
        let value = metrics::value(point, metric, Scope::All)?;
        Some(SweepPoint { depth: point.point.position as u32, value, interval: (value, value) })
    };
    let points: Vec<SweepPoint> = test.points.iter().map(sweep_point).collect::<Option<_>>()?;
    let found = knee::find(&points)?;
    Some((points, found))
}

/// Returns whether `point` belongs into a chart of all steps of `test` without a common parameter: its
/// requests have the lengths of those of a step that a score counts. A fill before such steps has other ones,
/// and a trim or an idle time has none.
pub fn is_like_a_scored_one(test: &TestRun, point: &PointRun) -> bool {
    let lengths = |point: &PointRun| -> Vec<String> {
        point.workload.streams.iter().map(Stream::size_words).collect()
    };
    let scores = || std::iter::once(&test.test.score).chain(&test.test.also);
    let is_scored = |point: &&PointRun| scores().any(|score| score.needs(point.point.position));
    let mut scored = test.points.iter().filter(is_scored).peekable();
    scored.peek().is_none() || scored.any(|scored| lengths(scored) == lengths(point))
}
