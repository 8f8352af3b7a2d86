//! Aggregation of intervals into seconds, without keeping their histograms.

use crate::load::percentiles::{PercentileIntervals, PercentileSeries};
use crate::model::Second;
use ssdgauge_core::{Histogram, Interval, Metric, Nanos, Reading, Scope, Totals};
use std::collections::BTreeMap;

/// Seconds that may still receive intervals of other streams; older ones are closed.
///
/// A writer records second by second, so two would do. The number bounds memory.
const OPEN: usize = 4;

/// The most seconds of an idle step that are kept: one day. It bounds memory.
const MOST_IDLE: u32 = 86_400;

/// Gathers the intervals of one step into whole totals and seconds.
#[derive(Debug, Default)]
pub(crate) struct SecondAggregator {
    whole: Totals,
    open: BTreeMap<u32, Vec<Interval>>,
    closed: BTreeMap<u32, (Totals, Option<f64>)>,
    readings: BTreeMap<String, BTreeMap<u32, (f64, u64)>>,
    percentiles: Option<PercentileSeries>,
}

/// What the intervals of one step amount to.
pub(crate) struct AggregatedStep {
    /// The totals of the step.
    pub(crate) whole: Totals,
    /// The totals of each second, without buckets.
    pub(crate) totals: Vec<Totals>,
    /// The seconds for figures.
    pub(crate) seconds: Vec<Second>,
    /// The intervals of the latency percentiles; empty where the step is too short.
    pub(crate) percentiles: PercentileIntervals,
}

impl SecondAggregator {
    /// Returns an empty aggregator, with the series that intervals of percentiles need.
    pub(crate) fn new(percentiles: Option<PercentileSeries>) -> SecondAggregator {
        SecondAggregator { percentiles, ..SecondAggregator::default() }
    }

    /// Takes one interval; intervals of one second may come in any order.
    pub(crate) fn interval(&mut self, interval: Interval) {
        self.whole.add(&interval);
        if let Some((totals, p99)) = self.closed.get_mut(&interval.second) {
            // The buckets of a closed second are gone: its sums stay right, and its percentile
            // can no longer be said.
            totals.elapsed = totals.elapsed.max(interval.length);
            totals.add(&without_buckets(&interval));
            *p99 = None;
            self.percentiles.iter_mut().for_each(PercentileSeries::lose);
            return;
        }
        self.open.entry(interval.second).or_default().push(interval);
        while self.open.len() > OPEN {
            self.close_first();
        }
    }

    /// Takes `time` without load, from second number `begin` on.
    pub(crate) fn seconds_without_load(&mut self, begin: u32, time: Nanos) {
        let whole = u32::try_from(time.0 / Nanos::SECOND.0).unwrap_or(u32::MAX).min(MOST_IDLE);
        for second in begin..begin.saturating_add(whole) {
            self.closed.insert(second, (Totals::over(Nanos::SECOND), None));
        }
    }

    /// Takes one reading.
    pub(crate) fn reading(&mut self, reading: &Reading) {
        if !reading.value.is_finite() {
            return;
        }
        self.whole.add_reading(reading);
        let second = u32::try_from(reading.at.0 / Nanos::SECOND.0).unwrap_or(u32::MAX);
        if !self.readings.contains_key(&reading.quantity) {
            self.readings.insert(reading.quantity.clone(), BTreeMap::new());
        }
        let Some(seconds) = self.readings.get_mut(&reading.quantity) else { return };
        let (sum, n) = seconds.entry(second).or_default();
        *sum += reading.value;
        *n += 1;
    }

    /// Returns the step, which took `elapsed`.
    pub(crate) fn finish(mut self, elapsed: Nanos) -> AggregatedStep {
        while !self.open.is_empty() {
            self.close_first();
        }
        self.whole.elapsed = elapsed;
        let percentiles = self.percentiles.as_ref().map(|series| series.intervals(&self.whole));
        let mut totals = Vec::with_capacity(self.closed.len());
        let mut seconds = Vec::with_capacity(self.closed.len());
        for (number, (mut second, p99)) in self.closed {
            let mut readings = BTreeMap::new();
            for (quantity, of_seconds) in &self.readings {
                let Some((sum, n)) = of_seconds.get(&number) else { continue };
                let value = sum / *n as f64;
                let at = Nanos(u64::from(number) * Nanos::SECOND.0);
                second.add_reading(&Reading {
                    at,
                    instrument: String::new(),
                    quantity: quantity.clone(),
                    value,
                });
                readings.insert(quantity.clone(), value);
            }
            seconds.push(Second {
                second: number,
                iops: second.value(Metric::Iops, Scope::All).unwrap_or(0.0),
                throughput_mb_s: second.value(Metric::ThroughputMbS, Scope::All).unwrap_or(0.0),
                lat_mean_us: second.value(Metric::LatMeanUs, Scope::All),
                lat_p99_us: p99,
                lat_max_us: second.value(Metric::LatMaxUs, Scope::All),
                readings,
            });
            totals.push(second);
        }
        // What was in flight at the end completes in a last bin of microseconds. It counts in the
        // totals; as a rate it would be a spike that the drive never had.
        if totals.len() > 1 && totals.last().is_some_and(|last| last.elapsed < Nanos::SECOND) {
            seconds.pop();
        }
        let percentiles = percentiles.unwrap_or_default();
        AggregatedStep { whole: self.whole, totals, seconds, percentiles }
    }

    fn close_first(&mut self) {
        let Some((second, intervals)) = self.open.pop_first() else { return };
        let mut totals = Totals::default();
        for interval in &intervals {
            totals.elapsed = totals.elapsed.max(interval.length);
            totals.add(&without_buckets(interval));
        }
        let mut merged = Histogram::default();
        let all = match intervals.as_slice() {
            // Most seconds have one stream and one direction, and nothing to merge.
            [one] => &one.latency,
            several => {
                several.iter().for_each(|interval| merged.merge(&interval.latency));
                &merged
            }
        };
        let nanos = all.percentile(0.99);
        if let Some(series) = &mut self.percentiles {
            series.second(&intervals, all);
        }
        self.closed.insert(second, (totals, nanos.map(|nanos| nanos as f64 / 1e3)));
    }
}

fn without_buckets(interval: &Interval) -> Interval {
    Interval { latency: interval.latency.without_buckets(), ..*interval }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Direction;

    fn interval(second: u32, direction: Direction, n: u64, latency_ns: u64) -> Interval {
        let mut latency = Histogram::default();
        (0..n).for_each(|_| latency.record(latency_ns));
        Interval {
            second,
            stream: 0,
            direction,
            length: Nanos::SECOND,
            ios: n,
            bytes: n * 4_096,
            errors: 0,
            latency,
        }
    }

    #[test]
    fn reads_and_writes_of_one_second_lie_side_by_side() {
        let mut aggregator = SecondAggregator::default();
        aggregator.interval(interval(0, Direction::Read, 300, 80_000));
        aggregator.interval(interval(0, Direction::Write, 100, 20_000));
        aggregator.interval(interval(1, Direction::Read, 0, 0));
        let AggregatedStep { whole, totals, seconds, .. } = aggregator.finish(Nanos::from_secs(2));
        assert_eq!(whole.value(Metric::Iops, Scope::All), Some(200.0));
        assert_eq!((totals.len(), totals[0].elapsed), (2, Nanos::SECOND));
        assert_eq!((seconds[0].iops, seconds[0].lat_mean_us), (400.0, Some(65.0)));
        assert_eq!((seconds[1].iops, seconds[1].lat_mean_us), (0.0, None));
    }

    #[test]
    fn a_second_that_comes_late_keeps_its_sums_and_loses_its_percentile() {
        let mut aggregator = SecondAggregator::default();
        for second in 0..10 {
            aggregator.interval(interval(second, Direction::Read, 200, 80_000));
        }
        aggregator.interval(interval(0, Direction::Write, 200, 20_000));
        let AggregatedStep { totals, seconds, .. } = aggregator.finish(Nanos::from_secs(10));
        assert_eq!((seconds[0].iops, seconds[0].lat_p99_us), (400.0, None));
        assert!(seconds[1].lat_p99_us.is_some());
        assert!(totals.iter().all(|second| second.latency(Scope::All).buckets().count() == 0));
    }
}
