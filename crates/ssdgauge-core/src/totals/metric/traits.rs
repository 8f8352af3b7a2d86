//! The constants of each metric: key, title, unit and family.

use super::Metric;

/// The families of metrics, which determine direction, split and source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Work per second.
    Rate,
    /// Time per request.
    Latency,
    /// Power and energy.
    Power,
    /// Work per watt.
    Efficiency,
    /// Time in slow requests, and without a completed one.
    Stall,
    /// Requests in flight.
    Queue,
    /// Flash pages programmed for the host.
    Cost,
    /// The spare area that explains them.
    Spare,
    /// Time of a whole step.
    Duration,
    /// Bytes deallocated per second.
    Trim,
    /// A number for a whole test, without a value for single steps.
    Judgement,
}

/// The constants of a metric.
pub(super) struct Traits {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    pub(super) family: Family,
}

impl Metric {
    /// Returns the constants of the metric: a new metric adds one line here.
    pub(super) fn traits(self) -> Traits {
        use Family::*;
        let (key, title, unit, family) = match self {
            Metric::Iops => ("iops", "IOPS", "IOPS", Rate),
            Metric::ThroughputMbS => ("throughput_mb_s", "Throughput", "MB/s", Rate),
            Metric::BusyThroughputMbS => {
                ("busy_throughput_mb_s", "Throughput while busy", "MB/s", Rate)
            }
            Metric::LatMeanUs => ("lat_mean_us", "Mean latency", "µs", Latency),
            Metric::LatP50Us => ("lat_p50_us", "Median latency", "µs", Latency),
            Metric::LatP99Us => ("lat_p99_us", "99th percentile latency", "µs", Latency),
            Metric::LatP999Us => ("lat_p99_9_us", "99.9th percentile latency", "µs", Latency),
            Metric::LatP9999Us => ("lat_p99_99_us", "99.99th percentile latency", "µs", Latency),
            Metric::LatP99999Us => ("lat_p99_999_us", "99.999th percentile latency", "µs", Latency),
            Metric::LatMaxUs => ("lat_max_us", "Maximum latency", "µs", Latency),
            Metric::CommitMeanUs => ("commit_mean_us", "Mean time of a commit", "µs", Latency),
            Metric::LatTimeP50Us => {
                ("lat_time_p50_us", "Time-weighted median latency", "µs", Latency)
            }
            Metric::LatTimeP99Us => {
                ("lat_time_p99_us", "Time-weighted 99th percentile latency", "µs", Latency)
            }
            Metric::TimeOver1MsPercent => {
                ("time_over_1ms_percent", "Time in requests above 1 ms", "%", Stall)
            }
            Metric::TimeOver10MsPercent => {
                ("time_over_10ms_percent", "Time in requests above 10 ms", "%", Stall)
            }
            Metric::TimeOver100MsPercent => {
                ("time_over_100ms_percent", "Time in requests above 100 ms", "%", Stall)
            }
            Metric::WorstSecondIops => ("worst_second_iops", "Worst second", "IOPS", Rate),
            Metric::LongestStallS => ("longest_stall_s", "Longest stall", "s", Stall),
            Metric::PowerW => ("power_w", "Power", "W", Power),
            Metric::PowerCoveredPercent => {
                ("power_covered_percent", "Time covered by the power meter", "%", Power)
            }
            Metric::EnergyJ => ("energy_j", "Energy", "J", Power),
            Metric::EfficiencyMbSW => ("efficiency_mb_s_w", "Efficiency", "MB/s/W", Efficiency),
            Metric::EfficiencyKiopsW => ("efficiency_kiops_w", "Efficiency", "kIOPS/W", Efficiency),
            Metric::InFlightMean => ("in_flight_mean", "Requests in flight", "", Queue),
            Metric::WriteAmplification => ("write_amplification", "Write amplification", "", Cost),
            Metric::MediaWrittenGb => ("media_written_gb", "Media writes", "GB", Cost),
            Metric::EffectiveOverProvisioning => {
                ("effective_over_provisioning", "Effective over-provisioning", "", Spare)
            }
            Metric::TimeS => ("time_s", "Time", "s", Duration),
            Metric::IdleS => ("idle_s", "Idle time", "s", Duration),
            Metric::TrimGbS => ("trim_gb_s", "Trim rate", "GB/s", Trim),
            Metric::MeanOverSigma => ("mean_over_sigma", "Mean ÷ σ", "", Judgement),
            Metric::LoadMultiple => ("load_multiple", "Load multiple", "×", Judgement),
        };
        Traits { key, title, unit, family }
    }
}
