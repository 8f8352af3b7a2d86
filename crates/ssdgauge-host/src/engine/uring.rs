//! The io_uring engine: one thread keeps a ring full.
//!
//! Rules that measurements taught (docs/performance.md): at most four requests a call while
//! something is in flight, because larger batches starve the drive; wait for one completion only
//! when no slot is free; the begin stamp is taken just before the call and the end stamp just
//! after the reap, never at the completion alone.

use super::pace::{Lag, Pace};
use super::tally::{Book, Fault};
use super::{Allowance, Assignment, Device, Ink, MOST_FAULTS};
use crate::clock::Clock;
use crate::sys::{self, Region};
use io_uring::{IoUring, opcode, squeue, types};
use ssdgauge_core::{Direction, Nanos, Request};
use std::io;
use std::os::fd::AsRawFd;

/// IORING_ENTER_GETEVENTS: wait for completions, and let the kernel post them.
const GETEVENTS: u32 = 1;

/// A ring that is ready to run, with its buffers.
pub(crate) struct Ring {
    ring: IoUring,
    reads: Region,
    registered_buffers: bool,
    registered_file: bool,
    registered_ring: bool,
}

impl Ring {
    /// Sets a ring up for `assignment`; fails where the kernel has none to give.
    pub(crate) fn new(assignment: &Assignment) -> io::Result<Ring> {
        let depth = assignment.depth as u32;
        let ring = IoUring::builder().setup_cqsize(2 * depth.next_power_of_two()).build(depth)?;
        let reads = Region::new(assignment.depth * assignment.block_size)?;
        let mut buffers = vec![reads.iovec()];
        buffers.extend(assignment.writes.iter().map(|pool| pool.iovec()));
        // SAFETY: the regions outlive the ring: both live in this struct or in the assignment,
        // which the thread keeps until the ring is gone.
        let registered_buffers = unsafe { ring.submitter().register_buffers(&buffers) }.is_ok();
        let registered_file = match &assignment.device {
            Device::File(file) => ring.submitter().register_files(&[file.as_raw_fd()]).is_ok(),
            Device::Null => false,
        };
        let registered_ring = ring.submitter().register_ring_fd().is_ok();
        Ok(Ring { ring, reads, registered_buffers, registered_file, registered_ring })
    }

    /// Returns the requests that the kernel has not taken yet.
    fn queued(&self) -> u32 {
        // SAFETY: this thread is the only one that looks at the queue of its ring.
        unsafe { self.ring.submission_shared().len() as u32 }
    }

    /// Returns how the ring is set up, in words.
    pub(crate) fn setup(&self) -> String {
        let word = |registered| if registered { "registered" } else { "plain" };
        format!(
            "plain flags, {} buffers, {} file, {} ring",
            word(self.registered_buffers),
            word(self.registered_file),
            word(self.registered_ring)
        )
    }
}

/// A request in flight.
#[derive(Clone, Copy)]
struct Slot {
    /// From when the latency counts: the moment of sending, or the due time of an open loop.
    begin: u64,
    sent: u64,
    request: Request,
}

/// Runs one thread of a stream to its end.
pub(super) fn run(assignment: Assignment, mut ring: Ring, mut book: Book) {
    let mut turn = Loop::new(&assignment, &ring);
    if turn.pace.is_some() {
        sys::precise_timers();
    }
    let failure = loop {
        match turn.pace.is_some() {
            true => turn.send_due(&assignment, &mut ring, &mut book),
            false => turn.fill(&assignment, &mut ring),
        }
        if turn.in_flight == 0 && (turn.stopping || turn.pace.is_none()) {
            break None;
        }
        if assignment.order.abandons() {
            // The kernel may still write into the buffers: they must never be given back.
            std::mem::forget(ring);
            return book.close(turn.enters, turn.last, Some("abandoned".into()), false);
        }
        let entered = match turn.pace.is_some() {
            true => turn.enter_until_due(&assignment, &mut ring),
            false => turn.enter(&ring),
        };
        if let Err(error) = entered {
            break Some(format!("io_uring_enter: {error}"));
        }
        turn.reap(&assignment, &mut ring, &mut book);
    };
    let (enters, mut last, used_up) = (turn.enters, turn.last, turn.used_up);
    if let Some(pace) = &mut turn.pace {
        book.pace.sent = turn.sent;
        book.pace.lag = turn.lag;
        if turn.timed_out {
            book.pace.unsent = pace.unsent(assignment.deadline);
            // An open loop lasts as long as it was told, even if nothing is due at its end.
            last = last.max(assignment.deadline);
        }
    }
    if failure.is_some() && turn.in_flight > 0 {
        std::mem::forget(ring);
    }
    book.close(enters, last, failure, used_up);
}

struct Loop {
    clock: Clock,
    source: ssdgauge_core::RequestSource,
    allowance: Allowance,
    ink: Ink,
    slots: Vec<Slot>,
    free: Vec<u16>,
    /// The most requests of a call while something is in flight.
    batch: usize,
    /// The same while nothing is.
    from_idle: usize,
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
    fn new(assignment: &Assignment, ring: &Ring) -> Loop {
        let depth = assignment.depth;
        let nothing = Request { direction: Direction::Read, offset: 0 };
        let pool = assignment.writes.clone();
        let start = ring.reads.at(0) as usize >> 12;
        // From three requests a call on, the kernel plugs its queue and merges neighbours: a
        // sequential stream would then be measured with requests it never asked for.
        let most = if assignment.sequential { 2 } else { 4 };
        Loop {
            clock: assignment.clock,
            source: assignment.source.clone(),
            allowance: Allowance::of(assignment.budget.clone()),
            ink: Ink::of(pool, assignment.block_size, start),
            slots: vec![Slot { begin: 0, sent: 0, request: nothing }; depth],
            free: (0..depth as u16).rev().collect(),
            batch: (depth / 8).clamp(1, most),
            from_idle: if assignment.sequential { most } else { depth },
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
    fn send_due(&mut self, assignment: &Assignment, ring: &mut Ring, book: &mut Book) {
        let now = self.clock.now();
        book.turn(now);
        self.timed_out |= now >= assignment.deadline;
        self.stopping |= self.timed_out || assignment.order.stops();
        let Some(mut pace) = self.pace.take() else { return };
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
            self.push(assignment, ring, slot, pace.due(), now);
            self.sent += 1;
            if pace.due() > self.blocked {
                book.late(now - pace.due());
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
        assignment.order.stop();
    }

    /// Hands the queued requests to the kernel, and waits for a completion or the next due time.
    #[inline]
    fn enter_until_due(&mut self, assignment: &Assignment, ring: &mut Ring) -> io::Result<()> {
        let Some(pace) = &self.pace else { return Ok(()) };
        let now = self.clock.now();
        // Without a free slot, or after the end, only a completion matters.
        let next = match self.stopping || self.free.is_empty() {
            true => u64::MAX,
            false => pace.due().min(assignment.deadline),
        };
        let Some(sleep) = pace.sleep(now, next) else {
            // Close to the due time: hand over what is queued and spin.
            return match self.queued {
                0 => {
                    std::hint::spin_loop();
                    Ok(())
                }
                _ => self.enter_waiting(ring, None),
            };
        };
        self.enter_waiting(ring, Some(sleep))
    }

    fn enter_waiting(&mut self, ring: &Ring, sleep: Option<Nanos>) -> io::Result<()> {
        let submitter = ring.ring.submitter();
        self.enters += 1;
        let result = match sleep {
            Some(time) => {
                let time = types::Timespec::from(std::time::Duration::from(time));
                submitter.submit_with_args(1, &types::SubmitArgs::new().timespec(&time))
            }
            None => submitter.submit(),
        };
        match result {
            Ok(taken) => {
                self.queued -= taken as u32;
                Ok(())
            }
            Err(error) => match error.raw_os_error() {
                // The time is over, after everything queued was handed over.
                Some(libc::ETIME) => {
                    self.queued = 0;
                    Ok(())
                }
                Some(libc::EINTR) => {
                    self.queued = ring.queued();
                    Ok(())
                }
                Some(libc::EAGAIN | libc::EBUSY) => Ok(()),
                _ => Err(error),
            },
        }
    }

    #[inline(always)]
    fn push(&mut self, assignment: &Assignment, ring: &mut Ring, slot: u16, begin: u64, sent: u64) {
        let request = self.source.deal();
        let entry = self.entry(assignment, ring, slot, request);
        // SAFETY: buffer and descriptor stay valid until the completion is reaped: they belong
        // to the ring and the assignment, which outlive the loop or are forgotten.
        unsafe { ring.ring.submission().push(&entry) }
            .expect("the queue has an entry for every slot");
        self.slots[usize::from(slot)] = Slot { begin, sent, request };
        self.queued += 1;
        self.in_flight += 1;
    }

    /// Queues new requests, up to the batch, or to the full depth where nothing is in flight.
    #[inline]
    fn fill(&mut self, assignment: &Assignment, ring: &mut Ring) {
        let now = self.clock.now();
        self.stopping |= now >= assignment.deadline || assignment.order.stops();
        if self.stopping {
            return;
        }
        let most = if self.in_flight == 0 { self.from_idle } else { self.batch };
        for _ in 0..most {
            let Some(slot) = self.free.pop() else { break };
            if !self.allowance.take() {
                self.free.push(slot);
                (self.stopping, self.used_up) = (true, true);
                break;
            }
            self.push(assignment, ring, slot, now, now);
        }
    }

    #[inline(always)]
    fn entry(
        &mut self,
        assignment: &Assignment,
        ring: &Ring,
        slot: u16,
        request: Request,
    ) -> squeue::Entry {
        let length = assignment.block_size as u32;
        let file = match &assignment.device {
            Device::File(file) => file,
            Device::Null => return opcode::Nop::new().build().user_data(u64::from(slot)),
        };
        let (buffer, index) = match request.direction {
            Direction::Read => (ring.reads.at(usize::from(slot) * assignment.block_size), 0),
            Direction::Write => (self.ink.dip(), 1),
        };
        let durable = if assignment.sync { libc::RWF_DSYNC } else { 0 };
        macro_rules! build {
            ($descriptor:expr) => {
                match (request.direction, ring.registered_buffers) {
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
                            .rw_flags(durable)
                            .build()
                    }
                    (Direction::Write, false) => opcode::Write::new($descriptor, buffer, length)
                        .offset(request.offset)
                        .rw_flags(durable)
                        .build(),
                }
            };
        }
        let entry = match ring.registered_file {
            true => build!(types::Fixed(0)),
            false => build!(types::Fd(file.as_raw_fd())),
        };
        entry.user_data(u64::from(slot))
    }

    /// Hands the queued requests to the kernel; waits for one completion if no slot is free.
    #[inline]
    fn enter(&mut self, ring: &Ring) -> io::Result<()> {
        let wait = u32::from(self.free.is_empty() || self.stopping);
        // SAFETY: no argument structure is passed, and the counts are those of our queues.
        let result =
            unsafe { ring.ring.submitter().enter::<()>(self.queued, wait, GETEVENTS, None) };
        self.enters += 1;
        match result {
            Ok(taken) => {
                self.queued -= taken as u32;
                Ok(())
            }
            Err(error) => match error.raw_os_error() {
                // A kick of the control thread, or a kernel short of memory for a moment.
                Some(libc::EINTR | libc::EAGAIN | libc::EBUSY) => Ok(()),
                _ => Err(error),
            },
        }
    }

    /// Writes down the service time of a request of an open loop, and whether the drive lags.
    #[inline(never)]
    fn served(&mut self, assignment: &Assignment, book: &mut Book, ticks: u64) {
        book.served(ticks);
        if self.pace.as_ref().is_some_and(|pace| pace.is_lag(ticks)) {
            self.give_up(Lag::Device, assignment);
        }
    }

    /// Writes down what has completed, and frees its slots.
    #[inline]
    fn reap(&mut self, assignment: &Assignment, ring: &mut Ring, book: &mut Book) {
        let mut completions = ring.ring.completion();
        completions.sync();
        let end = self.clock.now();
        book.turn(end);
        let is_open_loop = self.pace.is_some();
        for completion in completions {
            let index = completion.user_data() as u16;
            let Slot { begin, sent, request } = self.slots[usize::from(index)];
            self.free.push(index);
            self.in_flight -= 1;
            self.last = end;
            let length = completion.result();
            let null = matches!(assignment.device, Device::Null);
            if length as usize == assignment.block_size || (null && length == 0) {
                book.completed(request.direction, end - begin);
                if is_open_loop {
                    self.served(assignment, book, end - sent);
                }
            } else {
                let result = if length < 0 { Err(-length) } else { Ok(length as usize) };
                let Request { direction, offset } = request;
                let fault = Fault { direction, offset, result };
                if fault.ends_at_once() {
                    assignment.order.stop();
                }
                self.stopping |= book.failed(fault) > MOST_FAULTS || assignment.order.stops();
            }
        }
    }
}
