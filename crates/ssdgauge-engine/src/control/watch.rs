//! The watch over a io_threads: takes in seconds, hands them on, and ends what goes on for too long.

use super::io_threads::{End, IntervalBucket, IoThreads, Thread};
use crate::recorder::Message;
use ssdgauge_core::{Direction, Interval, Nanos, Sink};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// How often the control thread looks around when nobody tells it anything.
const LOOK: Duration = Duration::from_millis(20);
/// The most faults that are kept with their places.
const MOST_KEPT: usize = 1_000;
/// How long a drive may be silent before it is given up.
const SILENCE: Duration = Duration::from_secs(30);
/// How long a drive may take to finish what is in flight after a stop.
const DRAIN: Duration = Duration::from_secs(4);
/// How late a thread may be with its second before it is woken.
const LATE: Duration = Duration::from_millis(50);

impl IoThreads {
    /// Takes in what the threads report until all of them have ended, or the drive is given up.
    pub(super) fn watch(&mut self, sink: &mut dyn Sink) {
        let mut looked = Instant::now();
        let mut stop_since: Option<Instant> = None;
        while self.threads.iter().any(|thread| thread.ended.is_none()) {
            match self.messages.recv_timeout(LOOK) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let since = looked.elapsed();
            if since < LOOK {
                continue;
            }
            looked = Instant::now();
            self.note_silence(since);
            self.emit(sink);
            self.wake_late_threads();
            if !self.stopped && (self.stop_signal.is_requested() || sink.stop()) {
                self.stopped = true;
                stop_since = Some(looked);
                self.stop_signal.stop();
                self.wake_all();
            }
            let overdue = stop_since.is_some_and(|since| since.elapsed() > DRAIN);
            if self.silent_for > SILENCE || overdue {
                self.give_up();
                return;
            }
        }
        // The threads may have heard of it and ended before this one looked.
        self.stopped |= self.stop_signal.is_requested();
    }

    pub(super) fn take(&mut self, message: Message) {
        match message {
            Message::Second { thread, second, front, mut tally } => {
                let streams = self.streams.len();
                let pages = self
                    .pending
                    .entry(second)
                    .or_insert_with(|| vec![<[IntervalBucket; 2]>::default(); streams]);
                let pages = &mut pages[self.threads[thread].stream];
                let mut seen = 0;
                for (page, side) in pages.iter_mut().zip(&mut tally.sides) {
                    seen += side.latency.count() + side.errors;
                    side.latency.drain_into(&mut page.latency);
                    page.errors += std::mem::take(&mut side.errors);
                }
                if let Some(beside) = &mut tally.beside {
                    beside.drain_into(&mut self.counts[self.threads[thread].stream]);
                }
                if seen > 0 {
                    self.silent_for = Duration::ZERO;
                }
                self.threads[thread].front = front;
                // A thread that has ended does not want its tally back.
                let _ = self.threads[thread].back.send(tally);
            }
            Message::Fault { second, fault } => {
                if self.faults.len() < MOST_KEPT {
                    self.faults.push((second, fault));
                }
            }
            Message::Done { thread, enters, end, failure, used_up, pace, lost } => {
                self.unlogged += lost;
                let count = &mut self.counts[self.threads[thread].stream];
                count.sent += pace.sent;
                count.unsent += pace.unsent;
                let end = End { enters, tick: end, failure, used_up, lag: pace.lag };
                self.threads[thread].ended = Some(end);
            }
        }
    }

    /// Counts silence by the turns of this loop, so that a stopped process blames no drive.
    fn note_silence(&mut self, since: Duration) {
        self.silent_for += since.min(Duration::from_secs(1));
    }

    fn front(&self) -> u32 {
        self.threads.iter().map(|thread| thread.front).min().unwrap_or(0)
    }

    /// Hands every second to the sink that all threads have passed.
    fn emit(&mut self, sink: &mut dyn Sink) {
        let front = match self.front() {
            u32::MAX => self.pending.last_key_value().map_or(0, |(second, _)| *second),
            front => front,
        };
        while self.emitted < front {
            self.emit_second(Nanos::SECOND, sink);
        }
        if self.emitted >= 1 && !self.punted {
            self.punted = ssdgauge_os::process::has_io_workers();
        }
    }

    pub(super) fn emit_second(&mut self, length: Nanos, sink: &mut dyn Sink) {
        let second = self.emitted;
        let mut pages = self.pending.remove(&second).unwrap_or_default();
        pages.resize(self.streams.len(), Default::default());
        for ((number, stream), sides) in self.streams.iter().enumerate().zip(pages) {
            for (direction, page) in Direction::BOTH.into_iter().zip(sides) {
                let takes_part = match direction {
                    Direction::Read => stream.reads(),
                    Direction::Write => stream.writes(),
                };
                if !takes_part {
                    continue;
                }
                let ios = page.latency.count();
                self.ios[direction as usize] += ios;
                self.busy += page.latency.sum();
                if stream.arrival.per_second().is_some() {
                    self.responses[number].merge(&page.latency);
                }
                sink.interval(&Interval {
                    second,
                    stream: number as u16,
                    direction,
                    length,
                    ios,
                    bytes: ios * stream.block_size.0,
                    errors: page.errors,
                    latency: page.latency,
                });
            }
        }
        self.emitted += 1;
    }

    /// Wakes threads that wait in the kernel beyond the end of their second.
    fn wake_late_threads(&self) {
        let now = self.clock.nanos(self.clock.now() - self.start);
        let due = Duration::from_nanos(now).saturating_sub(LATE).as_secs() as u32;
        let late = |thread: &&Thread| thread.kickable && thread.front < due;
        self.threads
            .iter()
            .filter(late)
            .for_each(|thread| ssdgauge_os::thread::interrupt(thread.id));
    }

    fn wake_all(&self) {
        let waiting = |thread: &&Thread| thread.kickable && thread.ended.is_none();
        self.threads
            .iter()
            .filter(waiting)
            .for_each(|thread| ssdgauge_os::thread::interrupt(thread.id));
    }

    /// Leaves a drive that does not answer, with whatever its threads still say within a second.
    fn give_up(&mut self) {
        self.silence = Some(Nanos(self.silent_for.max(DRAIN).as_nanos() as u64));
        self.stop_signal.abandon();
        let since = Instant::now();
        while since.elapsed() < Duration::from_secs(1) {
            self.wake_all();
            while let Ok(message) = self.messages.try_recv() {
                self.take(message);
            }
            if self.threads.iter().all(|thread| thread.ended.is_some()) {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }
}
