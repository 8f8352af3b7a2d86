//! Workloads: streams of requests, their limits, and the time without load after them.

use crate::distribution::Distribution;
use crate::sample::Direction;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The lengths of a request that the engines send, in bytes.
pub const BLOCK_SIZES: RangeInclusive<Bytes> = Bytes(512)..=Bytes(64 << 20);

/// One or more concurrent streams on one drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// The engine that sends the requests.
    pub engine: Engine,
    /// The streams; most workloads have one.
    pub streams: Vec<Stream>,
}

impl Workload {
    /// Returns the requests in flight of a closed loop; `None` where a stream has a rate instead.
    pub fn closed_depth(&self) -> Option<u32> {
        let closed = |stream: &Stream| stream.arrival.per_second().is_none();
        self.streams.iter().map(|stream| closed(stream).then(|| stream.total_depth())).sum()
    }

    /// Returns `bytes` rounded up to whole requests, of the largest length that a stream has: the
    /// most that a byte limit lets the workload transfer.
    pub fn whole_requests(&self, bytes: Bytes) -> Bytes {
        let addressed = self.streams.iter().filter(|stream| stream.addresses());
        let largest = addressed.map(|stream| stream.block_size.0).max().unwrap_or(1).max(1);
        Bytes(bytes.0.div_ceil(largest).saturating_mul(largest))
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

    /// Returns whether any stream changes the data on the drive: by writes, or by trims.
    pub fn changes_data(&self) -> bool {
        self.streams.iter().any(|stream| stream.writes() || stream.trims())
    }

    /// Returns the directions of its requests, reads first.
    pub fn directions(&self) -> Vec<Direction> {
        let present = |direction: &Direction| self.streams.iter().any(|one| one.sends(*direction));
        Direction::ALL.into_iter().filter(present).collect()
    }

    /// Returns the end of the range that the streams address, in bytes of the target.
    pub fn end(&self) -> Bytes {
        let ends = self.streams.iter().map(|stream| stream.offset + stream.span);
        ends.max().unwrap_or_default()
    }

    /// Returns the streams in words for a printed plan.
    pub fn describe(&self) -> String {
        let streams: Vec<String> = self.streams.iter().map(Stream::describe).collect();
        streams.join(" and ")
    }
}

/// A sequence of requests of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Its name where a workload has several streams, such as `reads`.
    pub name: String,
    /// The kind of its requests.
    #[serde(default, skip_serializing_if = "Operation::is_transfer")]
    pub operation: Operation,
    /// The order of the offsets.
    pub access: Access,
    /// How often a block is addressed, where the order is random.
    #[serde(default, skip_serializing_if = "Distribution::is_uniform")]
    pub distribution: Distribution,
    /// The length of each request and the alignment of its offset (definition D10).
    pub block_size: Bytes,
    /// The share of reads in percent, 0 to 100, exact over every 100 requests of a thread; 0 where
    /// the requests are no transfers.
    pub read_percent: u8,
    /// Requests in flight of each thread; the total is `queue_depth × threads`.
    pub queue_depth: u32,
    /// Threads that send requests; with the synchronous engine each has one request in flight.
    pub threads: u32,
    /// The start of the span on the target.
    pub offset: Bytes,
    /// The length of the range that requests address.
    pub span: Bytes,
    /// The rule of the submission times.
    pub arrival: Arrival,
    /// The data that is written.
    pub data: Data,
    /// Whether a write completes only when it is non-volatile (O_DSYNC). It has no effect on a
    /// virtual drive, which models none of the caches that this bypasses.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sync: bool,
    /// The writes of a thread after which it waits for them, sends a flush and waits for that; `None` for
    /// no flush.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_every: Option<u32>,
    /// The most requests in flight of an open loop, all threads together; later ones wait for a
    /// completion. `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_at_most: Option<u32>,
    /// The start of the latencies of an open loop.
    #[serde(default, skip_serializing_if = "LatencyClock::is_due")]
    pub clock: LatencyClock,
}

/// The kind of the requests of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Reads and writes.
    #[default]
    Transfer,
    /// Flushes: each covers everything that was written before. They address no blocks.
    Flush,
    /// Trims: each deallocates one block of the stream.
    Trim,
}

impl Operation {
    /// Returns whether the requests are reads and writes.
    pub fn is_transfer(&self) -> bool {
        *self == Operation::Transfer
    }

    /// Returns the kind of requests of which `read_percent` are reads for labels, such as `70 % read`.
    pub fn mix(self, read_percent: u8) -> String {
        match self {
            Operation::Transfer => format!("{read_percent} % read"),
            Operation::Flush => "flushes".into(),
            Operation::Trim => "trims".into(),
        }
    }
}

/// The start of the latencies of an open loop. In a closed loop they count from the submission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyClock {
    /// The due time: the wait of a request that is sent late is part of its latency.
    #[default]
    Due,
    /// The submission to the kernel: the wait before it is in no latency.
    Submission,
}

impl LatencyClock {
    fn is_due(&self) -> bool {
        *self == LatencyClock::Due
    }
}

impl Default for Stream {
    /// Returns random reads of 4 KiB at a queue depth of 1, in a span of one block.
    fn default() -> Self {
        Stream {
            name: "main".into(),
            operation: Operation::Transfer,
            access: Access::Random,
            distribution: Distribution::Uniform,
            block_size: Bytes(4_096),
            read_percent: 100,
            queue_depth: 1,
            threads: 1,
            offset: Bytes(0),
            span: Bytes(4_096),
            arrival: Arrival::Closed,
            data: Data::Incompressible,
            sync: false,
            flush_every: None,
            in_flight_at_most: None,
            clock: LatencyClock::Due,
        }
    }
}

impl Stream {
    /// Returns the requests in flight of all threads.
    pub fn total_depth(&self) -> u32 {
        self.queue_depth * self.threads
    }

    /// Returns the most requests in flight that the protocol allows an open loop, all threads
    /// together; `None` for no limit.
    pub fn in_flight_limit(&self) -> Option<u32> {
        match self.arrival {
            Arrival::InPhase { .. } => Some(self.threads),
            Arrival::Closed
            | Arrival::Uniform { .. }
            | Arrival::Poisson { .. }
            | Arrival::Recorded { .. } => self.in_flight_at_most,
        }
    }

    /// Returns whether the stream writes.
    pub fn writes(&self) -> bool {
        self.operation.is_transfer() && self.read_percent < 100
    }

    /// Returns whether the stream reads.
    pub fn reads(&self) -> bool {
        self.operation.is_transfer() && self.read_percent > 0
    }

    /// Returns whether the stream deallocates blocks.
    pub fn trims(&self) -> bool {
        self.operation == Operation::Trim
    }

    /// Returns whether its requests address blocks; flushes do not.
    pub fn addresses(&self) -> bool {
        self.operation != Operation::Flush
    }

    /// Returns whether the stream has requests in `direction`.
    pub fn sends(&self, direction: Direction) -> bool {
        match direction {
            Direction::Read => self.reads(),
            Direction::Write => self.writes(),
            Direction::Flush => {
                self.operation == Operation::Flush || (self.flush_every.is_some() && self.writes())
            }
            Direction::Trim => self.trims(),
        }
    }

    /// Returns the bytes of a request in `direction`, moved or deallocated; 0 for a flush.
    pub fn bytes_each(&self, direction: Direction) -> Bytes {
        match direction {
            Direction::Read | Direction::Write | Direction::Trim => self.block_size,
            Direction::Flush => Bytes(0),
        }
    }

    /// Returns the order of its requests in words, such as `random (Zipf 0.8)`.
    pub fn order(&self) -> String {
        match &self.distribution {
            Distribution::Uniform => self.access.name().to_owned(),
            shaped => format!("{} ({})", self.access.name(), shaped.describe()),
        }
    }

    /// Returns the kind of its requests for labels, such as `70 % read`.
    pub fn mix(&self) -> String {
        self.operation.mix(self.read_percent)
    }

    /// Returns the requests of the stream in words for a printed plan.
    pub fn describe(&self) -> String {
        let load = match (self.arrival.per_second(), self.in_flight_limit()) {
            (Some(rate), None) => format!("{rate:.2} requests/s"),
            (Some(rate), Some(limit)) => format!("{rate:.2} requests/s, at most QD{limit}"),
            (None, _) => format!("QD{} × {}", self.queue_depth, self.threads),
        };
        let (access, size) = (self.order(), self.block_size.as_block());
        let flushes = match self.flush_every {
            Some(1) => ", a flush after each write".to_owned(),
            Some(writes) => format!(", a flush after {writes} writes"),
            None => String::new(),
        };
        let (mix, span) = (self.mix() + &flushes, self.span.about());
        match self.operation {
            Operation::Transfer | Operation::Trim => {
                format!("{access} {size}, {mix}, {load}, span {span}")
            }
            Operation::Flush => format!("{mix}, {load}"),
        }
    }
}

/// The order of the offsets of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Ascending from the share of the thread, wrapping at the end of the span.
    Sequential,
    /// Uniformly distributed over the span, aligned to the block size.
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

/// The rule of the submission times of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// Closed loop: each completion triggers the next request.
    Closed,
    /// Open loop: a request at equal intervals, independent of completions.
    Uniform {
        /// Requests per second, all threads together.
        per_second: f64,
    },
    /// Open loop: every thread sends at equal intervals, all threads at the same moments, and each
    /// has one request in flight.
    InPhase {
        /// Requests per second, all threads together.
        per_second: f64,
    },
    /// Open loop: requests at the times of a Poisson process.
    Poisson {
        /// Mean requests per second, all threads together.
        per_second: f64,
    },
    /// Requests at the times of a trace, with its offsets and lengths.
    Recorded {
        /// Mean requests per second.
        per_second: f64,
    },
}

impl Arrival {
    /// Returns the rate of an open loop; `None` for a closed one.
    pub fn per_second(&self) -> Option<f64> {
        match *self {
            Arrival::Closed => None,
            Arrival::Uniform { per_second }
            | Arrival::InPhase { per_second }
            | Arrival::Poisson { per_second }
            | Arrival::Recorded { per_second } => Some(per_second),
        }
    }

    /// Returns the same arrival at `factor` times its rate.
    pub fn times(&self, factor: f64) -> Arrival {
        match *self {
            Arrival::Closed => Arrival::Closed,
            Arrival::Uniform { per_second } => Arrival::Uniform { per_second: per_second * factor },
            Arrival::InPhase { per_second } => Arrival::InPhase { per_second: per_second * factor },
            Arrival::Poisson { per_second } => Arrival::Poisson { per_second: per_second * factor },
            Arrival::Recorded { per_second } => {
                Arrival::Recorded { per_second: per_second * factor }
            }
        }
    }
}

/// The data of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Data {
    /// Random data that a controller can neither compress nor deduplicate (definition D11).
    Incompressible,
    /// Zeros, for drives that compress.
    Zeros,
}

/// The engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Engine {
    /// Linux io_uring: a thread keeps `queue_depth` requests in flight.
    #[serde(rename = "io_uring")]
    IoUring,
    /// Synchronous system calls: one thread per request in flight.
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

/// The limits of a workload: it ends at the first limit that is reached (definition D8).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// The time limit: no request is sent after it.
    pub time: Option<Nanos>,
    /// The limit of transferred bytes, reads and writes together, rounded up to whole requests.
    pub bytes: Option<Bytes>,
}

impl Until {
    /// Returns whether there is a limit; a workload without one is refused.
    pub fn is_bounded(&self) -> bool {
        self.time.is_some() || self.bytes.is_some()
    }

    /// Returns each limit in words, the time first.
    pub fn describe(&self) -> Vec<String> {
        let time = self.time.map(|time| format!("after {}", time.about()));
        let bytes = self.bytes.map(|bytes| format!("after {}", bytes.about()));
        time.into_iter().chain(bytes).collect()
    }
}

/// The time without load after a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rest {
    /// None.
    None,
    /// A fixed time.
    For(Nanos),
    /// So long that the step takes the share `busy` of both together: its time × (1 ÷ busy − 1), at
    /// most `at_most` (definition D9).
    DutyCycle {
        /// The busy share, above 0 and below 1.
        busy: f64,
        /// The longest time without load.
        at_most: Nanos,
    },
}

impl Rest {
    /// Returns the time without load in words for a printed plan; `None` where there is none.
    pub fn describe(&self) -> Option<String> {
        match *self {
            Rest::None => None,
            Rest::For(duration) => Some(format!("no load for {}", duration.about())),
            Rest::DutyCycle { busy, at_most } => Some(format!(
                "no load until the duty cycle is {:.0} %, at most {}",
                busy * 100.0,
                at_most.about()
            )),
        }
    }

    /// Returns the time without load after a step of `busy_time`.
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
