//! A sink that keeps everything, and workloads in one line.
#![allow(dead_code)]

use ssdgauge_core::{
    Access, Arrival, Bytes, Data, Direction, Engine, Finding, Interval, Nanos, Reading, Sink,
    Stream, Until, Workload,
};

/// Keeps everything that a rig hands out.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) intervals: Vec<Interval>,
    pub(crate) readings: Vec<Reading>,
    pub(crate) findings: Vec<Finding>,
    /// Stops are asked for after this many questions; never if 0.
    pub(crate) stop_after: u32,
    pub(crate) asked: u32,
}

impl Sink for Seen {
    fn interval(&mut self, interval: &Interval) {
        self.intervals.push(interval.clone());
    }
    fn reading(&mut self, reading: &Reading) {
        self.readings.push(reading.clone());
    }
    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
    fn stop(&mut self) -> bool {
        self.asked += 1;
        self.stop_after > 0 && self.asked >= self.stop_after
    }
}

impl Seen {
    /// Returns all values of `quantity` in order.
    pub(crate) fn values(&self, quantity: &str) -> Vec<f64> {
        self.readings.iter().filter(|r| r.quantity == quantity).map(|r| r.value).collect()
    }

    /// Returns the last value of `quantity`.
    pub(crate) fn last(&self, quantity: &str) -> Option<f64> {
        self.values(quantity).last().copied()
    }

    /// Returns the requests that completed.
    pub(crate) fn ios(&self) -> u64 {
        self.intervals.iter().map(|interval| interval.ios).sum()
    }

    /// Returns the requests of `direction` that completed, for each second.
    pub(crate) fn rates(&self, direction: Direction) -> Vec<u64> {
        self.intervals.iter().filter(|i| i.direction == direction).map(|i| i.ios).collect()
    }
}

/// Returns a stream over the first `span` bytes.
pub(crate) fn stream(
    access: Access,
    block: u64,
    read_percent: u8,
    depth: u32,
    span: Bytes,
) -> Stream {
    Stream {
        name: "main".into(),
        access,
        block_size: Bytes(block),
        read_percent,
        queue_depth: depth,
        threads: 1,
        offset: Bytes(0),
        span,
        arrival: Arrival::Closed,
        data: Data::Incompressible,
    }
}

/// Returns the workload of one stream.
pub(crate) fn workload(stream: Stream) -> Workload {
    Workload { engine: Engine::IoUring, streams: vec![stream] }
}

/// Returns a limit of time.
pub(crate) fn seconds(seconds: u64) -> Until {
    Until { time: Some(Nanos::from_secs(seconds)), bytes: None }
}

/// Returns a limit of bytes.
pub(crate) fn bytes(bytes: u64) -> Until {
    Until { time: None, bytes: Some(Bytes(bytes)) }
}
