//! The bytes that the user lets a run write, and a sink that counts them.

use ssdgauge_core::{Bytes, Direction, Finding, Interval, Reading, Sink};

/// The bytes that a run may write.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteLimit {
    pub(super) allowed: Bytes,
    /// What hosts had written to the drive before the run.
    pub(super) before: Bytes,
}

/// A sink that counts the bytes written in each second, and forwards everything.
pub(super) struct LimitedSink<'a> {
    sink: &'a mut dyn Sink,
    /// The bytes that may still be written.
    left: u64,
    /// The index of the last second, and the bytes written in it.
    second: (u32, u64),
    /// The largest number of bytes written in a second.
    largest: u64,
    /// More was written than is allowed.
    pub(super) is_over: bool,
    /// The next second could have been that.
    pub(super) is_stopped: bool,
}

impl LimitedSink<'_> {
    pub(super) fn new(sink: &mut dyn Sink, left: Bytes) -> LimitedSink<'_> {
        let Bytes(left) = left;
        LimitedSink { sink, left, second: (0, 0), largest: 0, is_over: false, is_stopped: false }
    }
}

impl Sink for LimitedSink<'_> {
    fn interval(&mut self, interval: &Interval) {
        if interval.direction == Direction::Write {
            self.is_over |= interval.bytes > self.left;
            self.left = self.left.saturating_sub(interval.bytes);
            if self.second.0 != interval.second {
                self.second = (interval.second, 0);
            }
            self.second.1 += interval.bytes;
            self.largest = self.largest.max(self.second.1);
        }
        self.sink.interval(interval);
    }

    fn reading(&mut self, reading: &Reading) {
        self.sink.reading(reading);
    }

    fn finding(&mut self, finding: Finding) {
        self.sink.finding(finding);
    }

    fn announce(&mut self, finding: Finding) -> bool {
        self.sink.announce(finding)
    }

    fn stop(&mut self) -> bool {
        self.is_stopped |= self.left < self.largest.max(1);
        self.is_stopped || self.sink.stop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sink_of_a_limit_forwards_every_call() {
        ssdgauge_core::check_forwarding(|inner, check| {
            check(&mut LimitedSink::new(inner, Bytes(u64::MAX)));
        });
    }
}
