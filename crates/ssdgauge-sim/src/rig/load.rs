//! The load: requests in flight, their latencies, and one interval per second.
//!
//! A closed loop submits a request for each one that completes; an open loop submits each at its due
//! time. The load must never submit a request at or after the time limit, and never lose one.

mod host_side;
mod kind;

pub(crate) use host_side::HostSide;

use crate::drive::Drive;
use crate::ftl::UNMAPPED;
use crate::profile::PAGE;
use crate::rig::commits::Commits;
use crate::rig::completion_queue::{Completion, CompletionQueue};
use crate::rig::fault_injection::InjectedFaults;
use crate::rig::request_log::LoadLog;
use crate::time::SimTime;
use ssdgauge_core::{
    Data, Direction, Engine, Histogram, Interval, KernelQueue, LatencyClock, MAX_SLOT_MEMORY,
    Nanos, OpenLoopCount, Random, Recorder, Request, RequestSource, Schedule, Sink, Stream,
    Workload, open_loop_slots,
};

/// Requests that are generated ahead of their submission, so that the cache misses of their map
/// entries overlap. From 64 to 1,024 of them are equally fast.
const AHEAD: usize = 256;

/// Returns the seed of the requests of stream number `stream` in the step with number `run`.
pub(crate) fn stream_seed(seed: u64, run: u64, stream: u16) -> u64 {
    Random::new(seed, run << 16 | u64::from(stream)).next_u64()
}

/// A thread of a stream, which generates its requests ahead.
pub(super) struct Thread {
    source: RequestSource,
    pub(super) stream: u16,
    /// Whether a write completes only when it is durable.
    sync: bool,
    data: Data,
    ahead: [Request; AHEAD],
    next: usize,
    pub(super) schedule: Option<Schedule>,
    pub(super) clock: LatencyClock,
    /// The requests that it may still have in flight; open loops only.
    pub(super) free_slots: u32,
    /// The flushes between its writes; `None` where there are none.
    pub(super) commits: Option<Box<Commits>>,
}

impl Thread {
    #[inline]
    fn next_request(&mut self, drive: &Drive) -> Request {
        if self.next >= AHEAD {
            self.refill(drive);
        }
        let request = self.ahead[self.next];
        self.next += 1;
        request
    }

    // Not inlined: it would take registers from the loop over requests.
    #[inline(never)]
    fn refill(&mut self, drive: &Drive) {
        self.next = 0;
        self.ahead.fill_with(|| self.source.deal());
        let entries = drive.ftl.entries();
        // A loop of its own, of few instructions: the more loads the processor has in its window, the
        // more cache misses overlap. Where a request addresses no block, the first entry is loaded.
        let loaded = self.ahead.iter().fold(UNMAPPED, |sum, request| {
            sum ^ entries.get((request.offset / PAGE) as usize).copied().unwrap_or(UNMAPPED)
        });
        // Used, so that the loads are not optimised away.
        std::hint::black_box(loaded);
    }
}

/// A request in flight.
#[derive(Clone, Copy)]
pub(super) struct InFlight {
    pub(super) thread: u32,
    /// When its latency begins: the submission, or the due time of an open loop.
    pub(super) due: SimTime,
    pub(super) submitted: SimTime,
    pub(super) direction: Direction,
    pub(super) failed: bool,
    /// Whether the slot waits for the end of a pause.
    pub(super) is_pause: bool,
}

impl InFlight {
    pub(super) fn for_thread(thread: u32) -> InFlight {
        let (direction, failed, is_pause) = (Direction::Read, false, false);
        InFlight { thread, due: 0, submitted: 0, direction, failed, is_pause }
    }
}

/// All requests in flight, and the records of the current second.
pub(crate) struct Load {
    pub(super) threads: Vec<Thread>,
    pub(super) slots: Vec<InFlight>,
    /// Free slots of open loops.
    pub(super) free_slots: Vec<usize>,
    /// Whether a request waited because all streams together had `MAX_IN_FLIGHT` in flight.
    pub(super) is_full: bool,
    /// Whether a request of an open loop was submitted more than `MAX_LAG` after its due time. Where latency
    /// counts from the submission, no latency states it.
    pub(super) has_fallen_behind: bool,
    /// The threads of open loops.
    pub(super) open_loops: Vec<usize>,
    /// The next request of the open loops that have a free slot: when it is due, and its thread.
    pub(super) next_due: Option<(SimTime, usize)>,
    pub(super) counts: Vec<OpenLoopCount>,
    pub(super) queue: CompletionQueue,
    /// Whether the drive has to constrain each request, as of the start of the step.
    is_constrained: bool,
    /// Whether the drive has to be told what each request writes.
    tells_data: bool,
    /// Whether flushes follow the writes of any thread, or it pauses.
    pub(super) has_commits: bool,
    /// Whether any thread of a closed loop pauses.
    pub(crate) has_pauses: bool,
    /// Whether requests in flight are noted: their sizes differ, or a thread pauses.
    is_noted: bool,
    /// The length of the request in each slot, where they are noted.
    lengths: Vec<u32>,
    /// The requests in flight, where they are noted.
    pub(super) busy: u64,
    /// Threads and queues of the host, where the drive has figures for them.
    pub(crate) host: Option<Box<HostSide>>,
    /// The maximum number of bytes to submit.
    pub(super) most_bytes: u64,
    pub(super) begin: SimTime,
    /// The last completion that was recorded, from the start of the step.
    pub(crate) last: SimTime,
    records: Vec<Record>,
    /// Bytes of all requests submitted.
    pub(crate) submitted_bytes: u64,
    /// Requests completed.
    pub(crate) completed: u64,
    /// The sum of their times from submission to completion, in nanoseconds.
    held: u128,
    /// Requests that failed.
    pub(crate) failed: u64,
    /// The log of its requests, where one is kept.
    pub(crate) log: Option<LoadLog>,
}

/// The current second of one stream and direction.
struct Record {
    stream: u16,
    direction: Direction,
    /// The length of each request; `None` where they differ.
    bytes_each: Option<u64>,
    /// The bytes of the completed requests, where lengths differ.
    bytes: u64,
    /// Whether the stream has requests of the direction.
    is_used: bool,
    latency: Recorder,
    errors: u64,
}

impl Load {
    /// Returns the load of `workload` from `begin` on; nothing is submitted yet.
    pub(crate) fn new(workload: &Workload, begin: SimTime, seed: u64, run: u64) -> Load {
        let mut load = Load {
            threads: Vec::new(),
            slots: Vec::new(),
            free_slots: Vec::new(),
            is_full: false,
            has_fallen_behind: false,
            open_loops: Vec::new(),
            next_due: None,
            counts: vec![OpenLoopCount::default(); workload.streams.len()],
            queue: CompletionQueue::default(),
            is_constrained: false,
            tells_data: false,
            has_commits: false,
            has_pauses: false,
            is_noted: workload.has_sizes(),
            lengths: Vec::new(),
            busy: 0,
            host: None,
            most_bytes: u64::MAX,
            begin,
            last: 0,
            records: Vec::new(),
            submitted_bytes: 0,
            completed: 0,
            held: 0,
            failed: 0,
            log: None,
        };
        for (number, stream) in workload.streams.iter().enumerate() {
            let depth = match workload.engine {
                Engine::IoUring => stream.queue_depth,
                // A thread of this engine has one request in flight; suites that ask for more are
                // refused.
                Engine::Synchronous => 1,
            };
            // As many slots as the real engine has, so that requests wait for one in both.
            let slots = open_loop_slots(stream, workload.engine, stream.threads, MAX_SLOT_MEMORY);
            let seed = stream_seed(seed, run, number as u16);
            load.add_stream(number as u16, stream, depth, slots, seed);
        }
        let mut states = load.threads.iter().filter_map(|thread| thread.commits.as_ref());
        load.has_commits = states.clone().next().is_some();
        load.has_pauses = states.any(|state| state.think.is_some() || state.pulse.is_some());
        load.is_noted |= load.has_pauses;
        load.find_next_due();
        load
    }

    /// Adds the threads of stream `number`, `depth` requests deep each, and its records. `slots`
    /// are those of each thread of an open loop.
    fn add_stream(
        &mut self,
        number: u16,
        stream: &Stream,
        depth: u32,
        slots: Option<u32>,
        seed: u64,
    ) {
        self.counts[usize::from(number)].slots = slots.unwrap_or(0).saturating_mul(stream.threads);
        for thread in 0..stream.threads {
            let index = self.threads.len() as u32;
            let idle = Request { direction: Direction::Read, length: 0, offset: 0 };
            self.threads.push(Thread {
                source: RequestSource::new(stream, thread, seed),
                stream: number,
                sync: stream.sync,
                data: stream.data,
                ahead: [idle; AHEAD],
                next: AHEAD,
                schedule: Schedule::new(stream, thread, seed),
                clock: stream.clock,
                free_slots: slots.unwrap_or(0),
                commits: Commits::new(stream, depth),
            });
            match stream.arrival.per_second() {
                // Slots of an open loop are added as they are needed: there can be 65,536 of them.
                Some(_) => self.open_loops.push(index as usize),
                None => self.slots.extend((0..depth).map(|_| InFlight::for_thread(index))),
            }
        }
        self.records.extend(Direction::ALL.map(|direction| {
            Record {
                stream: number,
                direction,
                bytes_each: (!stream.has_sizes() || direction == Direction::Flush)
                    .then(|| stream.bytes_each(direction).0),
                bytes: 0,
                is_used: stream.sends(direction),
                latency: Recorder::default(),
                errors: 0,
            }
        }));
    }

    /// Returns whether any stream is an open loop.
    pub(crate) fn is_open(&self) -> bool {
        !self.open_loops.is_empty()
    }

    /// Returns whether no request is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        match self.has_pauses {
            true => self.busy == 0,
            false => self.queue.first().is_none(),
        }
    }

    /// Returns the use of the drive in a step of `elapsed`, as the kernel would count it.
    pub(crate) fn queue(&self, elapsed: Nanos) -> Option<KernelQueue> {
        KernelQueue::new("virtual", self.completed, self.held, elapsed)
    }

    /// Returns how many threads it has.
    pub(crate) fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Returns how many requests are kept in flight.
    pub(crate) fn depth(&self) -> usize {
        self.slots.len()
    }

    /// Submits the first request of every slot, up to `bytes` in total.
    pub(crate) fn begin(&mut self, drive: &mut Drive, faults: &InjectedFaults, bytes: u64) {
        self.is_constrained = drive.is_constrained(self.threads.iter().any(|thread| thread.sync));
        self.tells_data = self.tells_data(drive);
        // An open loop ends the idle time at its first request that is due.
        if !self.slots.is_empty() && bytes > 0 {
            drive.end_idle(self.begin);
        }
        self.most_bytes = bytes;
        for slot in 0..self.slots.len() {
            if self.has_commits {
                self.submit_between_flushes(slot, 0, drive, faults);
            } else if self.submitted_bytes < bytes {
                self.submit::<false>(slot, 0, drive, faults);
            }
        }
    }

    /// Returns the latency of `completion`.
    pub(crate) fn latency(&self, completion: &Completion) -> Nanos {
        Nanos(completion.at.saturating_sub(self.slots[completion.slot].due))
    }

    /// Records a completion in the current second; returns its latency. `PLAIN` where the load
    /// [is plain](Load::is_plain).
    #[inline(always)]
    pub(crate) fn record<const PLAIN: bool>(&mut self, completion: &Completion) -> Nanos {
        let request = self.slots[completion.slot];
        let thread = &self.threads[request.thread as usize];
        let stream = usize::from(thread.stream);
        let record = &mut self.records[stream * Direction::COUNT + request.direction as usize];
        self.completed += 1;
        self.last = completion.at;
        self.held += u128::from(completion.at - request.submitted);
        let latency = completion.at - request.due;
        if PLAIN {
            record.latency.record(latency);
            return Nanos(latency);
        }
        self.busy -= u64::from(self.is_noted);
        if request.failed {
            record.errors += 1;
            self.failed += 1;
        } else {
            record.latency.record(latency);
            if self.is_noted {
                record.bytes += u64::from(self.lengths[completion.slot]);
            }
            if let Some(log) = &mut self.log {
                log.completed(request.thread, completion.slot, latency, completion.at);
            }
        }
        if thread.schedule.is_some() {
            self.counts[stream].service.record(completion.at - request.submitted);
            self.free_slots.push(completion.slot);
            let thread = &mut self.threads[request.thread as usize];
            thread.free_slots += 1;
            // Without a free slot, the thread was left out of the search for the next request.
            if thread.free_slots == 1 {
                self.find_next_due();
            }
        }
        Nanos(latency)
    }

    /// Records every request in flight as failed, the one of `first` among them.
    pub(crate) fn fail_all(&mut self, first: &Completion) {
        self.end_waiting(first.at);
        let mut next = Some(Completion { at: first.at, slot: first.slot });
        while let Some(completion) = next {
            if self.is_pause(&completion) {
                next = self.queue.pop();
                continue;
            }
            let request = &mut self.slots[completion.slot];
            request.failed = true;
            // A thread may have been about to send it.
            request.due = request.due.min(completion.at);
            request.submitted = request.submitted.min(completion.at);
            self.record::<false>(&completion);
            next = self.queue.pop();
        }
    }

    /// Returns whether `bytes` were submitted, and no flush is left that the thread of `completion` owes.
    #[inline(always)]
    pub(crate) fn has_submitted<const PLAIN: bool>(
        &self,
        bytes: u64,
        completion: &Completion,
    ) -> bool {
        self.submitted_bytes >= bytes
            && !(!PLAIN && self.has_commits && self.owes_flush(completion))
    }

    /// Submits the next request of a closed loop in the slot of `completion`, at its time.
    #[inline(always)]
    pub(crate) fn submit_next<const PLAIN: bool>(
        &mut self,
        completion: &Completion,
        drive: &mut Drive,
        faults: &InjectedFaults,
    ) {
        if PLAIN {
            return self.submit::<true>(completion.slot, completion.at, drive, faults);
        }
        if self.has_commits {
            return self.submit_after(completion, drive, faults);
        }
        let thread = self.slots[completion.slot].thread as usize;
        if self.threads[thread].schedule.is_none() {
            let at = completion.at + self.host.as_ref().map_or(0, |host| host.request_time());
            self.submit::<false>(completion.slot, at, drive, faults);
        }
    }

    /// Submits the next request of the thread of `slot` at `at`.
    #[inline(always)]
    pub(super) fn submit<const PLAIN: bool>(
        &mut self,
        slot: usize,
        at: SimTime,
        drive: &mut Drive,
        faults: &InjectedFaults,
    ) {
        let in_flight = &mut self.slots[slot];
        let thread = &mut self.threads[in_flight.thread as usize];
        let request = thread.next_request(drive);
        let bytes = u64::from(request.length);
        let now = self.begin + at;
        if PLAIN {
            let end = drive.submit_of_load::<true>(now, request, bytes);
            // Time has to pass: a closed loop would submit at one point in time without end.
            assert!(end > now, "nothing completes before it was submitted");
            (in_flight.due, in_flight.submitted) = (at, at);
            in_flight.direction = request.direction;
            self.submitted_bytes += bytes;
            return self.queue.push(end - self.begin, slot);
        }
        (in_flight.due, in_flight.submitted) = (at, at);
        in_flight.direction = request.direction;
        if let Some(log) = &mut self.log {
            log.submitted(slot, request);
        }
        self.submitted_bytes += bytes;
        if self.is_noted {
            self.note(slot, request.length);
        }
        self.send(slot, at, request, drive, faults);
    }

    /// Notes the request in `slot`.
    #[cold]
    #[inline(never)]
    pub(super) fn note(&mut self, slot: usize, length: u32) {
        self.busy += 1;
        if slot >= self.lengths.len() {
            self.lengths.resize(slot + 1, 0);
        }
        self.lengths[slot] = length;
    }

    /// Returns the offsets of the last writes of each thread, of those generated ahead that were
    /// submitted, so that nothing is recorded for each request.
    pub(crate) fn last_writes(&self) -> Vec<u64> {
        let writes = |thread: &Thread| {
            let submitted = thread.ahead[..thread.next].iter();
            let writes = submitted.filter(|request| request.direction == Direction::Write);
            writes.map(|request| request.offset).collect::<Vec<_>>()
        };
        self.threads.iter().flat_map(writes).collect()
    }

    /// Emits the intervals of the current second, which lasted `length`, and begins the next.
    pub(crate) fn end_second(&mut self, second: u32, length: Nanos, sink: &mut dyn Sink) {
        for record in self.records.iter_mut().filter(|record| record.is_used) {
            let mut latency = Histogram::default();
            record.latency.drain_into(&mut latency);
            let ios = latency.count();
            sink.interval(&Interval {
                second,
                stream: record.stream,
                direction: record.direction,
                length,
                ios,
                // Bytes are added up only where lengths differ, which spares the loop an addition.
                bytes: match (record.bytes_each, std::mem::take(&mut record.bytes)) {
                    (Some(each), _) => ios * each,
                    (None, sum) => sum,
                },
                errors: std::mem::take(&mut record.errors),
                latency,
            });
        }
    }
}
