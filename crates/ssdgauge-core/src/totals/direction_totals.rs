//! The sums of the requests of one direction.

use crate::sample::Interval;
use ssdgauge_statistics::histogram::Histogram;

/// The sums of all samples of one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionTotals {
    /// Requests that completed in full.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Requests that failed or transferred fewer bytes than requested.
    pub errors: u64,
    /// Their latencies in nanoseconds.
    pub latency: Histogram,
    /// Their rates over a time other than the length of the step; `None` where both are equal.
    pub own_rate: Option<OwnRate>,
}

impl DirectionTotals {
    /// Adds the requests of `other`.
    pub(crate) fn add(&mut self, other: &DirectionTotals) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.latency.merge(&other.latency);
    }
}

/// The rates of requests that ran for another time than their step: the streams of an imported result
/// do not end together, and each has its own length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnRate {
    /// Requests per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_s: f64,
    /// The mean number in flight.
    pub in_flight: f64,
}

impl OwnRate {
    /// Adds the rates of `interval` over its length.
    pub(crate) fn add(&mut self, interval: &Interval) {
        let seconds = interval.length.as_secs_f64();
        if seconds > 0.0 {
            self.iops += interval.ios as f64 / seconds;
            self.bytes_s += interval.bytes as f64 / seconds;
            self.in_flight += interval.latency.sum() as f64 / 1e9 / seconds;
        }
    }
}

/// Returns whether the latencies of all requests are known: without them, neither is the number in flight.
/// Results of other programs can lack them.
pub(crate) fn are_timed(directions: &[DirectionTotals]) -> bool {
    directions.iter().all(|totals| totals.ios == 0 || totals.latency.count() > 0)
}

/// Returns the sum of the own rates of `directions`; `None` where none has one.
pub(crate) fn own_rate(directions: &[DirectionTotals], field: fn(&OwnRate) -> f64) -> Option<f64> {
    directions.iter().filter_map(|totals| totals.own_rate.as_ref()).map(field).reduce(|a, b| a + b)
}
