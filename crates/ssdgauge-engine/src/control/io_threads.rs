//! The I/O threads of a workload, as the control thread sees them.

use crate::load::StopSignal;
use crate::load::pace::Lag;
use crate::recorder::outcome::SentBy;
use crate::recorder::{Fault, IntervalRecord, Message};
use ssdgauge_core::{Direction, Histogram, Nanos, OpenLoopCount, Stream};
use ssdgauge_os::clock::Clock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

/// The I/O threads of a workload, and the sums of what they have handed over.
pub(super) struct IoThreads {
    pub(super) clock: Clock,
    /// The start of the workload, in ticks.
    pub(super) start: u64,
    /// Both clocks at the start, to measure their drift at the end.
    pub(super) clock_pair: (u64, u64),
    /// Processor time of the process at the start, in nanoseconds.
    pub(super) processor_time: u64,
    pub(super) stop_signal: Arc<StopSignal>,
    pub(super) messages: Receiver<Message>,
    pub(super) threads: Vec<IoThread>,
    pub(super) streams: Vec<Stream>,
    pub(super) sent_by: SentBy,
    /// How the engine was set up, in words.
    pub(super) setup: String,
    /// Why buffers could not be registered.
    pub(super) registration_error: Option<String>,
    /// Seconds that not every thread has passed, by stream and direction.
    pub(super) pending: BTreeMap<u32, Vec<IntervalBuckets>>,
    /// Seconds handed to the sink: the number of the next one.
    pub(super) emitted: u32,
    /// Completed requests that the threads have handed over, by direction.
    pub(super) received: [u64; Direction::COUNT],
    /// Completed requests in the emitted seconds, by direction.
    pub(super) ios: [u64; Direction::COUNT],
    /// The sum of their latencies, in nanoseconds.
    pub(super) latency_sum: u128,
    pub(super) faults: Vec<(u32, Fault)>,
    /// The counts of each stream in an open loop.
    pub(super) open_loop_counts: Vec<OpenLoopCount>,
    /// The latencies of open-loop streams over the whole step.
    pub(super) open_loop_latencies: Vec<Histogram>,
    /// The time since the last completion.
    pub(super) without_completion: Duration,
    /// The same, where it was too long and the workload was aborted.
    pub(super) unresponsive: Option<Nanos>,
    /// Requests that could not be logged.
    pub(super) unlogged: u64,
    /// Whether a stop of the whole run was requested.
    pub(super) stopped: bool,
    /// Whether the kernel passed requests to its workers.
    pub(super) punted: bool,
}

impl IoThreads {
    /// Returns threads that start at `start`, without anything received. `clock_pair` is a result
    /// of [`Clock::pair`] at the start.
    pub(super) fn new(
        (clock, start, clock_pair): (Clock, u64, (u64, u64)),
        stop_signal: Arc<StopSignal>,
        messages: Receiver<Message>,
        threads: Vec<IoThread>,
        streams: &[Stream],
    ) -> IoThreads {
        IoThreads {
            clock,
            start,
            clock_pair,
            processor_time: 0,
            stop_signal,
            messages,
            threads,
            streams: streams.to_vec(),
            sent_by: SentBy::Calls,
            setup: String::new(),
            registration_error: None,
            pending: BTreeMap::new(),
            emitted: 0,
            received: [0; Direction::COUNT],
            ios: [0; Direction::COUNT],
            latency_sum: 0,
            faults: Vec::new(),
            open_loop_counts: Vec::new(),
            open_loop_latencies: vec![Histogram::default(); streams.len()],
            without_completion: Duration::ZERO,
            unresponsive: None,
            unlogged: 0,
            stopped: false,
            punted: false,
        }
    }
}

/// One second of one stream, by direction.
pub(super) type IntervalBuckets = [IntervalBucket; Direction::COUNT];

/// One second of one stream and direction, while threads still add to it.
#[derive(Clone, Default)]
pub(super) struct IntervalBucket {
    pub(super) latency: Histogram,
    /// The bytes of these requests, where their lengths differ.
    pub(super) bytes: u64,
    pub(super) errors: u64,
}

/// One I/O thread.
pub(super) struct IoThread {
    /// The number of its stream.
    pub(super) stream: usize,
    /// Its thread ID, to interrupt it.
    pub(super) id: i32,
    /// Whether it sends by a ring: a signal interrupts the call in which it waits, and the kernel may pass
    /// its requests to workers. Synchronous reads and writes of a drive wait uninterruptibly.
    pub(super) has_ring: bool,
    /// The thread adds nothing to seconds before this one.
    pub(super) watermark: u32,
    /// Returns emptied records to the thread.
    pub(super) returns: Sender<Box<IntervalRecord>>,
    pub(super) ended: Option<ThreadEnd>,
}

/// The last report of an I/O thread.
pub(super) struct ThreadEnd {
    /// System calls that sent requests.
    pub(super) enters: u64,
    /// The last completion, in ticks.
    pub(super) tick: u64,
    /// Why it ended early.
    pub(super) failure: Option<String>,
    /// Whether it found the request budget exhausted.
    pub(super) budget_exhausted: bool,
    pub(super) lag: Option<Lag>,
}
