//! When the requests of an open loop are due: the same for a real engine and a virtual drive.

use crate::random::Random;
use crate::sample::{Finding, FindingKind, Severity};
use crate::statistics::histogram::Histogram;
use crate::units::Nanos;
use crate::workload::{Arrival, Stream};
use serde::{Deserialize, Serialize};

/// How late a request may be sent or answered before its run is given up: the rule of Aerospike
/// ACT (`max-lag-sec`).
pub const MOST_LAG: Nanos = Nanos::from_secs(10);

/// The generator's own lateness may reach this share of the latency that it measures.
pub const LATENESS: f64 = 0.05;

/// Gives the due times of one thread of a stream, counted from the start of the step.
///
/// The times are absolute: nothing is rounded from one to the next, so no drift builds up.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The mean time between two requests of the thread, in nanoseconds.
    step: f64,
    /// The time of the first request, in steps.
    phase: f64,
    count: u64,
    sum: f64,
    chance: Option<Random>,
}

impl Schedule {
    /// Returns the schedule of thread number `thread` of `stream`; `None` for a closed loop.
    ///
    /// The threads of a uniform stream take turns; those of a Poisson stream are independent,
    /// and together they are Poisson again.
    pub fn new(stream: &Stream, thread: u32, seed: u64) -> Option<Schedule> {
        let threads = f64::from(stream.threads.max(1));
        let (per_second, chance) = match stream.arrival {
            Arrival::Closed => return None,
            Arrival::Uniform { per_second } => (per_second, None),
            Arrival::Poisson { per_second } => {
                (per_second, Some(Random::new(seed ^ 0xa771_7a1e, u64::from(thread))))
            }
        };
        let phase = f64::from(thread) / threads;
        let mut schedule =
            Schedule { step: 1e9 * threads / per_second, phase, count: 0, sum: 0.0, chance };
        if let Some(random) = &mut schedule.chance {
            schedule.sum = random.exponential();
        }
        Some(schedule)
    }

    /// Returns when the next request is due, in nanoseconds from the start of the step.
    #[inline]
    pub fn due(&self) -> u64 {
        let steps = match self.chance {
            None => self.count as f64 + self.phase,
            Some(_) => self.sum,
        };
        (steps * self.step) as u64
    }

    /// Goes on to the request behind the next.
    #[inline]
    pub fn advance(&mut self) {
        self.count += 1;
        if let Some(random) = &mut self.chance {
            self.sum += random.exponential();
        }
    }
}

/// What an engine says of one open-loop stream after a step.
///
/// The latencies of the intervals count from the due time. These figures stand beside them: what
/// the drive needed from the moment of sending, and how punctual the engine itself was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenLoop {
    /// The name of the stream.
    pub stream: String,
    /// Requests asked for in a second.
    pub asked_per_second: f64,
    /// Requests sent in a second.
    pub sent_per_second: f64,
    /// Requests that could be in flight at most.
    pub slots: u32,
    /// Requests that were due within the step and never sent.
    pub unsent: u64,
    /// How late requests were sent although a slot was free: the engine's own error, median.
    pub lateness_p50_us: Option<f64>,
    /// The same, 90th percentile.
    #[serde(default)]
    pub lateness_p90_us: Option<f64>,
    /// The same, 99th percentile.
    pub lateness_p99_us: Option<f64>,
    /// From sending to completion, mean.
    pub service_mean_us: Option<f64>,
    /// From sending to completion, 99th percentile.
    pub service_p99_us: Option<f64>,
    /// From sending to completion, 99.9th percentile.
    pub service_p999_us: Option<f64>,
    /// From sending to completion, longest.
    pub service_max_us: Option<f64>,
    /// The shares of requests that needed more than 1, 8 and 64 ms from sending to completion.
    pub service_above: [f64; 3],
    /// From sending to completion, as pairs of the lowest value of a bucket in nanoseconds and
    /// its count; the buckets are those of all histograms of a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub service_histogram: Vec<(u64, u64)>,
}

/// What an engine counted of an open-loop stream.
#[derive(Clone, Debug, Default)]
pub struct OpenLoopCount {
    /// Requests sent.
    pub sent: u64,
    /// Requests that could be in flight at most.
    pub slots: u32,
    /// Requests that were due and never sent.
    pub unsent: u64,
    /// From the due time to sending, where a slot was free.
    pub lateness: Histogram,
    /// From sending to completion.
    pub service: Histogram,
}

impl OpenLoop {
    /// Returns the figures of `count` over a step of `elapsed`.
    pub fn of(stream: &Stream, elapsed: Nanos, count: &OpenLoopCount) -> OpenLoop {
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

    /// Returns the times from sending to completion with the precision of their buckets; `None`
    /// where the record is not of this program.
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

    /// Returns what bears on the latencies of the stream, whose 99th percentile is `measured`.
    pub fn finding(&self, measured_p99_us: Option<f64>) -> Option<Finding> {
        let name = &self.stream;
        if self.unsent > 0 {
            return Some(Finding::new(
                FindingKind::Overloaded,
                Severity::Warning,
                format!(
                    "{} requests of stream '{name}' were due and could not be sent: {} were in \
                     flight already",
                    self.unsent, self.slots
                ),
                "the drive does not bear this rate; its latencies would grow for as long as it \
                 is asked",
            ));
        }
        let (lateness, measured) = (self.lateness_p99_us?, measured_p99_us?);
        (lateness > LATENESS * measured).then(|| {
            Finding::new(
                FindingKind::GeneratorLate,
                Severity::Invalid,
                format!(
                    "stream '{name}' was sent up to {lateness:.1} µs late (99th percentile) by \
                     the program itself, against {measured:.1} µs measured"
                ),
                "give the program a processor of its own, or ask for fewer requests a second",
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
    fn poisson_gaps_have_the_rate_and_the_spread_that_they_should_have() {
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
    fn a_late_generator_and_an_overload_are_found() {
        let stream = stream(Arrival::Uniform { per_second: 1_000.0 }, 1);
        let mut count = OpenLoopCount { sent: 10_000, slots: 64, ..OpenLoopCount::default() };
        (0..10_000).for_each(|_| count.lateness.record(6_000));
        let figures = OpenLoop::of(&stream, Nanos::from_secs(10), &count);
        assert_eq!(figures.sent_per_second, 1_000.0);
        let late = figures.finding(Some(100.0)).map(|finding| finding.kind);
        assert_eq!(late, Some(FindingKind::GeneratorLate));
        assert_eq!(figures.finding(Some(200.0)), None);
        count.unsent = 1;
        let unsent = OpenLoop::of(&stream, Nanos::from_secs(10), &count).finding(Some(200.0));
        assert_eq!(unsent.map(|finding| finding.kind), Some(FindingKind::Overloaded));
    }
}
