//! Loads whose requests are timed one by one, by positioned calls: a thread for each request in flight.
//!
//! Threads are simple, and exact as long as the processors are not the limit; the share of their time that a
//! load took is returned with it. This module takes open files, and must never open one for writing.

use crate::positioned::transfer;
use crate::positioned::{FLUSH_LIMIT, Shared, carry_out};
use crate::request_error::RequestError;
use ssdgauge_core::{
    Access, Bytes, Data, Direction, Lane, LaneLimits, LaneRecord, LanesEnded, Nanos, Random,
    RigError, TimedRequest, Timing, Timings,
};
use ssdgauge_os::memory::Region;
use ssdgauge_os::process;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The maximum number of threads of a load.
const MOST_THREADS: u32 = 256;
/// A thread sleeps until so long before its request is due, and spins from then on. Chosen: above the
/// delay with which Linux wakes a thread.
const SPIN: Duration = Duration::from_micros(300);
/// The distance of the words that make each block of written data differ.
const WORDS_PER_BLOCK: usize = 512;
/// The random numbers of the block that is repeated, which no slot has.
const REPEATED: u64 = u64::MAX;

/// Checks that `requests` are flushes, or reads and writes within `size`, in the order of their times.
///
/// # Errors
/// [`RigError::Refused`] where they are not.
pub fn check_requests(requests: &[TimedRequest], depth: u32, size: Bytes) -> Result<(), RigError> {
    let refused = |what: String| Err(RigError::Refused(what));
    if !(1..=MOST_THREADS).contains(&depth) {
        return refused(format!("{depth} timed requests in flight; at most {MOST_THREADS}"));
    }
    for request in requests.iter().filter(|one| one.direction != Direction::Flush) {
        let end = request.offset.checked_add(u64::from(request.length));
        if request.length == 0 || end.is_none_or(|end| end > size.0) {
            return refused(format!(
                "a timed request at byte {} beyond {}",
                request.offset,
                size.about_and_exact()
            ));
        }
        if !request.direction.is_transfer() {
            return refused("a timed request must be a read, write or flush".into());
        }
    }
    match requests.is_sorted_by_key(|request| request.due) {
        true => Ok(()),
        false => refused("timed requests not in the order of their times".into()),
    }
}

/// Checks that `lanes` lie within `size` and have requests in flight.
///
/// # Errors
/// [`RigError::Refused`] where they do not.
pub fn check_lanes(lanes: &[Lane], size: Bytes) -> Result<(), RigError> {
    let depth: u64 = lanes.iter().map(|lane| u64::from(lane.queue_depth)).sum();
    let is_valid = |lane: &Lane| {
        let end = lane.offset.0.checked_add(lane.span.0);
        lane.block_size.0 > 0
            && lane.span >= lane.block_size
            && end.is_some_and(|end| end <= size.0)
            && lane.direction.is_transfer()
    };
    match (1..=u64::from(MOST_THREADS)).contains(&depth) && lanes.iter().all(is_valid) {
        true => Ok(()),
        false => {
            Err(RigError::Refused(format!("lanes that do not fit into {}", size.about_and_exact())))
        }
    }
}

/// Sends `requests` with at most `depth` in flight; `None` where `go_on` ended it.
///
/// # Errors
/// A request failed, or the drive does not respond.
pub fn send(
    file: &Arc<File>,
    requests: &[TimedRequest],
    depth: u32,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Timings>, RequestError> {
    let most = requests.iter().map(|request| request.length as usize).max().unwrap_or(1);
    let list = requests.to_vec();
    let begin = Instant::now();
    let cpu = process::cpu_time();
    let body = move |file: &File, shared: &Shared, slot: u64| -> Result<_, RequestError> {
        let mut buffer = Buffer::new(most, slot, Data::Incompressible)?;
        let mut timings = Vec::new();
        while let Some(index) = shared.next()
            && let Some(request) = list.get(index as usize)
        {
            wait_until(begin + Duration::from(request.due), shared);
            buffer.prepare(request.direction, request.length as usize, index);
            // Nothing comes between the time stamps but the request: preparation does not count as latency.
            let submitted = elapsed(begin);
            buffer.send(file, request.direction, request.offset, request.length as usize)?;
            let completed = elapsed(begin);
            timings.push((index as usize, Timing { submitted, completed }));
            shared.completed(1);
        }
        Ok(timings)
    };
    let threads = u64::from(depth).min(requests.len() as u64).max(1);
    let ended = carry_out(file, threads, FLUSH_LIMIT, &mut |_| go_on(), body)?;
    let Some(parts) = ended.unless_stopped() else { return Ok(None) };
    let mut timings = vec![Timing::default(); requests.len()];
    for (index, timing) in parts.into_iter().flatten() {
        timings[index] = timing;
    }
    let last = timings.iter().map(|timing| timing.completed).max().unwrap_or_default();
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    // One thread cannot use more than one processor, however many there are.
    let available = (last.0 * processors.min(threads)).max(1);
    let host_load = process::cpu_time().saturating_sub(cpu) as f64 / available as f64;
    Ok(Some(Timings { requests: timings, host_load }))
}

/// Runs `lanes` together to the first of `limits`; `None` where `go_on` ended it. Returns the bytes that
/// were written in addition to the record. Random addresses follow from the lane and from `number`: a load that is
/// repeated under one number has the same ones.
///
/// # Errors
/// As [`send`].
pub fn run_lanes(
    file: &Arc<File>,
    lanes: &[Lane],
    limits: LaneLimits,
    number: u64,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<(LanesEnded, Bytes)>, RequestError> {
    let slots: Vec<usize> = lanes
        .iter()
        .enumerate()
        .flat_map(|(index, lane)| std::iter::repeat_n(index, lane.queue_depth as usize))
        .collect();
    let threads = slots.len() as u64;
    let all = lanes.to_vec();
    // One counter for all slots of a lane: together they go through its span in ascending order.
    let blocks: Vec<AtomicU64> = lanes.iter().map(|_| AtomicU64::new(0)).collect();
    let written = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&written);
    let begin = Instant::now();
    let body = move |file: &File, shared: &Shared, slot: u64| -> Result<_, RequestError> {
        let index = slots[slot as usize];
        let lane = &all[index];
        let length = lane.block_size.0 as usize;
        let in_span = lane.span.0 / lane.block_size.0;
        let mut buffer = Buffer::new(length, slot, lane.data)?;
        let mut random = Random::new(lane_seed(lane, number), slot);
        let mut record = LaneRecord::default();
        let most = lane.latencies.div_ceil(lane.queue_depth as usize);
        while !shared.stops() && elapsed(begin) < limits.time {
            if lane.direction == Direction::Write {
                let before = counted.fetch_add(lane.block_size.0, Ordering::Relaxed);
                if before + lane.block_size.0 > limits.written.0 {
                    // Claimed before it is sent, and given back: threads side by side never exceed
                    // the limit together.
                    counted.fetch_sub(lane.block_size.0, Ordering::Relaxed);
                    shared.stop();
                    break;
                }
            }
            let count = blocks[index].fetch_add(1, Ordering::Relaxed);
            let block = match lane.access {
                Access::Sequential => count % in_span,
                Access::Random => random.below(in_span),
            };
            let offset = lane.offset.0 + block * lane.block_size.0;
            buffer.prepare(lane.direction, length, count);
            let submitted = elapsed(begin);
            buffer.send(file, lane.direction, offset, length)?;
            let completed = elapsed(begin);
            record.add(completed, limits.bin, lane.block_size.0);
            if record.latencies.len() < most {
                record.latencies.push((submitted, completed.saturating_sub(submitted)));
            }
            shared.completed(1);
            if lane.think > Nanos::ZERO {
                wait_until(Instant::now() + Duration::from(lane.think), shared);
            }
        }
        Ok((index, record, elapsed(begin)))
    };
    let ended = carry_out(file, threads, FLUSH_LIMIT, &mut |_| go_on(), body)?;
    let Some(parts) = ended.unless_stopped() else { return Ok(None) };
    let mut ended =
        LanesEnded { lanes: vec![LaneRecord::default(); lanes.len()], ..LanesEnded::default() };
    for (index, record, end) in parts {
        ended.lanes[index].merge(record, lanes[index].latencies);
        ended.elapsed = ended.elapsed.max(end);
    }
    Ok(Some((ended, Bytes(written.load(Ordering::Relaxed)))))
}

/// Memory for one request, with data that is prepared before the first one.
struct Buffer {
    region: Region,
    /// Whether the blocks of each write differ from those of every other one.
    differs: bool,
}

impl Buffer {
    fn new(length: usize, slot: u64, data: Data) -> Result<Buffer, RequestError> {
        let mut region = transfer::buffer(length.next_multiple_of(8))?;
        let mut random = Random::new(slot, 0x71_3d);
        for block in region.words_mut().chunks_mut(WORDS_PER_BLOCK) {
            let filled = match data {
                Data::Incompressible => block.len(),
                Data::Zeros => 0,
                Data::Half => block.len() / 2,
                Data::Repeated => {
                    random = Random::new(REPEATED, 0x71_3d);
                    block.len()
                }
            };
            let (filled, zeros) = block.split_at_mut(filled);
            filled.iter_mut().for_each(|word| *word = random.next_u64());
            zeros.fill(0);
        }
        let differs = match data {
            Data::Incompressible | Data::Half => true,
            Data::Zeros | Data::Repeated => false,
        };
        Ok(Buffer { region, differs })
    }

    /// Makes the blocks of a write differ from every earlier one, where they have to.
    fn prepare(&mut self, direction: Direction, length: usize, number: u64) {
        if direction == Direction::Write && self.differs {
            let words = &mut self.region.words_mut()[..length / 8];
            words.iter_mut().step_by(WORDS_PER_BLOCK).for_each(|word| {
                // An odd factor maps words one to one, so that blocks that differ stay different.
                *word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number | 1);
            });
        }
    }

    /// Sends a request of `length` bytes at `offset`, and waits for it.
    #[inline]
    fn send(
        &self,
        file: &File,
        direction: Direction,
        offset: u64,
        length: usize,
    ) -> Result<(), RequestError> {
        match direction {
            Direction::Read => transfer::read(file, &self.region, length, offset),
            // Neither requests nor lanes are trims (`check_requests`, `check_lanes`).
            Direction::Write | Direction::Trim => {
                transfer::write(file, &self.region, length, offset)
            }
            Direction::Flush => transfer::flush(file),
        }
    }
}

fn lane_seed(lane: &Lane, number: u64) -> u64 {
    lane.offset.0 ^ lane.span.0.rotate_left(32) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn elapsed(begin: Instant) -> Nanos {
    Nanos(begin.elapsed().as_nanos() as u64)
}

/// Sleeps and then spins until `at`.
fn wait_until(at: Instant, shared: &Shared) {
    loop {
        let left = at.saturating_duration_since(Instant::now());
        if left.is_zero() || shared.stops() {
            return;
        }
        match left.checked_sub(SPIN) {
            Some(rest) => std::thread::sleep(rest.min(Duration::from_millis(50))),
            None => std::hint::spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests;
