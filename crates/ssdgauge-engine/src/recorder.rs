//! What an I/O thread writes down: one tally a second, handed over whole.

use crate::pace::{OpenLoopStats, PaceEnd};
use crate::request_log::LogPage;
use crate::verification::Content;
use ssdgauge_core::{Direction, Nanos, Recorder, Request};
use ssdgauge_os::clock::Clock;
use std::sync::mpsc::{Receiver, Sender};

/// One second of one thread.
#[derive(Debug, Default)]
pub(crate) struct IntervalRecord {
    pub(crate) sides: [Side; 2],
    /// What an open loop keeps beside; `None` in a closed one.
    pub(crate) beside: Option<Box<OpenLoopStats>>,
}

/// One direction of a tally.
#[derive(Debug, Default)]
pub(crate) struct Side {
    pub(crate) latency: Recorder,
    pub(crate) errors: u64,
}

/// A request that failed, was cut short or read what nobody wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(crate) direction: Direction,
    pub(crate) offset: u64,
    /// The bytes that were moved, or the error number.
    pub(crate) result: Result<usize, i32>,
    /// What a read found that moved all its bytes, but not the right ones.
    pub content: Option<Content>,
}

impl Fault {
    /// Returns whether nothing is left to be loaded: a drive that vanished answers reads with
    /// nothing and writes with "no space", each in a few microseconds.
    pub(crate) fn ends_at_once(&self) -> bool {
        matches!(self.result, Ok(0) | Err(libc::ENODEV | libc::ENXIO | libc::ENOSPC))
    }
}

/// What a thread tells the control thread.
#[derive(Debug)]
pub(crate) enum Message {
    /// The thread has passed `second`; nothing more of it will come, nor of any before `front`.
    Second { thread: usize, second: u32, front: u32, tally: Box<IntervalRecord> },
    /// A request failed in `second`.
    Fault { second: u32, fault: Fault },
    /// The thread is at its end.
    Done {
        thread: usize,
        enters: u64,
        end: u64,
        failure: Option<String>,
        used_up: bool,
        pace: PaceEnd,
        /// Requests that could not be logged.
        lost: u64,
    },
}

/// The recorder of one thread: knows which second it is and when to hand the page over.
#[derive(Debug)]
pub(crate) struct ThreadRecorder {
    thread: usize,
    clock: Clock,
    start: u64,
    second_ticks: u64,
    second: u32,
    /// The tick at which the current second ends.
    pub(crate) turn: u64,
    tally: Box<IntervalRecord>,
    sender: Sender<Message>,
    returned: Receiver<Box<IntervalRecord>>,
    faults: u64,
    log: Option<LogPage>,
    /// What an open loop says at its end.
    pub(crate) pace: PaceEnd,
}

impl ThreadRecorder {
    /// Opens the recorder of `thread`; `returned` gives back tallies that were read.
    pub(crate) fn open(
        thread: usize,
        clock: Clock,
        start: u64,
        sender: Sender<Message>,
        returned: Receiver<Box<IntervalRecord>>,
        log: Option<LogPage>,
    ) -> ThreadRecorder {
        let second_ticks = clock.ticks(Nanos::SECOND);
        ThreadRecorder {
            thread,
            clock,
            start,
            second_ticks,
            second: 0,
            turn: start + second_ticks,
            tally: Box::default(),
            sender,
            returned,
            faults: 0,
            log,
            pace: PaceEnd::default(),
        }
    }

    /// Writes down a request that completed in full at `end`, `ticks` after it began.
    #[inline]
    pub(crate) fn completed(&mut self, request: Request, ticks: u64, end: u64) {
        let latency = self.clock.nanos(ticks);
        self.tally.sides[request.direction as usize].latency.record(latency);
        if let Some(log) = &mut self.log {
            log.record(request, latency, self.clock.nanos(end - self.start));
        }
    }

    /// Writes down how late a request of an open loop was sent although it could have been.
    #[inline]
    pub(crate) fn late(&mut self, ticks: u64) {
        let nanos = self.clock.nanos(ticks);
        self.tally.beside.get_or_insert_default().lateness.record(nanos);
    }

    /// Writes down how long a request of an open loop took from the moment of sending.
    #[inline]
    pub(crate) fn served(&mut self, ticks: u64) {
        let nanos = self.clock.nanos(ticks);
        self.tally.beside.get_or_insert_default().service.record(nanos);
    }

    /// Writes down a request that failed, was cut short or read the wrong data; returns how many there were.
    #[cold]
    pub(crate) fn failed(&mut self, fault: Fault) -> u64 {
        self.tally.sides[fault.direction as usize].errors += 1;
        self.faults += 1;
        if self.faults <= crate::load::MOST_FAULTS {
            // The control thread outlives this one; if it is gone, nobody is left to be told.
            let _ = self.sender.send(Message::Fault { second: self.second, fault });
        }
        self.faults
    }

    /// Turns the page where `now` lies beyond the current second.
    #[inline]
    pub(crate) fn turn(&mut self, now: u64) {
        if now >= self.turn {
            self.hand_over(now);
        }
    }

    #[cold]
    fn hand_over(&mut self, now: u64) {
        let front = ((now - self.start) / self.second_ticks) as u32;
        let fresh = self.returned.try_recv().unwrap_or_default();
        let tally = std::mem::replace(&mut self.tally, fresh);
        let message = Message::Second { thread: self.thread, second: self.second, front, tally };
        let _ = self.sender.send(message);
        self.second = front;
        self.turn = self.start + (u64::from(front) + 1) * self.second_ticks;
    }

    /// Hands over the last page and closes the recorder at `end`.
    pub(crate) fn close(self, enters: u64, end: u64, failure: Option<String>, used_up: bool) {
        let ThreadRecorder { thread, second, tally, sender, pace, log, .. } = self;
        let lost = log.map_or(0, LogPage::close);
        let _ = sender.send(Message::Second { thread, second, front: u32::MAX, tally });
        let _ = sender.send(Message::Done { thread, enters, end, failure, used_up, pace, lost });
    }
}
