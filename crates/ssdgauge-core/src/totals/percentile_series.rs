//! The intervals of latency percentiles, from the histograms of the seconds of a step.

use crate::sample::Direction;
use crate::totals::Totals;
use crate::totals::confidence::{ConfidenceInterval, WithinRun};
use crate::totals::metric::Metric;
use crate::totals::scope::Scope;
use crate::units::Nanos;
use ssdgauge_statistics::histogram::Histogram;
use ssdgauge_statistics::percentile_interval::{FEWEST, LatencySeries, REPRESENTATIVE};
use std::collections::BTreeMap;

/// The intervals of percentiles, by metric and requests.
pub type PercentileIntervals = BTreeMap<(Metric, Scope), ConfidenceInterval>;

/// The latencies of each second of a step that is long enough for intervals of percentiles.
#[derive(Debug)]
pub struct PercentileSeries {
    /// Each of the scopes with its seconds; one direction alone has no scope of its own.
    scopes: Vec<(Scope, LatencySeries)>,
    /// Whether the histogram of a second was lost.
    is_incomplete: bool,
}

impl PercentileSeries {
    /// Returns an empty series of a step with these directions and this duration; `None` where the
    /// step is too short.
    pub fn new(directions: &[Direction], duration: Nanos) -> Option<PercentileSeries> {
        let seconds = usize::try_from(duration.0 / Nanos::SECOND.0).unwrap_or(usize::MAX);
        if seconds < FEWEST {
            return None;
        }
        let mut scopes = vec![Scope::All];
        if directions.len() > 1 {
            scopes.extend(directions.iter().map(|direction| Scope::from(*direction)));
        }
        let scopes =
            scopes.into_iter().map(|scope| (scope, LatencySeries::of_seconds(seconds))).collect();
        Some(PercentileSeries { scopes, is_incomplete: false })
    }

    /// Takes the totals of one second with their buckets, of which `all` has all latencies. A shorter
    /// last second is left out (definition D3).
    pub fn second(&mut self, totals: &Totals, all: &Histogram) {
        if totals.elapsed < Nanos::SECOND {
            return;
        }
        for (scope, series) in &mut self.scopes {
            series.push(match scope.direction() {
                None => all,
                Some(direction) => &totals.directions[direction as usize].latency,
            });
        }
    }

    /// Returns the memory that the series take, in bytes.
    pub fn size(&self) -> usize {
        self.scopes.iter().map(|(_, series)| series.size()).sum()
    }

    /// Gives the series up, because the histogram of a second was lost.
    pub fn lose(&mut self) {
        self.is_incomplete = true;
    }

    /// Returns the interval of every percentile of `whole`, the totals of the step.
    pub fn intervals(&self, whole: &Totals) -> PercentileIntervals {
        let mut intervals = PercentileIntervals::new();
        if self.is_incomplete {
            return intervals;
        }
        for (scope, series) in &self.scopes {
            let all = whole.latency(*scope);
            let share = |metric: Metric| Some((metric, metric.percentile()?));
            let (metrics, shares): (Vec<Metric>, Vec<f64>) =
                Metric::ALL.into_iter().filter_map(share).unzip();
            let found = metrics.into_iter().zip(&shares).zip(series.intervals(&all, &shares));
            for ((metric, share), interval) in found {
                let (Some(value), Some((low, high))) = (all.percentile(*share), interval) else {
                    continue;
                };
                let us = |nanos: u64| nanos as f64 / 1e3;
                let interval = ConfidenceInterval::WithinRun(WithinRun {
                    mean: us(value),
                    low: us(low),
                    high: high.map_or(f64::INFINITY, us),
                    cut: 0,
                    n: series.seconds(),
                    of_what_was_seen: series.seconds() < REPRESENTATIVE,
                });
                intervals.insert((metric, *scope), interval);
            }
        }
        intervals
    }
}
