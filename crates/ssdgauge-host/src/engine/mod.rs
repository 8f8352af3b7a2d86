//! The engines: what turns a workload into requests and their completions into seconds.
//!
//! Each I/O thread owns its ring, its slots and its recorders; nothing in its loop is shared but
//! one flag that is almost never written. Once a second it hands its recorders to the control
//! thread, which merges, fills silent seconds with zeros, and passes them on. The control thread
//! never touches the drive, so a hanging drive cannot hang it.

mod control;
mod pace;
mod synchronous;
mod tally;
mod uring;

use crate::clock::Clock;
use crate::sys::Region;
use pace::Pace;
use ssdgauge_core::{Data, Random, RequestSource, Schedule, Stream};
use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

pub(crate) use control::{Outcome, run};
pub(crate) use tally::Fault;

/// What an engine sends requests to.
#[derive(Clone, Debug)]
pub(crate) enum Device {
    /// A file or a block device that the guard has admitted.
    File(Arc<File>),
    /// Nothing: the engine's own ceiling.
    Null,
}

/// The most faults that a workload survives; beyond it the drive is not worth loading further.
pub(crate) const MOST_FAULTS: u64 = 100;

/// The bytes of random data that writes are cut from, and the largest request. No 4 KiB repeat
/// within it.
const POOL: usize = 64 << 20;

/// Whether the threads shall go on. Written a few times in a workload, read in every turn.
#[derive(Debug, Default)]
pub(crate) struct Order(AtomicU8);

impl Order {
    const STOP: u8 = 1;
    const ABANDON: u8 = 2;

    /// Asks the threads to send nothing more and to wait for what is in flight.
    pub(crate) fn stop(&self) {
        self.0.fetch_max(Self::STOP, Ordering::Relaxed);
    }

    /// Asks the threads to leave even what is in flight: the drive does not answer.
    pub(crate) fn abandon(&self) {
        self.0.fetch_max(Self::ABANDON, Ordering::Relaxed);
    }

    #[inline]
    fn stops(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= Self::STOP
    }

    fn abandons(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= Self::ABANDON
    }
}

/// The requests that the threads of a stream may still send, where bytes limit it.
#[derive(Debug)]
pub(crate) struct Budget(AtomicU64);

impl Budget {
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
    pub(crate) writes: Option<Arc<Region>>,
    pub(crate) order: Arc<Order>,
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
    fn pace(&self) -> Option<Pace> {
        let (schedule, rate) = self.schedule.clone()?;
        Some(Pace::new(schedule, rate, self.clock, self.start))
    }
}

/// A thread's share of the budget: asks for a portion only when the last one is used up.
#[derive(Debug)]
struct Allowance {
    budget: Option<Arc<Budget>>,
    left: u64,
}

impl Allowance {
    fn of(budget: Option<Arc<Budget>>) -> Allowance {
        let left = if budget.is_some() { 0 } else { u64::MAX };
        Allowance { budget, left }
    }

    /// Returns whether one more request may be sent.
    #[inline]
    fn take(&mut self) -> bool {
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

/// Walks through the pool of write data, so that neighbouring writes differ.
#[derive(Debug)]
struct Ink {
    pool: Option<Arc<Region>>,
    next: usize,
    block_size: usize,
}

impl Ink {
    fn of(pool: Option<Arc<Region>>, block_size: usize, start: usize) -> Ink {
        let room = pool.as_ref().map_or(0, |pool| pool.length() / block_size);
        Ink { pool, next: if room > 0 { start % room * block_size } else { 0 }, block_size }
    }

    /// Returns where the data of the next write lie.
    #[inline]
    fn dip(&mut self) -> *mut u8 {
        let pool = self.pool.as_ref().expect("a stream that writes has a pool");
        if self.next + self.block_size > pool.length() {
            self.next = 0;
        }
        let data = pool.at(self.next);
        self.next += self.block_size;
        data
    }
}

/// Returns the data that `stream` writes, or `None` where it only reads.
pub(crate) fn write_data(stream: &Stream) -> Result<Option<Arc<Region>>, String> {
    match (stream.writes(), stream.data) {
        (false, _) => Ok(None),
        (true, Data::Incompressible) => pool().map(Some),
        (true, Data::Zeros) => Region::new(stream.block_size.0 as usize)
            .map(|zeros| Some(Arc::new(zeros)))
            .map_err(|error| format!("no memory for the data to write: {error}")),
    }
}

/// Begins to make the pool on a thread of its own, so that the first write does not wait for it.
pub(crate) fn prepare_pool() {
    std::thread::spawn(|| pool().map(drop));
}

/// Returns the random data that writes are cut from: made once in a process, and different in
/// each, so that a drive that deduplicates finds nothing of an earlier run.
fn pool() -> Result<Arc<Region>, String> {
    static MADE: OnceLock<Result<Arc<Region>, String>> = OnceLock::new();
    MADE.get_or_init(make_pool).clone()
}

fn make_pool() -> Result<Arc<Region>, String> {
    let cause = |error: std::io::Error| format!("no data to write: {error}");
    let mut seed = [0; 8];
    File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut seed)).map_err(cause)?;
    let mut random = Random::new(u64::from_ne_bytes(seed), 0);
    let mut region = Region::new(POOL).map_err(cause)?;
    region.words_mut().iter_mut().for_each(|word| *word = random.next_u64());
    Ok(Arc::new(region))
}
