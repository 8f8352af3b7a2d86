//! The figures of an open loop, and the findings about its load generator.

use crate::finding::{Finding, FindingKind, Severity};
use crate::units::rounded;
use crate::units::{Bytes, Nanos};
use crate::workload::schedule::MAX_LAG;
use crate::workload::{Engine, Stream};
use serde::{Deserialize, Serialize};
use ssdgauge_statistics::histogram::Histogram;

/// The largest delay of the load generator itself, as a share of the measured latency at the same
/// percentile. Chosen.
pub const LATENESS: f64 = 0.05;

/// The largest delay that a tenth of the requests beyond a percentile may exceed, as a share of
/// that percentile. A percentile depends on the few requests beyond it: M/M/1 at a utilisation of
/// 0.79 had a 99th percentile 14 % above that of the target's own log, with far less than one
/// request in a hundred sent late. Chosen.
const TAIL_LATENESS: f64 = 0.1;

/// The percentiles that reports print, each with its name.
const PERCENTILES: [(&str, f64); 5] =
    [("median", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999), ("p99.999", 0.99999)];

/// The standard deviations by which the requests that are due in a period may exceed their mean:
/// the variance of a Poisson count is its mean, and five of them are exceeded once in 3.5 million
/// periods.
const DEVIATIONS: f64 = 5.0;

/// The most memory for the buffers of an open-loop stream.
pub const MAX_SLOT_MEMORY: Bytes = Bytes(1 << 30);

/// The maximum number of requests in flight of a thread: the largest completion queue of a ring
/// (IORING_MAX_CQ_ENTRIES in Linux).
pub const MAX_SLOTS: u32 = 65_536;

/// The minimum number of slots of a thread, however large its requests are.
const LEAST_SLOTS: u64 = 8;

/// Returns the requests that each of `threads` threads of `stream` can have in flight: those that
/// become due until the lag limit ends the step, as far as `memory` allows; `None` for a closed
/// loop.
///
/// A thread of the synchronous engine waits for each request.
pub fn open_loop_slots(
    stream: &Stream,
    engine: Engine,
    threads: u32,
    memory: Bytes,
) -> Option<u32> {
    let threads = threads.max(1);
    let rate = stream.arrival.per_second()? / f64::from(threads);
    let mean = rate * MAX_LAG.as_secs_f64();
    let due = (mean + DEVIATIONS * mean.sqrt()) as u64 + 64;
    let buffers = u64::from(stream.reads()) + u64::from(stream.writes());
    let slot = stream.block_size.0.max(1) * buffers.max(1);
    let affordable = (memory.0 / u64::from(threads) / slot).max(LEAST_SLOTS);
    // A limit of the protocol is divided among the threads.
    let limit = stream.in_flight_limit().map_or(u32::MAX, |limit| limit.div_ceil(threads));
    let most = u64::from(limit.min(MAX_SLOTS));
    match engine {
        Engine::IoUring => Some(due.min(affordable).min(most) as u32),
        Engine::Synchronous => Some(1),
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
    /// Requests that were sent after their due time because no slot was free.
    #[serde(default)]
    pub withheld: u64,
    /// The bytes of these requests.
    #[serde(default)]
    pub withheld_bytes: u64,
    /// The maximum number of requests in flight that the protocol allows; `None` for no limit.
    #[serde(default)]
    pub in_flight_at_most: Option<u32>,
    /// The longest time from the due time to the submission of a withheld request.
    #[serde(default)]
    pub withheld_max_us: Option<f64>,
    /// The lateness of all requests that were sent, withheld ones included: from the due time to
    /// the submission, median.
    pub lateness_p50_us: Option<f64>,
    /// The lateness, 90th percentile.
    #[serde(default)]
    pub lateness_p90_us: Option<f64>,
    /// The lateness, 99th percentile.
    pub lateness_p99_us: Option<f64>,
    /// The lateness, 99.9th percentile.
    #[serde(default)]
    pub lateness_p999_us: Option<f64>,
    /// The lateness, maximum.
    #[serde(default)]
    pub lateness_max_us: Option<f64>,
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
    /// The time of a replay without a request in flight before requests of this stream, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_s: Option<f64>,
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
    /// From the due time to the submission, where a slot was free: the error of the engine.
    pub lateness: Histogram,
    /// From the due time to the submission, where the request had to wait for a slot.
    pub withheld: Histogram,
    /// From the submission to the completion.
    pub service: Histogram,
    /// The time without a request in flight before requests of this stream; only in a replay.
    pub idle: Nanos,
}

impl OpenLoop {
    /// Returns the figures of `count` over a step of `elapsed`.
    pub fn from_count(stream: &Stream, elapsed: Nanos, count: &OpenLoopCount) -> OpenLoop {
        let us = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e3);
        let service = &count.service;
        let mut lateness = count.lateness.clone();
        lateness.merge(&count.withheld);
        let above = |ms: u64| service.share_above(ms * 1_000_000).unwrap_or(0.0);
        OpenLoop {
            stream: stream.name.clone(),
            in_flight_at_most: stream.in_flight_limit(),
            asked_per_second: stream.arrival.per_second().unwrap_or(0.0) * stream.share_of_time(),
            sent_per_second: count.sent as f64 / elapsed.as_secs_f64().max(1e-9),
            slots: count.slots,
            unsent: count.unsent,
            withheld: count.withheld.count(),
            withheld_bytes: (count.withheld.count() as f64 * stream.mean_size()) as u64,
            withheld_max_us: us(count.withheld.max()),
            lateness_p50_us: us(lateness.percentile(0.5)),
            lateness_p90_us: us(lateness.percentile(0.9)),
            lateness_p99_us: us(lateness.percentile(0.99)),
            lateness_p999_us: us(lateness.percentile(0.999)),
            lateness_max_us: us(lateness.max()),
            service_mean_us: service.mean().map(|ns| ns / 1e3),
            service_p99_us: us(service.percentile(0.99)),
            service_p999_us: us(service.percentile(0.999)),
            service_max_us: us(service.max()),
            service_above: [above(1), above(8), above(64)],
            idle_s: (count.idle > Nanos::ZERO).then(|| count.idle.as_secs_f64()),
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

    /// Returns the findings that affect the latencies of the stream: requests that were not sent,
    /// requests that had to wait for a slot, and a load generator that was late. `count` holds the
    /// counters of these figures, `latency` the measured latencies.
    pub fn findings(&self, count: &OpenLoopCount, latency: &Histogram) -> Vec<Finding> {
        let late = self.generator_late(&count.lateness, count.withheld.count(), latency);
        [self.overloaded(), self.withheld(), late].into_iter().flatten().collect()
    }

    fn overloaded(&self) -> Option<Finding> {
        let OpenLoop { stream, unsent, slots, .. } = self;
        (*unsent > 0).then(|| {
            Finding::new(
                FindingKind::Overloaded,
                Severity::Warning,
                format!(
                    "{} requests of stream '{stream}' were due and not sent before the end of the \
                     step, with at most {} in flight",
                    rounded::count(*unsent),
                    rounded::count_of(*slots as usize, "request")
                ),
                "the rate exceeds what the drive completes or what the program sends, so latencies \
                 grow with the duration of the step; use a lower rate",
            )
        })
    }

    fn withheld(&self) -> Option<Finding> {
        let OpenLoop { stream, withheld, withheld_bytes, slots, .. } = self;
        // Where the protocol limits the requests in flight, the others wait as it says.
        if self.in_flight_at_most.is_some() {
            return None;
        }
        let longest = Nanos((self.withheld_max_us? * 1e3) as u64);
        Some(Finding::new(
            FindingKind::Withheld,
            Severity::Warning,
            format!(
                "{} requests of stream '{stream}' ({}) were sent up to {} after \
                 their due time, because no slot of their thread was free ({} in all \
                 threads)",
                rounded::count(*withheld),
                Bytes(*withheld_bytes).about(),
                longest.about(),
                rounded::count_of(*slots as usize, "slot")
            ),
            "latencies count from the due time and contain this delay, but the drive received \
             fewer requests at once than were due, which service latencies do not show; use more \
             threads or a lower rate",
        ))
    }

    /// Returns a finding that names each claimed figure of `latency` that delays of the load
    /// generator may have raised. `lateness` holds the delays of the requests that had a free slot,
    /// `others` is the number of those that had none.
    fn generator_late(
        &self,
        lateness: &Histogram,
        others: u64,
        latency: &Histogram,
    ) -> Option<Finding> {
        let (own_max, own_count) = (lateness.max()?, lateness.count());
        // The share of all requests, of which the others have no delay of the generator.
        let scale = (own_count + others) as f64 / own_count as f64;
        let beyond = |share: f64| {
            let share = 1.0 - share * scale;
            if share < 0.0 { Some(0) } else { lateness.percentile(share) }.unwrap_or(own_max)
        };
        let mut severity = Severity::Warning;
        let mut late = Vec::new();
        let mut judge =
            |name: &str, value: f64, who: &str, delay: f64, most: f64, is_bulk: bool| {
                if delay > most * value {
                    severity = if is_bulk { Severity::Invalid } else { severity };
                    late.push(format!(
                        "the {name} of {} ({who} {} late)",
                        rounded::latency(value / 1e3),
                        rounded::latency(delay / 1e3)
                    ));
                }
            };
        if let Some(mean) = latency.mean() {
            let own = lateness.sum() as f64 / (own_count + others) as f64;
            judge("mean", mean, "requests were on average", own, LATENESS, true);
        }
        for (name, share) in PERCENTILES {
            let Some(value) = latency.percentile(share) else { continue };
            let same = beyond(1.0 - share) as f64;
            let (rare, delay, most) = match same > LATENESS * value as f64 {
                true => (1.0 - share, same, LATENESS),
                false => {
                    let tenth = (1.0 - share) / 10.0;
                    (tenth, beyond(tenth) as f64, TAIL_LATENESS)
                }
            };
            let who = format!(
                "one request in {} was at least",
                rounded::count((1.0 / rare).round() as u64)
            );
            judge(name, value as f64, &who, delay, most, share <= 0.99);
        }
        if let Some(max) = latency.max() {
            judge("maximum", max as f64, "one request was", own_max as f64, TAIL_LATENESS, false);
        }
        (!late.is_empty()).then(|| {
            Finding::new(
                FindingKind::GeneratorLate,
                severity,
                format!(
                    "the load generator sent requests of stream '{}' late, which puts in doubt {}",
                    self.stream,
                    late.join(", ")
                ),
                "these latencies may be too long; reserve a processor for the program, or use a \
                 lower rate",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            ..Stream::default()
        }
    }

    /// A histogram of `n` values of `us` microseconds each.
    fn values(parts: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::default();
        for (n, us) in parts {
            (0..*n).for_each(|_| histogram.record(us * 1_000));
        }
        histogram
    }

    fn findings(count: &OpenLoopCount, latency: &Histogram) -> Vec<Finding> {
        let stream = stream(Arrival::Uniform { per_second: 1_000.0 }, 1);
        OpenLoop::from_count(&stream, Nanos::from_secs(10), count).findings(count, latency)
    }

    #[test]
    fn a_late_generator_and_an_overload_are_reported() {
        let stream = stream(Arrival::Uniform { per_second: 1_000.0 }, 1);
        let lateness = values(&[(10_000, 6)]);
        let mut count =
            OpenLoopCount { sent: 10_000, slots: 64, lateness, ..OpenLoopCount::default() };
        let figures = OpenLoop::from_count(&stream, Nanos::from_secs(10), &count);
        assert_eq!(figures.sent_per_second, 1_000.0);
        let kinds = |count: &OpenLoopCount, us| -> Vec<FindingKind> {
            let latency = values(&[(10_000, us)]);
            findings(count, &latency).into_iter().map(|finding| finding.kind).collect()
        };
        assert_eq!(kinds(&count, 100), [FindingKind::GeneratorLate]);
        assert_eq!(kinds(&count, 200), []);
        count.unsent = 1;
        assert_eq!(kinds(&count, 200), [FindingKind::Overloaded]);
    }

    #[test]
    fn each_claimed_figure_has_a_guard_that_names_it() {
        // A hundred thousand latencies of an exponential distribution with a mean of 2.5 ms:
        // p99 11.5 ms, p99.9 17.3 ms.
        let mut latency = Histogram::default();
        let n = 100_000;
        (0..n).for_each(|k| {
            latency.record((-2.5e6 * ((k as f64 + 0.5) / f64::from(n)).ln()) as u64);
        });
        let late = |parts: &[(u64, u64)]| {
            let count = OpenLoopCount { lateness: values(parts), ..OpenLoopCount::default() };
            findings(&count, &latency).pop()
        };
        assert_eq!(late(&[(99_999, 1), (1, 1_000)]), None);
        // One in five hundred is 4 ms late: the lateness at p99 is 1 µs, and p99 is still wrong.
        let finding = late(&[(99_800, 1), (200, 4_000)]).unwrap();
        assert_eq!(
            (finding.kind, finding.severity),
            (FindingKind::GeneratorLate, Severity::Invalid)
        );
        let expected = "the p99 of 11.5 ms (one request in 1,000 was at least 4.00 ms late)";
        assert!(finding.text.contains(expected), "{}", finding.text);
        assert!(finding.text.contains("the p99.9 of"), "{}", finding.text);
        assert!(!finding.text.contains("median"), "{}", finding.text);
        // One in five thousand concerns only p99.9 and the figures beyond it.
        let finding = late(&[(99_980, 1), (20, 4_000)]).unwrap();
        assert_eq!(finding.severity, Severity::Warning);
        assert!(!finding.text.contains("the p99 of"), "{}", finding.text);
        assert!(
            finding
                .text
                .contains("the p99.9 of 17.3 ms (one request in 10,000 was at least 4.00 ms late)"),
            "{}",
            finding.text
        );
        // A single request concerns the maximum, and a percentile with fewer than ten beyond it.
        let finding = late(&[(99_999, 1), (1, 4_000)]).unwrap();
        assert!(finding.text.contains("the maximum of"), "{}", finding.text);
        assert!(!finding.text.contains("the p99.9 of"), "{}", finding.text);
    }

    #[test]
    fn withheld_requests_are_counted_and_named_and_are_not_an_error_of_the_generator() {
        let withheld: Vec<(u64, u64)> = (0..943).map(|ms| (1, ms * 1_000)).collect();
        let count = OpenLoopCount {
            sent: 8_973,
            slots: 2_058,
            lateness: values(&[(8_030, 2)]),
            withheld: values(&withheld),
            ..OpenLoopCount::default()
        };
        let stream = stream(Arrival::Uniform { per_second: 997.0 }, 1);
        let figures = OpenLoop::from_count(&stream, Nanos::from_secs(9), &count);
        assert_eq!((figures.withheld, figures.withheld_bytes), (943, 943 * 4_096));
        assert_eq!(figures.withheld_max_us, Some(942_000.0));
        assert!(figures.lateness_p50_us.unwrap() < 3.0, "{figures:?}");
        // 943 of 8,973 are late: the last hundredth begins at 853 ms.
        assert!((figures.lateness_p99_us.unwrap() / 853_000.0 - 1.0).abs() < 0.01, "{figures:?}");
        assert_eq!(figures.lateness_max_us, Some(942_000.0));
        let [finding] = &findings(&count, &values(&[(8_973, 100)]))[..] else { panic!() };
        assert_eq!(finding.kind, FindingKind::Withheld);
        for part in ["943 requests", "3.86 MB", "942 ms", "(2,058 slots in all threads)"] {
            assert!(finding.text.contains(part), "{part}: {}", finding.text);
        }
    }

    #[test]
    fn the_lag_limit_is_reached_before_the_slots_end_wherever_memory_allows() {
        let slots = |per_second: f64, threads, engine, bytes| {
            let mut stream = stream(Arrival::Uniform { per_second }, threads);
            stream.block_size = Bytes(bytes);
            open_loop_slots(&stream, engine, threads, MAX_SLOT_MEMORY)
        };
        let ring = Engine::IoUring;
        for (per_second, threads, bytes) in
            [(1.0, 1, 4_096), (997.0, 1, 4_096), (500.0, 2, 131_072), (6_000.0, 1, 1_536)]
        {
            let slots = f64::from(slots(per_second, threads, ring, bytes).unwrap());
            let due = per_second / f64::from(threads) * MAX_LAG.as_secs_f64();
            // Five standard deviations of random arrivals.
            assert!(slots > due + 5.0 * due.sqrt(), "{per_second} {threads} {bytes}: {slots}");
        }
        assert_eq!(slots(100_000.0, 1, ring, 4_096), Some(MAX_SLOTS));
        assert_eq!(slots(2_000.0, 1, ring, 1 << 20), Some(1_024));
        assert_eq!(slots(2_000.0, 1, ring, 1 << 30), Some(8));
        assert_eq!(slots(2_000.0, 1, Engine::Synchronous, 4_096), Some(1));
        let closed = stream(Arrival::Closed, 1);
        assert_eq!(open_loop_slots(&closed, ring, 1, MAX_SLOT_MEMORY), None);
    }
}
