//! The I/O threads of a workload and what is known of them.

use crate::load::StopSignal;
use crate::pace::Lag;
use crate::recorder::{Fault, IntervalRecord, Message};
use ssdgauge_core::{Histogram, Nanos, OpenLoopCount, Stream};
use ssdgauge_os::clock::Clock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

/// The I/O threads of a workload and what is known of them.
pub(super) struct IoThreads {
    pub(super) clock: Clock,
    pub(super) start: u64,
    pub(super) clock_pair: (u64, u64),
    pub(super) processor_time: u64,
    pub(super) stop_signal: Arc<StopSignal>,
    pub(super) messages: Receiver<Message>,
    pub(super) threads: Vec<Thread>,
    pub(super) streams: Vec<Stream>,
    pub(super) setup: String,
    pub(super) refusal: Option<String>,
    pub(super) pending: BTreeMap<u32, Vec<[IntervalBucket; 2]>>,
    pub(super) emitted: u32,
    pub(super) ios: [u64; 2],
    pub(super) busy: u128,
    pub(super) faults: Vec<(u32, Fault)>,
    pub(super) counts: Vec<OpenLoopCount>,
    /// The latencies of open-loop streams over the whole step.
    pub(super) responses: Vec<Histogram>,
    pub(super) silent_for: Duration,
    pub(super) silence: Option<Nanos>,
    /// Requests that could not be logged.
    pub(super) unlogged: u64,
    pub(super) stopped: bool,
    pub(super) punted: bool,
}

/// One second of one stream and direction while threads still add to it.
#[derive(Clone, Default)]
pub(super) struct IntervalBucket {
    pub(super) latency: Histogram,
    pub(super) errors: u64,
}

pub(super) struct Thread {
    pub(super) stream: usize,
    pub(super) id: i32,
    pub(super) kickable: bool,
    pub(super) front: u32,
    pub(super) back: Sender<Box<IntervalRecord>>,
    pub(super) ended: Option<End>,
}

pub(super) struct End {
    pub(super) enters: u64,
    pub(super) tick: u64,
    pub(super) failure: Option<String>,
    pub(super) used_up: bool,
    pub(super) lag: Option<Lag>,
}
