//! The figures of an open loop, and the findings about its load generator.

use crate::sample::{Finding, FindingKind, Severity};
use crate::statistics::histogram::Histogram;
use crate::units::Nanos;
use crate::workload::Stream;
use serde::{Deserialize, Serialize};

/// The largest delay of the load generator itself (99th percentile), as a share of the measured
/// latency (99th percentile). Chosen.
pub const LATENESS: f64 = 0.05;

/// The figures of one open-loop stream after a step.
///
/// The latencies of the intervals are response latencies, which count from the due time. These
/// figures add the service latencies, which count from the submission, and the delay of the engine
/// itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenLoop {
    /// The name of the stream.
    pub stream: String,
    /// The requested rate, in requests per second.
    pub asked_per_second: f64,
    /// The sent rate, in requests per second.
    pub sent_per_second: f64,
    /// The largest number of requests in flight.
    pub slots: u32,
    /// Requests that were due within the step and not sent.
    pub unsent: u64,
    /// The delay of submissions although a slot was free, which is the error of the engine, median.
    pub lateness_p50_us: Option<f64>,
    /// The same delay, 90th percentile.
    #[serde(default)]
    pub lateness_p90_us: Option<f64>,
    /// The same delay, 99th percentile.
    pub lateness_p99_us: Option<f64>,
    /// The service latency, mean.
    pub service_mean_us: Option<f64>,
    /// The service latency, 99th percentile.
    pub service_p99_us: Option<f64>,
    /// The service latency, 99.9th percentile.
    pub service_p999_us: Option<f64>,
    /// The service latency, maximum.
    pub service_max_us: Option<f64>,
    /// The shares of requests with a service latency above 1, 8 and 64 ms, the limits of Aerospike
    /// ACT.
    pub service_above: [f64; 3],
    /// The service latencies as pairs of the lowest value of a bucket in nanoseconds and its count;
    /// the buckets are those of all histograms of a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub service_histogram: Vec<(u64, u64)>,
}

/// The counters of an engine for an open-loop stream.
#[derive(Clone, Debug, Default)]
pub struct OpenLoopCount {
    /// Requests sent.
    pub sent: u64,
    /// The largest number of requests in flight.
    pub slots: u32,
    /// Requests that were due and not sent.
    pub unsent: u64,
    /// From the due time to the submission, where a slot was free.
    pub lateness: Histogram,
    /// From the submission to the completion.
    pub service: Histogram,
}

impl OpenLoop {
    /// Returns the figures of `count` over a step of `elapsed`.
    pub fn from_count(stream: &Stream, elapsed: Nanos, count: &OpenLoopCount) -> OpenLoop {
        let us = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e3);
        let service = &count.service;
        let above = |ms: u64| service.share_above(ms * 1_000_000).unwrap_or(0.0);
        OpenLoop {
            stream: stream.name.clone(),
            asked_per_second: stream.arrival.per_second().unwrap_or(0.0),
            sent_per_second: count.sent as f64 / elapsed.as_secs_f64().max(1e-9),
            slots: count.slots,
            unsent: count.unsent,
            lateness_p50_us: us(count.lateness.percentile(0.5)),
            lateness_p90_us: us(count.lateness.percentile(0.9)),
            lateness_p99_us: us(count.lateness.percentile(0.99)),
            service_mean_us: service.mean().map(|ns| ns / 1e3),
            service_p99_us: us(service.percentile(0.99)),
            service_p999_us: us(service.percentile(0.999)),
            service_max_us: us(service.max()),
            service_above: [above(1), above(8), above(64)],
            service_histogram: service.buckets().collect(),
        }
    }

    /// Returns the service latencies with the precision of their buckets; `None` where there are
    /// none or the record is not valid.
    pub fn service(&self) -> Option<Histogram> {
        let count = |(_, n): &(u64, u64)| *n;
        let sum =
            self.service_histogram.iter().map(|(value, n)| u128::from(*value) * u128::from(*n));
        let edge = |at: Option<&(u64, u64)>| at.map_or(0, |(value, _)| *value);
        let total: u64 = self.service_histogram.iter().map(count).sum();
        let ends = (edge(self.service_histogram.first()), edge(self.service_histogram.last()));
        let buckets = self.service_histogram.iter().copied();
        Histogram::from_parts(buckets, sum.sum(), ends.0, ends.1, 0).filter(|_| total > 0)
    }

    /// Returns a finding that affects the latencies of the stream: requests that were not sent, or
    /// a delay of the engine above [`LATENESS`] of `measured_p99_us`, the measured 99th percentile.
    pub fn finding(&self, measured_p99_us: Option<f64>) -> Option<Finding> {
        let name = &self.stream;
        if self.unsent > 0 {
            return Some(Finding::new(
                FindingKind::Overloaded,
                Severity::Warning,
                format!(
                    "{} requests of stream '{name}' were due and not sent: the queue was full with \
                     {} requests in flight",
                    self.unsent, self.slots
                ),
                "the rate exceeds what the drive completes, so latencies grow with the duration of \
                 the step; use a lower rate",
            ));
        }
        let (lateness, measured) = (self.lateness_p99_us?, measured_p99_us?);
        (lateness > LATENESS * measured).then(|| {
            Finding::new(
                FindingKind::GeneratorLate,
                Severity::Invalid,
                format!(
                    "the load generator sent the requests of stream '{name}' {lateness:.1} µs late \
                     (99th percentile), against a measured latency of {measured:.1} µs"
                ),
                "reserve a processor for the program, or use a lower rate",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;
    use crate::workload::{Access, Arrival, Data};

    fn stream(arrival: Arrival, threads: u32) -> Stream {
        Stream {
            name: "main".into(),
            access: Access::Random,
            block_size: Bytes(4_096),
            read_percent: 100,
            queue_depth: 1,
            threads,
            offset: Bytes(0),
            span: Bytes(1 << 30),
            arrival,
            data: Data::Incompressible,
            sync: false,
        }
    }

    #[test]
    fn a_late_generator_and_an_overload_are_reported() {
        let stream = stream(Arrival::Uniform { per_second: 1_000.0 }, 1);
        let mut count = OpenLoopCount { sent: 10_000, slots: 64, ..OpenLoopCount::default() };
        (0..10_000).for_each(|_| count.lateness.record(6_000));
        let figures = OpenLoop::from_count(&stream, Nanos::from_secs(10), &count);
        assert_eq!(figures.sent_per_second, 1_000.0);
        let late = figures.finding(Some(100.0)).map(|finding| finding.kind);
        assert_eq!(late, Some(FindingKind::GeneratorLate));
        assert_eq!(figures.finding(Some(200.0)), None);
        count.unsent = 1;
        let unsent =
            OpenLoop::from_count(&stream, Nanos::from_secs(10), &count).finding(Some(200.0));
        assert_eq!(unsent.map(|finding| finding.kind), Some(FindingKind::Overloaded));
    }
}
