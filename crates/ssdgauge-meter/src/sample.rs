//! Samples of a source, and the pace at which sources are read.

use std::time::{Duration, Instant};

/// One value of one channel of a source, in the units of the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When it was taken, by the clock of this host.
    pub at: Instant,
    /// The channel of the source, from 0.
    pub channel: usize,
    /// The value.
    pub(crate) value: f64,
}

/// What a source had to say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    pub samples: Vec<Sample>,
    /// What bears on the samples, such as an overrun.
    pub remarks: Vec<String>,
}

/// Reads at even times; a late turn is left out, never caught up with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PollTimer {
    pub period: Duration,
    due: Instant,
}

impl PollTimer {
    pub(crate) fn every(period: Duration) -> PollTimer {
        PollTimer { period, due: Instant::now() }
    }

    /// Waits for the next turn, at most `timeout`; returns whether it has come.
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

/// The failed readings in a row that a polled meter survives.
const MOST_FAILURES: u32 = 3;

/// Counts failed readings of a polled meter: a single one is a gap, several in a row its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Failures(u32);

impl Failures {
    /// Takes the outcome of one reading.
    pub(crate) fn judge(&mut self, result: Result<f64, String>) -> Result<Option<f64>, String> {
        match result {
            Ok(value) => {
                self.0 = 0;
                Ok(Some(value))
            }
            Err(cause) if self.0 + 1 >= MOST_FAILURES => Err(cause),
            Err(_) => {
                self.0 += 1;
                Ok(None)
            }
        }
    }
}
