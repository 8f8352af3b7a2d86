//! The entries of a ring, one for each request, and the flushes and pauses between them.

use super::RingLoop;
use crate::load::Assignment;
use crate::load::pauses::{Hold, Pause};
use crate::loops::ring::{Resources, discard_entry};
use crate::recorder::ThreadRecorder;
use io_uring::{opcode, squeue, types};
use ssdgauge_core::{Direction, Request};

impl RingLoop {
    /// Returns the submission entry of a request.
    #[inline(always)]
    pub(super) fn entry(
        &mut self,
        resources: &Resources,
        slot: u16,
        request: Request,
    ) -> squeue::Entry {
        let length = request.length;
        let Some(file) = self.file else {
            return opcode::Nop::new().build().user_data(u64::from(slot));
        };
        if !request.direction.is_transfer() {
            return discard(resources, file, request).user_data(u64::from(slot));
        }
        let buffer = match (request.direction, &mut self.write_buffer) {
            (Direction::Write, Some(write_buffer)) => {
                write_buffer.prepare(slot, request.offset, length)
            }
            _ => resources.reads.at(usize::from(slot) * self.block_size as usize),
        };
        // Buffer 0 holds the reads, buffer 1 the data of the writes (`Ring::new`).
        let index = request.direction.side() as u16;
        // A macro, because registered and plain descriptors are of different types, which the
        // builders take as generic arguments.
        macro_rules! build {
            ($descriptor:expr) => {
                match (request.direction, resources.fixed[usize::from(index)]) {
                    (Direction::Read, true) => {
                        opcode::ReadFixed::new($descriptor, buffer, length, index)
                            .offset(request.offset)
                            .build()
                    }
                    (Direction::Read, false) => opcode::Read::new($descriptor, buffer, length)
                        .offset(request.offset)
                        .build(),
                    (_, true) => opcode::WriteFixed::new($descriptor, buffer, length, index)
                        .offset(request.offset)
                        .rw_flags(self.write_flags)
                        .build(),
                    (_, false) => opcode::Write::new($descriptor, buffer, length)
                        .offset(request.offset)
                        .rw_flags(self.write_flags)
                        .build(),
                }
            };
        }
        let entry = match resources.fixed_file {
            true => build!(types::Fixed(0)),
            false => build!(types::Fd(file)),
        };
        entry.user_data(u64::from(slot))
    }
}

impl RingLoop {
    /// Returns what comes before the next request; where nothing does, a request follows.
    #[cold]
    pub(super) fn next_hold(&mut self, now: u64) -> Option<Hold> {
        if let Some(flush) = self.source.take_flush() {
            return Some(Hold::Flush(flush));
        }
        let pause = self.pauses.as_mut().and_then(|pauses| pauses.next(now, self.start));
        pause.map(Hold::Pause)
    }

    /// Returns whether the thread may send again although requests are in flight: an off time has ended
    /// before they have completed.
    #[cold]
    pub(super) fn is_hold_over(&mut self, now: u64) -> bool {
        let is_over = match self.hold {
            Some(Hold::Pause(Pause::Until(end))) => now >= end,
            Some(Hold::Flush(_) | Hold::Pause(Pause::Think(_))) | None => false,
        };
        if is_over {
            self.hold = None;
        }
        is_over
    }

    /// Sends the flush that is due, or waits to the end of the pause.
    #[cold]
    pub(super) fn carry_out_hold(
        &mut self,
        assignment: &Assignment,
        recorder: &mut ThreadRecorder,
    ) {
        debug_assert_eq!(self.in_flight, 0, "the requests before have completed");
        match self.hold.take() {
            Some(Hold::Flush(request)) => self.flush(request, assignment, recorder),
            Some(Hold::Pause(pause)) => {
                let end = (self.clock, assignment.deadline);
                crate::loops::waiting::wait(pause, end, &assignment.stop_signal, recorder);
            }
            None => {}
        }
    }

    /// Sends a flush and waits for it. Nothing is in flight, so the call blocks nothing; through the ring,
    /// the kernel would pass it to a worker thread, whose start would be part of the latency.
    fn flush(&mut self, request: Request, assignment: &Assignment, recorder: &mut ThreadRecorder) {
        let begin = self.clock.now();
        let result = crate::loops::synchronous::flush(&assignment.device);
        let end = self.clock.now();
        recorder.advance_to(end);
        self.last_completion = end;
        match result {
            Ok(()) => recorder.completed(request, end - begin, end),
            Err(error) => {
                let result = Err(error.raw_os_error().unwrap_or(0));
                self.stopping |= recorder.failed(request, result, None, &assignment.stop_signal);
            }
        }
    }
}

/// Returns the entry that trims the block of `request`.
#[cold]
fn discard(resources: &Resources, file: i32, request: Request) -> squeue::Entry {
    debug_assert_eq!(request.direction, Direction::Trim, "a ring sends no flush");
    let file = (!resources.fixed_file).then_some(file);
    discard_entry(file, request.offset, u64::from(request.length))
}
