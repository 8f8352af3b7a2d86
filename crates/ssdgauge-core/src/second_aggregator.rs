//! Aggregation of intervals into seconds, without keeping their histograms.

use crate::percentile_series::{PercentileIntervals, PercentileSeries};
use crate::readings::{ReadingSeries, Readings};
use crate::sample::{Interval, Reading};
use crate::statistics::histogram::Histogram;
use crate::totals::Totals;
use crate::units::Nanos;
use crate::worst_seconds::WorstSeconds;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Seconds that may still receive intervals of other streams; older ones are closed.
///
/// A writer records second by second, so two would do. The number bounds memory.
const OPEN: usize = 4;

/// The most seconds of an idle step that are kept: one day. It bounds memory.
const MAX_IDLE: u32 = 86_400;

/// Gathers the intervals of one step into whole totals and seconds.
#[derive(Debug, Default)]
pub struct SecondAggregator {
    whole: Totals,
    /// The seconds that may still receive intervals, with their buckets.
    open: BTreeMap<u32, Totals>,
    /// The seconds without their buckets, in the order in which they were closed. One that came late
    /// is in it twice until the end.
    closed: Vec<Totals>,
    /// The mark of each closed second. A vector of its own, so that the totals need no copy when the
    /// step is finished.
    marks: Vec<SecondMark>,
    readings: ReadingSeries,
    /// The memory of the readings, in bytes.
    readings_size: usize,
    percentiles: Option<PercentileSeries>,
    /// The totals of each stream, where they are wanted.
    streams: Vec<Totals>,
    /// Whether the worst seconds are wanted.
    judges_seconds: bool,
}

/// What the intervals of one step amount to.
#[derive(Debug)]
pub struct AggregatedStep {
    /// The totals of the step.
    pub whole: Totals,
    /// The totals of each second, a shorter last one included, without buckets, with the mean of the
    /// readings of each quantity.
    pub seconds: Vec<Totals>,
    /// The mark of each second.
    pub marks: Vec<SecondMark>,
    /// The intervals of the latency percentiles; empty where the step is too short.
    pub percentiles: PercentileIntervals,
    /// The totals of each stream; empty where the step has one.
    pub streams: Vec<Totals>,
    /// The memory of the readings, in bytes.
    readings_size: usize,
}

/// What is known of a second beside its totals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondMark {
    /// The number of the second in its step, from 0.
    pub number: u32,
    /// The 99th percentile of latency in microseconds; `None` where there were too few requests, or
    /// an interval came late.
    pub lat_p99_us: Option<f64>,
}

impl AggregatedStep {
    /// Returns the memory of the step, in bytes.
    pub fn size(&self) -> usize {
        self.whole.size()
            + self.streams.iter().map(|one| one.size() + size_of::<Totals>()).sum::<usize>()
            + size_of_val(self.seconds.as_slice())
            + size_of_val(self.marks.as_slice())
            + self.readings_size
    }
}

impl SecondAggregator {
    /// Returns an empty aggregator, with the series that intervals of percentiles need.
    pub fn new(percentiles: Option<PercentileSeries>) -> SecondAggregator {
        SecondAggregator { percentiles, ..SecondAggregator::default() }
    }

    /// Returns the same aggregator, which also sums up each of `number` streams.
    pub fn with_streams(self, number: usize) -> SecondAggregator {
        SecondAggregator { streams: vec![Totals::default(); number], ..self }
    }

    /// Returns the same aggregator, which also finds the worst seconds where `wanted`: those of a load
    /// that never pauses.
    pub fn with_worst_seconds(self, wanted: bool) -> SecondAggregator {
        SecondAggregator { judges_seconds: wanted, ..self }
    }

    /// Returns the memory that the samples take so far, in bytes.
    pub fn size(&self) -> usize {
        size_of_val(self.closed.as_slice())
            + size_of_val(self.marks.as_slice())
            + self.readings_size
            + self.percentiles.as_ref().map_or(0, PercentileSeries::size)
    }

    /// Takes one interval; intervals of one second may come in any order.
    pub fn interval(&mut self, interval: Interval) {
        self.whole.add(&interval);
        if let Some(stream) = self.streams.get_mut(usize::from(interval.stream)) {
            stream.add(&interval);
        }
        let second = self.open.entry(interval.second).or_default();
        second.elapsed = second.elapsed.max(interval.length);
        second.add(&interval);
        while self.open.len() > OPEN {
            self.close_first();
        }
    }

    /// Takes `time` without load, from second number `begin` on.
    pub fn seconds_without_load(&mut self, begin: u32, time: Nanos) {
        let whole = u32::try_from(time.0 / Nanos::SECOND.0).unwrap_or(u32::MAX).min(MAX_IDLE);
        for number in begin..begin.saturating_add(whole) {
            self.closed.push(Totals::over(Nanos::SECOND));
            self.marks.push(SecondMark { number, lat_p99_us: None });
        }
    }

    /// Takes one reading.
    pub fn reading(&mut self, reading: &Reading) {
        if !reading.value.is_finite() {
            return;
        }
        self.whole.add_reading(reading);
        let second = u32::try_from(reading.at.0 / Nanos::SECOND.0).unwrap_or(u32::MAX);
        self.readings_size += self.readings.add(&reading.quantity, second, reading.value);
    }

    /// Returns the step, which took `elapsed`.
    pub fn finish(mut self, elapsed: Nanos) -> AggregatedStep {
        while !self.open.is_empty() {
            self.close_first();
        }
        self.whole.elapsed = elapsed;
        if !self.marks.is_sorted_by(|one, next| one.number < next.number) {
            self.unite_late_seconds();
        }
        if self.judges_seconds {
            let full = self.closed.iter().filter(|second| second.elapsed == Nanos::SECOND);
            self.whole.worst = WorstSeconds::of(full.map(Totals::completed)).map(Box::new);
        }
        let percentiles = self.percentiles.as_ref().map(|series| series.intervals(&self.whole));
        self.readings.sort();
        let readings = Arc::new(self.readings);
        for (totals, mark) in self.closed.iter_mut().zip(&self.marks) {
            totals.readings = Readings::Second(Arc::clone(&readings), mark.number);
        }
        self.whole.directions.iter_mut().for_each(|totals| totals.latency.compact());
        for stream in &mut self.streams {
            stream.elapsed = elapsed;
            stream.directions.iter_mut().for_each(|totals| totals.latency.compact());
        }
        let percentiles = percentiles.unwrap_or_default();
        AggregatedStep {
            whole: self.whole,
            seconds: self.closed,
            marks: self.marks,
            percentiles,
            streams: self.streams,
            readings_size: self.readings_size,
        }
    }

    /// Unites the parts of seconds that came apart. Their buckets are gone: the sums stay right, and
    /// the percentiles can no longer be said.
    fn unite_late_seconds(&mut self) {
        self.sort_closed();
        let mut last = 0;
        for next in 1..self.marks.len() {
            if self.marks[next].number != self.marks[last].number {
                last += 1;
                self.marks.swap(last, next);
                self.closed.swap(last, next);
                continue;
            }
            self.marks[last].lat_p99_us = None;
            let (kept, late) = self.closed.split_at_mut(next);
            let (kept, late) = (&mut kept[last], &late[0]);
            kept.elapsed = kept.elapsed.max(late.elapsed);
            kept.has_transfers |= late.has_transfers;
            for (to, from) in kept.directions.iter_mut().zip(&late.directions) {
                to.add(from);
            }
        }
        if last + 1 < self.marks.len() {
            self.marks.truncate(last + 1);
            self.closed.truncate(last + 1);
            self.percentiles.iter_mut().for_each(PercentileSeries::lose);
        }
    }

    /// Sorts the closed seconds by their number, in place: a copy would double their memory.
    fn sort_closed(&mut self) {
        let mut order: Vec<usize> = (0..self.marks.len()).collect();
        order.sort_by_key(|place| self.marks[*place].number);
        // Where each second belongs: the inverse of the order in which they follow.
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(to, from)| places[*from] = to);
        for place in 0..places.len() {
            while places[place] != place {
                let to = places[place];
                self.marks.swap(place, to);
                self.closed.swap(place, to);
                places.swap(place, to);
            }
        }
    }

    fn close_first(&mut self) {
        let Some((number, mut totals)) = self.open.pop_first() else { return };
        let counted = totals.counted();
        let mut used = counted.iter().filter(|one| one.latency.count() > 0);
        let mut merged = Histogram::default();
        // Most seconds have one direction, and nothing to merge.
        let all = match (used.next(), used.next()) {
            (None, _) => &counted[0].latency,
            (Some(only), None) => &only.latency,
            (Some(_), Some(_)) => {
                counted.iter().for_each(|one| merged.merge(&one.latency));
                &merged
            }
        };
        let lat_p99_us = all.percentile(0.99).map(|nanos| nanos as f64 / 1e3);
        if let Some(series) = &mut self.percentiles {
            series.second(&totals, all);
        }
        for direction in &mut totals.directions {
            direction.latency = direction.latency.without_buckets();
        }
        self.closed.push(totals);
        self.marks.push(SecondMark { number, lat_p99_us });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Metric;
    use crate::sample::Direction;
    use crate::scope::Scope;

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
        assert_eq!((seconds.len(), seconds[0].elapsed), (2, Nanos::SECOND));
        let value = |second: usize, metric| seconds[second].value(metric, Scope::All);
        assert_eq!(
            (value(0, Metric::Iops), value(0, Metric::LatMeanUs)),
            (Some(400.0), Some(65.0))
        );
        assert_eq!((value(1, Metric::Iops), value(1, Metric::LatMeanUs)), (Some(0.0), None));
    }

    #[test]
    fn the_worst_second_and_the_longest_stall_count_full_seconds_where_they_are_wanted() {
        let step = |wanted: bool| {
            let mut aggregator = SecondAggregator::default().with_worst_seconds(wanted);
            for (second, n) in [300, 0, 0, 40, 500].into_iter().enumerate() {
                aggregator.interval(interval(second as u32, Direction::Read, n, 80_000));
            }
            let short = Nanos(Nanos::SECOND.0 / 2);
            aggregator
                .interval(Interval { length: short, ..interval(5, Direction::Read, 0, 80_000) });
            aggregator.finish(Nanos::from_secs(5) + short).whole
        };
        let (whole, unwanted) = (step(true), step(false));
        for scope in [Scope::All, Scope::Read] {
            assert_eq!(whole.value(Metric::WorstSecondIops, scope), Some(0.0));
            assert_eq!(whole.value(Metric::LongestStallS, scope), Some(2.0));
            assert_eq!(unwanted.value(Metric::LongestStallS, scope), None);
        }
    }

    #[test]
    fn a_second_that_comes_late_keeps_its_sums_and_loses_its_percentile() {
        let mut aggregator = SecondAggregator::default();
        for second in 0..10 {
            aggregator.interval(interval(second, Direction::Read, 200, 80_000));
        }
        aggregator.interval(interval(0, Direction::Write, 200, 20_000));
        let AggregatedStep { seconds, marks, .. } = aggregator.finish(Nanos::from_secs(10));
        let iops = seconds[0].value(Metric::Iops, Scope::All);
        assert_eq!((iops, marks[0].lat_p99_us), (Some(400.0), None));
        assert!(marks[1].lat_p99_us.is_some());
        let buckets = |second: &Totals| second.latency(Scope::All).buckets().count();
        assert!(seconds.iter().all(|second| buckets(second) == 0));
    }

    #[test]
    fn seconds_in_any_order_give_what_they_give_in_order() {
        let step = |order: &[u32]| {
            let mut aggregator = SecondAggregator::default();
            for second in order {
                let n = 200 + u64::from(*second);
                aggregator.interval(interval(*second, Direction::Read, n, 80_000));
                aggregator.reading(&Reading {
                    at: Nanos(u64::from(*second) * Nanos::SECOND.0),
                    instrument: "meter".into(),
                    quantity: "power_w".into(),
                    value: f64::from(*second),
                });
            }
            aggregator.finish(Nanos::from_secs(20))
        };
        let sorted: Vec<u32> = (0..20).collect();
        let expected = step(&sorted);
        let mixed: Vec<u32> = (0..20).map(|number| number * 7 % 20).collect();
        let found = step(&mixed);
        assert_eq!((found.seconds, found.marks), (expected.seconds, expected.marks.clone()));
        assert_eq!(expected.marks.iter().map(|mark| mark.number).collect::<Vec<_>>(), sorted);
        assert_eq!(step(&mixed).seconds[13].reading("power_w"), Some(13.0));
    }
}
