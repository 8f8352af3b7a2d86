//! What an engine is given: the load, its limits, and the share of each I/O thread.

use crate::pace::Pace;
use crate::pool::Pool;
use crate::request_log::Log;
use crate::ring_flags::RingFlags;
use crate::verification::{Expected, Verification, WriteBuffer};
use ssdgauge_core::{RequestSource, Schedule, Until, Workload};
use ssdgauge_os::clock::Clock;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// What an engine sends requests to.
#[derive(Clone, Debug)]
pub enum Device {
    /// A file or a block device that the guard has admitted.
    File(Arc<File>),
    /// Nothing: the engine's own ceiling.
    Null,
}

/// The most faults that a workload survives; beyond it the drive is not worth loading further.
pub(crate) const MOST_FAULTS: u64 = 100;

/// Whether the threads shall go on. LogOutcome a few times in a workload, read in every turn.
///
/// Whoever wants the whole run to stop is heard without the control thread, which may be waiting for
/// the run file.
#[derive(Debug)]
pub(crate) struct StopSignal {
    word: AtomicU8,
    stop_requested: Arc<AtomicBool>,
}

impl StopSignal {
    const STOP: u8 = 1;
    const ABANDON: u8 = 2;

    pub(crate) fn new(stop_requested: &Arc<AtomicBool>) -> StopSignal {
        StopSignal { word: AtomicU8::new(0), stop_requested: stop_requested.clone() }
    }

    /// Returns whether somebody wants the whole run to stop.
    pub(crate) fn is_requested(&self) -> bool {
        self.stop_requested.load(Ordering::Relaxed)
    }

    /// Asks the threads to send nothing more and to wait for what is in flight.
    pub(crate) fn stop(&self) {
        self.word.fetch_max(Self::STOP, Ordering::Relaxed);
    }

    /// Asks the threads to leave even what is in flight: the drive does not answer.
    pub(crate) fn abandon(&self) {
        self.word.fetch_max(Self::ABANDON, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn stops(&self) -> bool {
        self.word.load(Ordering::Relaxed) >= Self::STOP || self.is_requested()
    }

    pub(crate) fn abandons(&self) -> bool {
        self.word.load(Ordering::Relaxed) >= Self::ABANDON
    }
}

/// The requests that the threads of a stream may still send, where bytes limit it.
#[derive(Debug)]
pub(crate) struct Budget(AtomicU64);

impl Budget {
    /// Returns a budget of so many requests.
    pub(crate) fn new(requests: u64) -> Budget {
        Budget(AtomicU64::new(requests))
    }

    /// The requests that a thread takes at once, so that the counter is not shared in the loop.
    const PORTION: u64 = 64;

    /// Returns a portion of requests, or 0 where none is left.
    fn claim(&self) -> u64 {
        let take = |left: u64| (left > 0).then(|| left - left.min(Self::PORTION));
        match self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(before) => before.min(Self::PORTION),
            Err(_) => 0,
        }
    }
}

/// What one I/O thread needs; made before the clock starts.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) device: Device,
    pub(crate) clock: Clock,
    pub(crate) source: RequestSource,
    pub(crate) block_size: usize,
    pub(crate) depth: usize,
    pub(crate) sequential: bool,
    /// What is written, where anything is.
    pub(crate) write_buffer: Option<WriteBuffer>,
    /// What reads must find, where it is known.
    pub(crate) expected: Option<Expected>,
    pub(crate) ring_flags: RingFlags,
    pub(crate) stop_signal: Arc<StopSignal>,
    pub(crate) budget: Option<Arc<Budget>>,
    pub(crate) start: u64,
    pub(crate) deadline: u64,
    pub(crate) processor: Option<usize>,
    /// The due times of an open loop, and its rate.
    pub(crate) schedule: Option<(Schedule, f64)>,
    /// Whether writes must survive a loss of power.
    pub(crate) sync: bool,
}

impl Assignment {
    /// Returns the pace of an open loop, once the clock has started.
    pub(crate) fn pace(&self) -> Option<Pace> {
        let (schedule, rate) = self.schedule.clone()?;
        Some(Pace::new(schedule, rate, self.clock, self.start))
    }
}

/// A thread's share of the budget: asks for a portion only when the last one is used up.
#[derive(Debug)]
pub(crate) struct Allowance {
    budget: Option<Arc<Budget>>,
    left: u64,
}

impl Allowance {
    pub(crate) fn of(budget: Option<Arc<Budget>>) -> Allowance {
        let left = if budget.is_some() { 0 } else { u64::MAX };
        Allowance { budget, left }
    }

    /// Returns whether one more request may be sent.
    #[inline]
    pub(crate) fn take(&mut self) -> bool {
        if self.left == 0 {
            self.left = self.budget.as_ref().map_or(0, |budget| budget.claim());
        }
        match self.left {
            0 => false,
            _ => {
                self.left -= 1;
                true
            }
        }
    }
}

/// What an engine is asked to do.
#[derive(Debug)]
pub struct Load<'a> {
    /// What the requests go to.
    pub device: &'a Device,
    /// The requests.
    pub workload: &'a Workload,
    /// When they end.
    pub until: &'a Until,
    /// The seed of their order.
    pub seed: u64,
    /// Whether random offsets are a permutation that leaves no block out.
    pub covering: bool,
    /// The random data that writes are cut from.
    pub pool: &'a Pool,
    /// What this run has written, and how reads of it are checked.
    pub verification: &'a Verification,
    /// How rings are set up.
    pub ring_flags: RingFlags,
    /// The stop_requested that the whole run stop.
    pub stop_requested: &'a Arc<AtomicBool>,
    /// Where every single request is written down, if anywhere.
    pub log: Option<&'a mut Log>,
}
