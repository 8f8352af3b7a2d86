//! The synchronous engine: a thread for every request in flight, as the 2019 reviews define it.

use crate::load::Allowance;
use crate::load::Assignment;
use crate::load::Device;
use crate::load::MOST_FAULTS;
use crate::load::StopSignal;
use crate::pace::{Lag, Pace};
use crate::recorder::{Fault, ThreadRecorder};
use ssdgauge_core::{Direction, Request};
use ssdgauge_os::clock::Clock;
use ssdgauge_os::memory::Region;
use std::fs::File;
use std::io;

/// Runs one thread of a stream to its end.
pub(crate) fn run(assignment: Assignment, mut recorder: ThreadRecorder) {
    let Assignment { clock, block_size, deadline, sync, .. } = assignment;
    let mut pace = assignment.pace();
    let stop_signal = assignment.stop_signal.clone();
    if pace.is_some() {
        ssdgauge_os::thread::precise_timers();
    }
    let buffer = match Region::new(block_size) {
        Ok(buffer) => buffer,
        Err(error) => {
            let failure = format!("no memory for a buffer of {block_size} bytes: {error}");
            return recorder.close(0, clock.now(), Some(failure), false);
        }
    };
    let mut source = assignment.source;
    let mut allowance = Allowance::of(assignment.budget);
    let mut write_buffer = assignment.write_buffer;
    let expected = assignment.expected.filter(|_| matches!(assignment.device, Device::File(_)));
    let (mut enters, mut used_up) = (0, false);
    let mut begin = clock.now();
    loop {
        let mut sent = begin;
        if let Some(pace) = &mut pace {
            // A thread that was busy at the due time is late because of the drive.
            let was_free = begin <= pace.due();
            (begin, sent) = (
                pace.due().min(deadline),
                wait(pace, clock, deadline, &stop_signal, &mut recorder),
            );
            if pace.lags(sent) {
                recorder.pace.lag = Some(if was_free { Lag::Host } else { Lag::Device });
                stop_signal.stop();
            }
            if sent < deadline && was_free {
                recorder.late(sent.saturating_sub(begin));
            }
        }
        if begin >= deadline || stop_signal.stops() {
            begin = sent;
            break;
        }
        if !allowance.take() {
            used_up = true;
            break;
        }
        let request = source.deal();
        let data = match (request.direction, &mut write_buffer) {
            (Direction::Write, Some(write_buffer)) => write_buffer.dip(0, request.offset),
            (Direction::Write | Direction::Read, _) => buffer.at(0),
        };
        let result = match &assignment.device {
            Device::File(file) => transfer(file, request, data, block_size, sync),
            Device::Null => Ok(block_size),
        };
        enters += 1;
        // The end of a request is the beginning of the next: what lies between is a few
        // nanoseconds, and one stamp costs as much.
        let end = clock.now();
        recorder.turn(end);
        let content = match (expected, request.direction, &result) {
            (Some(expected), Direction::Read, Ok(n)) if *n == block_size => {
                // SAFETY: the buffer holds this many bytes, and nothing is in flight.
                unsafe { expected.check(data, request.offset, block_size as u64) }
            }
            (Some(_) | None, Direction::Read | Direction::Write, _) => None,
        };
        match result {
            Ok(n) if n == block_size && content.is_none() => {
                recorder.completed(request, end.saturating_sub(begin), end);
                if pace.is_some() {
                    recorder.served(end - sent);
                }
            }
            other => {
                let result = other.map_err(|error| error.raw_os_error().unwrap_or(0));
                let Request { direction, offset } = request;
                let fault = Fault { direction, offset, result, content };
                if fault.ends_at_once() {
                    stop_signal.stop();
                }
                if recorder.failed(fault) > MOST_FAULTS {
                    break;
                }
            }
        }
        if let Some(pace) = &mut pace {
            recorder.pace.sent += 1;
            pace.advance();
        }
        begin = end;
    }
    if let Some(pace) = &mut pace
        && clock.now() >= deadline
    {
        recorder.pace.unsent = pace.unsent(deadline);
        begin = begin.max(deadline);
    }
    recorder.close(enters, begin, None, used_up);
}

/// Waits until the next request is due, or the end; returns when the waiting was over.
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
        if now >= next || stop_signal.stops() {
            return now;
        }
        match pace.sleep(now, next) {
            Some(time) => {
                std::thread::sleep(time.into());
                recorder.turn(clock.now());
            }
            None => std::hint::spin_loop(),
        }
    }
}

fn transfer(
    file: &File,
    request: Request,
    data: *mut u8,
    length: usize,
    sync: bool,
) -> io::Result<usize> {
    loop {
        let result = match request.direction {
            Direction::Read => ssdgauge_os::file_io::read_at(file, data, length, request.offset),
            Direction::Write if sync => {
                ssdgauge_os::file_io::write_durably_at(file, data, length, request.offset)
            }
            Direction::Write => ssdgauge_os::file_io::write_at(file, data, length, request.offset),
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => return other,
        }
    }
}
