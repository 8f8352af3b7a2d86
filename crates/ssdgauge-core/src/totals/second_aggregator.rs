//! Aggregation of intervals into seconds, without keeping their histograms.

use crate::sample::latency_map::LatencyMap;
use crate::sample::latency_of::LatencyOf;
use crate::sample::readings::ReadingSeries;
use crate::sample::{Interval, Reading};
use crate::totals::Totals;
use crate::totals::gauges::{self, RecordLengths};
use crate::totals::percentile_series::{PercentileIntervals, PercentileSeries};
use crate::totals::power_integral::PowerRecords;
use crate::totals::scope::Scope;
use crate::totals::second::OpenSeconds;
use crate::totals::seconds::{SecondMark, Seconds};
use crate::totals::worst_seconds::{Completed, WorstSeconds};
use crate::units::Nanos;
use crate::workload::{Stream, Workload};

/// Seconds that may still receive intervals of other streams; older ones are closed.
///
/// A writer records second by second, so two would do. The number bounds memory.
const OPEN: usize = 4;

/// The maximum number of seconds of an idle step that are kept: one day. It bounds memory.
const MAX_IDLE: u32 = 86_400;

/// Gathers the intervals of one step into whole totals and seconds.
#[derive(Debug, Default)]
pub struct SecondAggregator {
    whole: Totals,
    /// The requests whose latency is that of the step.
    latency_of: LatencyOf,
    /// The seconds that may still receive intervals, with their buckets.
    open: OpenSeconds,
    /// The seconds without their buckets, in the order in which they were closed. One that came late
    /// is in it twice until the end.
    closed: Seconds,
    /// The number of the last closed second.
    last: Option<u32>,
    /// Whether a second came late.
    has_late: bool,
    readings: ReadingSeries,
    power: PowerRecords,
    records: RecordLengths,
    /// The memory of the readings, in bytes.
    readings_size: usize,
    percentiles: Option<PercentileSeries>,
    /// The totals of each stream, where they are wanted.
    streams: Vec<Totals>,
    /// Whether the worst seconds are wanted.
    judges_seconds: bool,
    /// The latencies over time, where they are wanted.
    latency_map: Option<LatencyMap>,
    /// The seconds before which something else ran, ascending.
    gaps: Vec<u32>,
    /// Whether each interval has the length of its stream and direction, and rates follow from it.
    has_own_lengths: bool,
}

/// What the intervals of one step amount to.
#[derive(Debug)]
pub struct AggregatedStep {
    /// The totals of the step.
    pub whole: Totals,
    /// The totals of each second, with the mean of the readings of each quantity.
    pub seconds: Seconds,
    /// The intervals of the latency percentiles; empty where the step is too short.
    pub percentiles: PercentileIntervals,
    /// The totals of each stream; empty where the step has one.
    pub streams: Vec<Totals>,
    /// The latencies over time; `None` where they were not wanted.
    pub latency_map: Option<LatencyMap>,
    /// The memory of the readings, in bytes.
    pub(crate) readings_size: usize,
}

impl AggregatedStep {
    /// Returns the memory of the step, in bytes.
    pub fn size(&self) -> usize {
        self.whole.size()
            + self.streams.iter().map(|one| one.size() + size_of::<Totals>()).sum::<usize>()
            + self.seconds.size()
            + self.latency_map.as_ref().map_or(0, LatencyMap::size)
            + self.readings_size
    }
}

impl SecondAggregator {
    /// Returns an empty aggregator, with the series that intervals of percentiles need.
    pub fn new(percentiles: Option<PercentileSeries>) -> SecondAggregator {
        SecondAggregator { percentiles, ..SecondAggregator::default() }
    }

    /// Returns the same aggregator for a step with `workload`, before its first sample. It also sums up each
    /// stream where there are several, at most `most_streams`.
    pub fn of_workload(self, workload: &Workload, most_streams: usize) -> SecondAggregator {
        let of_stream =
            |stream: &Stream| Totals { latency_of: stream.latency_of(), ..Totals::default() };
        let is_summed = (2..=most_streams).contains(&workload.streams.len());
        let streams = workload.streams.iter().filter(|_| is_summed);
        let latency_of = workload.latency_of();
        SecondAggregator {
            whole: Totals { latency_of, ..self.whole },
            open: OpenSeconds::new(latency_of),
            closed: Seconds::new(latency_of),
            latency_of,
            streams: streams.map(of_stream).collect(),
            ..self
        }
    }

    /// Returns the same aggregator, which also finds the worst seconds where `wanted`: those of a load
    /// that never pauses.
    pub fn with_worst_seconds(self, wanted: bool) -> SecondAggregator {
        SecondAggregator { judges_seconds: wanted, ..self }
    }

    /// Returns the same aggregator, which also keeps the latencies over time where `wanted`.
    pub fn with_latency_map(self, wanted: bool) -> SecondAggregator {
        SecondAggregator { latency_map: wanted.then(LatencyMap::default), ..self }
    }

    /// Returns the same aggregator. Where `is_so`, the one interval of each stream and direction is as long
    /// as that ran, and its rates count over this length: streams of an imported result do not end together.
    pub fn with_own_lengths(self, is_so: bool) -> SecondAggregator {
        SecondAggregator { has_own_lengths: is_so, ..self }
    }

    /// Returns the memory that the samples take so far, in bytes.
    pub fn size(&self) -> usize {
        // Late seconds are united as totals.
        let united =
            if self.has_late { self.closed.len() * size_of::<(SecondMark, Totals)>() } else { 0 };
        self.closed.size()
            + united
            + self.readings_size
            + self.latency_map.as_ref().map_or(0, LatencyMap::size)
            + self.percentiles.as_ref().map_or(0, PercentileSeries::size)
    }

    /// Takes one interval; intervals of one second may come in any order.
    pub fn interval(&mut self, interval: Interval) {
        self.whole.add(&interval);
        if let Some(stream) = self.streams.get_mut(usize::from(interval.stream)) {
            stream.add(&interval);
            if self.has_own_lengths {
                stream.add_own_rate(&interval);
            }
        }
        if self.has_own_lengths {
            self.whole.add_own_rate(&interval);
        }
        self.open.add(interval);
        while let Some((number, second)) = self.open.take_first(OPEN) {
            self.close_open(number, &second);
        }
    }

    /// Notes that something else ran between second number `first` and the one before it.
    pub fn gap_before(&mut self, first: u32) {
        self.gaps.push(first);
    }

    /// Takes `time` without load, from second number `begin` on.
    pub fn seconds_without_load(&mut self, begin: u32, time: Nanos) {
        let whole = u32::try_from(time.0 / Nanos::SECOND.0).unwrap_or(u32::MAX).min(MAX_IDLE);
        for number in begin..begin.saturating_add(whole) {
            self.close(SecondMark { number, lat_p99: None }, &Totals::over(Nanos::SECOND));
        }
    }

    /// Takes one reading.
    pub fn reading(&mut self, reading: &Reading) {
        self.reading_at(reading.at, reading);
    }

    /// Takes one reading as if it were taken at `at`.
    pub fn reading_at(&mut self, at: Nanos, reading: &Reading) {
        if !reading.value.is_finite() {
            return;
        }
        self.whole.add_reading(reading);
        self.power.add(at, reading);
        let second = u32::try_from(at.0 / Nanos::SECOND.0).unwrap_or(u32::MAX);
        self.readings_size += self.readings.add(&reading.quantity, second, reading.value);
    }

    /// Ends one of several records of the step, which took `elapsed`: the next one begins at the next
    /// full second. A last one may be left open.
    pub fn end_record(&mut self, elapsed: Nanos) {
        self.power.end_record(elapsed);
        self.records.push(elapsed);
    }

    /// Returns the step, which took `elapsed`.
    pub fn finish(mut self, elapsed: Nanos) -> AggregatedStep {
        while let Some((number, second)) = self.open.take_first(0) {
            self.close_open(number, &second);
        }
        self.whole.elapsed = elapsed;
        self.whole.metered = std::mem::take(&mut self.power).finish(elapsed);
        if self.has_late {
            self.unite_late_seconds();
        }
        if self.judges_seconds {
            let mut gaps = self.gaps.iter().peekable();
            let mut completed = Vec::with_capacity(self.closed.len());
            for (mark, second) in self.closed.all_counts() {
                let mut follows_gap = false;
                while gaps.next_if(|first| **first <= mark.number).is_some() {
                    follows_gap = true;
                }
                let (requests, is_full) = (second.completed(), second.elapsed == Nanos::SECOND);
                completed.push(Completed { requests, is_full, follows_gap });
            }
            self.whole.worst = WorstSeconds::of(completed.into_iter()).map(Box::new);
        }
        let percentiles = self.percentiles.as_ref().map(|series| series.intervals(&self.whole));
        self.readings.sort();
        self.records.end(elapsed);
        for (quantity, mean) in gauges::means(&self.readings, &self.records) {
            self.whole.readings.set_mean(&quantity, mean);
        }
        self.closed.set_readings(self.readings);
        self.closed.shrink();
        self.whole.directions.iter_mut().for_each(|totals| totals.latency.compact());
        for stream in &mut self.streams {
            stream.elapsed = elapsed;
            stream.directions.iter_mut().for_each(|totals| totals.latency.compact());
        }
        let percentiles = percentiles.unwrap_or_default();
        AggregatedStep {
            whole: self.whole,
            seconds: self.closed,
            percentiles,
            streams: self.streams,
            latency_map: self.latency_map.map(LatencyMap::finished),
            readings_size: self.readings_size,
        }
    }

    /// Unites the parts of seconds that came apart. Their buckets are gone: the sums stay right, and
    /// the percentiles can no longer be said.
    fn unite_late_seconds(&mut self) {
        let mut all: Vec<(SecondMark, Totals)> = self.closed.iter().collect();
        all.sort_by_key(|(mark, _)| mark.number);
        let n = all.len();
        all.dedup_by(|(next_mark, next), (mark, kept)| {
            if next_mark.number != mark.number {
                return false;
            }
            mark.lat_p99 = None;
            kept.elapsed = kept.elapsed.max(next.elapsed);
            kept.has_transfers |= next.has_transfers;
            for (to, from) in kept.directions.iter_mut().zip(&next.directions) {
                to.add(from);
            }
            true
        });
        if all.len() < n {
            self.percentiles.iter_mut().for_each(PercentileSeries::lose);
        }
        self.closed = Seconds::new(self.latency_of);
        all.iter().for_each(|(mark, second)| self.closed.push(*mark, second));
    }

    fn close(&mut self, mark: SecondMark, second: &Totals) {
        self.has_late |= self.last.is_some_and(|last| last >= mark.number);
        self.last = Some(mark.number);
        self.closed.push(mark, second);
    }

    fn close_open(&mut self, number: u32, totals: &Totals) {
        let all = totals.latency(Scope::All);
        let lat_p99 = all.percentile(0.99).map(Nanos);
        if let Some(series) = &mut self.percentiles {
            series.second(totals, &all);
        }
        if let Some(map) = &mut self.latency_map {
            map.add(number, &all);
        }
        self.close(SecondMark { number, lat_p99 }, totals);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Direction;
    use crate::totals::metric::Metric;
    use ssdgauge_statistics::histogram::Histogram;

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
        let seconds: Vec<Totals> = seconds.totals().collect();
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
        // Two rounds whose stalls touch, as one series and with another step between them.
        let touching = |gap: Option<u32>| {
            let mut aggregator = SecondAggregator::default().with_worst_seconds(true);
            gap.into_iter().for_each(|first| aggregator.gap_before(first));
            for (second, n) in [300, 0, 0, 0, 0, 500].into_iter().enumerate() {
                aggregator.interval(interval(second as u32, Direction::Read, n, 80_000));
            }
            aggregator.finish(Nanos::from_secs(6)).whole.value(Metric::LongestStallS, Scope::All)
        };
        assert_eq!((touching(None), touching(Some(3))), (Some(4.0), Some(2.0)));
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
        let AggregatedStep { seconds, .. } = aggregator.finish(Nanos::from_secs(10));
        let seconds: Vec<(SecondMark, Totals)> = seconds.iter().collect();
        let iops = seconds[0].1.value(Metric::Iops, Scope::All);
        assert_eq!((iops, seconds[0].0.lat_p99, seconds.len()), (Some(400.0), None, 10));
        assert!(seconds[1].0.lat_p99.is_some());
        let buckets = |second: &Totals| second.latency(Scope::All).buckets().count();
        assert!(seconds.iter().all(|(_, second)| buckets(second) == 0));
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
        assert_eq!(found.seconds, expected.seconds);
        let numbers = expected.seconds.iter().map(|(mark, _)| mark.number);
        assert_eq!(numbers.collect::<Vec<_>>(), sorted);
        let read = |second: Totals| second.reading("power_w");
        assert_eq!(step(&mixed).seconds.totals().nth(13).and_then(read), Some(13.0));
    }
}
