//! What is shown with the throughput at the knee of a sweep of queue depths: its depth, its latency and
//! its efficiency, of the same step. The reviews of 2019 report all of them for that depth.

use crate::model::metrics;
use crate::model::{PointRun, TestRun};
use crate::steps::headline_points;
use ssdgauge_core::{KneeFound, Metric, Scope};

/// The step at the knee.
#[derive(Debug)]
pub struct AtKnee<'a> {
    /// The knee, with the depths that the intervals allow.
    pub found: KneeFound,
    point: &'a PointRun,
    /// The metric of the headline.
    metric: Metric,
}

/// Returns the knee of `test`; `None` where its headline has another rule or no value.
pub fn at_knee(test: &TestRun) -> Option<AtKnee<'_>> {
    let metric = test.test.score.depth_knee()?;
    let [point] = headline_points::points(test)[..] else { return None };
    let found = KneeFound::find(metric, &test.scored_points()?)?;
    Some(AtKnee { found, point, metric })
}

impl AtKnee<'_> {
    /// Returns the queue depth of the knee.
    pub fn depth(&self) -> u32 {
        self.found.knee.depth
    }

    /// Returns the requests whose latency its latencies are.
    pub fn latency_of(&self) -> Option<String> {
        self.point.latency_of()
    }

    /// Returns latencies, efficiency and power at the knee that were measured.
    pub fn values(&self) -> Vec<(Metric, f64)> {
        let metrics = [
            Metric::LatMeanUs,
            Metric::LatP99Us,
            Metric::LatP9999Us,
            self.metric.efficiency(),
            Metric::PowerW,
        ];
        let value = |metric| Some((metric, metrics::value(self.point, metric, Scope::All)?));
        metrics.into_iter().filter_map(value).collect()
    }

    /// Returns the full seconds of the step.
    pub fn full_seconds(&self) -> u64 {
        self.point.point.seconds.full().len() as u64
    }

    /// Returns depth, latencies and efficiency in words.
    pub fn words(&self) -> String {
        let values = self.values().into_iter();
        let values =
            values.map(|(metric, value)| format!("{} {}", name(metric), metric.about(value)));
        let depth = match self.found.depth {
            Some((low, high)) if low < high => {
                format!("at QD{} (95 %: QD{low} to QD{high})", self.depth())
            }
            Some(_) | None => format!("at QD{}", self.depth()),
        };
        [depth].into_iter().chain(values).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the name of a metric within a line.
fn name(metric: Metric) -> String {
    match metric {
        Metric::LatP99Us => "p99".to_owned(),
        Metric::LatP9999Us => "p99.99".to_owned(),
        other => other.title().to_lowercase(),
    }
}
