//! The bytes that the user lets a run write, and a sink that counts them.

use ssdgauge_core::{Bytes, Finding, Interval, LogPage, Reading, Sink, WrittenBytes};

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
    /// The bytes that may be written.
    allowed: u64,
    written: WrittenBytes,
    /// More was written than is allowed.
    pub(super) is_over: bool,
    /// The next second could have been that.
    pub(super) is_stopped: bool,
}

impl LimitedSink<'_> {
    pub(super) fn new(sink: &mut dyn Sink, Bytes(allowed): Bytes) -> LimitedSink<'_> {
        let written = WrittenBytes::default();
        LimitedSink { sink, allowed, written, is_over: false, is_stopped: false }
    }
}

impl Sink for LimitedSink<'_> {
    fn interval(&mut self, interval: &Interval) {
        self.written.add(interval);
        self.is_over = self.written.total > self.allowed;
        self.sink.interval(interval);
    }

    fn reading(&mut self, reading: &Reading) {
        self.sink.reading(reading);
    }

    fn log_page(&mut self, page: LogPage) {
        self.sink.log_page(page);
    }

    fn finding(&mut self, finding: Finding) {
        self.sink.finding(finding);
    }

    fn announce(&mut self, finding: Finding) -> bool {
        self.sink.announce(finding)
    }

    fn stop(&mut self) -> bool {
        let left = self.allowed.saturating_sub(self.written.total);
        self.is_stopped |= left < self.written.largest_second.max(1);
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
