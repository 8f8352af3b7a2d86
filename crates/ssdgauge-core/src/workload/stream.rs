//! A stream: requests of one kind, their order, place, rate and data.

use crate::sample::Direction;
use crate::sample::latency_of::LatencyOf;
use crate::units::names::name_of;
use crate::units::rounded;
use crate::units::{Bytes, Nanos};
use crate::workload::arrival::{Arrival, LatencyClock};
use crate::workload::block_sizes::BlockSizes;
use crate::workload::data::Data;
use crate::workload::distribution::Distribution;
use crate::workload::processors::Processors;
use crate::workload::pulse::Pulse;
use serde::{Deserialize, Serialize};

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
    /// The share of the requests at random places in percent, where the order is random: exact over every
    /// 100 requests of a thread. Each of the others begins where the one before it in its direction ended.
    #[serde(default = "all", skip_serializing_if = "is_all")]
    pub random_percent: u8,
    /// How often a block is addressed, where the order is random.
    #[serde(default, skip_serializing_if = "Distribution::is_uniform")]
    pub distribution: Distribution,
    /// The length of each request and the alignment of its offset (definition D10); the largest one
    /// where there are several.
    pub block_size: Bytes,
    /// The lengths of the requests, where there are several.
    #[serde(default, skip_serializing_if = "BlockSizes::is_single")]
    pub sizes: BlockSizes,
    /// The share of reads in percent, 0 to 100, exact over every 100 requests of a thread; 0 where
    /// the requests are not transfers.
    pub read_percent: u8,
    /// Requests in flight of each thread; the total is `queue_depth × threads`.
    pub queue_depth: u32,
    /// Threads that send requests; with the synchronous engine each has one request in flight.
    pub threads: u32,
    /// The processors on which its threads run, each on one of them in turn; none where any will do.
    #[serde(default, skip_serializing_if = "Processors::is_empty")]
    pub cpus: Processors,
    /// The start of the span on the target.
    pub offset: Bytes,
    /// The length of the range that requests address.
    pub span: Bytes,
    /// From the start of a sequential request to the start of the next one; `None` where they adjoin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<Bytes>,
    /// The time for which a thread of a closed loop sends nothing, after as many requests as its queue
    /// depth; it begins when all of them have completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_time: Option<Nanos>,
    /// The times in which it sends requests; `None` for all of the step. The rate of an open loop is that
    /// within these times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pulse: Option<Pulse>,
    /// The rule of the submission times.
    pub arrival: Arrival,
    /// The data that is written.
    pub data: Data,
    /// Whether a write completes only when it is non-volatile (O_DSYNC).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sync: bool,
    /// The writes of a thread after which it waits for them, sends a flush and waits for that; `None` for
    /// no flush.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_every: Option<u32>,
    /// Whether the step ends with a flush after all of its writes, whose time is part of the step: as a
    /// program writes a file and waits for `fsync` at its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flush_at_end: bool,
    /// The maximum number of requests in flight of an open loop, all threads together; later ones wait for a
    /// completion. `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_at_most: Option<u32>,
    /// The start of the latencies of an open loop.
    #[serde(default, skip_serializing_if = "LatencyClock::is_due")]
    pub clock: LatencyClock,
}

/// The share of random requests of a stream that states none.
fn all() -> u8 {
    100
}

fn is_all(percent: &u8) -> bool {
    *percent == 100
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

impl Default for Stream {
    /// Returns random reads of 4 KiB at a queue depth of 1, in a span of one block.
    fn default() -> Self {
        Stream {
            name: "main".into(),
            operation: Operation::Transfer,
            access: Access::Random,
            random_percent: 100,
            distribution: Distribution::Uniform,
            block_size: Bytes(4_096),
            sizes: BlockSizes::default(),
            read_percent: 100,
            queue_depth: 1,
            threads: 1,
            cpus: Processors::default(),
            offset: Bytes(0),
            span: Bytes(4_096),
            stride: None,
            think_time: None,
            pulse: None,
            arrival: Arrival::Closed,
            data: Data::Incompressible,
            sync: false,
            flush_every: None,
            flush_at_end: false,
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

    /// Returns the maximum number of requests in flight that the protocol allows an open loop, all threads
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

    /// Returns the requests whose latency stands for that of the stream: of writes that wait for a flush,
    /// the flushes.
    pub fn latency_of(&self) -> LatencyOf {
        match self.flush_every.is_some() && self.writes() {
            true if self.queue_depth == 1 => LatencyOf::FlushesOfCommits,
            true => LatencyOf::Flushes,
            false => LatencyOf::Requests,
        }
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
                let follows_writes = self.flush_every.is_some() || self.flush_at_end;
                self.operation == Operation::Flush || (follows_writes && self.writes())
            }
            Direction::Trim => self.trims(),
        }
    }

    /// Returns the share of its own requests in `direction` in percent, without the flushes after writes.
    pub fn percent_of(&self, direction: Direction) -> u8 {
        let reads = self.read_percent.min(100);
        match (self.operation, direction) {
            (Operation::Transfer, Direction::Read) => reads,
            (Operation::Transfer, Direction::Write) => 100 - reads,
            (Operation::Flush, Direction::Flush) | (Operation::Trim, Direction::Trim) => 100,
            (Operation::Transfer, Direction::Flush | Direction::Trim)
            | (Operation::Flush, Direction::Read | Direction::Write | Direction::Trim)
            | (Operation::Trim, Direction::Read | Direction::Write | Direction::Flush) => 0,
        }
    }

    /// Returns whether each request begins where the one before it in its direction ended, or a stride
    /// after its start.
    pub fn is_sequential(&self) -> bool {
        self.is_all(Access::Sequential)
    }

    /// Returns whether the place of each request is independent of the one before it.
    pub fn is_random(&self) -> bool {
        self.is_all(Access::Random)
    }

    /// Returns whether all of its requests have the order `access`.
    pub fn is_all(&self, access: Access) -> bool {
        let random = match access {
            Access::Sequential => 0.0,
            Access::Random => 1.0,
        };
        self.random_share() == random
    }

    /// Returns the share of its requests at random places, from 0 to 1.
    pub fn random_share(&self) -> f64 {
        match self.access {
            Access::Sequential => 0.0,
            Access::Random => f64::from(self.random_percent) / 100.0,
        }
    }

    /// Returns whether there are times in which it sends nothing.
    pub fn pauses(&self) -> bool {
        self.think_time.is_some() || self.pulse.is_some()
    }

    /// Returns the share of the time in which it may send.
    pub fn share_of_time(&self) -> f64 {
        self.pulse.map_or(1.0, |pulse| pulse.share())
    }

    /// Returns the distance between the places that requests may have, in bytes.
    pub fn step(&self) -> Bytes {
        self.stride.unwrap_or(self.block_size)
    }

    /// Returns the number of places in the span for requests of the largest size.
    pub fn places(&self) -> u64 {
        match (self.stride, self.span.0.checked_sub(self.block_size.0)) {
            (None, _) => self.span.blocks_of(self.block_size),
            (Some(stride), Some(last)) => last / stride.0.max(1) + 1,
            (Some(_), None) => 0,
        }
    }

    /// Returns whether its requests have several sizes.
    pub fn has_sizes(&self) -> bool {
        !self.sizes.is_single()
    }

    /// Returns the mean length of its requests, in bytes.
    pub fn mean_size(&self) -> f64 {
        self.sizes.mean().unwrap_or(self.block_size.0 as f64)
    }

    /// Returns the smallest length of its requests.
    pub fn smallest_size(&self) -> Bytes {
        self.sizes.smallest().unwrap_or(self.block_size)
    }

    /// Returns the lengths of its requests in words, such as `4KiB` or `90 % 4KiB, 10 % 128KiB`.
    pub fn size_words(&self) -> String {
        match self.has_sizes() {
            true => self.sizes.describe(),
            false => self.block_size.as_block(),
        }
    }

    /// Returns the bytes of a request in `direction`, moved or deallocated; 0 for a flush. Where the
    /// requests have several sizes, it is the largest one.
    pub fn bytes_each(&self, direction: Direction) -> Bytes {
        match direction {
            Direction::Read | Direction::Write | Direction::Trim => self.block_size,
            Direction::Flush => Bytes(0),
        }
    }

    /// Returns the order of its requests in words, such as `random (Zipf 0.8)`.
    pub fn order(&self) -> String {
        match &self.distribution {
            Distribution::Uniform => self.access_words(),
            shaped => format!("{} ({})", self.access_words(), shaped.describe()),
        }
    }

    /// Returns whether its requests are sequential or random in words, without their distribution, such as
    /// `60 % random`.
    pub fn access_words(&self) -> String {
        match self.is_sequential() || self.is_random() {
            true => self.access.name().to_owned(),
            false => format!("{} % {}", self.random_percent, self.access.name()),
        }
    }

    /// Returns the kind of its requests for labels, such as `70 % read`.
    pub fn mix(&self) -> String {
        self.operation.mix(self.read_percent)
    }

    /// Returns the processors of its threads in words; `None` where any will do.
    pub fn cpu_words(&self) -> Option<String> {
        (!self.cpus.is_empty()).then(|| format!("on processors {}", self.cpus))
    }

    /// Returns the requests of the stream in words for a printed plan.
    pub fn describe(&self) -> String {
        let load = match (self.arrival.per_second(), self.in_flight_limit()) {
            (Some(rate), None) => format!("{} requests/s", rounded::number(rate)),
            (Some(rate), Some(limit)) => {
                format!("{} requests/s, at most QD{limit}", rounded::number(rate))
            }
            (None, _) => format!("QD{} × {}", self.queue_depth, self.threads),
        };
        let (access, size) = (self.order(), self.size_words());
        let flushes = match self.flush_every {
            Some(1) => ", a flush after each write".to_owned(),
            Some(writes) => format!(", a flush after {writes} writes"),
            None if self.flush_at_end => ", a flush at the end".to_owned(),
            None => String::new(),
        };
        let (mix, span) = (self.mix() + &flushes, self.span.about());
        let gaps = match self.stride {
            Some(stride) => format!(" every {}", stride.as_block()),
            None => String::new(),
        };
        let think = self.think_time.map(|time| format!(", then {} of think time", time.about()));
        let pulse = self.pulse.map(|pulse| {
            format!(", in pulses of {} each {}", pulse.on.about(), (pulse.on + pulse.off).about())
        });
        let cpus = self.cpu_words().map(|words| format!(" {words}"));
        let load = load
            + &cpus.unwrap_or_default()
            + &think.unwrap_or_default()
            + &pulse.unwrap_or_default();
        match self.operation {
            Operation::Transfer | Operation::Trim => {
                format!("{access} {size}{gaps}, {mix}, {load}, span {span}")
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
        name_of(&self)
    }
}
