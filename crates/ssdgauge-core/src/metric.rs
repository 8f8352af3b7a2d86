//! Metrics: what can be said of the samples of a step, each with its key and unit.

use crate::sample::{Direction, Interval, PowerScope, Reading};
use crate::statistics::histogram::Histogram;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A quantity that is computed from samples. It is never stored as the only truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Completed requests per second.
    Iops,
    /// Bytes moved per second, in 10^6 bytes.
    ThroughputMbS,
    /// Mean latency.
    LatMeanUs,
    /// Median latency.
    LatP50Us,
    /// 99th percentile of latency.
    LatP99Us,
    /// 99.9th percentile of latency.
    #[serde(rename = "lat_p99_9_us")]
    LatP999Us,
    /// 99.99th percentile of latency.
    #[serde(rename = "lat_p99_99_us")]
    LatP9999Us,
    /// 99.999th percentile of latency.
    #[serde(rename = "lat_p99_999_us")]
    LatP99999Us,
    /// Longest latency.
    LatMaxUs,
    /// Mean power, by the meter that the run had with the narrowest scope.
    PowerW,
    /// Energy of the whole time: mean power × time.
    EnergyJ,
    /// Throughput for each watt.
    EfficiencyMbSW,
    /// Thousand requests per second for each watt.
    EfficiencyKiopsW,
    /// Mean number of requests in flight: total latency ÷ time (Little's law).
    InFlightMean,
    /// Flash pages written for each page that the host wrote.
    WriteAmplification,
    /// Spare area that explains the write amplification, as a share of the capacity in use.
    EffectiveOverProvisioning,
    /// Mean ÷ standard deviation of the seconds: a headline, never said of totals.
    MeanOverSigma,
    /// The multiple of a load that a drive bears: a headline, never said of totals.
    LoadMultiple,
}

/// What a metric is a figure of, from which follows how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// What was done in a second.
    Rate,
    /// How long a request took.
    Latency,
    /// What a power meter read.
    Power,
    /// What was done for each watt.
    Efficiency,
    /// How many requests were under way.
    Queue,
    /// What the flash had to write for the host.
    Cost,
    /// The spare area behind that.
    Spare,
    /// A verdict over a whole test.
    Judgement,
}

/// What is constant of a metric.
struct Traits {
    key: &'static str,
    title: &'static str,
    unit: &'static str,
    family: Family,
}

/// Which requests a metric is taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Reads and writes together.
    All,
    /// Reads alone.
    Read,
    /// Writes alone.
    Write,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Scope; 3] = [Scope::All, Scope::Read, Scope::Write];

    /// Returns the prefix of a metric's key: empty, `read_` or `write_`.
    pub fn prefix(self) -> &'static str {
        match self {
            Scope::All => "",
            Scope::Read => "read_",
            Scope::Write => "write_",
        }
    }

    fn holds(self, direction: Direction) -> bool {
        match self {
            Scope::All => true,
            Scope::Read => direction == Direction::Read,
            Scope::Write => direction == Direction::Write,
        }
    }
}

impl Metric {
    /// Every metric that can be said of totals, in the order of tables.
    pub const ALL: [Metric; 16] = [
        Metric::Iops,
        Metric::ThroughputMbS,
        Metric::LatMeanUs,
        Metric::LatP50Us,
        Metric::LatP99Us,
        Metric::LatP999Us,
        Metric::LatP9999Us,
        Metric::LatP99999Us,
        Metric::LatMaxUs,
        Metric::PowerW,
        Metric::EnergyJ,
        Metric::EfficiencyMbSW,
        Metric::EfficiencyKiopsW,
        Metric::InFlightMean,
        Metric::WriteAmplification,
        Metric::EffectiveOverProvisioning,
    ];

    /// Returns all that is constant of it, the one place for a new metric.
    fn traits(self) -> Traits {
        use Family::*;
        let (key, title, unit, family) = match self {
            Metric::Iops => ("iops", "IOPS", "IOPS", Rate),
            Metric::ThroughputMbS => ("throughput_mb_s", "Throughput", "MB/s", Rate),
            Metric::LatMeanUs => ("lat_mean_us", "Mean latency", "µs", Latency),
            Metric::LatP50Us => ("lat_p50_us", "Median latency", "µs", Latency),
            Metric::LatP99Us => ("lat_p99_us", "99th percentile latency", "µs", Latency),
            Metric::LatP999Us => ("lat_p99_9_us", "99.9th percentile latency", "µs", Latency),
            Metric::LatP9999Us => ("lat_p99_99_us", "99.99th percentile latency", "µs", Latency),
            Metric::LatP99999Us => ("lat_p99_999_us", "99.999th percentile latency", "µs", Latency),
            Metric::LatMaxUs => ("lat_max_us", "Longest latency", "µs", Latency),
            Metric::PowerW => ("power_w", "Power", "W", Power),
            Metric::EnergyJ => ("energy_j", "Energy", "J", Power),
            Metric::EfficiencyMbSW => ("efficiency_mb_s_w", "Efficiency", "MB/s/W", Efficiency),
            Metric::EfficiencyKiopsW => ("efficiency_kiops_w", "Efficiency", "kIOPS/W", Efficiency),
            Metric::InFlightMean => ("in_flight_mean", "Requests in flight", "", Queue),
            Metric::WriteAmplification => ("write_amplification", "Write amplification", "", Cost),
            Metric::EffectiveOverProvisioning => {
                ("effective_over_provisioning", "Effective over-provisioning", "", Spare)
            }
            Metric::MeanOverSigma => ("mean_over_sigma", "Mean ÷ σ", "", Judgement),
            Metric::LoadMultiple => ("load_multiple", "Load borne", "×", Judgement),
        };
        Traits { key, title, unit, family }
    }

    /// Returns the key used in JSON, CSV and suites.
    pub fn key(self) -> &'static str {
        self.traits().key
    }

    /// Returns the name on a page.
    pub fn title(self) -> &'static str {
        self.traits().title
    }

    /// Returns the unit on a page; empty for a pure number.
    pub fn unit(self) -> &'static str {
        self.traits().unit
    }

    /// Returns what it is a figure of.
    pub fn family(self) -> Family {
        self.traits().family
    }

    /// Returns whether more is better; for a latency, power and amplification it is not.
    pub fn more_is_better(self) -> bool {
        match self.family() {
            Family::Rate
            | Family::Efficiency
            | Family::Queue
            | Family::Spare
            | Family::Judgement => true,
            Family::Latency | Family::Power | Family::Cost => false,
        }
    }

    /// Returns whether reads and writes can be told apart in this metric.
    pub fn is_split(self) -> bool {
        match self.family() {
            Family::Rate | Family::Latency => true,
            Family::Power
            | Family::Efficiency
            | Family::Queue
            | Family::Cost
            | Family::Spare
            | Family::Judgement => false,
        }
    }

    /// Returns whether nothing can be said of it without a power meter.
    pub fn needs_power(self) -> bool {
        match self.family() {
            Family::Power | Family::Efficiency => true,
            Family::Rate
            | Family::Latency
            | Family::Queue
            | Family::Cost
            | Family::Spare
            | Family::Judgement => false,
        }
    }

    /// Returns whether it is said of the requests of a time; the others come from instruments
    /// alone, and can be said of a time without requests.
    pub fn is_of_requests(self) -> bool {
        match self.family() {
            Family::Power => false,
            Family::Rate
            | Family::Latency
            | Family::Efficiency
            | Family::Queue
            | Family::Cost
            | Family::Spare
            | Family::Judgement => true,
        }
    }

    /// Returns whether the metric of a longer time follows from sums over its seconds.
    pub fn adds_up(self) -> bool {
        match self {
            Metric::Iops | Metric::ThroughputMbS | Metric::LatMeanUs | Metric::InFlightMean => true,
            Metric::LatP50Us
            | Metric::LatP99Us
            | Metric::LatP999Us
            | Metric::LatP9999Us
            | Metric::LatP99999Us
            | Metric::LatMaxUs
            | Metric::PowerW
            | Metric::EnergyJ
            | Metric::EfficiencyMbSW
            | Metric::EfficiencyKiopsW
            | Metric::WriteAmplification
            | Metric::EffectiveOverProvisioning
            | Metric::MeanOverSigma
            | Metric::LoadMultiple => false,
        }
    }

    /// Returns the metric of `key`, of those that can be said of totals.
    pub fn from_key(key: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.key() == key)
    }
}

/// All samples of a step or of a second, added up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// The time that the samples span.
    pub elapsed: Nanos,
    /// Reads and writes, by the number of the direction.
    pub directions: [DirectionTotals; 2],
    readings: BTreeMap<String, (f64, u64)>,
}

/// All samples of one direction, added up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionTotals {
    /// Requests that completed in full.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Requests that failed or were cut short.
    pub errors: u64,
    /// Their latencies in nanoseconds.
    pub latency: Histogram,
}

impl Totals {
    /// Returns empty totals over `elapsed`.
    pub fn over(elapsed: Nanos) -> Totals {
        Totals { elapsed, ..Totals::default() }
    }

    /// Adds the requests of `interval`; the time is set by the caller, because the intervals of
    /// several streams and directions lie side by side.
    pub fn add(&mut self, interval: &Interval) {
        let totals = &mut self.directions[interval.direction as usize];
        totals.ios += interval.ios;
        totals.bytes += interval.bytes;
        totals.errors += interval.errors;
        totals.latency.merge(&interval.latency);
    }

    /// Adds a reading; a quantity that was read several times counts with its mean.
    pub fn add_reading(&mut self, reading: &Reading) {
        if !self.readings.contains_key(&reading.quantity) {
            self.readings.insert(reading.quantity.clone(), (0.0, 0));
        }
        if let Some((sum, n)) = self.readings.get_mut(&reading.quantity) {
            *sum += reading.value;
            *n += 1;
        }
    }

    /// Returns the mean of all readings of `quantity`.
    pub fn reading(&self, quantity: &str) -> Option<f64> {
        self.readings.get(quantity).map(|(sum, n)| sum / *n as f64)
    }

    /// Returns the mean power in watts by the meter with the narrowest scope, with that scope.
    pub fn power(&self) -> Option<(PowerScope, f64)> {
        let read = |scope: PowerScope| Some((scope, self.reading(scope.quantity())?));
        PowerScope::ALL.into_iter().find_map(read)
    }

    /// Returns the latencies of `scope` in one histogram.
    pub fn latency(&self, scope: Scope) -> Histogram {
        let mut merged = Histogram::default();
        self.in_scope(scope).for_each(|totals| merged.merge(&totals.latency));
        merged
    }

    /// Returns `metric` over the requests of `scope`, or `None` where nobody measured it.
    pub fn value(&self, metric: Metric, scope: Scope) -> Option<f64> {
        let percentile =
            |share: f64| self.latency(scope).percentile(share).map(|ns| ns as f64 / 1e3);
        match metric {
            Metric::Iops => self.per_second(self.sum(scope, |totals| totals.ios)),
            Metric::ThroughputMbS => {
                self.per_second(self.sum(scope, |totals| totals.bytes)).map(|rate| rate / 1e6)
            }
            Metric::LatMeanUs => {
                let ios = self.sum(scope, |totals| totals.latency.count());
                (ios > 0).then(|| self.latency_sum(scope) as f64 / ios as f64 / 1e3)
            }
            Metric::LatP50Us => percentile(0.5),
            Metric::LatP99Us => percentile(0.99),
            Metric::LatP999Us => percentile(0.999),
            Metric::LatP9999Us => percentile(0.9999),
            Metric::LatP99999Us => percentile(0.99999),
            Metric::LatMaxUs => self.latency(scope).max().map(|ns| ns as f64 / 1e3),
            Metric::PowerW => self.power().map(|(_, power)| power),
            Metric::EnergyJ => {
                let seconds = self.elapsed.as_secs_f64();
                self.power().map(|(_, power)| power * seconds).filter(|_| seconds > 0.0)
            }
            Metric::EfficiencyMbSW => self.per_watt(Metric::ThroughputMbS),
            Metric::EfficiencyKiopsW => self.per_watt(Metric::Iops).map(|value| value / 1e3),
            Metric::InFlightMean => {
                let busy = self.latency_sum(Scope::All) as f64;
                (self.elapsed.0 > 0).then(|| busy / self.elapsed.0 as f64)
            }
            Metric::WriteAmplification => self.reading("write_amplification"),
            // a = −WA ln(1 − 1/WA): Xiang and Kurkoski, arXiv 1110.4245, solved for the spare area.
            Metric::EffectiveOverProvisioning => self
                .reading("write_amplification")
                .filter(|wa| *wa > 1.0)
                .map(|wa| -wa * (1.0 - 1.0 / wa).ln() - 1.0),
            Metric::MeanOverSigma | Metric::LoadMultiple => None,
        }
    }

    fn in_scope(&self, scope: Scope) -> impl Iterator<Item = &DirectionTotals> {
        Direction::BOTH
            .into_iter()
            .filter(move |direction| scope.holds(*direction))
            .map(|direction| &self.directions[direction as usize])
    }

    fn sum(&self, scope: Scope, field: impl Fn(&DirectionTotals) -> u64) -> u64 {
        self.in_scope(scope).map(field).sum()
    }

    fn latency_sum(&self, scope: Scope) -> u128 {
        self.in_scope(scope).map(|totals| totals.latency.sum()).sum()
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
    fn the_spare_area_follows_from_the_write_amplification() {
        let mut totals = Totals::default();
        totals.add_reading(&Reading {
            at: Nanos(0),
            instrument: "virtual".into(),
            quantity: "write_amplification".into(),
            value: 7.817,
        });
        let spare = totals.value(Metric::EffectiveOverProvisioning, Scope::All).unwrap();
        assert!((spare - 0.07).abs() < 1e-4, "{spare}");
    }

    #[test]
    fn every_key_finds_its_metric() {
        for metric in Metric::ALL {
            assert_eq!(Metric::from_key(metric.key()), Some(metric));
        }
    }
}
