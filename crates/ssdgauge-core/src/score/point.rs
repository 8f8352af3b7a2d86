//! The samples of one measured step, and the intervals that follow from its seconds.

use crate::score::Score;
use crate::totals::Totals;
use crate::totals::confidence::{ConfidenceInterval, WithinRun};
use crate::totals::media_writes::MediaWrites;
use crate::totals::metric::Metric;
use crate::totals::scope::Scope;
use crate::totals::seconds::{FullSeconds, Seconds};
use ssdgauge_statistics::mean_interval::{self, MeanInterval};
use ssdgauge_statistics::mean_over_sigma::{self, MeanOverSigma};
use ssdgauge_statistics::percentile_interval;
use std::cell::LazyCell;
use std::collections::BTreeMap;

/// The version of the arithmetic between the samples of a step and its numbers. A change that can move one of
/// them raises it: run files hold the numbers of each step with it.
pub const ARITHMETIC: u32 = 2;

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
            let is_short = self.seconds.full().len() < percentile_interval::FEWEST;
            let missing = match is_short {
                true => ConfidenceInterval::TooFewSeconds,
                false => ConfidenceInterval::Undefined,
            };
            return self.percentiles.get(&(metric, scope)).copied().unwrap_or(missing);
        }
        if metric == Metric::WriteAmplification
            && let Some((low, high)) = self.media_writes().and_then(|writes| writes.ends())
        {
            return ConfidenceInterval::OfCounters { low, high };
        }
        if metric == Metric::BusyThroughputMbS {
            return self.busy_interval(scope);
        }
        over_seconds(metric, scope, &self.seconds.full())
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
        match over_seconds(Metric::ThroughputMbS, scope, &self.seconds.full()) {
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

/// Returns the interval of `metric` over `seconds`, where it is a mean or a ratio of two sums.
pub(crate) fn over_seconds(
    metric: Metric,
    scope: Scope,
    seconds: &FullSeconds<'_>,
) -> ConfidenceInterval {
    if seconds.len() < mean_interval::FEWEST {
        return ConfidenceInterval::TooFewSeconds;
    }
    let better = metric.more_is_better();
    let each = |value: &dyn Fn(&Totals) -> Option<f64>| -> Option<Vec<f64>> {
        seconds.totals().map(|second| value(&second)).collect()
    };
    // A meter of a wider scope must not replace one of a narrower scope that misses a second.
    let narrowest =
        LazyCell::new(|| seconds.totals().filter_map(|second| Some(second.power()?.0)).min());
    let power = |second: &Totals| second.reading((*narrowest)?.quantity());
    let ratio = |rate: Metric| -> Option<MeanInterval> {
        let rates = each(&|second| second.value(rate, scope))?;
        Some(mean_interval::of_ratio(&rates, &each(&power).filter(|p| is_divisor(p))?, better))
    };
    let found = match metric {
        Metric::Iops | Metric::ThroughputMbS | Metric::InFlightMean => {
            each(&|second| second.value(metric, scope))
                .map(|values| mean_interval::of_mean(&values, better))
        }
        Metric::LatMeanUs => {
            let sums = |second: Totals| {
                let latency = second.latency(scope);
                (latency.sum() as f64 / 1e3, latency.count() as f64)
            };
            let (sums, counts): (Vec<f64>, Vec<f64>) = seconds.totals().map(sums).unzip();
            is_divisor(&counts).then(|| mean_interval::of_ratio(&sums, &counts, better))
        }
        Metric::CommitMeanUs => {
            let commits = |second: Totals| second.commits().unwrap_or_default();
            let commits: Vec<(u128, u64)> = seconds.totals().map(commits).collect();
            let sums: Vec<f64> = commits.iter().map(|(sum, _)| *sum as f64 / 1e3).collect();
            let counts: Vec<f64> = commits.iter().map(|(_, count)| *count as f64).collect();
            is_divisor(&counts).then(|| mean_interval::of_ratio(&sums, &counts, better))
        }
        Metric::PowerW => each(&power).map(|values| mean_interval::of_mean(&values, better)),
        Metric::EfficiencyMbSW => ratio(Metric::ThroughputMbS),
        // Thousand requests per second per watt.
        Metric::EfficiencyKiopsW => ratio(Metric::Iops).map(|found| scaled(found, 1e-3)),
        Metric::BusyThroughputMbS
        | Metric::LatP50Us
        | Metric::LatP99Us
        | Metric::LatP999Us
        | Metric::LatP9999Us
        | Metric::LatP99999Us
        | Metric::LatMaxUs
        | Metric::LatTimeP50Us
        | Metric::LatTimeP99Us
        | Metric::TimeOver1MsPercent
        | Metric::TimeOver10MsPercent
        | Metric::TimeOver100MsPercent
        | Metric::WorstSecondIops
        | Metric::LongestStallS
        | Metric::PowerCoveredPercent
        | Metric::EnergyJ
        | Metric::WriteAmplification
        | Metric::MediaWrittenGb
        | Metric::EffectiveOverProvisioning
        | Metric::TimeS
        | Metric::IdleS
        | Metric::TrimGbS
        | Metric::MeanOverSigma
        | Metric::LoadMultiple => None,
    };
    found.map_or(ConfidenceInterval::Undefined, ConfidenceInterval::from)
}

/// Returns whether a sum of `values` from any second of their first half on is above zero.
fn is_divisor(values: &[f64]) -> bool {
    values[values.len() / 2..].iter().sum::<f64>() > 0.0 && values.iter().all(|v| *v >= 0.0)
}

fn scaled(interval: MeanInterval, factor: f64) -> MeanInterval {
    match interval {
        MeanInterval::Found(found) => MeanInterval::Found(mean_interval::MeanEstimate {
            mean: found.mean * factor,
            half: found.half * factor,
            ..found
        }),
        MeanInterval::StillSettling | MeanInterval::TooFewSeconds => interval,
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
