//! Aggregation of intervals into seconds, without keeping their histograms.

use crate::percentile_series::{PercentileIntervals, PercentileSeries};
use crate::sample::{Interval, Reading};
use crate::statistics::histogram::Histogram;
use crate::totals::Totals;
use crate::units::Nanos;
use std::collections::BTreeMap;

/// Seconds that may still receive intervals of other streams; older ones are closed.
///
/// A writer records second by second, so two would do. The number bounds memory.
const OPEN: usize = 4;

/// The most seconds of an idle step that are kept: one day. It bounds memory.
const MOST_IDLE: u32 = 86_400;

/// Gathers the intervals of one step into whole totals and seconds.
#[derive(Debug, Default)]
pub struct SecondAggregator {
    whole: Totals,
    open: BTreeMap<u32, Vec<Interval>>,
    closed: BTreeMap<u32, (Totals, Option<f64>)>,
    readings: BTreeMap<String, BTreeMap<u32, (f64, u64)>>,
    percentiles: Option<PercentileSeries>,
}

/// What the intervals of one step amount to.
#[derive(Debug)]
pub struct AggregatedStep {
    /// The totals of the step.
    pub whole: Totals,
    /// Each second, a shorter last one included.
    pub seconds: Vec<AggregatedSecond>,
    /// The intervals of the latency percentiles; empty where the step is too short.
    pub percentiles: PercentileIntervals,
}

/// What the intervals and readings of one second amount to.
#[derive(Debug)]
pub struct AggregatedSecond {
    /// The number of the second in its step, from 0.
    pub number: u32,
    /// The totals, without buckets.
    pub totals: Totals,
    /// The 99th percentile of latency in microseconds; `None` where there were too few requests, or
    /// an interval came late.
    pub lat_p99_us: Option<f64>,
    /// The mean of the readings, by quantity, such as `temperature_c`.
    pub readings: BTreeMap<String, f64>,
}

impl SecondAggregator {
    /// Returns an empty aggregator, with the series that intervals of percentiles need.
    pub fn new(percentiles: Option<PercentileSeries>) -> SecondAggregator {
        SecondAggregator { percentiles, ..SecondAggregator::default() }
    }

    /// Takes one interval; intervals of one second may come in any order.
    pub fn interval(&mut self, interval: Interval) {
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
    pub fn seconds_without_load(&mut self, begin: u32, time: Nanos) {
        let whole = u32::try_from(time.0 / Nanos::SECOND.0).unwrap_or(u32::MAX).min(MOST_IDLE);
        for second in begin..begin.saturating_add(whole) {
            self.closed.insert(second, (Totals::over(Nanos::SECOND), None));
        }
    }

    /// Takes one reading.
    pub fn reading(&mut self, reading: &Reading) {
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
    pub fn finish(mut self, elapsed: Nanos) -> AggregatedStep {
        while !self.open.is_empty() {
            self.close_first();
        }
        self.whole.elapsed = elapsed;
        let percentiles = self.percentiles.as_ref().map(|series| series.intervals(&self.whole));
        let mut seconds = Vec::with_capacity(self.closed.len());
        for (number, (mut totals, lat_p99_us)) in self.closed {
            let mut readings = BTreeMap::new();
            for (quantity, of_seconds) in &self.readings {
                let Some((sum, n)) = of_seconds.get(&number) else { continue };
                let value = sum / *n as f64;
                let at = Nanos(u64::from(number) * Nanos::SECOND.0);
                totals.add_reading(&Reading {
                    at,
                    instrument: String::new(),
                    quantity: quantity.clone(),
                    value,
                });
                readings.insert(quantity.clone(), value);
            }
            seconds.push(AggregatedSecond { number, totals, lat_p99_us, readings });
        }
        let percentiles = percentiles.unwrap_or_default();
        AggregatedStep { whole: self.whole, seconds, percentiles }
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
    use crate::metric::{Metric, Scope};
    use crate::sample::Direction;

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
        let AggregatedStep { whole, seconds, .. } = aggregator.finish(Nanos::from_secs(2));
        assert_eq!(whole.value(Metric::Iops, Scope::All), Some(200.0));
        assert_eq!((seconds.len(), seconds[0].totals.elapsed), (2, Nanos::SECOND));
        let value = |second: usize, metric| seconds[second].totals.value(metric, Scope::All);
        assert_eq!(
            (value(0, Metric::Iops), value(0, Metric::LatMeanUs)),
            (Some(400.0), Some(65.0))
        );
        assert_eq!((value(1, Metric::Iops), value(1, Metric::LatMeanUs)), (Some(0.0), None));
    }

    #[test]
    fn a_second_that_comes_late_keeps_its_sums_and_loses_its_percentile() {
        let mut aggregator = SecondAggregator::default();
        for second in 0..10 {
            aggregator.interval(interval(second, Direction::Read, 200, 80_000));
        }
        aggregator.interval(interval(0, Direction::Write, 200, 20_000));
        let AggregatedStep { seconds, .. } = aggregator.finish(Nanos::from_secs(10));
        let iops = seconds[0].totals.value(Metric::Iops, Scope::All);
        assert_eq!((iops, seconds[0].lat_p99_us), (Some(400.0), None));
        assert!(seconds[1].lat_p99_us.is_some());
        let buckets =
            |second: &AggregatedSecond| second.totals.latency(Scope::All).buckets().count();
        assert!(seconds.iter().all(|second| buckets(second) == 0));
    }
}
