//! The synchronous engine: a thread for every request in flight, as the 2019 reviews define it.

use super::tally::{Book, Fault};
use super::{Allowance, Assignment, Device, Ink, MOST_FAULTS};
use crate::sys::{self, Region};
use ssdgauge_core::{Direction, Request};
use std::fs::File;
use std::io;

/// Runs one thread of a stream to its end.
pub(super) fn run(assignment: Assignment, mut book: Book) {
    let Assignment { clock, block_size, order, deadline, .. } = assignment;
    let buffer = match Region::new(block_size) {
        Ok(buffer) => buffer,
        Err(error) => {
            let failure = format!("no memory for a buffer of {block_size} bytes: {error}");
            return book.close(0, clock.now(), Some(failure), false);
        }
    };
    let mut source = assignment.source;
    let mut allowance = Allowance::of(assignment.budget);
    let mut ink = Ink::of(assignment.writes, block_size, sys::thread_id() as usize);
    let (mut enters, mut used_up) = (0, false);
    let mut begin = clock.now();
    loop {
        if begin >= deadline || order.stops() {
            break;
        }
        if !allowance.take() {
            used_up = true;
            break;
        }
        let request = source.deal();
        let data = match request.direction {
            Direction::Read => buffer.at(0),
            Direction::Write => ink.dip(),
        };
        let result = match &assignment.device {
            Device::File(file) => transfer(file, request, data, block_size),
            Device::Null => Ok(block_size),
        };
        enters += 1;
        // The end of a request is the beginning of the next: what lies between is a few
        // nanoseconds, and one stamp costs as much.
        let end = clock.now();
        book.turn(end);
        match result {
            Ok(n) if n == block_size => book.completed(request.direction, end - begin),
            other => {
                let result = other.map_err(|error| error.raw_os_error().unwrap_or(0));
                let Request { direction, offset } = request;
                if book.failed(Fault { direction, offset, result }) > MOST_FAULTS {
                    break;
                }
            }
        }
        begin = end;
    }
    book.close(enters, begin, None, used_up);
}

fn transfer(file: &File, request: Request, data: *mut u8, length: usize) -> io::Result<usize> {
    loop {
        let result = match request.direction {
            Direction::Read => sys::read_at(file, data, length, request.offset),
            Direction::Write => sys::write_at(file, data, length, request.offset),
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => return other,
        }
    }
}
