//! The loop that replays recorded requests: one thread, one ring, requests of any length.
//!
//! Flushes and trims are system calls that wait: threads of their own send them (`commands`). Each stream
//! of the replay has a recorder.
//!
//! It sleeps until shortly before the next due time and spins for the rest, as an open loop does. A
//! reader thread fetches the requests ahead, so that a trace is parsed in parallel with the loop. All reads share
//! one region, whose contents are not used; writes take turns in the pool.

mod commands;
mod parts;

use crate::load::pace::Lag;
use crate::load::{Device, StopSignal};
use crate::loops::ring::{Queues, lengths};
use crate::recorder::ThreadRecorder;
use crate::verification::HeaderWriter;
pub(crate) use commands::Commands;
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use parts::Parts;
use ssdgauge_core::{
    Direction, MAX_LAG, Nanos, RecordedRequest, RecordedRequests, ReplayClock, Request,
};
use ssdgauge_os::clock::Clock;
use ssdgauge_os::memory::Region;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The maximum number of requests in flight. Chosen: eight times the queue of a SATA drive for each of 16 programs.
pub(crate) const SLOTS: u32 = 4_096;
/// The requests that are handed over at once, and how many such batches are fetched ahead: 0.4 s at
/// 300,000 requests per second.
const BATCH: usize = 4_096;
const BATCHES: usize = 32;
/// How long before the due time the thread wakes up.
const WAKE_UP_MARGIN: Nanos = Nanos(60_000);
/// The longest sleep, so that the thread reads the stop signal and hands over every second.
const LONGEST_SLEEP: Nanos = Nanos(20_000_000);
/// The longest sleep while a flush or a trim is in flight, whose end does not wake the loop.
const COMMAND_SLEEP: Nanos = Nanos(50_000);
/// The maximum number of requests of one system call.
const MOST_QUEUED: u32 = 32;

/// Some requests, or why they cannot be read.
pub(crate) type Batch = Result<Vec<RecordedRequest>, String>;

/// Starts to fetch `requests` ahead; the channel ends after the last one.
pub(crate) fn fetch(mut requests: Box<dyn RecordedRequests>) -> io::Result<Receiver<Batch>> {
    let (sender, receiver): (SyncSender<Batch>, _) = sync_channel(BATCHES);
    let body = move || loop {
        let mut batch = Vec::with_capacity(BATCH);
        let ended = loop {
            match requests.next_request() {
                Ok(Some(request)) if batch.len() + 1 < BATCH => batch.push(request),
                Ok(Some(request)) => {
                    batch.push(request);
                    break None;
                }
                Ok(None) => break Some(None),
                Err(cause) => break Some(Some(cause)),
            }
        };
        // A loop that has ended takes nothing more.
        // The requests before an error are sent as well, ahead of it.
        let is_taken = sender.send(Ok(batch)).is_ok();
        match ended {
            None if is_taken => {}
            Some(Some(cause)) => {
                let _ = sender.send(Err(cause));
                return;
            }
            Some(None) | None => return,
        }
    };
    std::thread::Builder::new().name("ssdgauge-trace".into()).spawn(body)?;
    Ok(receiver)
}

/// Everything that the thread of a replay needs.
pub(crate) struct ReplayAssignment {
    pub(crate) device: Device,
    pub(crate) clock: Clock,
    pub(crate) batches: Receiver<Batch>,
    /// The first batch, taken before the clock starts.
    pub(crate) first: Option<Batch>,
    pub(crate) stop_signal: Arc<StopSignal>,
    /// The longest request, in bytes.
    pub(crate) longest: usize,
    /// The end of the addressed range: no request may exceed it.
    pub(crate) end: u64,
    /// The data of writes.
    pub(crate) pool: Option<Arc<Region>>,
    pub(crate) headers: HeaderWriter,
    /// The start of the replay, in ticks.
    pub(crate) start: u64,
}

/// A request in flight.
#[derive(Clone, Copy)]
struct Slot {
    /// The due time and the submission, in ticks.
    due: u64,
    sent: u64,
    request: Request,
    stream: u16,
    length: u64,
    /// The number of its part of the pool, where it writes.
    part: u64,
}

/// A ring with its memory. Parts of it are leaked where requests on it will never complete.
pub(crate) struct ReplayRing {
    queues: Queues<squeue::Entry, cqueue::Entry>,
    reads: Region,
}

impl ReplayRing {
    /// Sets a ring up on the thread that will use it.
    pub(crate) fn new(device: &Device, longest: usize) -> io::Result<ReplayRing> {
        let (entries, completions) = lengths(SLOTS);
        let ring = IoUring::builder().setup_cqsize(completions).build(entries)?;
        let queues = Queues::new(ring, device.descriptor());
        Ok(ReplayRing { queues, reads: Region::new(longest)? })
    }
}

/// Replays the requests of `assignment` to their end. `recorders` are those of the streams.
pub(crate) fn run(
    assignment: ReplayAssignment,
    ring: ReplayRing,
    commands: Option<Commands>,
    recorders: Vec<ThreadRecorder>,
) {
    ssdgauge_os::thread::precise_timers();
    let mut state = ReplayLoop::new(assignment, ring, commands, recorders);
    let failure = loop {
        state.queue_due();
        if state.in_flight == 0 && (state.stopping || state.next.is_none()) {
            break state.failure.take();
        }
        if state.assignment.stop_signal.is_abandoned() {
            // The kernel may still write into the memory: it is leaked, never freed.
            let ReplayLoop { ring, assignment, recorders, enters, last, .. } = state;
            std::mem::forget((ring, assignment.pool));
            let failure = "abandoned: the drive does not respond";
            return finish(recorders, enters, last, Some(failure.into()), false);
        }
        if let Err(error) = state.enter() {
            break Some(format!("io_uring_enter: {error}"));
        }
        state.reap();
        state.reap_commands();
    };
    let (enters, last) = (state.enters, state.last.max(state.assignment.start));
    let is_complete = state.next.is_none() && failure.is_none() && state.lag.is_none();
    if state.in_flight > 0 {
        std::mem::forget((state.ring, state.assignment.pool));
    }
    finish(state.recorders, enters, last, failure, is_complete);
}

/// Ends all recorders; the first one reports what concerns the thread.
fn finish(
    recorders: Vec<ThreadRecorder>,
    enters: u64,
    last: u64,
    mut failure: Option<String>,
    is_complete: bool,
) {
    for (number, recorder) in recorders.into_iter().enumerate() {
        let enters = if number == 0 { enters } else { 0 };
        recorder.finish(enters, last, failure.take(), is_complete);
    }
}

/// The state of the loop.
struct ReplayLoop {
    assignment: ReplayAssignment,
    ring: ReplayRing,
    commands: Option<Commands>,
    recorders: Vec<ThreadRecorder>,
    times: ReplayClock,
    batch: std::vec::IntoIter<RecordedRequest>,
    next: Option<RecordedRequest>,
    /// When the next request is due, in ticks; `None` while that is not known.
    due: Option<u64>,
    slots: Vec<Slot>,
    free: Vec<u16>,
    parts: Parts,
    in_flight: usize,
    commands_in_flight: usize,
    queued: u32,
    enters: u64,
    /// The last completion, in ticks.
    last: u64,
    /// The last time at which no slot or no memory was free.
    last_blocked: u64,
    is_blocked: bool,
    lag: Option<Lag>,
    stopping: bool,
    failure: Option<String>,
}

impl ReplayLoop {
    fn new(
        assignment: ReplayAssignment,
        ring: ReplayRing,
        commands: Option<Commands>,
        recorders: Vec<ThreadRecorder>,
    ) -> ReplayLoop {
        let request = Request { direction: Direction::Read, length: 0, offset: 0 };
        let slot = Slot { due: 0, sent: 0, request, stream: 0, length: 0, part: 0 };
        let start = assignment.start;
        let mut state = ReplayLoop {
            ring,
            commands,
            recorders,
            times: ReplayClock::default(),
            batch: Vec::new().into_iter(),
            next: None,
            due: None,
            slots: vec![slot; SLOTS as usize],
            free: (0..SLOTS as u16).rev().collect(),
            parts: Parts::new(assignment.pool.as_ref().map_or(0, |pool| pool.length())),
            in_flight: 0,
            commands_in_flight: 0,
            queued: 0,
            enters: 0,
            last: start,
            last_blocked: 0,
            is_blocked: false,
            lag: None,
            stopping: false,
            failure: None,
            assignment,
        };
        state.read_next();
        state
    }

    /// Takes the next request, from the next batch where this one has ended.
    fn read_next(&mut self) {
        self.due = None;
        self.next = self.batch.next();
        if self.next.is_none() {
            let first = self.assignment.first.take();
            match first.map_or_else(|| self.assignment.batches.recv(), Ok) {
                Ok(Ok(batch)) => {
                    self.batch = batch.into_iter();
                    self.next = self.batch.next();
                }
                // The next request stays `None`, so that the loop ends once nothing is in flight.
                Ok(Err(cause)) => self.failure = Some(format!("cannot read the trace: {cause}")),
                Err(_) => {}
            }
        }
    }

    /// Returns when the next request is due, in ticks; `None` where there is none, or it waits for
    /// completions.
    fn find_due(&mut self) -> Option<u64> {
        if self.due.is_none() {
            let ReplayAssignment { clock, start, .. } = self.assignment;
            let last = Nanos(clock.nanos(self.last - start));
            let due = self.times.due(self.next?.time, self.in_flight > 0, last)?;
            self.due = Some(start + clock.ticks(due));
        }
        self.due
    }

    /// Queues the requests that are due.
    fn queue_due(&mut self) {
        self.is_blocked = false;
        let max_lag = self.assignment.clock.ticks(MAX_LAG);
        self.stopping |= self.assignment.stop_signal.is_stopping();
        // Each request is stamped when it is queued, so that queuing the rest of its batch is part
        // of its latency.
        while !self.stopping && self.queued < MOST_QUEUED {
            let now = self.assignment.clock.now();
            self.advance_to(now);
            let Some(due) = self.find_due().filter(|due| *due <= now) else { return };
            let stream = usize::from(self.next.map_or(0, |next| next.stream));
            let late = now - due;
            if late > max_lag {
                let blocked = due <= self.last_blocked;
                // As in an open loop: no slot was free after the due time, or the host was late by
                // itself.
                self.lag = Some(if blocked { Lag::Device } else { Lag::Host });
                self.recorders[stream].open_loop.lag = self.lag;
                self.stopping = true;
                return;
            }
            // The first requests of a burst find nothing in flight.
            let idle = if self.in_flight == 0 { now.saturating_sub(self.last) } else { 0 };
            if !self.push(due, now) {
                (self.is_blocked, self.last_blocked) = (true, now);
                return;
            }
            let recorder = &mut self.recorders[stream];
            match due > self.last_blocked {
                true => recorder.sent_late(late),
                false => recorder.withheld(late),
            }
            recorder.open_loop.sent += 1;
            recorder.open_loop.idle += idle;
            self.read_next();
        }
    }

    /// Lets every recorder hand its second over if `now` is past its end.
    fn advance_to(&mut self, now: u64) {
        self.recorders.iter_mut().for_each(|recorder| recorder.advance_to(now));
    }

    /// Queues the next request; returns false where no slot or no memory is free.
    fn push(&mut self, due: u64, now: u64) -> bool {
        let (Some(next), Some(&slot)) = (self.next, self.free.last()) else { return false };
        let RecordedRequest { direction, stream, offset, length, .. } = next;
        assert!(offset + length <= self.assignment.end, "byte {offset} lies outside");
        // A transfer is no longer than the longest one; a trim carries its length next to the request.
        let in_request = if direction.is_transfer() { length as u32 } else { 0 };
        let request = Request { direction, length: in_request, offset };
        let in_slot = |part| Slot { due, sent: now, request, stream, length, part };
        if let Some(commands) = self.commands.as_ref().filter(|_| !direction.is_transfer()) {
            commands.send(slot, request, length);
            self.free.pop();
            self.slots[usize::from(slot)] = in_slot(0);
            self.in_flight += 1;
            self.commands_in_flight += 1;
            return true;
        }
        let is_long = direction.is_transfer() && length as usize > self.assignment.longest;
        assert!(!is_long, "{length} bytes exceed the longest");
        let (buffer, part) = match (direction, &self.assignment.pool) {
            (Direction::Write, Some(pool)) => {
                let Some((at, part)) = self.parts.take(length as usize) else { return false };
                // SAFETY: the part was free, so no request in flight uses it.
                unsafe { self.assignment.headers.stamp(pool, at, offset, length) };
                (pool.at(at), part)
            }
            (Direction::Read | Direction::Write | Direction::Flush | Direction::Trim, _) => {
                (self.ring.reads.at(0), 0)
            }
        };
        let entry = self.entry(request, buffer).user_data(u64::from(slot));
        self.free.pop();
        // SAFETY: buffer and descriptor stay valid until the completion is reaped: ring, pool and device
        // belong to the loop and are leaked where a request may not have completed.
        unsafe { self.ring.queues.ring.submission().push(&entry) }
            .expect("the queue has an entry for every slot");
        self.slots[usize::from(slot)] = in_slot(part);
        self.queued += 1;
        self.in_flight += 1;
        true
    }

    /// Returns the entry of a read or a write; without a target, one that does nothing.
    fn entry(&self, request: Request, buffer: *mut u8) -> squeue::Entry {
        let Some(file) = self.assignment.device.descriptor() else {
            return opcode::Nop::new().build();
        };
        let Request { direction, offset, length } = request;
        macro_rules! build {
            ($descriptor:expr) => {
                match direction {
                    Direction::Write => {
                        opcode::Write::new($descriptor, buffer, length).offset(offset).build()
                    }
                    Direction::Read | Direction::Flush | Direction::Trim => {
                        opcode::Read::new($descriptor, buffer, length).offset(offset).build()
                    }
                }
            };
        }
        match self.ring.queues.fixed_file {
            true => build!(types::Fixed(0)),
            false => build!(types::Fd(file)),
        }
    }

    /// Submits the queued requests, and waits for a completion or until shortly before the next due
    /// time.
    fn enter(&mut self) -> io::Result<()> {
        let clock = self.assignment.clock;
        let next = match self.stopping || self.is_blocked {
            true => None,
            false => self.find_due(),
        };
        let ahead = next.map_or(u64::MAX, |due| due.saturating_sub(clock.now()));
        let margin = clock.ticks(WAKE_UP_MARGIN);
        // The thread of a command cannot wake this one in the kernel: its end is seen at the next
        // look.
        let longest = if self.commands_in_flight > 0 { COMMAND_SLEEP } else { LONGEST_SLEEP };
        let sleep = ahead.saturating_sub(margin).min(clock.ticks(longest));
        let sleep = (sleep > 0).then(|| Nanos(clock.nanos(sleep)));
        if sleep.is_none() && self.queued == 0 {
            std::hint::spin_loop();
            return Ok(());
        }
        self.enters += 1;
        let wait = u32::from(sleep.is_some());
        self.queued = self.ring.queues.submit(self.queued, wait, sleep)?;
        Ok(())
    }

    /// Records what has completed, and frees its slots.
    fn reap(&mut self) {
        let end = self.assignment.clock.now();
        self.advance_to(end);
        let is_null = matches!(self.assignment.device, Device::Null);
        for completion in self.ring.queues.ring.completion() {
            let index = completion.user_data() as u16;
            let Slot { due, sent, request, stream, length, part } = self.slots[usize::from(index)];
            let recorder = &mut self.recorders[usize::from(stream)];
            self.free.push(index);
            self.in_flight -= 1;
            self.last = end;
            if request.direction == Direction::Write && self.assignment.pool.is_some() {
                self.parts.free(part);
            }
            let result = completion.result();
            // A NOP returns 0, whatever it stands for.
            if result == length as i32 || (is_null && result == 0) {
                recorder.completed(request, end - due, end);
                recorder.transferred(request.direction, length);
                recorder.served(end - sent);
                continue;
            }
            let result = if result < 0 { Err(-result) } else { Ok(result as usize) };
            self.stopping |= recorder.failed(request, result, None, &self.assignment.stop_signal);
        }
    }

    /// Records the flushes and trims that have completed, and frees their slots.
    fn reap_commands(&mut self) {
        let Some(commands) = self.commands.as_ref().filter(|_| self.commands_in_flight > 0) else {
            return;
        };
        let finished = commands.finished();
        if finished.is_empty() {
            return;
        }
        // Nothing completes after the second in which it is recorded.
        self.advance_to(self.assignment.clock.now());
        for one in finished {
            let Slot { due, sent, request, stream, length, .. } = self.slots[usize::from(one.slot)];
            let recorder = &mut self.recorders[usize::from(stream)];
            self.free.push(one.slot);
            self.in_flight -= 1;
            self.commands_in_flight -= 1;
            self.last = self.last.max(one.end);
            match one.result {
                Ok(()) => {
                    recorder.completed(request, one.end.saturating_sub(due), one.end);
                    recorder.transferred(request.direction, length);
                    recorder.served(one.end.saturating_sub(sent));
                }
                Err(number) => {
                    let stop_signal = &self.assignment.stop_signal;
                    self.stopping |= recorder.failed(request, Err(number), None, stop_signal);
                }
            }
        }
    }
}
