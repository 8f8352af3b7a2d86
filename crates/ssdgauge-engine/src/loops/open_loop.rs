//! An open loop in one thread with a ring: which requests are due, and whether drive or host lags.

use crate::load::Assignment;
use crate::load::pace::{Lag, Pace};
use crate::recorder::ThreadRecorder;
use ssdgauge_core::{LatencyClock, Nanos};

/// The due times of the thread, and what has become of its requests.
pub(crate) struct OpenLoop {
    pace: Pace,
    latency_clock: LatencyClock,
    /// The end of the thread: no request is due from then on.
    deadline: u64,
    sent: u64,
    /// The last time at which no slot was free: requests due before it are late because of the drive.
    last_blocked: u64,
    /// When the age of the requests in flight is compared with the limit again.
    next_age_check: u64,
    /// Why the loop was aborted; the first cause counts.
    lag: Option<Lag>,
    timed_out: bool,
}

impl OpenLoop {
    /// Returns the open loop of `assignment`; `None` where it is closed.
    pub(crate) fn of(assignment: &Assignment) -> Option<OpenLoop> {
        Some(OpenLoop {
            pace: assignment.pace()?,
            latency_clock: assignment.latency_clock,
            deadline: assignment.deadline,
            sent: 0,
            last_blocked: 0,
            next_age_check: 0,
            lag: None,
            timed_out: false,
        })
    }

    /// Returns whether its time has ended at `now`.
    #[inline]
    pub(crate) fn times_out(&mut self, now: u64) -> bool {
        self.timed_out |= now >= self.deadline;
        self.timed_out
    }

    /// Returns whether a request is due at `now`, late or not.
    #[inline]
    pub(crate) fn is_due(&self, now: u64) -> bool {
        self.pace.due() <= now && self.pace.due() < self.deadline
    }

    /// Returns when the latency of the next request begins, if it is sent at `now`.
    #[inline]
    pub(crate) fn begin(&self, now: u64) -> u64 {
        match self.latency_clock {
            LatencyClock::Due => self.pace.due(),
            LatencyClock::Submission => now,
        }
    }

    /// Counts the request that was due as sent at `now`; returns whether the host lags.
    #[inline]
    pub(crate) fn sent(&mut self, now: u64, recorder: &mut ThreadRecorder) -> bool {
        self.sent += 1;
        let late = now - self.pace.due();
        let mut lags = false;
        // Requests due up to the last time without a free slot waited for the drive. Only later
        // ones show how late the host is.
        if self.pace.due() > self.last_blocked {
            recorder.sent_late(late);
            lags = self.pace.lags(now);
        } else {
            recorder.withheld(late);
        }
        self.pace.advance();
        self.aborts(lags, Lag::Host)
    }

    /// Notes that no slot is free at `now`; returns whether the drive lags: the next request is too late, or
    /// one in flight is. The latter shows before it completes only because all slots are in use, so that
    /// `begins` are those of requests in flight.
    #[cold]
    pub(crate) fn blocked(&mut self, now: u64, mut begins: impl Iterator<Item = u64>) -> bool {
        self.last_blocked = now;
        let mut lags = self.pace.lags(now);
        // Not at each call: it looks at every slot, and there may be thousands.
        if now >= self.next_age_check {
            self.next_age_check = now + self.pace.check_interval();
            lags |= begins.any(|begin| self.pace.is_lag(now - begin));
        }
        self.aborts(lags, Lag::Device)
    }

    /// Records the service time of a request; returns whether the drive lags.
    #[inline(never)]
    pub(crate) fn served(&mut self, ticks: u64, recorder: &mut ThreadRecorder) -> bool {
        recorder.served(ticks);
        self.aborts(self.pace.is_lag(ticks), Lag::Device)
    }

    /// Returns whether the loop is aborted because of `lag`.
    fn aborts(&mut self, lags: bool, lag: Lag) -> bool {
        if lags {
            self.lag = self.lag.or(Some(lag));
        }
        lags
    }

    /// Returns how long to sleep at `now`: until the next due time if `sends`, else for a completion only.
    /// `None` where only the margin is left to spin.
    #[inline]
    pub(crate) fn sleep(&self, now: u64, sends: bool) -> Option<Nanos> {
        let next = if sends { self.pace.due().min(self.deadline) } else { u64::MAX };
        self.pace.sleep(now, next)
    }

    /// Records its totals; returns the end of the thread, whose last completion was at `last`.
    pub(crate) fn conclude(&mut self, last: u64, recorder: &mut ThreadRecorder) -> u64 {
        recorder.open_loop.sent = self.sent;
        recorder.open_loop.lag = self.lag;
        if !self.timed_out {
            return last;
        }
        recorder.open_loop.unsent = self.pace.unsent(self.deadline);
        // An open loop lasts until its deadline, even if no request is due shortly before it.
        last.max(self.deadline)
    }
}
