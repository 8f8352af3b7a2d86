//! Supervision of the I/O threads: receives their records, emits complete seconds, and enforces
//! stops and time limits.

use super::io_threads::{IntervalBuckets, IoThread, IoThreads, ThreadEnd};
use crate::recorder::{IntervalRecord, Message};
use ssdgauge_core::{Arrival, Direction, Interval, Nanos, Sink};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// How often the control thread checks its limits while no message arrives. A stop takes effect
/// within this time, and 50 wake-ups a second are not measurable next to an I/O thread.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// The maximum number of faults that are stored with their offsets; all of them are counted.
const MAX_STORED_FAULTS: usize = 1_000;
/// The time without a completion after which a drive counts as hung: 30 s, as the command timeout
/// of Linux (NVMe `io_timeout`, SCSI).
const HANG_TIMEOUT: Duration = Duration::from_secs(30);
/// The time for the requests in flight to complete after a stop.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(4);
/// How late the watermark of a thread may be before the thread is interrupted.
const WATERMARK_TOLERANCE: Duration = Duration::from_millis(50);
/// The longest time between two checks that counts as time without a completion.
const LONGEST_CHECK: Duration = Duration::from_secs(1);
/// The time for the threads to leave a drive that hangs.
const ABANDON_TIMEOUT: Duration = Duration::from_secs(1);

impl IoThreads {
    /// Receives what the threads report until all of them have ended, or the drive hangs.
    pub(super) fn watch(&mut self, sink: &mut dyn Sink) {
        let mut last_check = Instant::now();
        let mut stop_since: Option<Instant> = None;
        while self.threads.iter().any(|thread| thread.ended.is_none()) {
            match self.messages.recv_timeout(CHECK_INTERVAL) {
                Ok(message) => self.receive(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // Hundreds of threads send as many messages: the checks run at their own interval.
            let since_check = last_check.elapsed();
            if since_check < CHECK_INTERVAL {
                continue;
            }
            last_check = Instant::now();
            // Capped, so that a process that was stopped (SIGSTOP, suspend) blames no drive.
            self.without_completion += since_check.min(LONGEST_CHECK);
            self.emit(sink);
            self.interrupt_late_threads();
            if !self.stopped && (self.stop_signal.is_run_stop_requested() || sink.stop()) {
                self.stopped = true;
                stop_since = Some(last_check);
                self.stop_signal.stop();
                self.interrupt_all();
            }
            let overdue = stop_since.is_some_and(|since| since.elapsed() > DRAIN_TIMEOUT);
            if self.without_completion > HANG_TIMEOUT || overdue {
                self.abandon();
                return;
            }
        }
        // The threads read the flag of the run themselves and may end before the check above.
        self.stopped |= self.stop_signal.is_run_stop_requested();
    }

    /// Adds a message of a thread to the sums.
    pub(super) fn receive(&mut self, message: Message) {
        match message {
            Message::Second { thread, second, watermark, record } => {
                self.receive_second(thread, second, watermark, record);
            }
            Message::Fault { second, fault } => {
                if self.faults.len() < MAX_STORED_FAULTS {
                    self.faults.push((second, fault));
                }
            }
            Message::Done { thread, enters, end, failure, budget_exhausted, open_loop, lost } => {
                let io_thread = &mut self.threads[thread];
                assert!(io_thread.ended.is_none(), "thread {thread} ends once");
                assert_eq!(io_thread.watermark, u32::MAX, "its last second comes before its end");
                self.unlogged += lost;
                let count = &mut self.open_loop_counts[io_thread.stream];
                count.sent += open_loop.sent;
                count.unsent += open_loop.unsent;
                count.idle += Nanos(self.clock.nanos(open_loop.idle));
                let lag = open_loop.lag;
                io_thread.ended =
                    Some(ThreadEnd { enters, tick: end, failure, budget_exhausted, lag });
            }
        }
    }

    /// Adds one second of one thread to the pending seconds, and returns the emptied record.
    fn receive_second(
        &mut self,
        thread: usize,
        second: u32,
        watermark: u32,
        mut record: Box<IntervalRecord>,
    ) {
        let io_thread = &mut self.threads[thread];
        // A second that was emitted cannot be changed, and `emit` waits for every watermark.
        assert!(second >= io_thread.watermark, "thread {thread}: second {second} was closed");
        assert!(watermark > second, "thread {thread}: watermark {watermark} in second {second}");
        assert!(second >= self.emitted, "thread {thread}: second {second} was emitted");
        let streams = self.streams.len();
        let buckets =
            self.pending.entry(second).or_insert_with(|| vec![IntervalBuckets::default(); streams]);
        let buckets = &mut buckets[io_thread.stream];
        let mut finished = 0;
        for (direction, part) in record.used() {
            let bucket = &mut buckets[direction as usize];
            self.received[direction as usize] += part.latency.count();
            finished += part.latency.count() + part.errors;
            part.latency.drain_into(&mut bucket.latency);
            bucket.bytes += std::mem::take(&mut part.bytes);
            bucket.errors += std::mem::take(&mut part.errors);
        }
        if let Some(open_loop) = &mut record.open_loop {
            open_loop.drain_into(&mut self.open_loop_counts[io_thread.stream]);
        }
        if finished > 0 {
            self.without_completion = Duration::ZERO;
        }
        io_thread.watermark = watermark;
        // The thread may have ended in the meantime.
        let _ = io_thread.returns.send(record);
    }

    /// Returns the watermark of all threads: every second before it is complete.
    fn watermark(&self) -> u32 {
        self.threads.iter().map(|thread| thread.watermark).min().unwrap_or(0)
    }

    /// Emits every complete second.
    fn emit(&mut self, sink: &mut dyn Sink) {
        let watermark = match self.watermark() {
            // All threads have ended: `conclude` knows the elapsed time and emits the rest.
            u32::MAX => self.emitted,
            watermark => watermark,
        };
        while self.emitted < watermark {
            self.emit_second(Nanos::SECOND, sink);
        }
        // Workers end after five seconds without work, so they are looked for during the step. Those that
        // another run of the process left are none of a load without a ring.
        let has_ring = self.threads.iter().any(|thread| thread.has_ring);
        if self.emitted >= 1 && !self.punted && has_ring {
            self.punted = ssdgauge_os::process::has_io_workers();
        }
    }

    /// Emits the next second of each stream and direction, with zeros where nothing completed.
    pub(super) fn emit_second(&mut self, length: Nanos, sink: &mut dyn Sink) {
        let second = self.emitted;
        let mut buckets = self.pending.remove(&second).unwrap_or_default();
        buckets.resize(self.streams.len(), Default::default());
        for ((number, stream), directions) in self.streams.iter().enumerate().zip(buckets) {
            for (direction, bucket) in Direction::ALL.into_iter().zip(directions) {
                let ios = bucket.latency.count();
                if !stream.sends(direction) {
                    assert_eq!(ios, 0, "stream {number} sends no {}", direction.name());
                    continue;
                }
                self.ios[direction as usize] += ios;
                self.latency_sum += bucket.latency.sum();
                if stream.arrival.per_second().is_some() {
                    self.open_loop_latencies[number].merge(&bucket.latency);
                }
                sink.interval(&Interval {
                    second,
                    stream: number as u16,
                    direction,
                    length,
                    ios,
                    bytes: match stream.arrival {
                        _ if stream.has_sizes() => bucket.bytes,
                        // Each request of a trace has a length of its own.
                        Arrival::Recorded { .. } => bucket.bytes,
                        Arrival::Closed
                        | Arrival::Uniform { .. }
                        | Arrival::InPhase { .. }
                        | Arrival::Poisson { .. } => ios * stream.bytes_each(direction).0,
                    },
                    errors: bucket.errors,
                    latency: bucket.latency,
                });
            }
        }
        self.emitted += 1;
    }

    /// Interrupts threads that wait in the kernel beyond the end of a second, so that they hand it
    /// over: without it a slow drive would delay the seconds of all streams.
    fn interrupt_late_threads(&self) {
        let now = self.clock.nanos(self.clock.now() - self.start);
        let due = Duration::from_nanos(now).saturating_sub(WATERMARK_TOLERANCE).as_secs() as u32;
        // At each check until the second has come: a signal may arrive just before the wait that it
        // was to end.
        let late = |thread: &&IoThread| thread.has_ring && thread.watermark < due;
        let threads = self.threads.iter().filter(late);
        threads.for_each(|thread| ssdgauge_os::thread::interrupt(thread.id));
    }

    /// Interrupts all threads that wait in the kernel, so that they read the stop signal.
    fn interrupt_all(&self) {
        let waiting = |thread: &&IoThread| thread.has_ring && thread.ended.is_none();
        let threads = self.threads.iter().filter(waiting);
        threads.for_each(|thread| ssdgauge_os::thread::interrupt(thread.id));
    }

    /// Leaves a drive that hangs, and receives what its threads report within a second. Threads
    /// that are stuck in the kernel are left behind with their buffers.
    fn abandon(&mut self) {
        self.unresponsive =
            Some(Nanos(self.without_completion.max(DRAIN_TIMEOUT).as_nanos() as u64));
        self.stop_signal.abandon();
        let since = Instant::now();
        while since.elapsed() < ABANDON_TIMEOUT {
            self.interrupt_all();
            while let Ok(message) = self.messages.try_recv() {
                self.receive(message);
            }
            if self.threads.iter().all(|thread| thread.ended.is_some()) {
                return;
            }
            std::thread::sleep(CHECK_INTERVAL);
        }
    }
}
