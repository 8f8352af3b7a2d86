//! Metrics: the quantities that are computed from the samples of a step, with key and unit.

mod traits;
mod words;

pub use traits::Family;

use serde::{Deserialize, Serialize};

/// A quantity that is computed from samples. A run file stores the samples, never only the metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Completed requests per second.
    Iops,
    /// Bytes transferred per second, in 10^6 bytes.
    ThroughputMbS,
    /// Bytes transferred per second of the time in which a request of a replay is in flight, in 10^6
    /// bytes.
    BusyThroughputMbS,
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
    /// Maximum latency.
    LatMaxUs,
    /// Mean time of a commit: the writes before a flush, and the flush, of threads with one request in
    /// flight (definition D30).
    CommitMeanUs,
    /// The latency up to which half of the time in requests is spent (definition D25).
    LatTimeP50Us,
    /// The latency up to which 99 % of the time in requests are spent (definition D25).
    LatTimeP99Us,
    /// The share of the time in requests that is spent in those above 1 ms (definition D25).
    #[serde(rename = "time_over_1ms_percent")]
    TimeOver1MsPercent,
    /// The same above 10 ms.
    #[serde(rename = "time_over_10ms_percent")]
    TimeOver10MsPercent,
    /// The same above 100 ms.
    #[serde(rename = "time_over_100ms_percent")]
    TimeOver100MsPercent,
    /// The requests of the full second with the fewest (definition D26).
    WorstSecondIops,
    /// The longest time without a completed request, in full seconds (definition D26).
    LongestStallS,
    /// Mean power of the meter with the narrowest scope that the run had.
    PowerW,
    /// The share of the time that the readings of this meter cover.
    PowerCoveredPercent,
    /// Energy of the step: mean power × time.
    EnergyJ,
    /// Throughput per watt.
    EfficiencyMbSW,
    /// Thousand requests per second per watt.
    EfficiencyKiopsW,
    /// Mean number of requests in flight: sum of latencies ÷ time (Little's law).
    InFlightMean,
    /// Flash pages programmed per page that the host wrote; of a real drive by its counters, see
    /// [`crate::MediaWrites`].
    WriteAmplification,
    /// Bytes written to the media of a real drive by its counters, in 10^9 bytes; the mean where the
    /// step was executed several times.
    MediaWrittenGb,
    /// The spare area that explains the write amplification, as a share of the capacity in use, see
    /// [`crate::Totals::value`].
    EffectiveOverProvisioning,
    /// Time from the start to the end of a step, in seconds; the mean where it was executed several
    /// times.
    TimeS,
    /// The time without a request of a replay in flight, in seconds.
    IdleS,
    /// Bytes deallocated per second by a trim, in 10^9 bytes.
    TrimGbS,
    /// Mean ÷ standard deviation of the seconds: a headline, not computed from totals.
    MeanOverSigma,
    /// The multiple of the base load that passes: a headline, not computed from totals.
    LoadMultiple,
}

impl Metric {
    /// Every metric that is computed from totals, in the order of tables.
    pub const ALL: [Metric; 30] = [
        Metric::Iops,
        Metric::ThroughputMbS,
        Metric::BusyThroughputMbS,
        Metric::LatMeanUs,
        Metric::LatP50Us,
        Metric::LatP99Us,
        Metric::LatP999Us,
        Metric::LatP9999Us,
        Metric::LatP99999Us,
        Metric::LatMaxUs,
        Metric::CommitMeanUs,
        Metric::LatTimeP50Us,
        Metric::LatTimeP99Us,
        Metric::TimeOver1MsPercent,
        Metric::TimeOver10MsPercent,
        Metric::TimeOver100MsPercent,
        Metric::WorstSecondIops,
        Metric::LongestStallS,
        Metric::PowerW,
        Metric::PowerCoveredPercent,
        Metric::EnergyJ,
        Metric::EfficiencyMbSW,
        Metric::EfficiencyKiopsW,
        Metric::InFlightMean,
        Metric::WriteAmplification,
        Metric::MediaWrittenGb,
        Metric::EffectiveOverProvisioning,
        Metric::TimeS,
        Metric::IdleS,
        Metric::TrimGbS,
    ];

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

    /// Returns name and unit for an axis or a column, such as `Throughput, MB/s`; the name alone
    /// for a pure number and where the name is the unit.
    pub fn title_with_unit(self) -> String {
        match (self.title(), self.unit()) {
            (title, "") => title.to_owned(),
            (title, unit) if unit == title => title.to_owned(),
            (title, unit) => format!("{title}, {unit}"),
        }
    }

    /// Returns the family of the metric.
    pub fn family(self) -> Family {
        self.traits().family
    }

    /// Returns whether a higher value is better; a lower one is for latency, power, write
    /// amplification and time.
    pub fn more_is_better(self) -> bool {
        match self.family() {
            Family::Rate
            | Family::Efficiency
            | Family::Queue
            | Family::Spare
            | Family::Trim
            | Family::Judgement => true,
            Family::Latency | Family::Stall | Family::Power | Family::Cost | Family::Duration => {
                false
            }
        }
    }

    /// Returns whether the metric has separate values for reads and for writes.
    pub fn is_split(self) -> bool {
        if self == Metric::CommitMeanUs {
            return false;
        }
        match self.family() {
            Family::Rate | Family::Latency | Family::Stall => true,
            Family::Power
            | Family::Efficiency
            | Family::Queue
            | Family::Cost
            | Family::Spare
            | Family::Duration
            | Family::Trim
            | Family::Judgement => false,
        }
    }

    /// Returns whether the metric needs a power meter.
    pub fn needs_power(self) -> bool {
        match self.family() {
            Family::Power | Family::Efficiency => true,
            Family::Rate
            | Family::Latency
            | Family::Stall
            | Family::Queue
            | Family::Cost
            | Family::Spare
            | Family::Duration
            | Family::Trim
            | Family::Judgement => false,
        }
    }

    /// Returns whether the metric is that of single seconds of a closed loop without pauses.
    pub fn is_of_worst_seconds(self) -> bool {
        matches!(self, Metric::WorstSecondIops | Metric::LongestStallS)
    }

    /// Returns whether the metric is that of a replay, whose idle times are part of its trace.
    pub fn is_of_replay(self) -> bool {
        matches!(self, Metric::BusyThroughputMbS | Metric::IdleS)
    }

    /// Returns whether the metric needs requests; the others come from instruments or from the
    /// clock alone, and are also given for a time without load.
    pub fn is_of_requests(self) -> bool {
        match self.family() {
            Family::Power | Family::Duration | Family::Trim => false,
            Family::Rate
            | Family::Latency
            | Family::Stall
            | Family::Efficiency
            | Family::Queue
            | Family::Cost
            | Family::Spare
            | Family::Judgement => true,
        }
    }

    /// Returns whether the metric is a latency.
    pub fn is_latency(self) -> bool {
        self.family() == Family::Latency
    }

    /// Returns whether the metric counts bytes, not requests.
    pub fn counts_bytes(self) -> bool {
        match self {
            Metric::ThroughputMbS | Metric::BusyThroughputMbS | Metric::EfficiencyMbSW => true,
            Metric::Iops
            | Metric::LatMeanUs
            | Metric::LatP50Us
            | Metric::LatP99Us
            | Metric::LatP999Us
            | Metric::LatP9999Us
            | Metric::LatP99999Us
            | Metric::LatMaxUs
            | Metric::CommitMeanUs
            | Metric::LatTimeP50Us
            | Metric::LatTimeP99Us
            | Metric::TimeOver1MsPercent
            | Metric::TimeOver10MsPercent
            | Metric::TimeOver100MsPercent
            | Metric::WorstSecondIops
            | Metric::LongestStallS
            | Metric::PowerW
            | Metric::PowerCoveredPercent
            | Metric::EnergyJ
            | Metric::EfficiencyKiopsW
            | Metric::InFlightMean
            | Metric::WriteAmplification
            | Metric::MediaWrittenGb
            | Metric::EffectiveOverProvisioning
            | Metric::TimeS
            | Metric::IdleS
            | Metric::TrimGbS
            | Metric::MeanOverSigma
            | Metric::LoadMultiple => false,
        }
    }

    /// Returns the rate that is shown with the metric: throughput next to one that counts bytes and
    /// next to the time of a task, IOPS next to all others.
    pub fn rate(self) -> Metric {
        if self.is_with_bytes() { Metric::ThroughputMbS } else { Metric::Iops }
    }

    /// Returns the efficiency that is shown with the metric: throughput per watt next to one that
    /// counts bytes and next to the time of a task, IOPS per watt next to all others.
    pub fn efficiency(self) -> Metric {
        if self.is_with_bytes() { Metric::EfficiencyMbSW } else { Metric::EfficiencyKiopsW }
    }

    /// Returns whether bytes, not requests, are shown with the metric: a task moves an amount of data.
    fn is_with_bytes(self) -> bool {
        self.counts_bytes() || matches!(self.family(), Family::Duration | Family::Trim)
    }

    /// Returns whether the metric is reported only where it was measured, without a finding where
    /// it was not: few drives report write amplification, few steps are a trim, and a slow request
    /// alone may take the share of the time that a percentile leaves.
    pub fn is_optional(self) -> bool {
        let is_with_another = matches!(
            self,
            Metric::WorstSecondIops | Metric::PowerCoveredPercent | Metric::CommitMeanUs
        );
        if self.time_share().is_some() || is_with_another || self.is_of_replay() {
            return true;
        }
        match self.family() {
            Family::Stall | Family::Cost | Family::Spare | Family::Trim | Family::Judgement => true,
            Family::Rate
            | Family::Latency
            | Family::Power
            | Family::Efficiency
            | Family::Queue
            | Family::Duration => false,
        }
    }

    /// Returns the share of requests at or below a latency percentile, such as 0.99; `None` for
    /// other metrics.
    pub fn percentile(self) -> Option<f64> {
        match self {
            Metric::LatP50Us => Some(0.5),
            Metric::LatP99Us => Some(0.99),
            Metric::LatP999Us => Some(0.999),
            Metric::LatP9999Us => Some(0.9999),
            Metric::LatP99999Us => Some(0.99999),
            Metric::Iops
            | Metric::ThroughputMbS
            | Metric::BusyThroughputMbS
            | Metric::LatMeanUs
            | Metric::LatMaxUs
            | Metric::CommitMeanUs
            | Metric::LatTimeP50Us
            | Metric::LatTimeP99Us
            | Metric::TimeOver1MsPercent
            | Metric::TimeOver10MsPercent
            | Metric::TimeOver100MsPercent
            | Metric::WorstSecondIops
            | Metric::LongestStallS
            | Metric::PowerW
            | Metric::PowerCoveredPercent
            | Metric::EnergyJ
            | Metric::EfficiencyMbSW
            | Metric::EfficiencyKiopsW
            | Metric::InFlightMean
            | Metric::WriteAmplification
            | Metric::MediaWrittenGb
            | Metric::EffectiveOverProvisioning
            | Metric::TimeS
            | Metric::IdleS
            | Metric::TrimGbS
            | Metric::MeanOverSigma
            | Metric::LoadMultiple => None,
        }
    }

    /// Returns the share of the time in requests that is spent up to this latency; `None` for other
    /// metrics.
    pub fn time_share(self) -> Option<f64> {
        let of = |metric: Metric, share: f64| (self == metric).then_some(share);
        of(Metric::LatTimeP50Us, 0.5).or(of(Metric::LatTimeP99Us, 0.99))
    }

    /// Returns the largest share by which a value differs from the next one that can be measured: 0.1 % for
    /// latencies that are buckets of a histogram (definitions D1 and D25), 0 for others.
    pub fn resolution(self) -> f64 {
        self.percentile().or(self.time_share()).map_or(0.0, |_| 0.001)
    }

    /// Returns the minimum number of requests that a latency is computed from; `None` for other metrics.
    ///
    /// A percentile needs a sample beyond it (definition D1): 1 ÷ (1 − p) requests.
    pub fn least_requests(self) -> Option<u64> {
        match self.percentile() {
            // 1 − p is not exact in binary; the quotient is, after rounding.
            Some(share) => Some((1.0 / (1.0 - share)).round() as u64),
            None if self.time_share().is_some() => Some(2),
            None => self.is_latency().then_some(1),
        }
    }

    /// Returns whether the mean of the metric over seconds is defined: it adds up, or it is the
    /// power that a meter averages over each second.
    pub fn averages_over_seconds(self) -> bool {
        self.adds_up() || self == Metric::PowerW
    }

    /// Returns whether the metric of a longer time follows from sums over its seconds.
    pub fn adds_up(self) -> bool {
        match self {
            Metric::Iops
            | Metric::ThroughputMbS
            | Metric::LatMeanUs
            | Metric::CommitMeanUs
            | Metric::InFlightMean => true,
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
            | Metric::PowerW
            | Metric::PowerCoveredPercent
            | Metric::EnergyJ
            | Metric::EfficiencyMbSW
            | Metric::EfficiencyKiopsW
            | Metric::WriteAmplification
            | Metric::MediaWrittenGb
            | Metric::EffectiveOverProvisioning
            | Metric::TimeS
            | Metric::IdleS
            | Metric::TrimGbS
            | Metric::MeanOverSigma
            | Metric::LoadMultiple => false,
        }
    }

    /// Returns the metric with this key; `None` for headlines that are not computed from totals.
    pub fn from_key(key: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.key() == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_one_request_beyond_it() {
        let least: Vec<u64> = Metric::ALL.iter().filter_map(|m| m.least_requests()).collect();
        assert_eq!(least, [1, 2, 100, 1_000, 10_000, 100_000, 1, 1, 2, 2]);
    }

    #[test]
    fn rate_and_efficiency_follow_the_unit_of_the_metric() {
        for metric in Metric::ALL {
            assert_eq!(metric.counts_bytes(), metric.unit().starts_with("MB/s"), "{metric:?}");
            assert_eq!(metric.is_latency(), metric.unit() == "µs", "{metric:?}");
        }
        assert_eq!(Metric::ThroughputMbS.efficiency(), Metric::EfficiencyMbSW);
        assert_eq!(Metric::LatMeanUs.rate(), Metric::Iops);
        assert_eq!(Metric::TimeS.rate(), Metric::ThroughputMbS);
        assert_eq!(Metric::Iops.title_with_unit(), "IOPS");
        assert_eq!(Metric::LatMaxUs.title_with_unit(), "Maximum latency, µs");
    }

    #[test]
    fn every_key_finds_its_metric() {
        for metric in Metric::ALL {
            assert_eq!(Metric::from_key(metric.key()), Some(metric));
        }
    }
}
