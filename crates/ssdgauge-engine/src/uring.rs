//! The io_uring engine: one thread keeps a ring full.
//!
//! Rules that measurements taught (docs/performance.md): at most four requests a call, unless the
//! target answers within it, because larger batches starve the drive; wait for one completion only
//! when no slot is free; the begin stamp is taken just before the call and the end stamp just
//! after the reap, never at the completion alone.

use crate::load::Allowance;
use crate::load::Assignment;
use crate::load::Device;
use crate::load::MOST_FAULTS;
use crate::pace::{Lag, Pace};
use crate::recorder::{Fault, ThreadRecorder};
use crate::ring::{Ring, Shape};
use crate::verification::Expected;
use crate::verification::WriteBuffer;
use io_uring::{opcode, squeue, types};
use ssdgauge_core::{Direction, Request};
use ssdgauge_os::clock::Clock;
use std::io;
use std::os::fd::AsRawFd;

/// The calls in a row after which a target is taken to answer within the call.
const SURE: u8 = 4;

/// A request in flight.
#[derive(Clone, Copy)]
struct Slot {
    /// From when the latency counts: the moment of sending, or the due time of an open loop.
    begin: u64,
    sent: u64,
    request: Request,
}

/// Runs one thread of a stream to its end.
pub(crate) fn run(mut assignment: Assignment, mut ring: Ring, mut recorder: ThreadRecorder) {
    let mut turn = Loop::new(&mut assignment);
    if turn.pace.is_some() {
        ssdgauge_os::thread::precise_timers();
    }
    let failure = loop {
        match turn.pace.is_some() {
            true => turn.send_due(&assignment, &mut ring, &mut recorder),
            false => turn.fill(&assignment, &mut ring),
        }
        if turn.in_flight == 0 && (turn.stopping || turn.pace.is_none()) {
            break None;
        }
        if assignment.stop_signal.abandons() {
            // The kernel may still write into the buffers: they must never be given back.
            std::mem::forget((ring, turn.write_buffer));
            return recorder.close(turn.enters, turn.last, Some("abandoned".into()), false);
        }
        let entered = match turn.pace.is_some() {
            true => turn.enter_until_due(&assignment, &ring),
            false => turn.enter(&ring),
        };
        if let Err(error) = entered {
            break Some(format!("io_uring_enter: {error}"));
        }
        match turn.pace.is_some() {
            true => turn.reap::<true>(&assignment, &mut ring, &mut recorder),
            false => turn.reap::<false>(&assignment, &mut ring, &mut recorder),
        }
    };
    let (enters, mut last, used_up) = (turn.enters, turn.last, turn.used_up);
    if let Some(pace) = &mut turn.pace {
        recorder.pace.sent = turn.sent;
        recorder.pace.lag = turn.lag;
        if turn.timed_out {
            recorder.pace.unsent = pace.unsent(assignment.deadline);
            // An open loop lasts as long as it was told, even if nothing is due at its end.
            last = last.max(assignment.deadline);
        }
    }
    if failure.is_some() && turn.in_flight > 0 {
        std::mem::forget((ring, turn.write_buffer));
    }
    recorder.close(enters, last, failure, used_up);
}

struct Loop {
    clock: Clock,
    source: ssdgauge_core::RequestSource,
    allowance: Allowance,
    write_buffer: Option<WriteBuffer>,
    expected: Option<Expected>,
    slots: Vec<Slot>,
    free: Vec<u16>,
    /// The descriptor; `None` for the engine's own ceiling.
    file: Option<i32>,
    block_size: u32,
    /// What a completion says where all went well.
    whole: i32,
    /// The flags of a write.
    durable: i32,
    /// The most requests of a call while something is in flight.
    batch: usize,
    /// The same while nothing is, on a target that answers within the call.
    from_idle: usize,
    /// How many calls in a row have been answered in full before they returned, as those to the
    /// page cache are; counted up to [`SURE`]. A single one proves nothing: a thread that loses its
    /// processor finds everything answered on any drive.
    inline: u8,
    /// Whether the last call waited for a completion.
    waited: bool,
    in_flight: usize,
    queued: u32,
    enters: u64,
    last: u64,
    stopping: bool,
    used_up: bool,
    /// The due times of an open loop.
    pace: Option<Pace>,
    sent: u64,
    /// Until when no slot was free: requests due before it are late because of the drive.
    blocked: u64,
    lag: Option<Lag>,
    timed_out: bool,
}

impl Loop {
    fn new(assignment: &mut Assignment) -> Loop {
        let depth = assignment.depth;
        let nothing = Request { direction: Direction::Read, offset: 0 };
        // From three requests a call on, the kernel plugs its queue and merges neighbours: a
        // sequential stream would then be measured with requests it never asked for.
        let most = if assignment.sequential { 2 } else { 4 };
        let file = match &assignment.device {
            Device::File(file) => Some(file.as_raw_fd()),
            Device::Null => None,
        };
        Loop {
            clock: assignment.clock,
            source: assignment.source.clone(),
            allowance: Allowance::of(assignment.budget.clone()),
            write_buffer: assignment.write_buffer.take(),
            expected: assignment.expected,
            slots: vec![Slot { begin: 0, sent: 0, request: nothing }; depth],
            free: (0..depth as u16).rev().collect(),
            file,
            block_size: assignment.block_size as u32,
            whole: if file.is_some() { assignment.block_size as i32 } else { 0 },
            durable: if assignment.sync { libc::RWF_DSYNC } else { 0 },
            batch: (depth / 8).clamp(1, most),
            from_idle: if assignment.sequential { most } else { depth },
            inline: 0,
            waited: true,
            in_flight: 0,
            queued: 0,
            enters: 0,
            last: assignment.start,
            stopping: false,
            used_up: false,
            pace: assignment.pace(),
            sent: 0,
            blocked: 0,
            lag: None,
            timed_out: false,
        }
    }

    /// Queues every request of an open loop that is due, late or not.
    #[inline]
    fn send_due(
        &mut self,
        assignment: &Assignment,
        ring: &mut Ring,
        recorder: &mut ThreadRecorder,
    ) {
        let now = self.clock.now();
        recorder.turn(now);
        self.timed_out |= now >= assignment.deadline;
        self.stopping |= self.timed_out || assignment.stop_signal.stops();
        let Some(mut pace) = self.pace.take() else { return };
        let mut queue = ring.queues.submission();
        for _ in 0..self.batch {
            if self.stopping || pace.due() > now || pace.due() >= assignment.deadline {
                break;
            }
            let Some(slot) = self.free.pop() else {
                self.blocked = now;
                if pace.lags(now) {
                    self.give_up(Lag::Device, assignment);
                }
                break;
            };
            if !self.allowance.take() {
                self.free.push(slot);
                (self.stopping, self.used_up) = (true, true);
                break;
            }
            self.push(&mut queue, &ring.shape, slot, pace.due(), now);
            self.sent += 1;
            if pace.due() > self.blocked {
                recorder.late(now - pace.due());
                if pace.lags(now) {
                    self.give_up(Lag::Host, assignment);
                }
            }
            pace.advance();
        }
        self.pace = Some(pace);
    }

    #[cold]
    fn give_up(&mut self, lag: Lag, assignment: &Assignment) {
        self.lag = self.lag.or(Some(lag));
        self.stopping = true;
        assignment.stop_signal.stop();
    }

    /// Hands the queued requests to the kernel, and waits for a completion or the next due time.
    #[inline]
    fn enter_until_due(&mut self, assignment: &Assignment, ring: &Ring) -> io::Result<()> {
        let Some(pace) = &self.pace else { return Ok(()) };
        let now = self.clock.now();
        // Without a free slot, or after the end, only a completion matters.
        let next = match self.stopping || self.free.is_empty() {
            true => u64::MAX,
            false => pace.due().min(assignment.deadline),
        };
        let sleep = pace.sleep(now, next);
        // Close to the due time: hand over what is queued and spin.
        if sleep.is_none() && self.queued == 0 {
            std::hint::spin_loop();
            return Ok(());
        }
        self.enters += 1;
        match ring.enter(self.queued, u32::from(sleep.is_some()), sleep) {
            Ok(taken) => {
                self.queued -= taken;
                Ok(())
            }
            Err(error) => match error.raw_os_error() {
                // The time is over, or somebody woke the thread, after requests were handed over.
                Some(libc::ETIME | libc::EINTR) => {
                    self.queued = ring.queued();
                    Ok(())
                }
                Some(libc::EAGAIN | libc::EBUSY) => Ok(()),
                _ => Err(error),
            },
        }
    }

    #[inline(always)]
    fn push(
        &mut self,
        queue: &mut squeue::SubmissionQueue<'_>,
        shape: &Shape,
        slot: u16,
        begin: u64,
        sent: u64,
    ) {
        let request = self.source.deal();
        let entry = self.entry(shape, slot, request);
        // SAFETY: buffer and descriptor stay valid until the completion is reaped: they belong
        // to the ring, the loop and the assignment, which outlive it or are forgotten.
        unsafe { queue.push(&entry) }.expect("the queue has an entry for every slot");
        self.slots[usize::from(slot)] = Slot { begin, sent, request };
        self.queued += 1;
        self.in_flight += 1;
    }

    /// Queues new requests, up to the batch, or to the full depth where the target answers at once.
    #[inline]
    fn fill(&mut self, assignment: &Assignment, ring: &mut Ring) {
        let now = self.clock.now();
        self.stopping |= now >= assignment.deadline || assignment.stop_signal.stops();
        if self.stopping {
            return;
        }
        let most = match self.inline == SURE && self.in_flight == 0 {
            true => self.from_idle,
            false => self.batch,
        };
        let mut queue = ring.queues.submission();
        for _ in 0..most {
            let Some(slot) = self.free.pop() else { break };
            if !self.allowance.take() {
                self.free.push(slot);
                (self.stopping, self.used_up) = (true, true);
                break;
            }
            self.push(&mut queue, &ring.shape, slot, now, now);
        }
    }

    #[inline(always)]
    fn entry(&mut self, shape: &Shape, slot: u16, request: Request) -> squeue::Entry {
        let length = self.block_size;
        let Some(file) = self.file else {
            return opcode::Nop::new().build().user_data(u64::from(slot));
        };
        let buffer = match (request.direction, &mut self.write_buffer) {
            (Direction::Write, Some(write_buffer)) => write_buffer.dip(slot, request.offset),
            (Direction::Write | Direction::Read, _) => {
                shape.reads.at(usize::from(slot) * length as usize)
            }
        };
        let index = request.direction as u16;
        macro_rules! build {
            ($descriptor:expr) => {
                match (request.direction, shape.fixed[usize::from(index)]) {
                    (Direction::Read, true) => {
                        opcode::ReadFixed::new($descriptor, buffer, length, index)
                            .offset(request.offset)
                            .build()
                    }
                    (Direction::Read, false) => opcode::Read::new($descriptor, buffer, length)
                        .offset(request.offset)
                        .build(),
                    (Direction::Write, true) => {
                        opcode::WriteFixed::new($descriptor, buffer, length, index)
                            .offset(request.offset)
                            .rw_flags(self.durable)
                            .build()
                    }
                    (Direction::Write, false) => opcode::Write::new($descriptor, buffer, length)
                        .offset(request.offset)
                        .rw_flags(self.durable)
                        .build(),
                }
            };
        }
        let entry = match shape.fixed_file {
            true => build!(types::Fixed(0)),
            false => build!(types::Fd(file)),
        };
        entry.user_data(u64::from(slot))
    }

    /// Hands the queued requests to the kernel; waits for one completion if no slot is free.
    #[inline]
    fn enter(&mut self, ring: &Ring) -> io::Result<()> {
        // A target that answers within the call is not waited for, which shows when it ceases to.
        let all_out = self.free.is_empty() || self.stopping;
        self.waited = all_out && !(self.inline == SURE && self.queued > 0);
        let result = ring.enter(self.queued, u32::from(self.waited), None);
        self.enters += 1;
        match result {
            Ok(taken) => {
                self.queued -= taken;
                Ok(())
            }
            Err(error) => match error.raw_os_error() {
                // A kick of the control thread, or a kernel short of memory for a moment.
                Some(libc::EINTR | libc::EAGAIN | libc::EBUSY) => {
                    self.queued = ring.queued();
                    Ok(())
                }
                _ => Err(error),
            },
        }
    }

    /// Writes down the service time of a request of an open loop, and whether the drive lags.
    #[inline(never)]
    fn served(&mut self, assignment: &Assignment, recorder: &mut ThreadRecorder, ticks: u64) {
        recorder.served(ticks);
        if self.pace.as_ref().is_some_and(|pace| pace.is_lag(ticks)) {
            self.give_up(Lag::Device, assignment);
        }
    }

    /// Writes down what has completed, and frees its slots.
    #[inline]
    fn reap<const OPEN: bool>(
        &mut self,
        assignment: &Assignment,
        ring: &mut Ring,
        recorder: &mut ThreadRecorder,
    ) {
        let Ring { queues, shape, .. } = ring;
        let completions = queues.completion();
        let end = self.clock.now();
        recorder.turn(end);
        for completion in completions {
            let index = completion.user_data() as u16;
            let Slot { begin, sent, request } = self.slots[usize::from(index)];
            self.free.push(index);
            self.in_flight -= 1;
            self.last = end;
            let length = completion.result();
            // Slots are looked at after the stamp, so that the check costs no latency.
            let content = match (self.expected, request.direction) {
                (Some(expected), Direction::Read) if length == self.whole => {
                    let place = usize::from(index) * self.block_size as usize;
                    let data = shape.reads.at(place);
                    // SAFETY: the slot holds this many bytes, and its request has completed.
                    unsafe { expected.check(data, request.offset, u64::from(self.block_size)) }
                }
                (Some(_) | None, Direction::Read | Direction::Write) => None,
            };
            if length == self.whole && content.is_none() {
                recorder.completed(request, end - begin, end);
                if OPEN {
                    self.served(assignment, recorder, end - sent);
                }
            } else {
                let result = if length < 0 { Err(-length) } else { Ok(length as usize) };
                let Request { direction, offset } = request;
                let fault = Fault { direction, offset, result, content };
                if fault.ends_at_once() {
                    assignment.stop_signal.stop();
                }
                self.stopping |=
                    recorder.failed(fault) > MOST_FAULTS || assignment.stop_signal.stops();
            }
        }
        if !self.waited {
            self.inline = if self.in_flight == 0 { SURE.min(self.inline + 1) } else { 0 };
        }
    }
}
