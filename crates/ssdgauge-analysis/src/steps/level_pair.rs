//! The two levels of a write step that falls, in the metric of its number: no second ran at their mean.

use crate::model::{PointRun, SpeedFall, TestRun};
use crate::steps::headline_points;
use crate::steps::lasting_level;
use crate::steps::slc_cache;
use crate::text::number;
use ssdgauge_core::{Headline, Metric, Score, ScoreFamily};

/// The two levels of a step in one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// The metric.
    pub metric: Metric,
    /// The value until the speed falls.
    pub before: f64,
    /// Whether that is a lower bound: the fall may be in the first second.
    pub is_lower_bound: bool,
    /// The value after it; after several falls, that of the longest level.
    pub after: f64,
    /// Both in words without a unit: `at least 2,146, then 727`.
    pub words: String,
}

impl Levels {
    /// Returns both in words with their unit.
    pub fn with_unit(&self) -> String {
        format!("{} {}", self.words, self.metric.unit())
    }
}

/// Returns the levels of `point`, a step of one stream that only writes, in the rate `metric`; `None` where
/// its speed does not fall.
pub fn of_point(point: &PointRun, metric: Metric) -> Option<Levels> {
    let [stream] = point.workload.streams.as_slice() else { return None };
    let of_requests = metric == Metric::Iops;
    let is_rate = metric == Metric::ThroughputMbS || (of_requests && !stream.has_sizes());
    if !is_rate {
        return None;
    }
    let unit = if of_requests { stream.block_size.0 as f64 } else { 1e6 };
    let SpeedFall { edge, .. } = slc_cache::first_fall(point)?;
    let first = edge.before_in_words(|bytes| number::text(bytes / unit));
    let after = lasting_level::fall(point)?.edge.after / unit;
    Some(Levels {
        metric,
        before: edge.before / unit,
        is_lower_bound: !edge.is_bounded_below(),
        after,
        words: format!("{first}, then {}", number::text(after)),
    })
}

/// Returns the levels of the one step that the number `headline` of `test` by `score` rests on. A score of
/// the last part leaves the first level out on purpose, and the mean over a fill is that of a curve.
pub fn of_headline(test: &TestRun, score: &Score, headline: &Headline) -> Option<Levels> {
    if score.family() == ScoreFamily::LastPart {
        return None;
    }
    let points = headline_points::points_by(test, score, headline);
    let [point] = points.as_slice() else { return None };
    of_point(point, headline.metric).filter(|_| !slc_cache::fills(point))
}
