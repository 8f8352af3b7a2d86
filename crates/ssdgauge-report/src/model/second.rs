//! One second of a step, with the values that figures use.

use std::collections::BTreeMap;

/// One second of a step, all streams together.
#[derive(Clone, Debug, PartialEq)]
pub struct Second {
    /// The number of the second in its step, from 0.
    pub second: u32,
    /// Completed requests per second, reads and writes.
    pub iops: f64,
    /// 10^6 bytes per second, reads and writes.
    pub throughput_mb_s: f64,
    /// Mean latency in microseconds; `None` where nothing completed.
    pub lat_mean_us: Option<f64>,
    /// 99th percentile of latency in microseconds; `None` where there were too few requests.
    pub lat_p99_us: Option<f64>,
    /// Longest latency in microseconds; `None` where nothing completed.
    pub lat_max_us: Option<f64>,
    /// Mean of the readings in this second, by quantity, such as `temperature_c`.
    pub readings: BTreeMap<String, f64>,
}
