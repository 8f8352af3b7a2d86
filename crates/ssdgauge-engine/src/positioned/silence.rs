//! How long the threads of a load have completed no request, and when that is too long.

use ssdgauge_core::Nanos;
use std::time::{Duration, Instant};

/// The time without a completed request after which a drive counts as hung, once a stop was requested.
const STOP_LIMIT: Duration = Duration::from_secs(4);

/// The time since the last completed request of a load.
pub(super) struct Silence {
    /// What had completed when it was looked at last.
    done: u64,
    since: Instant,
    limit: Duration,
}

impl Silence {
    /// Begins with a load on a drive that counts as hung after `limit`.
    pub(super) fn begin(limit: Duration) -> Silence {
        Silence { done: 0, since: Instant::now(), limit }
    }

    /// Notes that `done` has completed.
    pub(super) fn note(&mut self, done: u64) {
        if done != self.done {
            (self.done, self.since) = (done, Instant::now());
        }
    }

    /// Begins again, with the limit of a load that has to stop.
    pub(super) fn stop(&mut self) {
        (self.since, self.limit) = (Instant::now(), self.limit.min(STOP_LIMIT));
    }

    /// Returns whether it is still short enough.
    pub(super) fn is_short(&self) -> bool {
        self.since.elapsed() < self.limit
    }

    /// Returns its length.
    pub(super) fn length(&self) -> Nanos {
        Nanos(self.since.elapsed().as_nanos() as u64)
    }
}
