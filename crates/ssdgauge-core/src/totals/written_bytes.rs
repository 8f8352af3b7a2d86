//! The bytes that a step writes, by its intervals: their sum, and the largest second.

use crate::sample::{Direction, Interval};

/// The bytes that a step has written so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenBytes {
    /// The sum.
    pub total: u64,
    /// The largest number of bytes written in one second, summed over all streams.
    pub largest_second: u64,
    /// The index of the last second, and the bytes written in it.
    last: (u32, u64),
}

impl WrittenBytes {
    /// Adds `interval`. The streams of a second follow one another.
    pub fn add(&mut self, interval: &Interval) {
        if interval.direction != Direction::Write {
            return;
        }
        self.total = self.total.saturating_add(interval.bytes);
        if self.last.0 != interval.second {
            self.last = (interval.second, 0);
        }
        self.last.1 = self.last.1.saturating_add(interval.bytes);
        self.largest_second = self.largest_second.max(self.last.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;
    use ssdgauge_statistics::histogram::Histogram;

    #[test]
    fn streams_of_one_second_add_up_and_reads_do_not_count() {
        let mut written = WrittenBytes::default();
        for (second, stream, direction, bytes) in [
            (0, 0, Direction::Write, 5),
            (0, 0, Direction::Read, 100),
            (0, 1, Direction::Write, 7),
            (1, 0, Direction::Write, 9),
        ] {
            let (length, latency) = (Nanos::from_secs(1), Histogram::default());
            let [ios, errors] = [1, 0];
            let interval =
                Interval { second, stream, direction, length, ios, bytes, errors, latency };
            written.add(&interval);
        }
        assert_eq!((written.total, written.largest_second), (21, 12));
    }
}
