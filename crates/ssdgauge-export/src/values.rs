//! Every measured value of a run as one row: what tables for other programs contain.

use ssdgauge_analysis::groups::workload_text;
use ssdgauge_analysis::model::metrics;
use ssdgauge_analysis::model::{PointRun, Run, TestRun};
use ssdgauge_analysis::steps::knee;
use ssdgauge_analysis::steps::level_pair;
use ssdgauge_core::{Headline, Metric, Score};

/// One measured value.
#[derive(Clone, Debug)]
pub struct Value<'a> {
    /// The test.
    pub test: &'a TestRun,
    /// The label of the step; `headline` for the headline of the test, with its rule after it for a
    /// further one.
    pub place: String,
    /// The value of the swept key; `None` for a headline, the queue depth for what is shown with it at
    /// a knee.
    pub position: Option<f64>,
    /// The metric.
    pub metric: Metric,
    /// Its key, with the direction before it where it is of one: `read_lat_p99_us`.
    pub key: String,
    /// The requests whose latency a latency is, such as `flushes`; `None` for another metric.
    pub latency_of: Option<String>,
    /// The value; `None` where it was not measured.
    pub value: Option<f64>,
    /// The value by the protocol, which also counts a start that flatters; `None` where it is the same.
    pub protocol: Option<f64>,
    /// The two levels of the step that a headline rests on, where that falls: the value is their mean.
    pub levels: Option<(f64, f64)>,
    /// The ends of its 95 % interval; `None` where there is none.
    pub interval: Option<(f64, f64)>,
}

/// Returns every value of `run`, in the order of the plan: headlines first, then each measured step.
pub fn values(run: &Run) -> Vec<Value<'_>> {
    let mut values = Vec::new();
    for test in &run.tests {
        values.push(of_headline(test, "headline".into(), &test.test.score, &test.headline));
        for (score, headline) in test.test.also.iter().zip(&test.also) {
            let place = format!("headline: {}", workload_text::rule(&test.test, score));
            values.push(of_headline(test, place, score, headline));
        }
        values.extend(of_knee(test));
        values.extend(test.points.iter().flat_map(|point| of_point(test, point)));
    }
    values
}

fn of_headline<'a>(
    test: &'a TestRun,
    place: String,
    score: &Score,
    headline: &Headline,
) -> Value<'a> {
    let is_latency = is_of_requests(headline.metric);
    Value {
        test,
        place,
        position: None,
        metric: headline.metric,
        key: headline.metric.key().to_owned(),
        latency_of: is_latency.then(|| workload_text::scored_latency_of(&test.test, score)),
        value: headline.value,
        protocol: headline.protocol,
        levels: level_pair::of_headline(test, score, headline)
            .map(|levels| (levels.before, levels.after)),
        interval: headline.interval.ends(),
    }
}

/// Returns whether `metric` is the latency of requests, and not that of commits.
fn is_of_requests(metric: Metric) -> bool {
    metric.is_latency() && metric.is_split()
}

/// Returns latency, efficiency and power at the knee that the headline is taken from.
fn of_knee(test: &TestRun) -> Vec<Value<'_>> {
    let Some(knee) = knee::at_knee(test) else { return Vec::new() };
    let value = |(metric, value): (Metric, f64)| Value {
        test,
        place: format!("headline: at the knee, QD{}", knee.depth()),
        position: Some(f64::from(knee.depth())),
        metric,
        key: metric.key().to_owned(),
        latency_of: knee.latency_of().filter(|_| is_of_requests(metric)),
        value: Some(value),
        protocol: None,
        levels: None,
        interval: None,
    };
    knee.values().into_iter().map(value).collect()
}

fn of_point<'a>(test: &'a TestRun, point: &'a PointRun) -> impl Iterator<Item = Value<'a>> {
    metrics::shown(point).into_iter().map(move |(metric, scope, key, value)| {
        let is_own = value.is_some() && point.has_own_intervals(scope);
        Value {
            test,
            place: point.point.label.clone(),
            position: Some(point.point.position),
            metric,
            key,
            latency_of: match scope.requests() {
                _ if !is_of_requests(metric) => None,
                Some(requests) => Some(requests.to_owned()),
                None => point.latency_of(),
            },
            value,
            protocol: metrics::protocol(point, metric, scope),
            levels: None,
            interval: is_own.then(|| point.interval(metric, scope)).and_then(|found| found.ends()),
        }
    })
}
