//! The due times of the requests of an open loop: the same for a real engine and a virtual drive.

use crate::random::Random;
use crate::sample::{Finding, FindingKind, Severity};
use crate::statistics::histogram::Histogram;
use crate::units::Nanos;
use crate::workload::{Arrival, Stream};
use serde::{Deserialize, Serialize};

/// The largest delay of a submission or a completion after its due time; a larger one ends the
/// workload. The default of `max-lag-sec` in Aerospike ACT.
pub const MOST_LAG: Nanos = Nanos::from_secs(10);

/// The largest delay of the load generator itself (99th percentile), as a share of the measured
/// latency (99th percentile). Chosen.
pub const LATENESS: f64 = 0.05;

/// The due times of one thread of a stream, counted from the start of the step.
///
/// The times are absolute: no rounding error carries over to the next one, so there is no drift.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The mean time between two requests of the thread, in nanoseconds.
    step: f64,
    /// The time of the first request, in steps.
    phase: f64,
    /// The requests so far.
    count: u64,
    /// The sum of the random gaps so far, in steps.
    sum: f64,
    /// The source of random gaps; `None` for equal ones.
    random: Option<Random>,
}

impl Schedule {
    /// Returns the schedule of thread number `thread` of `stream`; `None` for a closed loop.
    ///
    /// The threads of a uniform stream take turns. Those of a Poisson stream are independent: the
    /// superposition of Poisson processes is a Poisson process of the summed rate.
    pub fn new(stream: &Stream, thread: u32, seed: u64) -> Option<Schedule> {
        let threads = f64::from(stream.threads.max(1));
        let (per_second, random) = match stream.arrival {
            Arrival::Closed => return None,
            Arrival::Uniform { per_second } => (per_second, None),
            Arrival::Poisson { per_second } => {
                // Another seed than that of the offsets: gaps and offsets must be independent.
                (per_second, Some(Random::new(seed ^ 0xa771_7a1e, u64::from(thread))))
            }
        };
        debug_assert!(per_second > 0.0, "the planner refuses an open loop without a rate");
        let phase = f64::from(thread) / threads;
        let mut schedule =
            Schedule { step: 1e9 * threads / per_second, phase, count: 0, sum: 0.0, random };
        if let Some(random) = &mut schedule.random {
            schedule.sum = random.exponential();
        }
        Some(schedule)
    }

    /// Returns when the next request is due, in nanoseconds from the start of the step.
    #[inline]
    pub fn due(&self) -> u64 {
        let steps = match self.random {
            None => self.count as f64 + self.phase,
            Some(_) => self.sum,
        };
        (steps * self.step) as u64
    }

    /// Advances to the next request.
    #[inline]
    pub fn advance(&mut self) {
        self.count += 1;
        if let Some(random) = &mut self.random {
            // Gaps of a Poisson process are exponentially distributed.
            self.sum += random.exponential();
        }
    }
}

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
    use crate::workload::{Access, Data};

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

    /// All due times of all threads below `end`, in order.
    fn dues(stream: &Stream, end: u64) -> Vec<u64> {
        let mut dues = Vec::new();
        for thread in 0..stream.threads {
            let mut schedule = Schedule::new(stream, thread, 5).unwrap();
            while schedule.due() < end {
                dues.push(schedule.due());
                schedule.advance();
            }
        }
        dues.sort_unstable();
        dues
    }

    #[test]
    fn a_uniform_schedule_never_drifts() {
        // 23.53 a second has no whole period: after a day the rate is still exact.
        let arrival = Arrival::Uniform { per_second: 23.53 };
        let day = 86_400_000_000_000;
        let dues = dues(&stream(arrival, 1), day);
        assert_eq!(dues.len(), (23.53f64 * 86_400.0).ceil() as usize);
        let last = *dues.last().unwrap() as f64;
        let exact = (dues.len() - 1) as f64 * 1e9 / 23.53;
        assert!((last - exact).abs() < 2.0, "{last} {exact}");
    }

    #[test]
    fn threads_share_a_uniform_rate_in_turn() {
        let dues = dues(&stream(Arrival::Uniform { per_second: 1_000.0 }, 4), 1_000_000_000);
        assert_eq!(dues.len(), 1_000);
        assert!(dues.windows(2).all(|pair| pair[1] - pair[0] == 1_000_000));
    }

    #[test]
    fn poisson_gaps_have_the_requested_rate_and_a_variation_of_one() {
        for threads in [1, 3] {
            let per_second = 20_000.0;
            let dues = dues(&stream(Arrival::Poisson { per_second }, threads), 10_000_000_000);
            let n = dues.len() as f64;
            // Five standard deviations of a count of 200,000 are 2,236.
            assert!((n - 200_000.0).abs() < 2_236.0, "{n}");
            let gaps: Vec<f64> = dues.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let squares = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
            let variation = (squares / gaps.len() as f64).sqrt() / mean;
            assert!((variation - 1.0).abs() < 0.02, "{variation}");
        }
    }

    #[test]
    fn a_closed_loop_has_no_schedule() {
        assert!(Schedule::new(&stream(Arrival::Closed, 1), 0, 5).is_none());
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
