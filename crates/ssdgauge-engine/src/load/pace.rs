//! The pace of an open loop: when the next request is due, and how long a thread sleeps before it.
//!
//! A thread sleeps until shortly before the due time and spins for the rest. A timer alone is some
//! ten microseconds late, and spinning all the time would use a whole processor: at 2,000 requests
//! per second, this one submits 0.018 µs late (median) with 17 % of a processor
//! (docs/contributing/performance.md).

use ssdgauge_core::{Histogram, MAX_LAG, Nanos, OpenLoopCount, Recorder, Schedule};
use ssdgauge_os::clock::Clock;

/// The highest rate of a thread, in requests per second, at which it wakes up early. Above it, a
/// margin of 60 µs would be most of the time between two requests.
const LOW_RATE: f64 = 5_000.0;
/// How long before the due time a thread wakes up, at low rates and at high ones.
const WAKE_UP_MARGIN: [Nanos; 2] = [Nanos(60_000), Nanos(20_000)];
/// The longest sleep, so that a thread reads the stop signal and hands over every second.
const LONGEST_SLEEP: Nanos = Nanos(20_000_000);
/// The due times of one thread, in ticks of its clock.
#[derive(Debug)]
pub(crate) struct Pace {
    clock: Clock,
    schedule: Schedule,
    start: u64,
    due: u64,
    margin: u64,
    longest_sleep: u64,
    max_lag: u64,
}

impl Pace {
    pub(crate) fn new(schedule: Schedule, per_second: f64, clock: Clock, start: u64) -> Pace {
        let margin = WAKE_UP_MARGIN[usize::from(per_second > LOW_RATE)];
        let mut pace = Pace {
            clock,
            schedule,
            start,
            due: 0,
            margin: clock.ticks(margin),
            longest_sleep: clock.ticks(LONGEST_SLEEP),
            max_lag: clock.ticks(MAX_LAG),
        };
        pace.due = pace.due_tick();
        pace
    }

    // Converted again from the absolute time of the schedule, so rounding does not add up.
    fn due_tick(&self) -> u64 {
        self.start + self.clock.ticks(Nanos(self.schedule.due()))
    }

    /// Returns when the next request is due.
    #[inline]
    pub(crate) fn due(&self) -> u64 {
        self.due
    }

    /// Moves on to the due time of the following request.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.schedule.advance();
        let due = self.due_tick();
        debug_assert!(due >= self.due, "due times increase");
        self.due = due;
    }

    /// Returns whether the next request is later than the limit of ACT (`max-lag-sec`).
    pub(crate) fn lags(&self, now: u64) -> bool {
        now.saturating_sub(self.due) > self.max_lag
    }

    /// Returns whether a latency is longer than the limit of ACT (`max-lag-sec`).
    pub(crate) fn is_lag(&self, ticks: u64) -> bool {
        ticks > self.max_lag
    }

    /// Returns the interval in which the age of requests in flight is compared with the limit.
    pub(crate) fn check_interval(&self) -> u64 {
        self.longest_sleep
    }

    /// Returns how long to sleep before `until`; `None` where only the margin is left to spin.
    pub(crate) fn sleep(&self, now: u64, until: u64) -> Option<Nanos> {
        let ahead = until.saturating_sub(now);
        let ticks = ahead.saturating_sub(self.margin).min(self.longest_sleep);
        (ticks > 0).then(|| Nanos(self.clock.nanos(ticks)))
    }

    /// Returns how many requests were due before `deadline` and not sent.
    pub(crate) fn unsent(&mut self, deadline: u64) -> u64 {
        let mut unsent = 0;
        while self.due < deadline {
            unsent += 1;
            self.advance();
        }
        unsent
    }
}

/// The figures of an open loop for one second, in addition to its latencies.
#[derive(Debug, Default)]
pub(crate) struct OpenLoopStats {
    /// From submission to completion.
    pub(crate) service: Recorder,
    /// From the due time to submission, where a slot was free.
    pub(crate) lateness: Recorder,
    /// From the due time to submission, where the request had to wait for a slot.
    pub(crate) withheld: Recorder,
}

impl OpenLoopStats {
    /// Adds everything to `count` and resets itself.
    pub(crate) fn drain_into(&mut self, count: &mut OpenLoopCount) {
        let drain = |recorder: &mut Recorder, target: &mut Histogram| recorder.drain_into(target);
        drain(&mut self.service, &mut count.service);
        drain(&mut self.lateness, &mut count.lateness);
        drain(&mut self.withheld, &mut count.withheld);
    }
}

/// Why an open loop was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lag {
    /// The drive did not sustain the rate.
    Device,
    /// This program did not sustain the rate.
    Host,
}

/// The totals of an open loop in one thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenLoopTotals {
    pub(crate) sent: u64,
    /// Requests that were due within the time limit and not sent.
    pub(crate) unsent: u64,
    /// The ticks without a request in flight before requests of a replay.
    pub(crate) idle: u64,
    pub(crate) lag: Option<Lag>,
}
