//! Workloads: streams of requests, their limits, and the time without load after them.

pub(crate) mod arrival;
pub(crate) mod block_sizes;
pub(crate) mod data;
pub(crate) mod distribution;
pub(crate) mod hot_blocks;
pub mod io_log;
pub(crate) mod open_loop;
pub(crate) mod permutation;
pub(crate) mod processors;
pub(crate) mod pulse;
pub(crate) mod request;
pub(crate) mod scatter;
pub(crate) mod schedule;
pub(crate) mod sized_blocks;
pub(crate) mod step_number;
pub(crate) mod stream;
pub(crate) mod until;
pub mod unwritten_sample;
pub(crate) mod zipf;

pub use arrival::{Arrival, LatencyClock};
pub use data::Data;
pub use stream::{Access, Operation, Stream};
pub use until::{Rest, Until};

use crate::sample::Direction;
use crate::sample::latency_of::LatencyOf;
use crate::units::Bytes;
use crate::units::names::name_of;
use serde::{Deserialize, Serialize};

/// One or more concurrent streams on one drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// The engine that sends the requests.
    pub engine: Engine,
    /// The streams; most workloads have one.
    pub streams: Vec<Stream>,
}

impl Workload {
    /// The maximum number of streams. Suites state up to 8; an imported result has one for each job that ran at a time.
    pub const MAX_STREAMS: usize = 64;

    /// Returns the requests in flight of a closed loop; `None` where a stream has a rate or pauses.
    pub fn closed_depth(&self) -> Option<u32> {
        let closed = |stream: &Stream| stream.arrival.per_second().is_none() && !stream.pauses();
        self.streams.iter().map(|stream| closed(stream).then(|| stream.total_depth())).sum()
    }

    /// Returns the maximum that a limit of `bytes` lets the workload transfer: rounded up to whole
    /// requests, of the largest length that a stream has. Where a stream has several lengths, the last
    /// request may have the largest one.
    pub fn whole_requests(&self, bytes: Bytes) -> Bytes {
        let addressed = self.streams.iter().filter(|stream| stream.addresses());
        let largest = addressed.map(|stream| stream.block_size.0).max().unwrap_or(1).max(1);
        match self.has_sizes() {
            true => Bytes(bytes.0.saturating_add(largest)),
            false => Bytes(bytes.0.div_ceil(largest).saturating_mul(largest)),
        }
    }

    /// Returns whether any stream has requests of several sizes.
    pub fn has_sizes(&self) -> bool {
        self.streams.iter().any(Stream::has_sizes)
    }

    /// Returns the workload without streams, which stands for an idle time.
    pub fn no_load() -> &'static Workload {
        static NO_LOAD: Workload = Workload { engine: Engine::IoUring, streams: Vec::new() };
        &NO_LOAD
    }

    /// Returns the requests whose latency stands for that of all streams together.
    pub fn latency_of(&self) -> LatencyOf {
        LatencyOf::all(self.streams.iter().map(Stream::latency_of))
    }

    /// Returns why the threads of a stream cannot run where it wants them, in a process that may use the
    /// processors `allowed`; `None` where they can.
    pub fn processor_missing(&self, allowed: &[usize]) -> Option<String> {
        self.streams.iter().find_map(|stream| {
            let number = stream.cpus.first_beyond(allowed)?;
            let name = &stream.name;
            Some(format!(
                "the threads of stream '{name}' run on processor {number}, which this process may not use"
            ))
        })
    }

    /// Returns whether any stream writes.
    pub fn writes(&self) -> bool {
        self.streams.iter().any(Stream::writes)
    }

    /// Returns whether any stream changes the data on the drive: by writes, or by trims.
    pub fn changes_data(&self) -> bool {
        self.streams.iter().any(|stream| stream.writes() || stream.trims())
    }

    /// Returns whether every second without a completion is one of the drive: closed loops without pauses.
    pub fn never_pauses(&self) -> bool {
        let sends = |stream: &Stream| stream.arrival.per_second().is_none() && !stream.pauses();
        !self.streams.is_empty() && self.streams.iter().all(sends)
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
        name_of(&self)
    }
}
