//! The io_uring engine: one thread keeps a ring full.
//!
//! The loop submits and reaps in turn. Its rules come from measurements (docs/contributing/performance.md):
//!
//! - At most four requests per call while others are in flight. With full batches, the drive runs
//!   idle while the host processes completions: 15 to 25 % fewer IOPS on a virtio disk at QD32.
//! - Full batches only on a target that completes requests within the call, such as the page
//!   cache: 15 % less processor time there.
//! - Wait for one completion, and only when no slot is free: "submit one, wait for one" runs at
//!   QD1.
//! - The first time stamp directly before the call, the second directly after the reap. Without the
//!   submission, a latency of 1.4 µs would be reported as 0.08 µs.

use crate::load::pauses::{Hold, Pauses};
use crate::load::{Allowance, Assignment};
use crate::loops::open_loop::OpenLoop;
use crate::loops::ring::{Resources, Ring};
use crate::recorder::ThreadRecorder;
use crate::verification::{Expected, WriteBuffer};
use io_uring::squeue;
use ssdgauge_core::{Direction, Operation, Request};
use ssdgauge_os::clock::Clock;
use std::io;

/// The consecutive calls after which a target is assumed to complete requests within the call. One
/// proves nothing: a thread that was preempted finds all its requests completed on any drive, and a
/// full batch would then synchronise them.
const INLINE_CALLS: u8 = 4;

/// The time of submission of a slot that is free; kept in debug builds only.
const FREE: u64 = u64::MAX;

/// A request in flight.
#[derive(Clone, Copy)]
struct Slot {
    /// The start of the latency, in ticks: the submission, or the due time in an open loop that
    /// counts from it.
    begin: u64,
    /// The submission, in ticks.
    sent: u64,
    request: Request,
}

/// Runs one thread of a stream until its end.
pub(crate) fn run(mut assignment: Assignment, mut ring: Ring, mut recorder: ThreadRecorder) {
    let mut state = RingLoop::new(&mut assignment);
    if state.open_loop.is_some() {
        // By default timers are up to 50 µs late, about as much as the margin before a due time.
        ssdgauge_os::thread::precise_timers();
    }
    // Queue before the checks for the end: a request that may still be sent is in flight when they
    // look.
    let failure = loop {
        match state.open_loop.is_some() {
            true => state.queue_due(&assignment, &mut ring, &mut recorder),
            false => state.queue_batch(&assignment, &mut ring),
        }
        if state.hold.is_some() && state.in_flight == 0 && !state.stopping {
            state.carry_out_hold(&assignment, &mut recorder);
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
        let entered = match state.open_loop.is_some() {
            true => state.enter_until_due(&ring),
            false => state.enter(&ring),
        };
        if let Err(error) = entered {
            break Some(format!("io_uring_enter: {error}"));
        }
        match (state.open_loop.is_some(), state.has_sizes) {
            (true, true) => state.reap::<true, true>(&assignment, &mut ring, &mut recorder),
            (true, false) => state.reap::<true, false>(&assignment, &mut ring, &mut recorder),
            (false, true) => state.reap::<false, true>(&assignment, &mut ring, &mut recorder),
            (false, false) => state.reap::<false, false>(&assignment, &mut ring, &mut recorder),
        }
    };
    let (enters, mut last, budget_exhausted) =
        (state.enters, state.last_completion, state.budget_exhausted);
    if let Some(open_loop) = &mut state.open_loop {
        last = open_loop.conclude(last, &mut recorder);
    }
    if assignment.pauses.is_some() && state.stopping && !state.budget_exhausted {
        // A pause at the end of the time limit is part of the step.
        last = last.max(assignment.deadline.min(state.clock.now()));
    }
    if failure.is_some() && state.in_flight > 0 {
        // As above: requests are in flight on these buffers.
        std::mem::forget((ring, state.write_buffer));
    }
    recorder.finish(enters, last, failure, budget_exhausted);
}

/// The state of the submit-reap loop.
struct RingLoop {
    clock: Clock,
    source: ssdgauge_core::RequestSource,
    allowance: Allowance,
    write_buffer: Option<WriteBuffer>,
    expected: Option<Expected>,
    slots: Vec<Slot>,
    /// The free slots; the one used last comes first, while its buffer is in the processor cache.
    free: Vec<u16>,
    /// The descriptor of the target; `None` for NOP requests.
    file: Option<i32>,
    /// The bytes of a slot: the length of each request, or of the largest.
    block_size: u32,
    /// Whether the requests have several lengths.
    has_sizes: bool,
    /// The end of the span of the stream, in bytes of the target.
    span_end: u64,
    /// The bits of the length of a request that the result of its completion without an error has: all
    /// of them where it moves data, none for a NOP or a discard.
    result_mask: u32,
    /// The `rw_flags` of a write.
    write_flags: i32,
    /// The maximum number of requests per call while others are in flight.
    batch: usize,
    /// The same while none is, on a target that completes requests within the call.
    batch_when_idle: usize,
    /// How many calls in a row completed all requests before they returned; at most
    /// [`INLINE_CALLS`].
    inline_calls: u8,
    /// Whether the last call waited for a completion.
    waited: bool,
    /// Requests that were queued and not reaped: the slots that are not free.
    in_flight: usize,
    /// Queued requests that the kernel has not taken.
    queued: u32,
    enters: u64,
    /// The time stamp of the last completion.
    last_completion: u64,
    stopping: bool,
    budget_exhausted: bool,
    open_loop: Option<OpenLoop>,
    /// Whether the thread stops sending at times: for flushes after its writes, or for pauses.
    holds: bool,
    pauses: Option<Pauses>,
    /// The start of the workload, in ticks.
    start: u64,
    /// What comes before the next request, once nothing is in flight.
    hold: Option<Hold>,
}

impl RingLoop {
    fn new(assignment: &mut Assignment) -> RingLoop {
        let depth = assignment.depth;
        let unused = Request { direction: Direction::Read, length: 0, offset: 0 };
        // From three requests per call on, the kernel plugs its queue and merges neighbours: 128
        // sequential writes of 128 KiB arrived at a loop device as 16.
        let max_batch = if assignment.sequential { 2 } else { 4 };
        let file = assignment.device.descriptor();
        RingLoop {
            clock: assignment.clock,
            source: assignment.source.clone(),
            allowance: assignment.allowance(),
            write_buffer: assignment.write_buffer.take(),
            expected: assignment.expected,
            slots: vec![Slot { begin: 0, sent: FREE, request: unused }; depth],
            free: (0..depth).rev().map(|slot| slot as u16).collect(),
            file,
            block_size: assignment.block_size as u32,
            has_sizes: assignment.has_sizes,
            span_end: assignment.span_end,
            result_mask: match (file, assignment.operation) {
                (Some(_), Operation::Transfer) => u32::MAX,
                // A discard returns 0.
                (Some(_), Operation::Flush | Operation::Trim) | (None, _) => 0,
            },
            write_flags: if assignment.sync { libc::RWF_DSYNC } else { 0 },
            batch: (depth / 8).clamp(1, max_batch),
            batch_when_idle: if assignment.sequential { max_batch } else { depth },
            inline_calls: 0,
            waited: true,
            in_flight: 0,
            queued: 0,
            enters: 0,
            last_completion: assignment.start,
            stopping: false,
            budget_exhausted: false,
            open_loop: OpenLoop::of(assignment),
            holds: assignment.commits || assignment.pauses.is_some(),
            pauses: assignment.pauses.clone(),
            start: assignment.start,
            hold: None,
        }
    }

    /// Queues the requests of an open loop that are due, late or not, up to the batch.
    #[inline]
    fn queue_due(
        &mut self,
        assignment: &Assignment,
        ring: &mut Ring,
        recorder: &mut ThreadRecorder,
    ) {
        let now = self.clock.now();
        recorder.advance_to(now);
        let Some(mut open_loop) = self.open_loop.take() else { return };
        self.stopping |= open_loop.times_out(now) || assignment.stop_signal.is_stopping();
        let mut queue = ring.queues.ring.submission();
        for _ in 0..self.batch {
            if self.stopping || !open_loop.is_due(now) || queue.is_full() {
                break;
            }
            let Some(slot) = self.free.pop() else {
                let begins = self.slots.iter().map(|slot| slot.begin);
                let lags = open_loop.blocked(now, begins);
                self.stop_where(lags, assignment);
                break;
            };
            if !self.allowance.take(&self.source) {
                self.free.push(slot);
                (self.stopping, self.budget_exhausted) = (true, true);
                break;
            }
            self.push(&mut queue, &ring.resources, slot, open_loop.begin(now), now);
            let lags = open_loop.sent(now, recorder);
            self.stop_where(lags, assignment);
        }
        self.open_loop = Some(open_loop);
    }

    /// Ends all threads where drive or host `lags`.
    #[inline]
    fn stop_where(&mut self, lags: bool, assignment: &Assignment) {
        if lags {
            self.stopping = true;
            assignment.stop_signal.stop();
        }
    }

    /// Submits the queued requests, and waits for a completion or the next due time.
    #[inline]
    fn enter_until_due(&mut self, ring: &Ring) -> io::Result<()> {
        let Some(open_loop) = &self.open_loop else { return Ok(()) };
        // Without a free slot, or after the end, it waits for a completion only.
        let sends = !self.stopping && !self.free.is_empty();
        let sleep = open_loop.sleep(self.clock.now(), sends);
        // A polled ring needs calls for as long as requests are in flight, and waits in none.
        let is_polled = ring.is_polled();
        if self.queued == 0 && (self.in_flight == 0 || !is_polled) {
            match sleep {
                // Shortly before the due time a sleep would be longer than the rest.
                None => std::hint::spin_loop(),
                Some(time) if is_polled => std::thread::sleep(time.into()),
                Some(_) => {}
            }
            if sleep.is_none() || is_polled {
                return Ok(());
            }
        }
        self.enters += 1;
        self.queued = ring.submit(self.queued, u32::from(sleep.is_some()), sleep)?;
        Ok(())
    }

    /// Queues the next request of the source in `slot`.
    #[inline(always)]
    fn push(
        &mut self,
        queue: &mut squeue::SubmissionQueue<'_>,
        resources: &Resources,
        slot: u16,
        begin: u64,
        sent: u64,
    ) {
        let request = self.source.deal();
        debug_assert!(
            request.length <= self.block_size
                && request.offset + u64::from(request.length) <= self.span_end,
            "a request at byte {} exceeds the span",
            request.offset
        );
        let entry = self.entry(resources, slot, request);
        // SAFETY: buffer and descriptor stay valid until the completion is reaped: they belong
        // to the ring, the loop and the assignment, which outlive it or are leaked.
        unsafe { queue.push(&entry) }.expect("the queue has an entry for every slot");
        self.slots[usize::from(slot)] = Slot { begin, sent, request };
        self.queued += 1;
        self.in_flight += 1;
        debug_assert_eq!(self.in_flight + self.free.len(), self.slots.len(), "a slot is lost");
    }

    /// Queues new requests of a closed loop, up to the batch, or up to the depth where the target
    /// completes them within the call.
    #[inline]
    fn queue_batch(&mut self, assignment: &Assignment, ring: &mut Ring) {
        // One time stamp for the end of the step and the beginning of all latencies of the batch,
        // which the call follows directly.
        let now = self.clock.now();
        self.stopping |= now >= assignment.deadline || assignment.stop_signal.is_stopping();
        if self.stopping || (self.hold.is_some() && !self.is_hold_over(now)) {
            return;
        }
        let holds = self.holds;
        let batch = match self.inline_calls == INLINE_CALLS && self.in_flight == 0 {
            true => self.batch_when_idle,
            false => self.batch,
        };
        let mut queue = ring.queues.ring.submission();
        for _ in 0..batch {
            if holds {
                self.hold = self.next_hold(now);
                if self.hold.is_some() {
                    break;
                }
            }
            let Some(slot) = self.free.pop() else { break };
            if !self.allowance.take(&self.source) {
                self.free.push(slot);
                (self.stopping, self.budget_exhausted) = (true, true);
                break;
            }
            self.push(&mut queue, &ring.resources, slot, now, now);
        }
    }

    /// Submits the queued requests; waits for one completion if no slot is free.
    #[inline]
    fn enter(&mut self, ring: &Ring) -> io::Result<()> {
        // Without a wait, a target that no longer completes within the call is detected: requests
        // are then in flight after the reap.
        let must_wait = self.free.is_empty() || self.stopping || self.hold.is_some();
        self.waited = must_wait && !(self.inline_calls == INLINE_CALLS && self.queued > 0);
        self.enters += 1;
        self.queued = ring.submit(self.queued, u32::from(self.waited), None)?;
        Ok(())
    }

    /// Records what has completed, and frees its slots. Compiled for each kind of loop: without the work
    /// of an open loop, a request of a closed loop takes 207 instructions instead of 243
    /// (docs/contributing/performance.md).
    #[inline]
    fn reap<const OPEN_LOOP: bool, const HAS_SIZES: bool>(
        &mut self,
        assignment: &Assignment,
        ring: &mut Ring,
        recorder: &mut ThreadRecorder,
    ) {
        let Ring { queues, resources, .. } = ring;
        let completions = queues.ring.completion();
        // One time stamp for all completions of a reap: they were posted before it.
        let end = self.clock.now();
        recorder.advance_to(end);
        for completion in completions {
            let index = completion.user_data() as u16;
            let Slot { begin, sent, request } = self.slots[usize::from(index)];
            if cfg!(debug_assertions) {
                assert_ne!(sent, FREE, "slot {index} completes without a request in flight");
                assert!(begin <= end, "slot {index} completes before its begin");
                self.slots[usize::from(index)].sent = FREE;
            }
            self.free.push(index);
            self.in_flight -= 1;
            self.last_completion = end;
            let length = completion.result();
            let is_whole = length == (request.length & self.result_mask) as i32;
            // Data is checked after the time stamp, so that the check adds no latency.
            let mismatch = match (self.expected, request.direction) {
                (Some(expected), Direction::Read) if is_whole => {
                    let data = resources.reads.at(usize::from(index) * self.block_size as usize);
                    // SAFETY: the slot holds this many bytes, and its request has completed.
                    unsafe { expected.check(data, request.offset, u64::from(request.length)) }
                }
                (Some(_) | None, _) => None,
            };
            if is_whole && mismatch.is_none() {
                recorder.completed(request, end - begin, end);
                if HAS_SIZES {
                    recorder.transferred(request.direction, u64::from(request.length));
                }
                if OPEN_LOOP && let Some(open_loop) = &mut self.open_loop {
                    let lags = open_loop.served(end - sent, recorder);
                    self.stop_where(lags, assignment);
                }
            } else {
                let result = if length < 0 { Err(-length) } else { Ok(length as usize) };
                self.stopping |=
                    recorder.failed(request, result, mismatch, &assignment.stop_signal);
            }
        }
        // Only calls that did not wait: after a wait, a completion does not show that the target
        // completed it within the call.
        if !self.waited {
            self.inline_calls = match self.in_flight {
                0 => INLINE_CALLS.min(self.inline_calls + 1),
                _ => 0,
            };
        }
    }
}

mod entry;
#[cfg(test)]
mod tests;
