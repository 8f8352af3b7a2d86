//! What is asked of a drive: streams of requests, when they stop, and how the drive rests.

use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The lengths of a request that the engines send, in bytes.
pub const BLOCK_SIZES: RangeInclusive<Bytes> = Bytes(512)..=Bytes(64 << 20);

/// One or more streams that run side by side on one drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Which engine sends the requests.
    pub engine: Engine,
    /// The streams; most workloads have one.
    pub streams: Vec<Stream>,
}

impl Workload {
    /// Returns how many requests are kept in flight; `None` where a stream follows a rate instead.
    pub fn closed_depth(&self) -> Option<u32> {
        let closed = |stream: &Stream| stream.arrival.per_second().is_none();
        self.streams.iter().map(|stream| closed(stream).then(|| stream.total_depth())).sum()
    }

    /// Returns the workload without streams, which stands for an idle time.
    pub fn no_load() -> &'static Workload {
        static NO_LOAD: Workload = Workload { engine: Engine::IoUring, streams: Vec::new() };
        &NO_LOAD
    }

    /// Returns whether any stream writes.
    pub fn writes(&self) -> bool {
        self.streams.iter().any(Stream::writes)
    }

    /// Returns the streams in words for a printed plan.
    pub fn describe(&self) -> String {
        let streams: Vec<String> = self.streams.iter().map(Stream::describe).collect();
        streams.join(" and ")
    }
}

/// Requests of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// The name shown where a workload has several streams, such as `reads`.
    pub name: String,
    /// How offsets follow each other.
    pub access: Access,
    /// The length of each request and the grid of its offsets.
    pub block_size: Bytes,
    /// The share of reads in percent, 0 to 100, exact over every 100 requests of a thread.
    pub read_percent: u8,
    /// Outstanding requests of each thread; the total is `queue_depth × threads`.
    pub queue_depth: u32,
    /// Threads that send requests; the synchronous engine has one request each.
    pub threads: u32,
    /// Where the span begins on the target.
    pub offset: Bytes,
    /// The part of the target that requests fall into.
    pub span: Bytes,
    /// When requests are sent.
    pub arrival: Arrival,
    /// What is written.
    pub data: Data,
    /// Whether a write completes only when it would survive a loss of power (O_DSYNC). A virtual
    /// drive makes no difference: it models none of the caches that this bypasses.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sync: bool,
}

impl Stream {
    /// Returns the outstanding requests of all threads.
    pub fn total_depth(&self) -> u32 {
        self.queue_depth * self.threads
    }

    /// Returns whether the stream writes at all.
    pub fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// Returns whether the stream reads at all.
    pub fn reads(&self) -> bool {
        self.read_percent > 0
    }

    /// Returns the requests of the stream in words for a printed plan.
    pub fn describe(&self) -> String {
        let load = match self.arrival.per_second() {
            Some(rate) => format!("{rate:.2} requests/s"),
            None => format!("QD{} × {}", self.queue_depth, self.threads),
        };
        let (access, size, span) = (self.access.name(), self.block_size, self.span);
        format!("{access} {size}, {} % read, {load}, span {span}", self.read_percent)
    }
}

/// How offsets follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Ascending, from the thread's own share of the span, wrapping at its end.
    Sequential,
    /// Uniform over the span, on the grid of the block size.
    Random,
}

impl Access {
    /// Returns the word used in plans and pages.
    pub fn name(self) -> &'static str {
        match self {
            Access::Sequential => "sequential",
            Access::Random => "random",
        }
    }
}

/// When requests are sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// Closed loop: a request for each one that completed.
    Closed,
    /// Open loop: a request at equal times, whatever became of those before.
    Uniform {
        /// Requests in a second, all threads together.
        per_second: f64,
    },
    /// Open loop: requests at random times that know nothing of each other.
    Poisson {
        /// Requests in a second on average, all threads together.
        per_second: f64,
    },
}

impl Arrival {
    /// Returns the rate of an open loop; `None` for a closed one.
    pub fn per_second(&self) -> Option<f64> {
        match *self {
            Arrival::Closed => None,
            Arrival::Uniform { per_second } | Arrival::Poisson { per_second } => Some(per_second),
        }
    }

    /// Returns the same arrival at `factor` times its rate.
    pub fn times(&self, factor: f64) -> Arrival {
        match *self {
            Arrival::Closed => Arrival::Closed,
            Arrival::Uniform { per_second } => Arrival::Uniform { per_second: per_second * factor },
            Arrival::Poisson { per_second } => Arrival::Poisson { per_second: per_second * factor },
        }
    }
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Data {
    /// Random bytes that no controller can shrink or deduplicate.
    Incompressible,
    /// Zero bytes, for drives that compress.
    Zeros,
}

/// Which engine sends the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Engine {
    /// Linux io_uring: a thread keeps `queue_depth` requests in flight.
    #[serde(rename = "io_uring")]
    IoUring,
    /// Synchronous system calls: a thread for every request in flight.
    #[serde(rename = "synchronous")]
    Synchronous,
}

impl Engine {
    /// Returns the name used in suites, run files and pages.
    pub fn name(self) -> &'static str {
        match self {
            Engine::IoUring => "io_uring",
            Engine::Synchronous => "synchronous",
        }
    }
}

/// When a workload ends: at the first limit that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// The time limit. No request is sent after it.
    pub time: Option<Nanos>,
    /// The limit of bytes transferred, reads and writes together, rounded up to whole requests.
    pub bytes: Option<Bytes>,
}

impl Until {
    /// Returns whether there is a limit at all; a workload without one is refused.
    pub fn is_bounded(&self) -> bool {
        self.time.is_some() || self.bytes.is_some()
    }

    /// Returns each limit in words, the time first.
    pub fn describe(&self) -> Vec<String> {
        let time = self.time.map(|time| format!("after {time}"));
        let bytes = self.bytes.map(|bytes| format!("after {bytes}"));
        time.into_iter().chain(bytes).collect()
    }
}

/// How long a drive is left alone after a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rest {
    /// Not at all.
    None,
    /// A fixed time.
    For(Nanos),
    /// Until the step before takes `busy` of the whole: its time × (1 / busy − 1), at most `at_most`.
    DutyCycle {
        /// The busy share, above 0 and below 1.
        busy: f64,
        /// The longest rest.
        at_most: Nanos,
    },
}

impl Rest {
    /// Returns the time without load in words for a printed plan; `None` where there is none.
    pub fn describe(&self) -> Option<String> {
        match *self {
            Rest::None => None,
            Rest::For(duration) => Some(format!("no load for {duration}")),
            Rest::DutyCycle { busy, at_most } => Some(format!(
                "no load until the duty cycle is {:.0} %, at most {at_most}",
                busy * 100.0
            )),
        }
    }

    /// Returns the rest that follows a step of `busy_time`.
    pub fn after(&self, busy_time: Nanos) -> Nanos {
        match *self {
            Rest::None => Nanos::ZERO,
            Rest::For(duration) => duration,
            Rest::DutyCycle { busy, at_most } => {
                Nanos((busy_time.0 as f64 * (1.0 / busy - 1.0)) as u64).min(at_most)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duty_cycle_rests_in_proportion_up_to_its_cap() {
        let rest = Rest::DutyCycle { busy: 0.2, at_most: Nanos::from_secs(60) };
        assert_eq!(rest.after(Nanos::from_secs(2)), Nanos::from_secs(8));
        assert_eq!(rest.after(Nanos::from_secs(60)), Nanos::from_secs(60));
        let half = Rest::DutyCycle { busy: 0.5, at_most: Nanos::from_secs(60) };
        assert_eq!(half.after(Nanos::from_secs(24)), Nanos::from_secs(24));
    }
}
