//! The samples of one measured step, and the intervals that follow from its seconds.

use crate::score::Score;
use crate::totals::Totals;
use crate::totals::confidence::{ConfidenceInterval, WithinRun};
use crate::totals::media_writes::MediaWrites;
use crate::totals::metric::Metric;
use crate::totals::over_seconds::over_all_seconds;
use crate::totals::scope::Scope;
use crate::totals::seconds::Seconds;
use ssdgauge_statistics::mean_over_sigma::{self, MeanOverSigma};
use ssdgauge_statistics::percentile_interval;
use std::collections::BTreeMap;

/// The version of the arithmetic between the samples of a step and its numbers. A change that can move one of
/// them, or what a digest holds, raises it: run files hold the digest of each step with it.
pub const ARITHMETIC: u32 = 3;

/// The samples of one step of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The label of the step.
    pub label: String,
    /// The value of the swept key.
    pub position: f64,
    /// The sums over the step.
    pub totals: Totals,
    /// The sums of each second, a shorter last one included.
    pub seconds: Seconds,
    /// The sums of each stream of the workload; empty where it has one.
    pub streams: Vec<Totals>,
    /// The intervals of the latency percentiles, which need the histogram of each second.
    pub percentiles: BTreeMap<(Metric, Scope), ConfidenceInterval>,
}

impl Point {
    /// Returns the interval of `metric` over the requests of `scope`, from the full seconds of the
    /// step.
    pub fn interval(&self, metric: Metric, scope: Scope) -> ConfidenceInterval {
        if metric.percentile().is_some() {
            let missing = || match self.seconds.full_len() < percentile_interval::FEWEST {
                true => ConfidenceInterval::TooFewSeconds,
                false => ConfidenceInterval::Undefined,
            };
            return self.percentiles.get(&(metric, scope)).copied().unwrap_or_else(missing);
        }
        if metric == Metric::WriteAmplification
            && let Some((low, high)) = self.media_writes().and_then(|writes| writes.ends())
        {
            return ConfidenceInterval::OfCounters { low, high };
        }
        if metric == Metric::BusyThroughputMbS {
            return self.busy_interval(scope);
        }
        over_all_seconds(metric, scope, &self.seconds)
    }

    /// Returns the interval of the throughput while requests of a replay are in flight, from that of the
    /// whole time: the idle time is that of the trace, so all of the variation is one of the busy time.
    fn busy_interval(&self, scope: Scope) -> ConfidenceInterval {
        let whole = self.totals.value(Metric::ThroughputMbS, scope).filter(|whole| *whole > 0.0);
        let (Some(idle), Some(whole)) = (self.totals.idle(), whole) else {
            return ConfidenceInterval::Undefined;
        };
        // The idle time for each megabyte.
        let idle = idle / (whole * self.totals.elapsed.as_secs_f64());
        let busy = |rate: f64| match 1.0 / rate - idle {
            time if rate > 0.0 && time > 0.0 => 1.0 / time,
            _ if rate > 0.0 => f64::INFINITY,
            _ => 0.0,
        };
        match over_all_seconds(Metric::ThroughputMbS, scope, &self.seconds) {
            ConfidenceInterval::WithinRun(within) => {
                let [mean, low, high] = [within.mean, within.low, within.high].map(busy);
                ConfidenceInterval::WithinRun(WithinRun { mean, low, high, ..within })
            }
            other => other,
        }
    }

    /// Returns `metric` over the requests of `scope`: the number that its interval belongs to.
    pub fn value(&self, metric: Metric, scope: Scope) -> Option<f64> {
        let whole = self.totals.value(metric, scope)?;
        Some(self.interval(metric, scope).settled(whole))
    }

    /// Returns every number of the step, by the key of its metric with the prefix of its direction; those of
    /// a direction only where requests of several were completed.
    pub fn numbers(&self) -> BTreeMap<String, f64> {
        let has_requests = |scope: Scope| {
            let direction = scope.direction();
            direction.is_some_and(|one| self.totals.directions[one as usize].ios > 0)
        };
        let sent = Scope::ALL.into_iter().filter(|scope| has_requests(*scope));
        let split: Vec<Scope> = sent.collect();
        let split = if split.len() > 1 { split } else { Vec::new() };
        let number = |scope: Scope, metric: Metric| {
            let value = self.value(metric, scope).filter(|value| value.is_finite())?;
            Some((format!("{}{}", scope.prefix(), metric.key()), value))
        };
        let of_scope = |scope| {
            let metrics = Metric::ALL.into_iter();
            let metrics = metrics.filter(move |one| scope == Scope::All || one.is_split());
            metrics.filter_map(move |metric| number(scope, metric))
        };
        [Scope::All].into_iter().chain(split).flat_map(of_scope).collect()
    }

    /// Returns the metric of the part of the step that the rule names, as [`Point::value`] does. The
    /// seconds are kept for all streams together, so the number of one stream counts all samples.
    pub fn score(&self, score: &Score) -> Option<f64> {
        match score.stream() {
            Some(_) => score.value(&self.totals, &self.streams),
            None => self.value(score.metric(), score.scope()),
        }
    }

    /// Returns what a real drive wrote to its media in the step; `None` where nothing counted it.
    pub fn media_writes(&self) -> Option<MediaWrites> {
        self.totals.media_writes()
    }
}

/// Returns the interval of mean ÷ σ of `values`, one for each full second. The start is not cut, because
/// σ counts its change.
pub(crate) fn of_mean_over_sigma(values: &[f64]) -> ConfidenceInterval {
    match mean_over_sigma::interval(values) {
        MeanOverSigma::Found { value, low, high } => ConfidenceInterval::WithinRun(WithinRun {
            mean: value,
            low,
            high,
            cut: 0,
            n: values.len(),
            of_what_was_seen: false,
        }),
        MeanOverSigma::TooFewSeconds => ConfidenceInterval::TooFewSeconds,
        MeanOverSigma::RestsOnFewSeconds => ConfidenceInterval::RestsOnFewSeconds,
        MeanOverSigma::Undefined => ConfidenceInterval::Undefined,
    }
}
