//! The load: requests in flight, their latencies, one interval per second.
//!
//! A closed loop sends a request for each one that completed, an open loop sends each at its due
//! time. It must never send a request at or after the time limit, and never lose one.

use crate::drive::Drive;
use crate::flash::Moment;
use crate::rig::fault_injection::Faults;
use ssdgauge_core::{
    Direction, Engine, Histogram, Interval, Nanos, OpenLoop, OpenLoopCount, Random, Recorder,
    Request, RequestSource, Schedule, Workload,
};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Requests that are dealt ahead of their turn, so that their map entries are loaded together.
const AHEAD: usize = 256;
/// The low bits of a key in flight hold the slot; the moment lies above them.
const SLOT_BITS: u32 = 16;

/// The most requests in flight.
pub(crate) const MOST_IN_FLIGHT: u64 = 1 << SLOT_BITS;
/// The longest step, so that a moment and a slot fit into 64 bits: 78 hours.
pub(crate) const LONGEST_STEP: Nanos = Nanos(1 << (64 - SLOT_BITS));

/// Returns the seed of the requests of one stream in one step of a rig's life.
pub(crate) fn stream_seed(seed: u64, run: u64, stream: u16) -> u64 {
    Random::new(seed, run << 16 | u64::from(stream)).next_u64()
}

/// Deals the requests of one thread, some of them ahead.
struct Lane {
    source: RequestSource,
    stream: u16,
    bytes: u64,
    ahead: [Request; AHEAD],
    next: usize,
    schedule: Option<Schedule>,
}

impl Lane {
    #[inline]
    fn deal(&mut self, drive: &mut Drive) -> Request {
        if self.next == AHEAD {
            self.refill(drive);
        }
        self.next += 1;
        self.ahead[self.next - 1]
    }

    fn refill(&mut self, drive: &mut Drive) {
        self.next = 0;
        self.ahead.fill_with(|| self.source.deal());
        self.ahead.iter().for_each(|request| drive.touch(request.offset));
    }
}

/// A request in flight.
#[derive(Clone, Copy)]
struct InFlight {
    lane: u32,
    /// From when its latency counts: the moment of sending, or the due time of an open loop.
    due: Moment,
    sent: Moment,
    direction: Direction,
    failed: bool,
}

impl InFlight {
    fn of(lane: u32) -> InFlight {
        InFlight { lane, due: 0, sent: 0, direction: Direction::Read, failed: false }
    }
}

/// A completion of the loop.
pub(crate) struct Completion {
    /// When, from the start of the step.
    pub(crate) at: Moment,
    slot: usize,
}

/// All requests in flight and what was recorded in the second at work.
pub(crate) struct Load {
    lanes: Vec<Lane>,
    slots: Vec<InFlight>,
    /// Slots of open loops that are free.
    spare: Vec<usize>,
    /// The lanes of open loops.
    open: Vec<usize>,
    /// The next request of an open loop: when it is due, and its lane.
    next_due: Option<(Moment, usize)>,
    counts: Vec<OpenLoopCount>,
    flight: Flight,
    begin: Moment,
    /// The last completion that was recorded.
    last: Moment,
    seconds: Vec<Recorded>,
    /// Bytes of all requests sent.
    pub(crate) sent_bytes: u64,
    /// Requests completed.
    pub(crate) completed: u64,
    /// Requests that failed.
    pub(crate) failed: u64,
}

/// What was recorded of one stream and direction in the second at work.
struct Recorded {
    stream: u16,
    direction: Direction,
    bytes_each: u64,
    /// The stream has no request of the direction.
    silent: bool,
    latency: Recorder,
    errors: u64,
}

impl Load {
    /// Returns the load of `workload` from `begin` on; nothing is sent yet.
    pub(crate) fn new(workload: &Workload, begin: Moment, seed: u64, run: u64) -> Load {
        let mut lanes: Vec<Lane> = Vec::new();
        let mut slots = Vec::new();
        let mut open = Vec::new();
        for (number, stream) in workload.streams.iter().enumerate() {
            let seed = stream_seed(seed, run, number as u16);
            let depth = match workload.engine {
                Engine::IoUring => stream.queue_depth,
                Engine::Synchronous => 1,
            };
            for thread in 0..stream.threads {
                let lane = lanes.len() as u32;
                let idle = Request { direction: Direction::Read, offset: 0 };
                lanes.push(Lane {
                    source: RequestSource::new(stream, thread, seed),
                    stream: number as u16,
                    bytes: stream.block_size.0,
                    ahead: [idle; AHEAD],
                    next: AHEAD,
                    schedule: Schedule::new(stream, thread, seed),
                });
                match stream.arrival.per_second() {
                    Some(_) => open.push(lane as usize),
                    None => slots.extend((0..depth).map(|_| InFlight::of(lane))),
                }
            }
        }
        let recorded = |(number, direction): (usize, Direction)| {
            let stream = &workload.streams[number];
            Recorded {
                stream: number as u16,
                direction,
                bytes_each: stream.block_size.0,
                silent: match direction {
                    Direction::Read => !stream.reads(),
                    Direction::Write => !stream.writes(),
                },
                latency: Recorder::default(),
                errors: 0,
            }
        };
        let pairs = (0..workload.streams.len())
            .flat_map(|number| Direction::BOTH.map(|direction| (number, direction)));
        let mut load = Load {
            lanes,
            slots,
            spare: Vec::new(),
            open,
            next_due: None,
            counts: vec![OpenLoopCount::default(); workload.streams.len()],
            flight: Flight::default(),
            begin,
            last: 0,
            seconds: pairs.map(recorded).collect(),
            sent_bytes: 0,
            completed: 0,
            failed: 0,
        };
        load.find_next_due();
        load
    }

    /// Returns whether any stream has a rate of its own.
    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    fn find_next_due(&mut self) {
        let due = |lane: &usize| Some((self.lanes[*lane].schedule.as_ref()?.due(), *lane));
        self.next_due = self.open.iter().filter_map(due).min();
    }

    /// Sends what open loops have due before the next completion and before `limit`, up to
    /// `bytes` in all.
    pub(crate) fn send_due(
        &mut self,
        drive: &mut Drive,
        faults: &Faults,
        limit: Moment,
        bytes: u64,
    ) {
        while let Some((due, lane)) = self.next_due {
            let later = self.flight.first().is_some_and(|key| key >> SLOT_BITS < due);
            if later || due >= limit || self.sent_bytes >= bytes {
                return;
            }
            let Some(slot) = self.free_slot(lane) else { return };
            // A request that had to wait for a slot is sent when one becomes free.
            let at = due.max(self.last);
            self.send(slot, at, drive, faults);
            self.slots[slot].due = due;
            let lane = &mut self.lanes[lane];
            self.counts[usize::from(lane.stream)].sent += 1;
            self.counts[usize::from(lane.stream)].lateness.record(0);
            if let Some(schedule) = &mut lane.schedule {
                schedule.advance();
            }
            self.find_next_due();
        }
    }

    fn free_slot(&mut self, lane: usize) -> Option<usize> {
        if let Some(slot) = self.spare.pop() {
            self.slots[slot] = InFlight::of(lane as u32);
            return Some(slot);
        }
        let room = (self.slots.len() as u64) < MOST_IN_FLIGHT;
        room.then(|| {
            self.slots.push(InFlight::of(lane as u32));
            self.slots.len() - 1
        })
    }

    /// Returns the figures of every open-loop stream, with what was due before `limit` and never
    /// sent.
    pub(crate) fn open_loops(
        &mut self,
        workload: &Workload,
        elapsed: Nanos,
        limit: Moment,
    ) -> Vec<OpenLoop> {
        for lane in &mut self.lanes {
            let Some(schedule) = &mut lane.schedule else { continue };
            let count = &mut self.counts[usize::from(lane.stream)];
            count.slots = MOST_IN_FLIGHT as u32;
            while schedule.due() < limit {
                count.unsent += 1;
                schedule.advance();
            }
        }
        let pairs = workload.streams.iter().zip(&self.counts);
        let open = pairs.filter(|(stream, _)| stream.arrival.per_second().is_some());
        open.map(|(stream, count)| OpenLoop::of(stream, elapsed, count)).collect()
    }

    /// Returns how many requests are kept in flight.
    pub(crate) fn depth(&self) -> usize {
        self.slots.len()
    }

    /// Sends the first request of every slot, up to `bytes` in all.
    pub(crate) fn begin(&mut self, drive: &mut Drive, faults: &Faults, bytes: u64) {
        for slot in 0..self.slots.len() {
            if self.sent_bytes < bytes {
                self.send(slot, 0, drive, faults);
            }
        }
    }

    /// Returns the next completion, in the order of time.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Completion> {
        self.flight.pop().map(|key| Completion {
            at: key >> SLOT_BITS,
            slot: (key & (MOST_IN_FLIGHT - 1)) as usize,
        })
    }

    /// Records a completion in the second at work; returns its latency.
    #[inline]
    pub(crate) fn record(&mut self, completion: &Completion) -> Nanos {
        let request = self.slots[completion.slot];
        let stream = self.lanes[request.lane as usize].stream;
        let recorded = &mut self.seconds[usize::from(stream) * 2 + request.direction as usize];
        self.completed += 1;
        self.last = completion.at;
        let latency = completion.at - request.due;
        if request.failed {
            recorded.errors += 1;
            self.failed += 1;
        } else {
            recorded.latency.record(latency);
        }
        if self.lanes[request.lane as usize].schedule.is_some() {
            self.counts[usize::from(stream)].service.record(completion.at - request.sent);
            self.spare.push(completion.slot);
        }
        Nanos(latency)
    }

    /// Records every request in flight as failed at `at`, and forgets it.
    pub(crate) fn fail_all(&mut self, first: &Completion) {
        let mut next = Some(Completion { at: first.at, slot: first.slot });
        while let Some(completion) = next {
            self.slots[completion.slot].failed = true;
            self.record(&completion);
            next = self.next();
        }
    }

    /// Sends the next request of the slot of `completion`, at its moment.
    #[inline]
    pub(crate) fn send_next(
        &mut self,
        completion: &Completion,
        drive: &mut Drive,
        faults: &Faults,
    ) {
        let lane = self.slots[completion.slot].lane as usize;
        if self.lanes[lane].schedule.is_none() {
            self.send(completion.slot, completion.at, drive, faults);
        }
    }

    #[inline]
    fn send(&mut self, slot: usize, at: Moment, drive: &mut Drive, faults: &Faults) {
        let in_flight = &mut self.slots[slot];
        let lane = &mut self.lanes[in_flight.lane as usize];
        let request = lane.deal(drive);
        let now = self.begin + at;
        let end = faults.delay(drive.submit(now, request, lane.bytes));
        assert!(end > now || lane.bytes == 0, "nothing completes before it was submitted");
        (in_flight.due, in_flight.sent) = (at, at);
        in_flight.direction = request.direction;
        in_flight.failed = faults.fails(request, lane.bytes);
        self.sent_bytes += lane.bytes;
        self.flight.push((end - self.begin) << SLOT_BITS | slot as u64);
    }

    /// Hands out the second at work and begins the next.
    pub(crate) fn take_second(&mut self, second: u32, length: Nanos, mut to: impl FnMut(Interval)) {
        for recorded in self.seconds.iter_mut().filter(|recorded| !recorded.silent) {
            let mut latency = Histogram::default();
            recorded.latency.drain_into(&mut latency);
            let ios = latency.count();
            to(Interval {
                second,
                stream: recorded.stream,
                direction: recorded.direction,
                length,
                ios,
                bytes: ios * recorded.bytes_each,
                errors: std::mem::take(&mut recorded.errors),
                latency,
            });
        }
    }
}

/// Keys of requests in flight, the smallest first.
///
/// Completions mostly come in the order of submission: those wait in a plain queue, only the
/// others need a heap.
#[derive(Default)]
struct Flight {
    in_order: VecDeque<u64>,
    others: BinaryHeap<Reverse<u64>>,
}

impl Flight {
    #[inline]
    fn push(&mut self, key: u64) {
        match self.in_order.back() {
            Some(last) if *last > key => self.others.push(Reverse(key)),
            Some(_) | None => self.in_order.push_back(key),
        }
    }

    /// Returns the smallest key.
    #[inline]
    fn first(&self) -> Option<u64> {
        let other = self.others.peek().map(|Reverse(other)| *other);
        self.in_order.front().copied().into_iter().chain(other).min()
    }

    #[inline]
    fn pop(&mut self) -> Option<u64> {
        match (self.in_order.front(), self.others.peek()) {
            (Some(first), Some(Reverse(other))) if other < first => {
                self.others.pop().map(|Reverse(key)| key)
            }
            (Some(_), _) => self.in_order.pop_front(),
            (None, _) => self.others.pop().map(|Reverse(key)| key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_in_order_whatever_the_order_they_came_in() {
        let mut random = Random::new(3, 0);
        let mut flight = Flight::default();
        let mut last = 0;
        for _ in 0..64 {
            flight.push(random.below(1_000));
        }
        for _ in 0..100_000 {
            let key = flight.pop().unwrap();
            assert!(key >= last);
            last = key;
            // As completions do, each new key lies behind the one that it follows.
            flight.push(key + random.below(5_000));
        }
        let rest: Vec<u64> = std::iter::from_fn(|| flight.pop()).collect();
        assert_eq!(rest.len(), 64);
        assert!(rest.is_sorted() && rest[0] >= last);
    }
}
