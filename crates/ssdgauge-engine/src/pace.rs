//! The pace of an open loop: when the next request is due, and how a thread waits for it.
//!
//! A thread sleeps until shortly before the due time and spins through the rest: a timer alone
//! is some ten microseconds late, and spinning all the time takes a whole processor.

use ssdgauge_core::{Histogram, MOST_LAG, Nanos, OpenLoopCount, Recorder, Schedule, Stream};
use ssdgauge_os::clock::Clock;

/// Rates of a thread up to this one have the long margin.
const LOW_RATE: f64 = 5_000.0;
/// How long before the due time a thread wakes up, at low rates and at high ones.
const MARGIN: [Nanos; 2] = [Nanos(60_000), Nanos(20_000)];
/// The longest sleep, so that a stop_requested to stop is heard and every second is handed over.
const LONGEST_SLEEP: Nanos = Nanos(20_000_000);
/// The longest stall of a drive that must not keep requests from being sent.
const STALL: f64 = 2.0;
/// The most memory that the slots of a thread may take for their buffers.
const MOST_MEMORY: u64 = 128 << 20;

/// Returns the slots of each of `threads` threads: as many as become due in the longest stall.
pub(crate) fn slots(stream: &Stream, threads: u32) -> Option<u32> {
    let rate = stream.arrival.per_second()? / f64::from(threads.max(1));
    let due = (rate * STALL) as u64 + 64;
    let affordable = (MOST_MEMORY / stream.block_size.0.max(1)).max(8);
    Some(due.min(affordable).min(16_384) as u32)
}

/// The due times of one thread, in ticks of its clock.
#[derive(Debug)]
pub(super) struct Pace {
    clock: Clock,
    schedule: Schedule,
    start: u64,
    due: u64,
    margin: u64,
    longest_sleep: u64,
    most_lag: u64,
}

impl Pace {
    pub(super) fn new(schedule: Schedule, per_second: f64, clock: Clock, start: u64) -> Pace {
        let margin = if per_second <= LOW_RATE { MARGIN[0] } else { MARGIN[1] };
        let mut pace = Pace {
            clock,
            schedule,
            start,
            due: 0,
            margin: clock.ticks(margin),
            longest_sleep: clock.ticks(LONGEST_SLEEP),
            most_lag: clock.ticks(MOST_LAG),
        };
        pace.due = pace.due_tick();
        pace
    }

    fn due_tick(&self) -> u64 {
        self.start + self.clock.ticks(Nanos(self.schedule.due()))
    }

    /// Returns when the next request is due.
    #[inline]
    pub(super) fn due(&self) -> u64 {
        self.due
    }

    /// Goes on to the request behind it.
    #[inline]
    pub(super) fn advance(&mut self) {
        self.schedule.advance();
        self.due = self.due_tick();
    }

    /// Returns whether the next request is later than the rule of ACT allows.
    pub(super) fn lags(&self, now: u64) -> bool {
        now.saturating_sub(self.due) > self.most_lag
    }

    /// Returns whether a latency is longer than the rule of ACT allows.
    pub(super) fn is_lag(&self, ticks: u64) -> bool {
        ticks > self.most_lag
    }

    /// Returns how long to sleep before `until`; `None` where only spinning is left.
    pub(super) fn sleep(&self, now: u64, until: u64) -> Option<Nanos> {
        let ahead = until.saturating_sub(now);
        let ticks = ahead.saturating_sub(self.margin).min(self.longest_sleep);
        (ticks > 0).then(|| Nanos(self.clock.nanos(ticks)))
    }

    /// Returns how many requests were due before `deadline` and not sent.
    pub(super) fn unsent(&mut self, deadline: u64) -> u64 {
        let mut unsent = 0;
        while self.due < deadline {
            unsent += 1;
            self.advance();
        }
        unsent
    }
}

/// What an open loop writes down beside its latencies, second by second.
#[derive(Debug, Default)]
pub(crate) struct OpenLoopStats {
    /// From sending to completion.
    pub(crate) service: Recorder,
    /// From the due time to sending, where a slot was free.
    pub(crate) lateness: Recorder,
}

impl OpenLoopStats {
    /// Adds everything to `count` and begins anew.
    pub(super) fn drain_into(&mut self, count: &mut OpenLoopCount) {
        let drain = |recorder: &mut Recorder, target: &mut Histogram| recorder.drain_into(target);
        drain(&mut self.service, &mut count.service);
        drain(&mut self.lateness, &mut count.lateness);
    }
}

/// Why an open loop was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lag {
    /// The drive did not keep up.
    Device,
    /// This program did not.
    Host,
}

/// What a thread of an open loop says at its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PaceEnd {
    pub(crate) sent: u64,
    pub(crate) unsent: u64,
    pub(crate) lag: Option<Lag>,
}
