//! The loop of NVMe pass-through: one thread sends commands to a namespace, without the block layer.
//!
//! It differs from the loop of `uring` in what it sends and what a completion returns; batches, time
//! stamps and due times follow the same rules. It is a loop of its own so that neither costs the other an
//! instruction. Flushes and trims are commands of the ring, as reads and writes are.

mod ring;

pub(crate) use ring::CommandRing;
pub use ring::read_beginning;

use crate::load::namespace::Namespace;
use crate::load::pauses::{Hold, Pause, Pauses};
use crate::load::{Allowance, Assignment};
use crate::loops::open_loop::OpenLoop;
use crate::recorder::ThreadRecorder;
use crate::request_error::nvme_status;
use crate::verification::{Expected, WriteBuffer};
use ssdgauge_core::{Direction, Request, RequestSource};
use ssdgauge_os::clock::Clock;
use std::io;

/// The first words of the setup of a load that was passed through.
const SETUP: &str = "NVMe pass-through";

/// A command in flight.
#[derive(Clone, Copy)]
struct Slot {
    /// The start of the latency, in ticks: the submission, or the due time in an open loop that counts
    /// from it.
    begin: u64,
    /// The submission, in ticks.
    sent: u64,
    request: Request,
}

/// Runs one thread of a stream until its end.
pub(crate) fn run(
    mut assignment: Assignment,
    namespace: Namespace,
    mut ring: CommandRing,
    mut recorder: ThreadRecorder,
) {
    let mut state = CommandLoop::new(&mut assignment, namespace);
    if state.open_loop.is_some() {
        ssdgauge_os::thread::precise_timers();
    }
    let failure = loop {
        state.queue(&assignment, &mut ring, &mut recorder);
        if state.in_flight == 0
            && !state.stopping
            && let Some(Hold::Pause(pause)) = state.hold
        {
            state.hold = None;
            let end = (state.clock, assignment.deadline);
            crate::loops::waiting::wait(pause, end, &assignment.stop_signal, &mut recorder);
            continue;
        }
        if state.in_flight == 0 && (state.stopping || state.open_loop.is_none()) {
            break None;
        }
        if assignment.stop_signal.is_abandoned() {
            // The kernel may still write into the buffers: they are leaked, never freed.
            std::mem::forget((ring, state.write_buffer));
            let failure = Some("abandoned: the drive does not respond".into());
            return recorder.finish(state.enters, state.last_completion, failure, false);
        }
        if let Err(error) = state.enter(&ring) {
            break Some(format!("io_uring_enter: {error}"));
        }
        state.reap(&assignment, &mut ring, &mut recorder);
    };
    let (enters, budget_exhausted) = (state.enters, state.budget_exhausted);
    let last = state.conclude(&assignment, &mut recorder);
    if failure.is_some() && state.in_flight > 0 {
        // As above: commands are in flight on these buffers.
        std::mem::forget((ring, state.write_buffer));
    }
    recorder.finish(enters, last, failure, budget_exhausted);
}

/// The state of the loop. Names that `uring` has as well mean the same.
struct CommandLoop {
    clock: Clock,
    namespace: Namespace,
    source: RequestSource,
    allowance: Allowance,
    write_buffer: Option<WriteBuffer>,
    expected: Option<Expected>,
    slots: Vec<Slot>,
    free: Vec<u16>,
    batch: usize,
    in_flight: usize,
    queued: u32,
    enters: u64,
    last_completion: u64,
    stopping: bool,
    budget_exhausted: bool,
    open_loop: Option<OpenLoop>,
    pauses: Option<Pauses>,
    /// What comes before the next request, once nothing is in flight.
    hold: Option<Hold>,
    /// Whether a flush between writes is in flight: the next request waits for it.
    flushing: bool,
}

impl CommandLoop {
    fn new(assignment: &mut Assignment, namespace: Namespace) -> CommandLoop {
        let depth = assignment.depth;
        let unused = Request { direction: Direction::Read, length: 0, offset: 0 };
        CommandLoop {
            clock: assignment.clock,
            namespace,
            source: assignment.source.clone(),
            allowance: assignment.allowance(),
            write_buffer: assignment.write_buffer.take(),
            expected: assignment.expected,
            slots: vec![Slot { begin: 0, sent: 0, request: unused }; depth],
            free: (0..depth).rev().map(|slot| slot as u16).collect(),
            // Also for sequential streams: nothing merges commands that bypass the block layer.
            batch: (depth / 8).clamp(1, 4),
            in_flight: 0,
            queued: 0,
            enters: 0,
            last_completion: assignment.start,
            stopping: false,
            budget_exhausted: false,
            open_loop: OpenLoop::of(assignment),
            pauses: assignment.pauses.clone(),
            hold: None,
            flushing: false,
        }
    }

    /// Queues requests up to the batch: the next ones of a closed loop, or those of an open loop that are
    /// due.
    #[inline]
    fn queue(
        &mut self,
        assignment: &Assignment,
        ring: &mut CommandRing,
        recorder: &mut ThreadRecorder,
    ) {
        let now = self.clock.now();
        recorder.advance_to(now);
        let is_over = match &mut self.open_loop {
            Some(open_loop) => open_loop.times_out(now),
            None => now >= assignment.deadline,
        };
        self.stopping |= is_over || assignment.stop_signal.is_stopping();
        for _ in 0..self.batch {
            if self.stopping || self.is_held(now, assignment, ring, recorder) {
                return;
            }
            if self.open_loop.as_ref().is_some_and(|open| !open.is_due(now)) || ring.is_full() {
                return;
            }
            let Some(slot) = self.free.pop() else { return self.blocked(assignment, now) };
            if !self.allowance.take(&self.source) {
                self.free.push(slot);
                (self.stopping, self.budget_exhausted) = (true, true);
                return;
            }
            let begin = self.open_loop.as_ref().map_or(now, |open| open.begin(now));
            let request = self.source.deal();
            self.push(assignment, ring, recorder, slot, Slot { begin, sent: now, request });
            let lags = self.open_loop.as_mut().is_some_and(|open| open.sent(now, recorder));
            self.stop_where(lags, assignment);
        }
    }

    /// Returns whether nothing may be sent now: before a flush or a pause, until nothing is in flight, and
    /// while a flush is. Sends the flush once it may.
    #[inline]
    fn is_held(
        &mut self,
        now: u64,
        assignment: &Assignment,
        ring: &mut CommandRing,
        recorder: &mut ThreadRecorder,
    ) -> bool {
        if self.open_loop.is_some() || !(assignment.commits || self.pauses.is_some()) {
            return false;
        }
        if self.flushing {
            return true;
        }
        if self.hold.is_none() {
            let pauses = self.pauses.as_mut();
            self.hold = self.source.take_flush().map(Hold::Flush).or_else(|| {
                pauses.and_then(|pauses| pauses.next(now, assignment.start)).map(Hold::Pause)
            });
        }
        match self.hold {
            None => false,
            // An off time that ends before the requests have completed.
            Some(Hold::Pause(Pause::Until(end))) if now >= end => {
                self.hold = None;
                false
            }
            Some(Hold::Pause(_)) => true,
            Some(Hold::Flush(request)) => {
                if self.in_flight == 0
                    && let Some(slot) = self.free.pop()
                {
                    (self.hold, self.flushing) = (None, true);
                    let flush = Slot { begin: now, sent: now, request };
                    self.push(assignment, ring, recorder, slot, flush);
                }
                true
            }
        }
    }

    /// Queues the command of a request in a free slot. One that does not lie in the span of the stream
    /// fails here, and is not sent.
    #[inline]
    fn push(
        &mut self,
        assignment: &Assignment,
        ring: &mut CommandRing,
        recorder: &mut ThreadRecorder,
        slot: u16,
        command: Slot,
    ) {
        let request = command.request;
        let (offset, length) = (request.offset, request.length);
        let address = match (request.direction, &mut self.write_buffer) {
            (Direction::Write, Some(write_buffer)) => write_buffer.prepare(slot, offset, length),
            (Direction::Flush, _) => std::ptr::null_mut(),
            (Direction::Read | Direction::Trim | Direction::Write, _) => {
                ring.buffers.at(usize::from(slot) * ring.stride)
            }
        };
        if request.direction == Direction::Trim
            && let Some(range) = self.namespace.range(request)
        {
            // SAFETY: the slot has room for a range, and no command in flight uses it.
            unsafe { ring.buffers.put(usize::from(slot) * ring.stride, range) };
        }
        let ends_inside = offset.checked_add(u64::from(length)) <= Some(assignment.span_end);
        let made = self.namespace.command(request, assignment.sync, address);
        let Some(bytes) = made.filter(|_| ends_inside || request.direction == Direction::Flush)
        else {
            self.free.push(slot);
            let result = Err(libc::EINVAL);
            self.stopping |= recorder.failed(request, result, None, &assignment.stop_signal);
            return;
        };
        // SAFETY: the data belongs to the ring or to the write buffer, which live until its completion
        // is reaped, or are leaked.
        unsafe { ring.push(slot, bytes) };
        self.slots[usize::from(slot)] = command;
        self.queued += 1;
        self.in_flight += 1;
        debug_assert_eq!(self.in_flight + self.free.len(), self.slots.len(), "a slot is lost");
    }

    /// Notes that no slot is free at `now`, and ends an open loop if the drive lags.
    #[cold]
    fn blocked(&mut self, assignment: &Assignment, now: u64) {
        let begins = self.slots.iter().map(|slot| slot.begin);
        let lags = self.open_loop.as_mut().is_some_and(|open| open.blocked(now, begins));
        self.stop_where(lags, assignment);
    }

    /// Ends all threads where drive or host `lags`.
    #[inline]
    fn stop_where(&mut self, lags: bool, assignment: &Assignment) {
        if lags {
            self.stopping = true;
            assignment.stop_signal.stop();
        }
    }

    /// Submits the queued commands. A closed loop waits for a completion if no slot is free, an open one
    /// until the next due time.
    #[inline]
    fn enter(&mut self, ring: &CommandRing) -> io::Result<()> {
        let (must_wait, time) = match &self.open_loop {
            None => {
                let is_held = self.hold.is_some() || self.flushing;
                (self.free.is_empty() || self.stopping || is_held, None)
            }
            Some(open_loop) => {
                let sends = !self.stopping && !self.free.is_empty();
                let sleep = open_loop.sleep(self.clock.now(), sends);
                if sleep.is_none() && self.queued == 0 {
                    std::hint::spin_loop();
                    return Ok(());
                }
                (sleep.is_some(), sleep)
            }
        };
        self.enters += 1;
        self.queued = ring.queues.submit(self.queued, u32::from(must_wait), time)?;
        Ok(())
    }

    /// Records what has completed, and frees its slots.
    #[inline]
    fn reap(
        &mut self,
        assignment: &Assignment,
        ring: &mut CommandRing,
        recorder: &mut ThreadRecorder,
    ) {
        let CommandRing { queues, buffers, stride, .. } = ring;
        let completions = queues.ring.completion();
        // One time stamp for all completions of a reap: they were posted before it.
        let end = self.clock.now();
        recorder.advance_to(end);
        for completion in completions {
            let (slot, result) = (completion.user_data() as u16, completion.result());
            let Slot { begin, sent, request } = self.slots[usize::from(slot)];
            self.free.push(slot);
            self.in_flight -= 1;
            // A flush is alone in flight, so a completion while one is in flight is its own.
            self.flushing = false;
            self.last_completion = end;
            let length = u64::from(request.length);
            let result = match result {
                // A command that succeeds moves all of its data: a completion has no count of bytes.
                0 => Ok(length as usize),
                status => Err(nvme_status::number(status)),
            };
            // Data is checked after the time stamp, so that the check adds no latency.
            let mismatch = match (self.expected, request.direction) {
                (Some(expected), Direction::Read) if result.is_ok() => {
                    let data = buffers.at(usize::from(slot) * *stride);
                    // SAFETY: the slot holds this many bytes, and its command has completed.
                    unsafe { expected.check(data, request.offset, length) }
                }
                (Some(_) | None, _) => None,
            };
            if result.is_err() || mismatch.is_some() {
                self.stopping |=
                    recorder.failed(request, result, mismatch, &assignment.stop_signal);
                continue;
            }
            recorder.completed(request, end.saturating_sub(begin), end);
            if assignment.has_sizes {
                recorder.transferred(request.direction, length);
            }
            if let Some(open_loop) = &mut self.open_loop {
                let lags = open_loop.served(end - sent, recorder);
                self.stop_where(lags, assignment);
            }
        }
    }

    /// Records the figures of an open loop; returns the end of the thread.
    fn conclude(&mut self, assignment: &Assignment, recorder: &mut ThreadRecorder) -> u64 {
        let mut last = self.last_completion;
        if let Some(open_loop) = &mut self.open_loop {
            last = open_loop.conclude(last, recorder);
        }
        if assignment.pauses.is_some() && self.stopping && !self.budget_exhausted {
            // A pause at the end of the time limit is part of the step.
            last = last.max(assignment.deadline.min(self.clock.now()));
        }
        last
    }
}
