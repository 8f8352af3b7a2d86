//! Totals: the sums of samples, and the metrics that follow from them.

pub(crate) mod confidence;
pub(crate) mod direction_totals;
pub(crate) mod gauges;
pub(crate) mod known_intervals;
pub(crate) mod media_writes;
pub(crate) mod metric;
pub(crate) mod over_seconds;
pub(crate) mod packed_step;
pub(crate) mod percentile_series;
pub(crate) mod power_integral;
pub(crate) mod scope;
pub(crate) mod second;
pub(crate) mod second_aggregator;
pub(crate) mod seconds;
pub(crate) mod worst_seconds;
pub(crate) mod written_bytes;

use crate::sample::latency_of::LatencyOf;
use crate::sample::readings::Readings;
use crate::sample::{Direction, Interval, PowerScope, Reading};
use crate::totals::direction_totals::DirectionTotals;
use crate::totals::media_writes::MediaWrites;
use crate::totals::metric::Metric;
use crate::totals::power_integral::{MeteredPower, MeteredScopes};
use crate::totals::scope::Scope;
use crate::totals::worst_seconds::WorstSeconds;
use crate::units::Nanos;
use crate::workload::Workload;
use ssdgauge_statistics::histogram::Histogram;
use ssdgauge_statistics::{spare_area, time_weighted};
use std::borrow::Cow;

/// The quantity of the reading with the time of a replay in which no request is in flight.
pub const IDLE: &str = "idle_s";

/// The sums of all samples of a step or of a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// The duration of the samples.
    pub elapsed: Nanos,
    /// The executions of the step whose time is in `elapsed`: repetitions, or rounds; 0 counts as
    /// one.
    pub executions: u32,
    /// The bytes that they deallocated.
    pub trimmed: u64,
    /// The requests whose latency is that of all of them.
    pub latency_of: LatencyOf,
    /// The requests of each direction, indexed by [`Direction`].
    pub directions: [DirectionTotals; Direction::COUNT],
    /// Whether intervals of reads or writes are in it, also empty ones: a second without a completed
    /// transfer counts the same requests as the others of its step.
    pub(crate) has_transfers: bool,
    /// Sum and number of the readings of each quantity.
    pub(crate) readings: Readings,
    /// The power of a whole step in each scope; `None` for a second, whose readings are means already.
    pub(crate) metered: Option<Box<MeteredScopes>>,
    /// The worst full seconds of a step whose load has no pauses of its own.
    pub(crate) worst: Option<Box<WorstSeconds>>,
}

impl Totals {
    /// Returns empty totals of a step with `workload`.
    pub fn of_workload(workload: &Workload) -> Totals {
        Totals { latency_of: workload.latency_of(), ..Totals::default() }
    }

    /// Returns empty totals over `elapsed`.
    pub fn over(elapsed: Nanos) -> Totals {
        Totals { elapsed, ..Totals::default() }
    }

    /// Adds the requests of `interval`. The caller sets `elapsed`, because the intervals of
    /// several streams and directions overlap in time.
    pub fn add(&mut self, interval: &Interval) {
        self.add_counts(interval).merge(&interval.latency);
    }

    /// Adds the rates of `interval` over its own length, which replace those over `elapsed`.
    pub(crate) fn add_own_rate(&mut self, interval: &Interval) {
        let totals = &mut self.directions[interval.direction as usize];
        totals.own_rate.get_or_insert_default().add(interval);
    }

    /// Adds the requests of `interval` as [`Totals::add`] does, without a copy of its histogram.
    pub(crate) fn add_owned(&mut self, interval: Interval) {
        let latency = self.add_counts(&interval);
        match latency.count() {
            0 => *latency = interval.latency,
            _ => latency.merge(&interval.latency),
        }
    }

    /// Adds all of `interval` but its latencies. Returns the latencies that they belong to.
    fn add_counts(&mut self, interval: &Interval) -> &mut Histogram {
        self.has_transfers |= interval.direction.is_transfer();
        let totals = &mut self.directions[interval.direction as usize];
        totals.ios += interval.ios;
        totals.bytes += interval.bytes;
        totals.errors += interval.errors;
        &mut totals.latency
    }

    /// Returns the directions that a number over all of them counts: reads and writes, and the others
    /// only where there are none. A flush or a trim moves no data, so neither is part of a throughput
    /// of transfers, nor of their latencies.
    pub fn counted(&self) -> &[DirectionTotals] {
        let (transfers, others) = self.directions.split_at(Direction::TRANSFERS.len());
        let has_others = || others.iter().any(|totals| totals.ios + totals.errors > 0);
        let sent = || transfers.iter().any(|totals| totals.ios + totals.errors > 0);
        if self.has_transfers || sent() || !has_others() { transfers } else { others }
    }

    /// Returns the directions whose latencies are those of all requests: the counted ones, or the flushes
    /// that writes wait for.
    pub(crate) fn timed(&self) -> &[DirectionTotals] {
        match self.latency_of.is_of_flushes() {
            true => self.of_direction(Direction::Flush),
            false => self.counted(),
        }
    }

    /// Returns the time in nanoseconds that commits took, and their number: writes of threads with one
    /// request in flight, and the flush that follows them. `None` where they are not known one by one.
    pub(crate) fn commits(&self) -> Option<(u128, u64)> {
        let [write, flush] = [Direction::Write, Direction::Flush]
            .map(|direction| &self.directions[direction as usize].latency);
        let is_known = self.latency_of == LatencyOf::FlushesOfCommits && flush.count() > 0;
        is_known.then(|| (write.sum() + flush.sum(), flush.count()))
    }

    /// Returns the memory of the buckets, in bytes.
    pub fn size(&self) -> usize {
        self.directions.iter().map(|totals| totals.latency.size()).sum()
    }

    /// Adds a reading; several readings of one quantity count as their mean.
    pub fn add_reading(&mut self, reading: &Reading) {
        self.readings.add(&reading.quantity, reading.value);
    }

    /// Returns the mean of all readings of `quantity`: for a whole step, over the time for what is read again
    /// and again, which has none where the readings cover less than nine tenths of it.
    pub fn reading(&self, quantity: &str) -> Option<f64> {
        self.readings.mean(quantity)
    }

    /// Returns what a real drive wrote to its media; `None` where nothing counted it.
    pub fn media_writes(&self) -> Option<MediaWrites> {
        MediaWrites::from_readings(|quantity| self.reading(quantity))
    }

    /// Returns the narrowest scope that was metered, with its mean power in watts; `None` where the
    /// power must not be given. A meter of a wider scope never replaces it.
    pub fn power(&self) -> Option<(PowerScope, f64)> {
        let (scope, power) = self.metered()?;
        Some((scope, power.watts?))
    }

    /// Returns the narrowest scope that was metered, with its power and what its readings cover.
    pub fn metered(&self) -> Option<(PowerScope, MeteredPower)> {
        let of_scope = |(place, scope): (usize, PowerScope)| {
            let power = match &self.metered {
                Some(scopes) => scopes[place]?,
                None => {
                    let watts = Some(self.reading(scope.quantity())?);
                    MeteredPower { watts, coverage: 1.0 }
                }
            };
            Some((scope, power))
        };
        PowerScope::ALL.into_iter().enumerate().find_map(of_scope)
    }

    /// Returns the latencies of `scope` in one histogram: percentiles are never averaged (definition
    /// D2).
    pub fn latency(&self, scope: Scope) -> Cow<'_, Histogram> {
        let directions = self.timed_in(scope).iter().map(|totals| &totals.latency);
        let mut used = directions.filter(|latency| latency.count() > 0);
        let Some(first) = used.next() else { return Cow::Owned(Histogram::default()) };
        // Most steps and seconds have one direction, and nothing to merge.
        let mut latency = Cow::Borrowed(first);
        used.for_each(|other| latency.to_mut().merge(other));
        latency
    }

    /// Returns `metric` over the requests of `scope`, or `None` where it was not measured.
    ///
    /// The effective over-provisioning inverts the write amplification of uniform random writes, see
    /// [`spare_area`]. Copies from an SLC cache are not a cost of the spare area: where the drive
    /// reports the amplification by collection alone, that one is inverted.
    pub fn value(&self, metric: Metric, scope: Scope) -> Option<f64> {
        match metric {
            Metric::Iops => {
                let own = direction_totals::own_rate(self.in_scope(scope), |own| own.iops);
                own.or_else(|| self.per_second(self.sum(scope, |totals| totals.ios)))
            }
            Metric::ThroughputMbS => {
                let own = direction_totals::own_rate(self.in_scope(scope), |own| own.bytes_s);
                let rate = own.or_else(|| self.per_second(self.sum(scope, |totals| totals.bytes)));
                rate.map(|rate| rate / 1e6)
            }
            Metric::BusyThroughputMbS => {
                let busy = self.elapsed.as_secs_f64() - self.idle()?;
                (busy > 0.0).then(|| self.sum(scope, |totals| totals.bytes) as f64 / 1e6 / busy)
            }
            Metric::LatMeanUs => {
                let timed = self.timed_in(scope).iter().map(|totals| &totals.latency);
                let (sum, ios) =
                    timed.fold((0, 0), |(sum, ios), one| (sum + one.sum(), ios + one.count()));
                (ios > 0).then(|| sum as f64 / ios as f64 / 1e3)
            }
            Metric::CommitMeanUs => {
                let (sum, commits) = self.commits().filter(|_| scope == Scope::All)?;
                Some(sum as f64 / commits as f64 / 1e3)
            }
            Metric::LatP50Us
            | Metric::LatP99Us
            | Metric::LatP999Us
            | Metric::LatP9999Us
            | Metric::LatP99999Us => {
                let latency = self.latency(scope).percentile(metric.percentile()?)?;
                Some(latency as f64 / 1e3)
            }
            Metric::LatMaxUs => self.latency(scope).max().map(|ns| ns as f64 / 1e3),
            Metric::LatTimeP50Us | Metric::LatTimeP99Us => {
                let latency = self.latency(scope);
                let found = time_weighted::percentile(&latency, metric.time_share()?)?;
                Some(found as f64 / 1e3)
            }
            Metric::TimeOver1MsPercent => self.time_above(scope, Nanos(1_000_000)),
            Metric::TimeOver10MsPercent => self.time_above(scope, Nanos(10_000_000)),
            Metric::TimeOver100MsPercent => self.time_above(scope, Nanos(100_000_000)),
            Metric::WorstSecondIops => self.worst.as_ref().map(|one| one.fewest(scope) as f64),
            Metric::LongestStallS => {
                self.worst.as_ref().map(|one| f64::from(one.longest_stall(scope)))
            }
            Metric::PowerW => self.power().map(|(_, power)| power),
            Metric::PowerCoveredPercent => {
                let scopes = self.metered.is_some().then(|| self.metered()).flatten();
                scopes.map(|(_, power)| power.coverage * 100.0)
            }
            Metric::EnergyJ => {
                self.power().zip(self.time()).map(|((_, power), seconds)| power * seconds)
            }
            Metric::EfficiencyMbSW => self.per_watt(Metric::ThroughputMbS),
            Metric::EfficiencyKiopsW => self.per_watt(Metric::Iops).map(|value| value / 1e3),
            Metric::InFlightMean => {
                let busy: u128 = self.directions.iter().map(|totals| totals.latency.sum()).sum();
                let over = |time: Nanos| (time.0 > 0).then(|| busy as f64 / time.0 as f64);
                let own = direction_totals::own_rate(&self.directions, |own| own.in_flight);
                own.or_else(|| over(self.elapsed))
                    .filter(|_| direction_totals::are_timed(&self.directions))
            }
            Metric::WriteAmplification => {
                let of_model = self.reading("write_amplification");
                of_model.or_else(|| self.media_writes()?.known())
            }
            Metric::MediaWrittenGb => self.media_writes()?.media_bytes().map(|bytes| bytes / 1e9),
            Metric::EffectiveOverProvisioning => {
                let of_collection = self.reading("collection_amplification");
                let pages = self.reading("superblock_pages").map(|pages| pages as u32);
                let wa = of_collection.or_else(|| self.reading("write_amplification"))?;
                spare_area::from_write_amplification(wa, pages)
            }
            Metric::TimeS => self.time(),
            Metric::IdleS => self.reading(IDLE),
            Metric::TrimGbS => {
                let rate = self.per_second(self.trimmed).map(|rate| rate / 1e9);
                rate.filter(|_| self.trimmed > 0)
            }
            Metric::MeanOverSigma | Metric::LoadMultiple => None,
        }
    }

    /// Returns the time without a request in flight of all executions, in seconds.
    pub(crate) fn idle(&self) -> Option<f64> {
        Some(self.reading(IDLE)? * f64::from(self.executions.max(1)))
    }

    /// Returns the mean time of an execution in seconds.
    fn time(&self) -> Option<f64> {
        let executions = f64::from(self.executions.max(1));
        (self.elapsed.0 > 0).then(|| self.elapsed.as_secs_f64() / executions)
    }

    /// Returns the share of the time in requests that is spent in those above `limit`, in percent.
    fn time_above(&self, scope: Scope, limit: Nanos) -> Option<f64> {
        time_weighted::share_above(&self.latency(scope), limit.0).map(|share| share * 100.0)
    }

    /// Returns the completed requests by the place in [`Scope::ALL`].
    pub(crate) fn completed(&self) -> [u64; Scope::ALL.len()] {
        Scope::ALL.map(|scope| self.sum(scope, |totals| totals.ios))
    }

    fn in_scope(&self, scope: Scope) -> &[DirectionTotals] {
        match scope.direction() {
            Some(direction) => self.of_direction(direction),
            None => self.counted(),
        }
    }

    /// Returns the directions whose latencies are those of `scope`.
    fn timed_in(&self, scope: Scope) -> &[DirectionTotals] {
        scope.direction().map_or_else(|| self.timed(), |direction| self.of_direction(direction))
    }

    fn of_direction(&self, direction: Direction) -> &[DirectionTotals] {
        std::slice::from_ref(&self.directions[direction as usize])
    }

    fn sum(&self, scope: Scope, field: impl Fn(&DirectionTotals) -> u64) -> u64 {
        self.in_scope(scope).iter().map(field).sum()
    }

    fn per_second(&self, count: u64) -> Option<f64> {
        (self.elapsed.0 > 0).then(|| count as f64 / self.elapsed.as_secs_f64())
    }

    fn per_watt(&self, metric: Metric) -> Option<f64> {
        let (_, power) = self.power().filter(|(_, power)| *power > 0.0)?;
        self.value(metric, Scope::All).map(|value| value / power)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(direction: Direction, latencies: &[u64]) -> Interval {
        let mut latency = Histogram::default();
        latencies.iter().for_each(|value| latency.record(*value));
        Interval {
            second: 0,
            stream: 0,
            direction,
            length: Nanos::SECOND,
            ios: latencies.len() as u64,
            bytes: latencies.len() as u64 * 4_096,
            errors: 0,
            latency,
        }
    }

    #[test]
    fn the_latency_of_commits_is_that_of_the_flush_and_their_mean_time_that_of_both() {
        let write: Vec<u64> = vec![18_000; 300];
        let flush: Vec<u64> = vec![2_240_000; 300];
        let totals = |latency_of| {
            let mut totals = Totals { latency_of, ..Totals::over(Nanos::SECOND) };
            totals.add(&interval(Direction::Write, &write));
            totals.add(&interval(Direction::Flush, &flush));
            totals
        };
        let commits = totals(LatencyOf::FlushesOfCommits);
        let us = |totals: &Totals, metric| totals.value(metric, Scope::All);
        let is_near = |found: Option<f64>, expected: f64| {
            assert!((found.unwrap() / expected - 1.0).abs() < 0.001, "{found:?}, not {expected}");
        };
        for metric in [Metric::LatMeanUs, Metric::LatP50Us, Metric::LatP99Us, Metric::LatMaxUs] {
            is_near(us(&commits, metric), 2_240.0);
            is_near(commits.value(metric, Scope::Write), 18.0);
        }
        is_near(us(&commits, Metric::CommitMeanUs), 2_258.0);
        // A commit is one request: its write moves the data.
        assert_eq!(us(&commits, Metric::Iops), Some(300.0));
        // With several writes in flight, the time of a commit does not follow from the sums.
        let queued = totals(LatencyOf::Flushes);
        is_near(us(&queued, Metric::LatP99Us), 2_240.0);
        assert_eq!(us(&queued, Metric::CommitMeanUs), None);
        // During writes that wait for no flush, it is a load of its own.
        let other = totals(LatencyOf::Requests);
        is_near(us(&other, Metric::LatP99Us), 18.0);
        assert_eq!(us(&other, Metric::CommitMeanUs), None);
    }

    #[test]
    fn rates_and_latencies_follow_from_the_samples() {
        let mut totals = Totals::over(Nanos::from_secs(2));
        totals.add(&interval(Direction::Read, &[100_000; 300]));
        totals.add(&interval(Direction::Write, &[20_000; 100]));
        let value = |metric, scope| totals.value(metric, scope);
        assert_eq!(value(Metric::Iops, Scope::All), Some(200.0));
        assert_eq!(value(Metric::Iops, Scope::Write), Some(50.0));
        assert_eq!(value(Metric::ThroughputMbS, Scope::Read), Some(300.0 * 4_096.0 / 2e6));
        assert_eq!(value(Metric::LatMeanUs, Scope::All), Some(80.0));
        assert_eq!(value(Metric::LatMaxUs, Scope::Write), Some(20.0));
        assert_eq!(value(Metric::InFlightMean, Scope::All), Some(0.016));
        assert_eq!(value(Metric::LatP999Us, Scope::Write), None, "100 samples are too few");
        assert_eq!(value(Metric::PowerW, Scope::All), None);
    }

    #[test]
    fn streams_that_do_not_end_together_have_their_own_rates() {
        let long = Interval {
            length: Nanos::from_secs(3),
            ..interval(Direction::Write, &[300_000_000; 6])
        };
        let mut totals = Totals::over(long.length);
        for one in [&interval(Direction::Read, &[1_000_000; 300]), &long, &long] {
            totals.add(one);
            totals.add_own_rate(one);
        }
        let value = |metric, scope| totals.value(metric, scope);
        assert_eq!(value(Metric::Iops, Scope::Read), Some(300.0));
        assert_eq!(value(Metric::Iops, Scope::Write), Some(4.0));
        assert_eq!(value(Metric::Iops, Scope::All), Some(304.0));
        assert_eq!(value(Metric::ThroughputMbS, Scope::All), Some(304.0 * 4_096.0 / 1e6));
        let in_flight = value(Metric::InFlightMean, Scope::All).unwrap();
        assert!((in_flight - 1.5).abs() < 1e-9, "0.3 + 2 x 0.6: {in_flight}");
        assert_eq!(value(Metric::TimeS, Scope::All), Some(3.0));
    }

    #[test]
    fn commands_count_in_a_number_over_all_requests_only_where_there_are_no_transfers() {
        let iops = |directions: &[(Direction, &[u64])], scope| {
            let mut totals = Totals::over(Nanos::SECOND);
            directions.iter().for_each(|(direction, ns)| totals.add(&interval(*direction, ns)));
            totals.value(Metric::Iops, scope).unwrap()
        };
        let (write, flush, trim) = (Direction::Write, Direction::Flush, Direction::Trim);
        let commits: &[(Direction, &[u64])] = &[(write, &[5_000; 30]), (flush, &[90_000; 30])];
        assert_eq!(iops(commits, Scope::All), 30.0);
        assert_eq!(iops(commits, Scope::Flush), 30.0);
        // A second in which no write completed counts as the others of its step.
        assert_eq!(iops(&[(write, &[]), (flush, &[90_000; 7])], Scope::All), 0.0);
        assert_eq!(iops(&[(trim, &[90_000; 7]), (flush, &[1_000; 2])], Scope::All), 9.0);
    }

    #[test]
    fn efficiency_needs_a_power_meter() {
        let mut totals = Totals::over(Nanos::SECOND);
        totals.add(&interval(Direction::Read, &[1_000; 10_000]));
        for (at, value) in [(0, 2.0), (1, 3.0)] {
            totals.add_reading(&Reading {
                at: Nanos(at),
                instrument: "meter".into(),
                quantity: "power_w".into(),
                value,
            });
        }
        assert_eq!(totals.value(Metric::PowerW, Scope::All), Some(2.5));
        assert_eq!(totals.value(Metric::EnergyJ, Scope::All), Some(2.5));
        assert_eq!(totals.value(Metric::EfficiencyKiopsW, Scope::All), Some(4.0));
    }

    #[test]
    fn the_time_and_the_energy_of_several_executions_are_their_means() {
        let mut totals = Totals::over(Nanos::from_secs(6));
        totals.add_reading(&Reading {
            at: Nanos(0),
            instrument: "meter".into(),
            quantity: "power_w".into(),
            value: 5.0,
        });
        let value = |totals: &Totals, metric| totals.value(metric, Scope::All);
        assert_eq!(value(&totals, Metric::TimeS), Some(6.0));
        totals.executions = 3;
        assert_eq!(value(&totals, Metric::TimeS), Some(2.0));
        assert_eq!(value(&totals, Metric::EnergyJ), Some(10.0));
        assert_eq!(value(&totals, Metric::TrimGbS), None, "the step deallocated nothing");
        totals.trimmed = 12_000_000_000;
        assert_eq!(value(&totals, Metric::TrimGbS), Some(2.0));
        assert_eq!(value(&Totals::default(), Metric::TimeS), None);
    }

    #[test]
    fn the_meter_with_the_narrowest_scope_counts() {
        let mut totals = Totals::over(Nanos::SECOND);
        let read = |scope: PowerScope, value| Reading {
            at: Nanos(0),
            instrument: "meter".into(),
            quantity: scope.quantity().into(),
            value,
        };
        totals.add_reading(&read(PowerScope::HostAc, 80.0));
        assert_eq!(totals.power(), Some((PowerScope::HostAc, 80.0)));
        totals.add_reading(&read(PowerScope::Drive, 5.0));
        assert_eq!(totals.power(), Some((PowerScope::Drive, 5.0)));
        assert_eq!(totals.value(Metric::PowerW, Scope::All), Some(5.0));
    }

    #[test]
    fn the_spare_area_follows_from_the_write_amplification_by_collection() {
        let mut totals = Totals::default();
        let reading = |quantity: &str, value| Reading {
            at: Nanos(0),
            instrument: "virtual".into(),
            quantity: quantity.into(),
            value,
        };
        let spare =
            |totals: &Totals| totals.value(Metric::EffectiveOverProvisioning, Scope::All).unwrap();
        totals.add_reading(&reading("write_amplification", 7.817));
        assert!((spare(&totals) - 0.07).abs() < 1e-4, "{}", spare(&totals));
        // One more program operation for each page of the host: its way through a cache.
        totals.add_reading(&reading("write_amplification", 8.817));
        totals.add_reading(&reading("collection_amplification", 7.817));
        assert!((spare(&totals) - 0.07).abs() < 1e-4, "{}", spare(&totals));
        totals.add_reading(&reading("superblock_pages", 512.0));
        assert!((spare(&totals) - 0.0689).abs() < 1e-4, "{}", spare(&totals));
    }
}
