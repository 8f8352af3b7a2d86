//! The synchronous engine: one thread per request in flight, as the test plans of 2019 define
//! queue depth.
//!
//! The loop has the same steps for closed and open loops: a pause, the due time, the next request of the
//! source, the call, and its record. Nothing in it allocates or takes a lock.

use crate::load::pace::{Lag, Pace};
use crate::load::{Allowance, Assignment, Device};
use crate::positioned::transfer::uninterrupted;
use crate::recorder::ThreadRecorder;
use crate::verification::Expected;
use ssdgauge_core::{Direction, LatencyClock, Request};
use ssdgauge_os::memory::Region;
use ssdgauge_os::{block_device, file_io};
use std::fs::File;
use std::io;

/// Runs one thread of a stream until its end.
pub(crate) fn run(assignment: Assignment, mut recorder: ThreadRecorder) {
    if assignment.schedule.is_some() {
        ssdgauge_os::thread::precise_timers();
    }
    let (clock, block_size) = (assignment.clock, assignment.block_size);
    let mut state = match CallLoop::new(assignment) {
        Ok(state) => state,
        Err(error) => {
            let failure = format!("no memory for a buffer of {block_size} bytes: {error}");
            return recorder.finish(0, clock.now(), Some(failure), false);
        }
    };
    while let Some(due) = state.next(&mut recorder) {
        let data = state.data(due.request);
        let result = state.send(due.request, data);
        state.enters += 1;
        // One time stamp per request: the end of a request is the begin of the next. The work in
        // between takes a few nanoseconds, a time stamp 11 to 27.
        let end = clock.now();
        recorder.advance_to(end);
        let has_to_end = state.record(due, data, result, end, &mut recorder);
        if let Some(pace) = &mut state.pace {
            recorder.open_loop.sent += 1;
            pace.advance();
        }
        state.begin = end;
        if has_to_end {
            break;
        }
    }
    state.conclude(recorder);
}

/// A request that is to be sent now.
#[derive(Clone, Copy)]
struct Due {
    request: Request,
    /// The start of its latency, in ticks: the submission, or the due time.
    begin: u64,
    /// The submission, in ticks.
    sent: u64,
}

/// The state of the loop.
struct CallLoop {
    assignment: Assignment,
    /// What reads are read into, and what is written where the stream has no write data.
    buffer: Region,
    allowance: Allowance,
    expected: Option<Expected>,
    /// The due times of an open loop.
    pace: Option<Pace>,
    /// The end of the last request, in ticks; while a request of an open loop is sent, its due time.
    begin: u64,
    enters: u64,
    budget_exhausted: bool,
}

impl CallLoop {
    fn new(assignment: Assignment) -> io::Result<CallLoop> {
        Ok(CallLoop {
            buffer: Region::new(assignment.block_size)?,
            allowance: assignment.allowance(),
            expected: assignment.expected.filter(|_| matches!(assignment.device, Device::File(_))),
            pace: assignment.pace(),
            begin: assignment.clock.now(),
            enters: 0,
            budget_exhausted: false,
            assignment,
        })
    }

    /// Waits until the next request is due, and deals it; `None` at the end of the thread.
    #[inline]
    fn next(&mut self, recorder: &mut ThreadRecorder) -> Option<Due> {
        self.pause(recorder);
        let (mut sent, mut was_free) = (self.begin, true);
        if let Some(pace) = &self.pace {
            // A thread that was busy at the due time is late because of the drive.
            was_free = self.begin <= pace.due();
            // The lateness counts from the due time, and so does the latency unless its clock starts
            // at the submission.
            self.begin = pace.due().min(self.assignment.deadline);
            sent = wait(pace, &self.assignment, recorder);
            end_if_it_lags(pace, was_free, sent, &self.assignment, recorder);
        }
        if self.begin >= self.assignment.deadline || self.assignment.stop_signal.is_stopping() {
            // The wait for a due time is part of the step, which ends now and not with the last
            // request.
            self.begin = sent;
            return None;
        }
        let flush = self.assignment.source.take_flush();
        if flush.is_none() && !self.allowance.take(&self.assignment.source) {
            self.budget_exhausted = true;
            return None;
        }
        if self.pace.is_some() {
            match was_free {
                true => recorder.sent_late(sent - self.begin),
                false => recorder.withheld(sent - self.begin),
            }
        }
        let begin = match self.assignment.latency_clock {
            LatencyClock::Due => self.begin,
            LatencyClock::Submission => sent,
        };
        let request = flush.unwrap_or_else(|| self.assignment.source.deal());
        Some(Due { request, begin, sent })
    }

    /// Waits to the end of the pauses before the next request.
    #[inline]
    fn pause(&mut self, recorder: &mut ThreadRecorder) {
        let Assignment { clock, deadline, start, stop_signal, pauses, .. } = &mut self.assignment;
        let Some(pauses) = pauses else { return };
        while let Some(pause) = pauses.next(self.begin, *start)
            && self.begin < *deadline
            && !stop_signal.is_stopping()
        {
            crate::loops::waiting::wait(pause, (*clock, *deadline), stop_signal, recorder);
            self.begin = clock.now();
        }
    }

    /// Returns the memory of a request: the data of a write, or the buffer.
    #[inline]
    fn data(&mut self, request: Request) -> *mut u8 {
        let Request { direction, offset, length } = request;
        let Assignment { block_size, span_end, write_buffer, .. } = &mut self.assignment;
        debug_assert!(
            length as usize <= *block_size && offset + u64::from(length) <= *span_end,
            "a request at byte {offset} exceeds the span"
        );
        match (direction, write_buffer) {
            (Direction::Write, Some(write_buffer)) => write_buffer.prepare(0, offset, length),
            (Direction::Read | Direction::Write | Direction::Flush | Direction::Trim, _) => {
                self.buffer.at(0)
            }
        }
    }

    /// Sends a request and waits for it; returns the bytes transferred.
    #[inline]
    fn send(&self, request: Request, data: *mut u8) -> io::Result<usize> {
        let Assignment { device, sync, is_block, .. } = &self.assignment;
        let length = request.length as usize;
        match device {
            Device::File(file) => match request.direction {
                Direction::Read | Direction::Write => transfer(file, request, data, *sync),
                Direction::Flush | Direction::Trim => {
                    command(file, request, u64::from(request.length), *is_block).map(|()| length)
                }
            },
            Device::Null => Ok(length),
        }
    }

    /// Records a request that completed at `end`; returns whether the thread has to end.
    #[inline]
    fn record(
        &mut self,
        due: Due,
        data: *mut u8,
        result: io::Result<usize>,
        end: u64,
        recorder: &mut ThreadRecorder,
    ) -> bool {
        let Request { direction, offset, length } = due.request;
        let is_whole = result.as_ref().is_ok_and(|bytes| *bytes == length as usize);
        // Data is checked after the time stamp, so that the check adds no latency.
        let mismatch = match (self.expected, direction) {
            (Some(expected), Direction::Read) if is_whole => {
                // SAFETY: the buffer holds this many bytes, and no request is in flight.
                unsafe { expected.check(data, offset, u64::from(length)) }
            }
            (Some(_) | None, _) => None,
        };
        if !is_whole || mismatch.is_some() {
            let result = result.map_err(|error| error.raw_os_error().unwrap_or(0));
            return recorder.failed(due.request, result, mismatch, &self.assignment.stop_signal);
        }
        recorder.completed(due.request, end.saturating_sub(due.begin), end);
        if self.assignment.has_sizes {
            recorder.transferred(direction, u64::from(length));
        }
        if self.pace.is_some() {
            recorder.served(end - due.sent);
        }
        false
    }

    /// Reports the end of the thread.
    fn conclude(mut self, mut recorder: ThreadRecorder) {
        let Assignment { clock, deadline, pauses, .. } = &self.assignment;
        if let Some(pace) = &mut self.pace
            && clock.now() >= *deadline
        {
            recorder.open_loop.unsent = pace.unsent(*deadline);
            // An open loop lasts until its deadline, even if no request is due shortly before it.
            self.begin = self.begin.max(*deadline);
        }
        if pauses.is_some() && self.begin >= *deadline {
            // A pause at the end is part of the step.
            self.begin = clock.now();
        }
        recorder.finish(self.enters, self.begin, None, self.budget_exhausted);
    }
}

/// Ends all threads where a request of an open loop is later than the limit.
fn end_if_it_lags(
    pace: &Pace,
    was_free: bool,
    sent: u64,
    assignment: &Assignment,
    recorder: &mut ThreadRecorder,
) {
    if pace.lags(sent) {
        recorder.open_loop.lag = Some(if was_free { Lag::Host } else { Lag::Device });
        assignment.stop_signal.stop();
    }
}

/// Waits until the next request is due, or the deadline or a stop; returns the time after it.
fn wait(pace: &Pace, assignment: &Assignment, recorder: &mut ThreadRecorder) -> u64 {
    let Assignment { clock, deadline, stop_signal, .. } = assignment;
    loop {
        let now = clock.now();
        let next = pace.due().min(*deadline);
        if now >= next || stop_signal.is_stopping() {
            return now;
        }
        match pace.sleep(now, next) {
            Some(time) => {
                // At most as long as `Pace` allows, so that seconds are handed over while nothing
                // is due.
                std::thread::sleep(time.into());
                recorder.advance_to(clock.now());
            }
            None => std::hint::spin_loop(),
        }
    }
}

/// Sends one read or write and waits for it; returns the bytes transferred, which may be fewer.
#[inline]
fn transfer(file: &File, request: Request, data: *mut u8, sync: bool) -> io::Result<usize> {
    let Request { direction, offset, length } = request;
    let length = length as usize;
    uninterrupted(|| match direction {
        Direction::Read => file_io::read_at(file, data, length, offset),
        Direction::Write if sync => file_io::write_durably_at(file, data, length, offset),
        Direction::Write | Direction::Flush | Direction::Trim => {
            file_io::write_at(file, data, length, offset)
        }
    })
}

/// Sends a flush to `device` and waits for it.
pub(crate) fn flush(device: &Device) -> io::Result<()> {
    send(device, Request::FLUSH, 0, false)
}

/// Sends a flush, or a trim of `length` bytes, to `device`, which is a block device or not, and waits for
/// it. A recorded trim can be longer than a request.
pub(crate) fn send(
    device: &Device,
    request: Request,
    length: u64,
    is_block: bool,
) -> io::Result<()> {
    match device {
        Device::File(file) => command(file, request, length, is_block),
        Device::Null => Ok(()),
    }
}

/// Sends a flush, or a trim of `length` bytes, and waits for it.
fn command(file: &File, request: Request, length: u64, is_block: bool) -> io::Result<()> {
    uninterrupted(|| match request.direction {
        Direction::Trim if is_block => block_device::discard(file, request.offset, length),
        Direction::Trim => file_io::punch_hole(file, request.offset, length),
        Direction::Read | Direction::Write | Direction::Flush => file_io::flush(file),
    })
}
