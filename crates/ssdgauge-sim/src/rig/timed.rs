//! Loads whose requests are timed one by one, on the virtual drive.
//!
//! They must never let the drive sleep or work in the background while a command is in flight, and never
//! pass on a reading that a real drive would not give: no ground truth.

use super::VirtualRig;
use super::instruments::{StepClock, end_second};
use super::validation::{MAX_STEP, check_range};
use crate::time::SimTime;
use ssdgauge_core::{
    Access, Bytes, Direction, Lane, LaneLimits, LaneRecord, LanesEnded, Nanos, Random, Request,
    RigError, Sink, TimedLoads, TimedRequest, Timing, Timings,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The maximum number of requests in flight.
const MOST_IN_FLIGHT: u32 = 65_536;
/// A stop is polled after this many requests at the latest.
const POLL_STOP_AFTER: u64 = 65_536;

/// The clock and the stop of a load.
struct Passage<'a> {
    clock: StepClock,
    requests: u64,
    sink: &'a mut dyn Sink,
}

impl VirtualRig {
    fn begin_timed<'a>(&mut self, depth: u64, sink: &'a mut dyn Sink) -> Passage<'a> {
        self.drive.begin_step(depth as usize);
        Passage { clock: StepClock::new(self.now, &self.drive), requests: 0, sink }
    }

    /// Lets the time up to `at` pass; returns false where the load has to stop.
    fn pass(&mut self, at: SimTime, passage: &mut Passage<'_>) -> Result<bool, RigError> {
        let mut stops = false;
        while at > passage.clock.second_end {
            end_second(&mut self.drive, &mut passage.clock, passage.sink);
            stops |= passage.sink.stop();
        }
        passage.requests += 1;
        stops |= passage.requests.is_multiple_of(POLL_STOP_AFTER) && passage.sink.stop();
        self.check_gone(at)?;
        Ok(!stops)
    }

    /// Submits a request at `at`, not before an earlier one; returns when it is completed.
    fn submit_timed(
        &mut self,
        at: SimTime,
        direction: Direction,
        offset: u64,
        bytes: u64,
    ) -> Result<SimTime, RigError> {
        let length = u32::try_from(bytes).unwrap_or(u32::MAX);
        let request = Request { direction, length, offset };
        // Returns at once while a command is in flight.
        self.drive.end_idle(at);
        if self.drive.is_constrained(false) {
            self.drive.constrain(at, false);
        }
        let done = match self.faults.damage(request, at) {
            None if direction == Direction::Flush => self.drive.flush(at),
            None => self.drive.submit(at, request, bytes),
            Some(damage) => self.drive.damage_write(at, request, bytes, damage),
        };
        if self.faults.fails(request, bytes) {
            let what =
                format!("{} of {} at byte {offset}", direction.name(), Bytes(bytes).as_block());
            return Err(RigError::System { what, cause: "injected fault".into() });
        }
        let end = self.faults.delay(done);
        // A stall ends later than the drive has counted.
        self.drive.occupy_until(end);
        Ok(end)
    }

    /// Checks that the target can carry out `requests` with `depth` of them in flight.
    fn check_timed(&self, requests: &[TimedRequest], depth: u32) -> Result<(), RigError> {
        if !(1..=MOST_IN_FLIGHT).contains(&depth) {
            return Err(RigError::Refused(format!("{depth} requests in flight")));
        }
        for request in requests.iter().filter(|one| one.direction != Direction::Flush) {
            let length = Bytes(u64::from(request.length));
            check_range(&self.info, Bytes(request.offset), length, length)?;
            if !request.direction.is_transfer() {
                let what = "a timed request must be a read, write or flush";
                return Err(RigError::Refused(what.into()));
            }
        }
        if requests.iter().any(|request| request.due > MAX_STEP) {
            let limit = MAX_STEP.0 / 1_000_000_000;
            return Err(RigError::Refused(format!("a request after {limit} s")));
        }
        match requests.is_sorted_by_key(|request| request.due) {
            true => Ok(()),
            false => {
                Err(RigError::Refused("timed requests not in the order of their times".into()))
            }
        }
    }
}

impl TimedLoads for VirtualRig {
    fn send(
        &mut self,
        requests: &[TimedRequest],
        depth: u32,
        sink: &mut dyn Sink,
    ) -> Result<Option<Timings>, RigError> {
        self.check_timed(requests, depth)?;
        let writes = requests.iter().filter(|request| request.direction == Direction::Write);
        let written: u64 = writes.map(|request| u64::from(request.length)).sum();
        if written > 0 {
            self.check_allowed(Bytes(written), sink)?;
        }
        let begin = self.now;
        let mut passage = self.begin_timed(u64::from(depth), sink);
        let mut in_flight = BinaryHeap::new();
        let mut timings = Vec::with_capacity(requests.len());
        let (mut at, mut last) = (begin, begin);
        for request in requests {
            at = at.max(begin + request.due.0);
            if in_flight.len() >= depth as usize
                && let Some(Reverse(end)) = in_flight.pop()
            {
                at = at.max(end);
            }
            if !self.pass(at, &mut passage)? {
                self.now = last.max(at);
                return Ok(None);
            }
            let TimedRequest { direction, offset, length, .. } = *request;
            let end = self.submit_timed(at, direction, offset, u64::from(length))?;
            if direction == Direction::Write {
                self.reached.insert(offset, offset + u64::from(length));
            }
            in_flight.push(Reverse(end));
            last = last.max(end);
            timings.push(Timing { submitted: Nanos(at - begin), completed: Nanos(end - begin) });
        }
        let stops = !self.pass(last, &mut passage)?;
        self.now = last;
        Ok((!stops).then_some(Timings { requests: timings, host_load: 0.0 }))
    }

    fn run_lanes(
        &mut self,
        lanes: &[Lane],
        limits: LaneLimits,
        sink: &mut dyn Sink,
    ) -> Result<Option<LanesEnded>, RigError> {
        let depth: u64 = lanes.iter().map(|lane| u64::from(lane.queue_depth)).sum();
        if depth == 0 || depth > u64::from(MOST_IN_FLIGHT) || limits.time > MAX_STEP {
            return Err(RigError::Refused(format!("lanes with {depth} requests in flight")));
        }
        for lane in lanes {
            check_range(&self.info, lane.offset, lane.span, lane.block_size)?;
            if lane.direction == Direction::Write && lane.data.is_verified() {
                self.reached.insert(lane.offset.0, (lane.offset + lane.span).0);
            }
        }
        if lanes.iter().any(|lane| lane.direction == Direction::Write) {
            self.check_allowed(limits.written, sink)?;
        }
        let begin = self.now;
        // Addresses differ from load to load, since virtual time has passed, and are equal where a
        // run is repeated.
        let number = begin ^ self.seed;
        let mut passage = self.begin_timed(depth, sink);
        let mut states: Vec<LaneState> = (0u64..)
            .zip(lanes)
            .map(|(index, lane)| LaneState::new(lane, Random::new(number, index)))
            .collect();
        // The next submission of each slot, the earliest first; slots of one time in their order.
        let mut next: BinaryHeap<Reverse<(SimTime, usize, u32)>> = BinaryHeap::new();
        for (index, lane) in lanes.iter().enumerate() {
            next.extend((0..lane.queue_depth).map(|slot| Reverse((begin, index, slot))));
        }
        let (mut last, mut written) = (begin, 0);
        while let Some(Reverse((at, index, slot))) = next.pop() {
            let state = &mut states[index];
            let lane = state.lane;
            let writes = lane.direction == Direction::Write;
            let bytes = lane.block_size.0;
            if at - begin >= limits.time.0 || writes && written + bytes > limits.written.0 {
                break;
            }
            let offset = state.next_offset();
            if !self.pass(at, &mut passage)? {
                self.now = last.max(at);
                return Ok(None);
            }
            self.drive.ftl.set_data(lane.data);
            let end = self.submit_timed(at, lane.direction, offset, bytes)?;
            written += if writes { bytes } else { 0 };
            last = last.max(end);
            let state = &mut states[index];
            state.record.add(Nanos(end - begin), limits.bin, bytes);
            if state.record.latencies.len() < lane.latencies {
                state.record.latencies.push((Nanos(at - begin), Nanos(end - at)));
            }
            next.push(Reverse((end + lane.think.0, index, slot)));
        }
        let stops = !self.pass(last, &mut passage)?;
        self.now = last;
        let lanes = states.into_iter().map(|state| state.record).collect();
        Ok((!stops).then_some(LanesEnded { lanes, elapsed: Nanos(last - begin) }))
    }
}

/// A lane that runs.
struct LaneState<'a> {
    lane: &'a Lane,
    random: Random,
    blocks: u64,
    block: u64,
    record: LaneRecord,
}

impl<'a> LaneState<'a> {
    fn new(lane: &'a Lane, random: Random) -> LaneState<'a> {
        let blocks = lane.span.0 / lane.block_size.0;
        LaneState { lane, random, blocks, block: 0, record: LaneRecord::default() }
    }

    fn next_offset(&mut self) -> u64 {
        let block = match self.lane.access {
            Access::Sequential => {
                let block = self.block;
                self.block = (block + 1) % self.blocks;
                block
            }
            Access::Random => self.random.below(self.blocks),
        };
        self.lane.offset.0 + block * self.lane.block_size.0
    }
}
