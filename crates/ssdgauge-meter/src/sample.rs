//! Samples of a source, the timer that paces polled sources, and their limit of failed readings.

use ssdgauge_core::Nanos;
use std::time::{Duration, Instant};

/// Returns the time between two readings for people: `1 s`, `50 ms`.
pub(crate) fn in_words(period: Duration) -> String {
    Nanos(u64::try_from(period.as_nanos()).unwrap_or(u64::MAX)).about()
}

/// One value of one channel of a source, in the unit of the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The time since which the value is the mean, for the difference of a counter; `None` for a value at
    /// one time.
    pub since: Option<Instant>,
    /// The time of the reading, by the monotonic clock of this host.
    pub at: Instant,
    /// The channel of the source, from 0.
    pub channel: usize,
    /// The value.
    pub(crate) value: f64,
}

/// The samples that one read of a source returned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The samples, oldest first.
    pub samples: Vec<Sample>,
    /// Conditions that make samples incomplete, such as a buffer overrun.
    pub warnings: Vec<String>,
    /// The readings without a number, oldest first.
    pub unusable: Vec<Unusable>,
}

/// A reading without a number: a line of text, `nan`, a failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The time of the reading, by the monotonic clock of this host.
    pub at: Instant,
    /// What it is instead of a number.
    pub what: String,
}

impl Batch {
    /// Returns a batch with one reading of channel 0: a sample, or why it has no number.
    pub(crate) fn from_reading(at: Instant, reading: Result<f64, String>) -> Batch {
        let mut batch = Batch::default();
        match reading {
            Ok(value) => batch.samples.push(Sample { since: None, at, channel: 0, value }),
            Err(what) => batch.unusable.push(Unusable { at, what }),
        }
        batch
    }
}

/// A timer with a fixed period. A late poll is skipped: polling twice in a row to catch up would
/// return the same reading of the meter twice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PollTimer {
    pub(crate) period: Duration,
    due: Instant,
}

impl PollTimer {
    /// Returns a timer that is due at once and then after each `period`.
    pub(crate) fn with_period(period: Duration) -> PollTimer {
        debug_assert!(!period.is_zero(), "a period of zero would poll without a pause");
        PollTimer { period, due: Instant::now() }
    }

    /// Waits until the timer is due, for `timeout` at most; returns whether it is due.
    pub(crate) fn wait(&mut self, timeout: Duration) -> bool {
        let now = Instant::now();
        if self.due > now {
            let left = self.due - now;
            std::thread::sleep(left.min(timeout));
            if left > timeout {
                return false;
            }
        }
        let now = Instant::now();
        self.due += self.period;
        if self.due < now {
            self.due = now + self.period;
        }
        true
    }
}

/// The consecutive failed readings that end a polled meter: one lost response of a smart plug is
/// common, three in a row are not.
const MAX_FAILURES: u32 = 3;

/// A count of consecutive failed readings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConsecutiveFailures(u32);

impl ConsecutiveFailures {
    /// Counts the outcome of one reading. Returns it again: its value, or the cause of a failure below the
    /// limit, which leaves a gap.
    ///
    /// # Errors
    /// The limit is reached; the error is the cause of the last failure.
    pub(crate) fn record(
        &mut self,
        result: Result<f64, String>,
    ) -> Result<Result<f64, String>, String> {
        match result {
            Ok(value) => {
                self.0 = 0;
                Ok(Ok(value))
            }
            Err(cause) if self.0 + 1 >= MAX_FAILURES => Err(cause),
            Err(cause) => {
                self.0 += 1;
                Ok(Err(cause))
            }
        }
    }
}
