//! The synchronous engine: one thread per request in flight, as the test plans of 2019 define
//! queue depth.

use crate::load::{Assignment, Device, MAX_FAULTS, StopSignal};
use crate::pace::{Lag, Pace};
use crate::recorder::{Fault, ThreadRecorder};
use ssdgauge_core::{Direction, LatencyClock, Request};
use ssdgauge_os::clock::Clock;
use ssdgauge_os::memory::Region;
use std::fs::File;
use std::io;

/// Runs one thread of a stream until its end.
pub(crate) fn run(assignment: Assignment, mut recorder: ThreadRecorder) {
    let Assignment { clock, block_size, has_sizes, span_end, deadline, sync, .. } = assignment;
    let mut pace = assignment.pace();
    let stop_signal = assignment.stop_signal.clone();
    if pace.is_some() {
        ssdgauge_os::thread::precise_timers();
    }
    let buffer = match Region::new(block_size) {
        Ok(buffer) => buffer,
        Err(error) => {
            let failure = format!("no memory for a buffer of {block_size} bytes: {error}");
            return recorder.finish(0, clock.now(), Some(failure), false);
        }
    };
    let mut allowance = assignment.allowance();
    let is_block = assignment.is_block;
    let mut source = assignment.source;
    let mut write_buffer = assignment.write_buffer;
    let mut pauses = assignment.pauses;
    let expected = assignment.expected.filter(|_| matches!(assignment.device, Device::File(_)));
    let (mut enters, mut budget_exhausted) = (0, false);
    let mut begin = clock.now();
    loop {
        if let Some(pauses) = &mut pauses {
            while let Some(pause) = pauses.next(begin, assignment.start)
                && begin < deadline
                && !stop_signal.is_stopping()
            {
                crate::waiting::wait(pause, (clock, deadline), &stop_signal, &mut recorder);
                begin = clock.now();
            }
        }
        let (mut sent, mut was_free) = (begin, true);
        if let Some(pace) = &pace {
            // A thread that was busy at the due time is late because of the drive.
            was_free = begin <= pace.due();
            // The lateness counts from the due time, and so does the latency unless its clock starts
            // at the submission.
            begin = pace.due().min(deadline);
            sent = wait(pace, clock, deadline, &stop_signal, &mut recorder);
            end_if_it_lags(pace, was_free, sent, &stop_signal, &mut recorder);
        }
        if begin >= deadline || stop_signal.is_stopping() {
            begin = sent;
            break;
        }
        let flush = source.take_flush();
        if flush.is_none() && !allowance.take(&source) {
            budget_exhausted = true;
            break;
        }
        if pace.is_some() {
            record_lateness(was_free, sent - begin, &mut recorder);
        }
        let request = flush.unwrap_or_else(|| source.deal());
        let length = request.length as usize;
        debug_assert!(
            length <= block_size && request.offset + length as u64 <= span_end,
            "a request at byte {} exceeds the span",
            request.offset
        );
        let data = match (request.direction, &mut write_buffer) {
            (Direction::Write, Some(write_buffer)) => {
                write_buffer.prepare(0, request.offset, request.length)
            }
            (Direction::Read | Direction::Write | Direction::Flush | Direction::Trim, _) => {
                buffer.at(0)
            }
        };
        let result = match &assignment.device {
            Device::File(file) => match request.direction {
                Direction::Read | Direction::Write => transfer(file, request, data, sync),
                Direction::Flush | Direction::Trim => {
                    command(file, request, u64::from(request.length), is_block).map(|()| length)
                }
            },
            Device::Null => Ok(length),
        };
        enters += 1;
        // One time stamp per request: the end of a request is the begin of the next. The work in
        // between takes a few nanoseconds, a time stamp 11 to 27.
        let end = clock.now();
        recorder.advance_to(end);
        let mismatch = match (expected, request.direction, &result) {
            (Some(expected), Direction::Read, Ok(n)) if *n == length => {
                // SAFETY: the buffer holds this many bytes, and no request is in flight.
                unsafe { expected.check(data, request.offset, length as u64) }
            }
            (Some(_) | None, _, _) => None,
        };
        match result {
            Ok(n) if n == length && mismatch.is_none() => {
                let latency_begin = match assignment.latency_clock {
                    LatencyClock::Due => begin,
                    LatencyClock::Submission => sent,
                };
                recorder.completed(request, end.saturating_sub(latency_begin), end);
                if has_sizes {
                    recorder.transferred(request.direction, u64::from(request.length));
                }
                if pace.is_some() {
                    recorder.served(end - sent);
                }
            }
            other => {
                let result = other.map_err(|error| error.raw_os_error().unwrap_or(0));
                let Request { direction, offset, .. } = request;
                let fault = Fault { direction, offset, result, mismatch };
                if fault.ends_at_once() {
                    stop_signal.stop();
                }
                if recorder.failed(fault) > MAX_FAULTS {
                    break;
                }
            }
        }
        if let Some(pace) = &mut pace {
            recorder.open_loop.sent += 1;
            pace.advance();
        }
        begin = end;
    }
    if let Some(pace) = &mut pace
        && clock.now() >= deadline
    {
        recorder.open_loop.unsent = pace.unsent(deadline);
        // An open loop lasts until its deadline, even if no request is due shortly before it.
        begin = begin.max(deadline);
    }
    if pauses.is_some() && begin >= deadline {
        // A pause at the end is part of the step.
        begin = clock.now();
    }
    recorder.finish(enters, begin, None, budget_exhausted);
}

/// Ends all threads where a request of an open loop is later than the limit.
fn end_if_it_lags(
    pace: &Pace,
    was_free: bool,
    sent: u64,
    stop_signal: &StopSignal,
    recorder: &mut ThreadRecorder,
) {
    if pace.lags(sent) {
        recorder.open_loop.lag = Some(if was_free { Lag::Host } else { Lag::Device });
        stop_signal.stop();
    }
}

/// Records that a request of an open loop is sent `ticks` after its due time, at which the thread
/// was free or busy.
fn record_lateness(was_free: bool, ticks: u64, recorder: &mut ThreadRecorder) {
    match was_free {
        true => recorder.sent_late(ticks),
        false => recorder.withheld(ticks),
    }
}

/// Waits until the next request is due, or the deadline or a stop; returns the time after it.
fn wait(
    pace: &Pace,
    clock: Clock,
    deadline: u64,
    stop_signal: &StopSignal,
    recorder: &mut ThreadRecorder,
) -> u64 {
    loop {
        let now = clock.now();
        let next = pace.due().min(deadline);
        if now >= next || stop_signal.is_stopping() {
            return now;
        }
        match pace.sleep(now, next) {
            Some(time) => {
                std::thread::sleep(time.into());
                recorder.advance_to(clock.now());
            }
            None => std::hint::spin_loop(),
        }
    }
}

/// Sends one read or write and waits for it; returns the bytes transferred.
fn transfer(file: &File, request: Request, data: *mut u8, sync: bool) -> io::Result<usize> {
    let length = request.length as usize;
    loop {
        let result = match request.direction {
            Direction::Read => ssdgauge_os::file_io::read_at(file, data, length, request.offset),
            Direction::Write if sync => {
                ssdgauge_os::file_io::write_durably_at(file, data, length, request.offset)
            }
            Direction::Write | Direction::Flush | Direction::Trim => {
                ssdgauge_os::file_io::write_at(file, data, length, request.offset)
            }
        };
        match result {
            // A signal arrived before any byte was transferred: the drive has not failed, and the
            // time so far stays in the latency.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => return other,
        }
    }
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
    loop {
        let result = match request.direction {
            Direction::Trim if is_block => {
                ssdgauge_os::block_device::discard(file, request.offset, length)
            }
            Direction::Trim => ssdgauge_os::file_io::punch_hole(file, request.offset, length),
            Direction::Read | Direction::Write | Direction::Flush => {
                ssdgauge_os::file_io::flush(file)
            }
        };
        match result {
            // As for transfers.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => return other,
        }
    }
}
