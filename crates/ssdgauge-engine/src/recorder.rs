//! The recorder of an I/O thread: one record per second, handed over as a whole.
//!
//! A thread fills its own record, so recording needs no lock and no atomic operation: a full
//! histogram costs 2 ns per request (docs/contributing/performance.md). The control thread merges the record and
//! returns it, so nothing is allocated in the loop.

pub mod io_errors;
pub(crate) mod outcome;

use crate::load::pace::{OpenLoopStats, OpenLoopTotals};
use crate::load::request_log::ThreadLog;
use crate::load::{MAX_FAULTS, StopSignal};
use crate::request_error::is_gone;
use crate::request_error::nvme_status;
use crate::verification::Mismatch;
use ssdgauge_core::{Direction, Nanos, Recorder, Request};
use ssdgauge_os::clock::Clock;
use std::sync::mpsc::{Receiver, Sender};

/// The record of one second of one thread.
#[derive(Debug, Default)]
pub(crate) struct IntervalRecord {
    /// Reads and writes.
    pub(crate) transfers: [DirectionRecord; Direction::TRANSFERS.len()],
    /// Flushes and trims; `None` until the first one, because a record takes 135 KB.
    commands: Option<Box<[DirectionRecord; 2]>>,
    /// Further figures of an open loop; `None` in a closed one.
    pub(crate) open_loop: Option<Box<OpenLoopStats>>,
}

impl IntervalRecord {
    /// Returns the record of `direction`.
    #[inline]
    pub(crate) fn of(&mut self, direction: Direction) -> &mut DirectionRecord {
        match direction {
            Direction::Read | Direction::Write => &mut self.transfers[direction.side()],
            Direction::Flush | Direction::Trim => self.of_command(direction),
        }
    }

    #[cold]
    fn of_command(&mut self, direction: Direction) -> &mut DirectionRecord {
        let number = direction as usize - Direction::TRANSFERS.len();
        &mut self.commands.get_or_insert_default()[number]
    }

    /// Returns the records of all directions that have one.
    pub(crate) fn used(&mut self) -> impl Iterator<Item = (Direction, &mut DirectionRecord)> {
        let commands = self.commands.iter_mut().flat_map(|commands| commands.iter_mut());
        Direction::ALL.into_iter().zip(self.transfers.iter_mut().chain(commands))
    }
}

/// One direction of a record.
#[derive(Debug, Default)]
pub(crate) struct DirectionRecord {
    pub(crate) latency: Recorder,
    /// The bytes of these requests, where their lengths differ.
    pub(crate) bytes: u64,
    pub(crate) errors: u64,
}

/// A request that failed, returned short, or read wrong data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(crate) direction: Direction,
    pub(crate) offset: u64,
    /// The bytes transferred, or the number of the error (`nvme_status`).
    pub(crate) result: Result<usize, i32>,
    /// What a complete read found in place of the data that this run wrote.
    pub mismatch: Option<Mismatch>,
}

impl Fault {
    /// Returns whether the workload ends at the first such fault: a drive that has vanished returns
    /// 0 bytes for reads and "no space" for writes, each within microseconds.
    pub(crate) fn ends_at_once(&self) -> bool {
        match self.result {
            Ok(transferred) => transferred == 0,
            Err(number) => {
                let error = nvme_status::error_number(number);
                is_gone(error) || error == libc::ENOSPC || nvme_status::lost_controller(number)
            }
        }
    }
}

/// A message of an I/O thread to the control thread.
#[derive(Debug)]
pub(crate) enum Message {
    /// The record of `second`. The thread will send nothing more for seconds before `watermark`.
    Second { thread: usize, second: u32, watermark: u32, record: Box<IntervalRecord> },
    /// A request failed in `second`.
    Fault { second: u32, fault: Fault },
    /// The thread has ended.
    Done {
        thread: usize,
        enters: u64,
        end: u64,
        failure: Option<String>,
        budget_exhausted: bool,
        open_loop: OpenLoopTotals,
        /// Requests that could not be logged.
        lost: u64,
    },
}

/// The recorder of one thread: knows the current second and hands its record over at its end.
#[derive(Debug)]
pub(crate) struct ThreadRecorder {
    thread: usize,
    clock: Clock,
    start: u64,
    second_ticks: u64,
    second: u32,
    /// The tick at which the current second ends.
    interval_end: u64,
    record: Box<IntervalRecord>,
    sender: Sender<Message>,
    returned: Receiver<Box<IntervalRecord>>,
    faults: u64,
    log: Option<ThreadLog>,
    /// The totals of an open loop.
    pub(crate) open_loop: OpenLoopTotals,
}

impl ThreadRecorder {
    /// Returns the recorder of `thread`; `returned` receives emptied records for reuse.
    pub(crate) fn new(
        thread: usize,
        clock: Clock,
        start: u64,
        sender: Sender<Message>,
        returned: Receiver<Box<IntervalRecord>>,
        log: Option<ThreadLog>,
    ) -> ThreadRecorder {
        let second_ticks = clock.ticks(Nanos::SECOND);
        ThreadRecorder {
            thread,
            clock,
            start,
            second_ticks,
            second: 0,
            interval_end: start + second_ticks,
            record: Box::default(),
            sender,
            returned,
            faults: 0,
            log,
            open_loop: OpenLoopTotals::default(),
        }
    }

    /// Records a request that completed in full at `end`, `ticks` after its begin.
    #[inline]
    pub(crate) fn completed(&mut self, request: Request, ticks: u64, end: u64) {
        debug_assert!(end < self.interval_end, "a completion belongs to the current second");
        let latency = self.clock.nanos(ticks);
        self.record.of(request.direction).latency.record(latency);
        if let Some(log) = &mut self.log {
            log.record(request, latency, self.clock.nanos(end - self.start));
        }
    }

    /// Adds the length of a request that completed in full, where lengths differ.
    #[inline]
    pub(crate) fn transferred(&mut self, direction: Direction, bytes: u64) {
        self.record.of(direction).bytes += bytes;
    }

    /// Records how late a request of an open loop was sent although a slot was free.
    #[inline]
    pub(crate) fn sent_late(&mut self, ticks: u64) {
        let nanos = self.clock.nanos(ticks);
        self.record.open_loop.get_or_insert_default().lateness.record(nanos);
    }

    /// Records how late a request of an open loop was sent that had to wait for a slot.
    #[cold]
    pub(crate) fn withheld(&mut self, ticks: u64) {
        let nanos = self.clock.nanos(ticks);
        self.record.open_loop.get_or_insert_default().withheld.record(nanos);
    }

    /// Records the time of a request of an open loop from submission to completion.
    #[inline]
    pub(crate) fn served(&mut self, ticks: u64) {
        let nanos = self.clock.nanos(ticks);
        self.record.open_loop.get_or_insert_default().service.record(nanos);
    }

    /// Records that `request` failed with `result`, or read wrong data. Ends all threads where the drive is
    /// gone; returns whether this thread has to end: with them, or because too many requests failed.
    #[cold]
    pub(crate) fn failed(
        &mut self,
        request: Request,
        result: Result<usize, i32>,
        mismatch: Option<Mismatch>,
        stop_signal: &StopSignal,
    ) -> bool {
        let Request { direction, offset, .. } = request;
        let fault = Fault { direction, offset, result, mismatch };
        if fault.ends_at_once() {
            stop_signal.stop();
        }
        self.record.of(direction).errors += 1;
        self.faults += 1;
        if self.faults <= MAX_FAULTS {
            // The control thread may have abandoned this one.
            let _ = self.sender.send(Message::Fault { second: self.second, fault });
        }
        self.faults > MAX_FAULTS || stop_signal.is_stopping()
    }

    /// Hands the record over if `now` is past the end of the current second. One comparison in the
    /// loop: the end of the second is kept in ticks.
    #[inline]
    pub(crate) fn advance_to(&mut self, now: u64) {
        if now >= self.interval_end {
            self.hand_over(now);
        }
    }

    #[cold]
    fn hand_over(&mut self, now: u64) {
        // A thread that waited for seconds passes them all at once; the control thread fills them
        // with zeros.
        let watermark = ((now - self.start) / self.second_ticks) as u32;
        assert!(watermark > self.second, "seconds increase: {watermark} after {}", self.second);
        // Encoding a histogram takes 60 µs and would appear in the latency tail: other threads do
        // it. A record that has not come back yet is replaced by a new one, so that this thread
        // does not wait for it.
        let empty = self.returned.try_recv().unwrap_or_default();
        let record = std::mem::replace(&mut self.record, empty);
        let (thread, second) = (self.thread, self.second);
        let _ = self.sender.send(Message::Second { thread, second, watermark, record });
        self.second = watermark;
        self.interval_end = self.start + (u64::from(watermark) + 1) * self.second_ticks;
    }

    /// Hands over the last record and reports the end of the thread, whose last completion was at
    /// `end`.
    pub(crate) fn finish(
        self,
        enters: u64,
        end: u64,
        failure: Option<String>,
        budget_exhausted: bool,
    ) {
        let ThreadRecorder { thread, second, record, sender, open_loop, log, .. } = self;
        let lost = log.map_or(0, ThreadLog::finish);
        // The second first: the control thread asserts that the end of a thread is its last
        // message.
        let _ = sender.send(Message::Second { thread, second, watermark: u32::MAX, record });
        let _ = sender.send(Message::Done {
            thread,
            enters,
            end,
            failure,
            budget_exhausted,
            open_loop,
            lost,
        });
    }
}
