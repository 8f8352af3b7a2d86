//! The measured steps of a headline, so that latency and power refer to the same steps.

use crate::model::metrics;
use crate::model::{PointRun, TestRun};
use ssdgauge_core::statistics::knee::{self, Knee, Rung};
use ssdgauge_core::{BORNE, Metric, Scope, Score};

/// Returns the points that the headline of `test` is taken from: the knee of a ladder, the best
/// point, the highest load borne, or all that a mean is over.
///
/// Empty where the headline has no value.
pub(crate) fn points(test: &TestRun) -> Vec<&PointRun> {
    let Some(value) = test.headline.value else { return Vec::new() };
    let all = || test.points.iter();
    match &test.test.score {
        Score::Knee(metric) => {
            let depth = depth_sweep(test, *metric).map(|(_, knee)| f64::from(knee.depth));
            all().filter(|point| Some(point.point.position) == depth).collect()
        }
        Score::BestOf(metric) => all()
            .filter(|point| metrics::value(point, *metric, Scope::All) == Some(value))
            .take(1)
            .collect(),
        Score::HighestBorne => {
            let borne = |point: &&PointRun| point.point.totals.reading(BORNE) == Some(1.0);
            all().filter(borne).filter(|point| point.point.position == value).collect()
        }
        Score::HighestBorneFromSending => {
            let of_load = |point: &&PointRun| point.point.position == value;
            all().filter(of_load).collect()
        }
        Score::KneeOfLoad(metric) => all()
            .filter(|point| metrics::value(point, *metric, Scope::All) == Some(value))
            .take(1)
            .collect(),
        score @ (Score::At { .. }
        | Score::MeanOf(_)
        | Score::MeanAt { .. }
        | Score::MeanOfLast { .. }
        | Score::MeanOverSigmaOfLast { .. }) => {
            all().filter(|point| score.rests_on(point.point.position)).collect()
        }
    }
}

/// Returns the rungs of a ladder of queue depths with its knee; `None` where one is missing.
pub(crate) fn depth_sweep(test: &TestRun, metric: Metric) -> Option<(Vec<Rung>, Knee)> {
    let rung = |point: &PointRun| {
        let value = metrics::value(point, metric, Scope::All)?;
        Some(Rung { depth: point.point.position as u32, value, interval: (value, value) })
    };
    let rungs: Vec<Rung> = test.points.iter().map(rung).collect::<Option<_>>()?;
    let found = knee::find(&rungs)?;
    Some((rungs, found))
}
