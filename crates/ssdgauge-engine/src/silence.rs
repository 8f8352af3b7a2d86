//! How long the threads of a load have completed no request, and when that is too long.

use ssdgauge_core::Nanos;
use std::time::{Duration, Instant};

/// The time without a completed request after which a drive counts as hung; that of a flush.
const LIMIT: Duration = Duration::from_secs(60);
/// The same once a stop was requested.
const STOP_LIMIT: Duration = Duration::from_secs(4);

/// The time since the last completed request of a load.
pub(crate) struct Silence {
    /// The requests that had completed when it was looked at last.
    done: u64,
    since: Instant,
    limit: Duration,
}

impl Silence {
    /// Begins with a load.
    pub(crate) fn begin() -> Silence {
        Silence { done: 0, since: Instant::now(), limit: LIMIT }
    }

    /// Notes that `done` requests have completed.
    pub(crate) fn note(&mut self, done: u64) {
        if done != self.done {
            (self.done, self.since) = (done, Instant::now());
        }
    }

    /// Begins anew, with the shorter limit of a load that has to stop.
    pub(crate) fn stop(&mut self) {
        (self.since, self.limit) = (Instant::now(), STOP_LIMIT);
    }

    /// Returns whether it is still short enough.
    pub(crate) fn is_short(&self) -> bool {
        self.since.elapsed() < self.limit
    }

    /// Returns its length.
    pub(crate) fn length(&self) -> Nanos {
        Nanos(self.since.elapsed().as_nanos() as u64)
    }
}
