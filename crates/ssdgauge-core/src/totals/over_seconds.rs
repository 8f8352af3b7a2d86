//! The interval of a number over the seconds of a step.

use crate::totals::Totals;
use crate::totals::confidence::ConfidenceInterval;
use crate::totals::metric::Metric;
use crate::totals::scope::Scope;
use crate::totals::seconds::{FullSeconds, Seconds};
use ssdgauge_statistics::mean_interval::{self, MeanInterval};
use std::cell::LazyCell;

/// The metrics with an interval over the seconds of a step: means, and ratios of two sums.
pub(crate) const OVER_SECONDS: [Metric; 8] = [
    Metric::Iops,
    Metric::ThroughputMbS,
    Metric::LatMeanUs,
    Metric::CommitMeanUs,
    Metric::PowerW,
    Metric::EfficiencyMbSW,
    Metric::EfficiencyKiopsW,
    Metric::InFlightMean,
];

/// Returns the interval of `metric` over the full ones of `seconds`.
pub(crate) fn over_all_seconds(
    metric: Metric,
    scope: Scope,
    seconds: &Seconds,
) -> ConfidenceInterval {
    seconds.interval((metric, scope), |full| over_seconds(metric, scope, full))
}

/// Returns the interval of `metric` over `seconds`, where it is one of [`OVER_SECONDS`].
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
