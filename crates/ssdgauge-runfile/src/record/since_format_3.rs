//! Records of the tables that format 3 added, except those of the chain of hashes.

use ssdgauge_core::{Direction, Histogram, Interval, Nanos};

/// What a drive answered to one call of a protocol, such as an X-ray.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// When it was recorded, in milliseconds since 1970 (UTC).
    pub unix_ms: i64,
    /// The kind of the call, such as `send`.
    pub kind: String,
    /// What was asked, as JSON.
    pub asked: String,
    /// What came back, as JSON.
    pub answer: String,
}

/// A percentile of latency that another program stated without a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImportedPercentile {
    /// The index of the stream in its workload, from 0.
    pub stream: u16,
    /// The direction of the requests.
    pub direction: Direction,
    /// The percentile in percent, such as 99.9.
    pub percent: f64,
    /// The latency that this share of the requests did not exceed.
    pub latency: Nanos,
}

/// Returns `interval` with those percentiles of `stated` that are of its stream and direction, where it has
/// latencies without a histogram.
pub(crate) fn with_percentiles(interval: Interval, stated: &[ImportedPercentile]) -> Interval {
    let own = |one: &&ImportedPercentile| {
        (one.stream, one.direction) == (interval.stream, interval.direction)
    };
    if stated.is_empty() || interval.latency.has_buckets() {
        return interval;
    }
    let percentiles = stated.iter().filter(own).map(|one| (one.percent, one.latency.0));
    let percentiles: Vec<(f64, u64)> = percentiles.collect();
    let latency = &interval.latency;
    let [min, max] = [latency.min(), latency.max()].map(Option::unwrap_or_default);
    let latency = Histogram::from_stated((latency.count(), latency.sum(), min, max), &percentiles);
    Interval { latency, ..interval }
}

/// The numbers of a finished step, computed by the program that measured it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The version of the arithmetic, [`ssdgauge_core::ARITHMETIC`] of that program.
    pub arithmetic: u32,
    /// CRC-32 over the checksums of the samples that the numbers follow from.
    pub samples_crc: u32,
    /// The numbers, as JSON: by the key of a metric, with the prefix of its direction.
    pub content: String,
}

/// How a process ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    /// Everything that was planned was carried out.
    Complete,
    /// It was stopped before its end, and can be continued.
    Unfinished,
    /// Drive or host failed.
    Failed,
}

impl OutcomeKind {
    /// Returns the value of the column `outcome`.
    pub fn name(self) -> &'static str {
        match self {
            OutcomeKind::Complete => "complete",
            OutcomeKind::Unfinished => "unfinished",
            OutcomeKind::Failed => "failed",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<OutcomeKind> {
        [OutcomeKind::Complete, OutcomeKind::Unfinished, OutcomeKind::Failed]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// How and why a process ended a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// When, in milliseconds since 1970 (UTC).
    pub unix_ms: i64,
    /// How.
    pub kind: OutcomeKind,
    /// Why; empty where the run is complete.
    pub reason: String,
}
