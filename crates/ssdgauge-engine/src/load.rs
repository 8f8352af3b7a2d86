//! The load given to an engine, its limits, and the assignment of each I/O thread.

pub(crate) mod namespace;
pub(crate) mod pace;
pub(crate) mod pauses;
pub(crate) mod request_log;
pub(crate) mod ring_flags;

use crate::load::namespace::Namespace;
use crate::load::pace::Pace;
use crate::load::pauses::Pauses;
use crate::load::request_log::Log;
use crate::load::ring_flags::RingFlags;
use crate::pool::Pool;
use crate::verification::{Expected, Verification, WriteBuffer};
use ssdgauge_core::{Bytes, LatencyClock, Operation, RequestSource, Schedule, Until, Workload};
use ssdgauge_os::clock::Clock;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// The target of the requests.
#[derive(Clone, Debug)]
pub enum Device {
    /// A file or block device, opened by the caller.
    File(Arc<File>),
    /// No target: NOP requests, to measure the maximum rate of the engine.
    Null,
}

impl Device {
    /// Returns whether it is a block device.
    pub(crate) fn is_block(&self) -> bool {
        match self {
            Device::File(file) => {
                file.metadata().is_ok_and(|metadata| metadata.file_type().is_block_device())
            }
            Device::Null => false,
        }
    }

    /// Returns the descriptor to which a ring sends requests; `None` where it sends NOP requests.
    pub(crate) fn descriptor(&self) -> Option<i32> {
        match self {
            Device::File(file) => Some(file.as_raw_fd()),
            Device::Null => None,
        }
    }
}

/// A load: a workload, its target and its limits.
#[derive(Debug)]
pub struct Load<'a> {
    /// The target of the requests.
    pub device: &'a Device,
    /// The streams of requests.
    pub workload: &'a Workload,
    /// The limits that end it.
    pub until: &'a Until,
    /// The seed of the random order.
    pub seed: u64,
    /// Whether random offsets form a permutation that visits every block once.
    pub covering: bool,
    /// The random data for writes.
    pub pool: &'a Pool,
    /// What this run has written, to verify reads.
    pub verification: &'a Verification,
    /// How rings are set up.
    pub ring_flags: RingFlags,
    /// The namespace that gets the requests as commands, where they fit into one each; the others take
    /// the device.
    pub pass_through: Option<&'a Namespace>,
    /// Set by the program to stop the whole run.
    pub stop_requested: &'a Arc<AtomicBool>,
    /// The log of single requests, if one is kept.
    pub log: Option<&'a mut Log>,
}

/// The number of faults after which a thread ends: further load would damage a failing drive and
/// prove nothing more.
pub(crate) const MAX_FAULTS: u64 = 100;

/// The flag that tells the I/O threads to stop; read in every iteration, written at most twice.
///
/// A stop of the whole run is read from its own flag, without the control thread, which may be
/// waiting for the run file.
#[derive(Debug)]
pub(crate) struct StopSignal {
    state: AtomicU8,
    run_stop_requested: Arc<AtomicBool>,
}

impl StopSignal {
    const STOP: u8 = 1;
    const ABANDON: u8 = 2;

    pub(crate) fn new(run_stop_requested: &Arc<AtomicBool>) -> StopSignal {
        StopSignal { state: AtomicU8::new(0), run_stop_requested: run_stop_requested.clone() }
    }

    /// Returns whether a stop of the whole run was requested.
    pub(crate) fn is_run_stop_requested(&self) -> bool {
        self.run_stop_requested.load(Ordering::Relaxed)
    }

    /// Requests that the threads send nothing more and wait for what is in flight.
    pub(crate) fn stop(&self) {
        // The larger state stays: a late stop does not recall that the drive was abandoned.
        self.state.fetch_max(Self::STOP, Ordering::Relaxed);
    }

    /// Requests that the threads end without waiting for what is in flight: the drive hangs.
    pub(crate) fn abandon(&self) {
        self.state.fetch_max(Self::ABANDON, Ordering::Relaxed);
    }

    // Relaxed loads: the flag guards no data, and a thread may send one more request.
    #[inline]
    pub(crate) fn is_stopping(&self) -> bool {
        self.state.load(Ordering::Relaxed) >= Self::STOP || self.is_run_stop_requested()
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.state.load(Ordering::Relaxed) >= Self::ABANDON
    }
}

/// The bytes that the threads of all streams may still transfer, where a byte limit applies.
#[derive(Debug)]
pub(crate) struct RequestBudget {
    bytes: AtomicU64,
    /// The maximum number of requests that a thread claims at once.
    portion: u64,
    /// The minimum bytes of a request; where fewer are left, flushes end too.
    least: u64,
}

impl RequestBudget {
    /// Returns the budget of `workload` up to `bytes`, in whole requests.
    ///
    /// A thread of a single stream claims 64 requests at once, so that its loop does not touch the
    /// shared counter. Where several streams share the bytes, one that is slow must not hold back
    /// requests that others would have sent long ago.
    pub(crate) fn new(workload: &Workload, bytes: Bytes) -> RequestBudget {
        let portion = if workload.streams.len() == 1 { 64 } else { 1 };
        let whole = match workload.has_sizes() {
            // The request that reaches the limit is sent in full.
            true => bytes,
            false => workload.whole_requests(bytes),
        };
        let addressed = workload.streams.iter().filter(|stream| stream.addresses());
        let least = addressed.map(|stream| stream.smallest_size().0).min().unwrap_or(0);
        RequestBudget { bytes: AtomicU64::new(whole.0), portion, least }
    }

    /// Claims one request of `length`, where any bytes are left; returns 0 if none are.
    fn claim_one(&self, length: u32) -> u64 {
        let take = |left: u64| (left > 0).then(|| left.saturating_sub(u64::from(length)));
        u64::from(self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok())
    }

    /// Claims requests of `block_size`, 0 for those that move nothing; returns 0 if none is left. The
    /// rest of a large request is left to streams with smaller ones.
    fn claim(&self, block_size: u64) -> u64 {
        if block_size == 0 {
            return u64::from(self.bytes.load(Ordering::Relaxed) >= self.least);
        }
        let requests = |left: u64| (left / block_size).min(self.portion);
        let take = |left: u64| (requests(left) > 0).then(|| left - requests(left) * block_size);
        match self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(before) => requests(before),
            Err(_) => 0,
        }
    }
}

/// The share of one thread in a request budget.
#[derive(Debug)]
pub(crate) struct Allowance {
    budget: Option<Arc<RequestBudget>>,
    /// The length of each request; `None` where they differ.
    block_size: Option<u64>,
    left: u64,
}

impl Allowance {
    /// Returns a share of `budget` in requests of `block_size` bytes, `None` where they differ; without
    /// a budget it is unlimited.
    pub(crate) fn new(budget: Option<Arc<RequestBudget>>, block_size: Option<u64>) -> Allowance {
        // Without a budget it counts down as well, which spares the loop a branch: 2^64 requests
        // take longer than any run.
        let left = if budget.is_some() { 0 } else { u64::MAX };
        Allowance { budget, block_size, left }
    }

    /// Takes the next request of `source`; returns whether it may be sent.
    #[inline]
    pub(crate) fn take(&mut self, source: &RequestSource) -> bool {
        if self.left == 0 {
            self.left = self.budget.as_ref().map_or(0, |budget| match self.block_size {
                Some(block_size) => budget.claim(block_size),
                None => budget.claim_one(source.next_length()),
            });
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

/// Everything that one I/O thread needs; made before the clock starts.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) device: Device,
    pub(crate) clock: Clock,
    pub(crate) source: RequestSource,
    /// The length of each request in bytes, or of the largest.
    pub(crate) block_size: usize,
    /// Whether the requests have several lengths.
    pub(crate) has_sizes: bool,
    /// The end of the span, in bytes of the target: no request may exceed it.
    pub(crate) span_end: u64,
    /// The maximum number of requests in flight.
    pub(crate) depth: usize,
    /// The slots that need a buffer for reads: all of them, or none.
    pub(crate) read_slots: usize,
    pub(crate) sequential: bool,
    /// The data to write, if the stream writes.
    pub(crate) write_buffer: Option<WriteBuffer>,
    /// What reads must find, where this run has written it.
    pub(crate) expected: Option<Expected>,
    pub(crate) ring_flags: RingFlags,
    /// The namespace that gets the requests, in place of the device.
    pub(crate) namespace: Option<Namespace>,
    pub(crate) stop_signal: Arc<StopSignal>,
    pub(crate) budget: Option<Arc<RequestBudget>>,
    /// The start of the workload, in ticks.
    pub(crate) start: u64,
    /// The end of its time limit, in ticks; `u64::MAX` without one.
    pub(crate) deadline: u64,
    /// The processor to run on.
    pub(crate) processor: Option<usize>,
    /// The due times of an open loop, and its requests per second.
    pub(crate) schedule: Option<(Schedule, f64)>,
    /// The start of the latencies of an open loop.
    pub(crate) latency_clock: LatencyClock,
    /// Whether writes must reach stable storage before they complete.
    pub(crate) sync: bool,
    /// Whether a flush follows every so many writes.
    pub(crate) commits: bool,
    /// The pauses of a closed loop.
    pub(crate) pauses: Option<Pauses>,
    /// The kind of the requests.
    pub(crate) operation: Operation,
    /// Whether the target is a block device, which has discards; a file has holes.
    pub(crate) is_block: bool,
}

impl Assignment {
    /// Returns the pace of an open loop, once the clock has started.
    pub(crate) fn pace(&self) -> Option<Pace> {
        let (schedule, rate) = self.schedule.clone()?;
        Some(Pace::new(schedule, rate, self.clock, self.start))
    }

    /// Returns the share of the thread in the byte limit of the load.
    pub(crate) fn allowance(&self) -> Allowance {
        let each = match (self.operation, self.has_sizes) {
            (Operation::Flush, _) => Some(0),
            (Operation::Transfer | Operation::Trim, false) => Some(self.block_size as u64),
            (Operation::Transfer | Operation::Trim, true) => None,
        };
        Allowance::new(self.budget.clone(), each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::{BlockSizes, Engine, SizeShare, Stream};

    fn stream(sizes: &[(u64, u8)]) -> Stream {
        let share = |&(size, percent): &(u64, u8)| SizeShare { size: Bytes(size), percent };
        let sizes = BlockSizes(sizes.iter().map(share).collect());
        let block_size = sizes.largest().unwrap();
        let sizes = if sizes.0.len() == 1 { BlockSizes::default() } else { sizes };
        Stream { block_size, sizes, span: Bytes(1 << 30), ..Stream::default() }
    }

    /// Returns an allowance and the requests for each stream of `workload`, which may transfer `bytes`.
    fn allowances(workload: &Workload, bytes: u64) -> Vec<(Allowance, RequestSource)> {
        let budget = Arc::new(RequestBudget::new(workload, Bytes(bytes)));
        let streams = workload.streams.iter().map(|stream| {
            let each = (!stream.has_sizes()).then_some(stream.block_size.0);
            (Allowance::new(Some(budget.clone()), each), RequestSource::new(stream, 0, 1))
        });
        streams.collect()
    }

    /// Takes the next request; returns its length, or 0 where none is left.
    fn take((allowance, source): &mut (Allowance, RequestSource)) -> u64 {
        match allowance.take(source) {
            true => u64::from(source.deal().length),
            false => 0,
        }
    }

    #[test]
    fn a_byte_limit_of_one_stream_allows_whole_requests() {
        let workload = Workload { engine: Engine::IoUring, streams: vec![stream(&[(4_096, 100)])] };
        let [only] = &mut allowances(&workload, 1_000_001)[..] else { panic!() };
        assert_eq!((0..).take_while(|_| take(only) > 0).count(), 245);
    }

    #[test]
    fn several_streams_share_a_byte_limit_and_none_exceeds_it() {
        const LIMIT: u64 = 10 << 20;
        let streams = vec![stream(&[(128 << 10, 100)]), stream(&[(4 << 10, 100)])];
        let workload = Workload { engine: Engine::IoUring, streams };
        for large_ones in [1, 3, 64] {
            let [large, small] = &mut allowances(&workload, LIMIT)[..] else { panic!() };
            let mut sent = 0;
            loop {
                let before = sent;
                sent += (0..large_ones).map(|_| take(large)).sum::<u64>();
                sent += take(small);
                if sent == before {
                    break;
                }
            }
            assert_eq!(sent, LIMIT, "{large_ones} large requests for each small one");
        }
    }

    #[test]
    fn a_byte_limit_of_several_sizes_ends_with_the_request_that_reaches_it() {
        let mixed = stream(&[(4_096, 60), (16_384, 30), (131_072, 10)]);
        for streams in [vec![mixed.clone()], vec![mixed.clone(), mixed]] {
            for limit in [1, 4_096, 1_000_000, 10 << 20] {
                let workload = Workload { engine: Engine::IoUring, streams: streams.clone() };
                let mut all = allowances(&workload, limit);
                let mut lengths: Vec<u64> = Vec::new();
                loop {
                    let before = lengths.len();
                    lengths.extend(all.iter_mut().map(take).filter(|length| *length > 0));
                    if lengths.len() == before {
                        break;
                    }
                }
                let sent: u64 = lengths.iter().sum();
                assert!(sent >= limit && sent - lengths[lengths.len() - 1] < limit, "{sent}");
                assert!(sent <= workload.whole_requests(Bytes(limit)).0, "the bound holds");
            }
        }
    }
}
