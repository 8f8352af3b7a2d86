//! Loads whose requests are timed one by one, for experiments that look for the structures of a drive.
//!
//! Plain data: what is sent, and what is returned.

use crate::sample::Direction;
use crate::units::{Bytes, Nanos};
use crate::workload::{Access, Data};
use serde::{Deserialize, Serialize};

/// A request of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedRequest {
    /// When it is sent, from the start of the load; later where the queue is full.
    pub due: Nanos,
    /// Read, write or flush.
    pub direction: Direction,
    /// Its first byte; 0 for a flush.
    pub offset: u64,
    /// Its length in bytes; 0 for a flush.
    pub length: u32,
}

impl TimedRequest {
    /// A flush that is due at once.
    pub const FLUSH: TimedRequest =
        TimedRequest { due: Nanos::ZERO, direction: Direction::Flush, offset: 0, length: 0 };
}

/// The times of a request, from the start of the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// When it was sent.
    pub submitted: Nanos,
    /// When it was completed.
    pub completed: Nanos,
}

impl Timing {
    /// Returns the time from submission to completion.
    pub fn latency(self) -> Nanos {
        self.completed.saturating_sub(self.submitted)
    }
}

/// The answers to a list of requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timings {
    /// One entry for each request, in their order.
    pub requests: Vec<Timing>,
    /// Processor time of the host ÷ what its processors had: near 1, the host limits the rate.
    pub host_load: f64,
}

/// Requests of one kind: a number of them is in flight, and each is followed by a pause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lane {
    /// Read or write.
    pub direction: Direction,
    /// Ascending and again from the start, or uniformly random.
    pub access: Access,
    /// The length of each request.
    pub block_size: Bytes,
    /// The start of the range.
    pub offset: Bytes,
    /// The length of the range.
    pub span: Bytes,
    /// The requests in flight.
    pub queue_depth: u32,
    /// The time between a completion and the next request in its place.
    pub think: Nanos,
    /// The maximum number of latencies that are returned, the first ones.
    pub latencies: usize,
    /// What is written.
    pub data: Data,
}

/// The limits of lanes that run together; the first one ends all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LaneLimits {
    /// The time.
    pub time: Nanos,
    /// The bytes written, all lanes together.
    pub written: Bytes,
    /// The length of a bin of the record.
    pub bin: Nanos,
}

/// The record of a lane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaneRecord {
    /// Bytes completed in each bin from the start of the load; the last bin may be shorter.
    pub bytes: Vec<u64>,
    /// Submission and latency of the first requests, in no particular order.
    pub latencies: Vec<(Nanos, Nanos)>,
}

/// The record of lanes that ran together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LanesEnded {
    /// The record of each lane.
    pub lanes: Vec<LaneRecord>,
    /// From the start to the last completion.
    pub elapsed: Nanos,
}

impl LaneRecord {
    /// The maximum number of bins of a record. Chosen: a day in seconds, fifteen minutes in hundredths.
    pub const MOST_BINS: u64 = 100_000;

    /// Adds `bytes` completed at `at` to its bin of the length `bin`.
    pub fn add(&mut self, at: Nanos, bin: Nanos, bytes: u64) {
        let index = (at.0 / bin.0.max(1)).min(LaneRecord::MOST_BINS - 1) as usize;
        if self.bytes.len() <= index {
            self.bytes.resize(index + 1, 0);
        }
        self.bytes[index] += bytes;
    }

    /// Adds the bins and latencies of `other`, up to `most` latencies.
    pub fn merge(&mut self, other: LaneRecord, most: usize) {
        if self.bytes.len() < other.bytes.len() {
            self.bytes.resize(other.bytes.len(), 0);
        }
        for (mine, theirs) in self.bytes.iter_mut().zip(&other.bytes) {
            *mine += theirs;
        }
        let room = most.saturating_sub(self.latencies.len());
        self.latencies.extend(other.latencies.into_iter().take(room));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_two_slots_of_a_lane_add_up() {
        let (mut one, mut two) = (LaneRecord::default(), LaneRecord::default());
        one.add(Nanos(5), Nanos(10), 1);
        two.add(Nanos(25), Nanos(10), 2);
        two.add(Nanos(9), Nanos(10), 4);
        two.latencies = vec![(Nanos(0), Nanos(1)); 3];
        one.merge(two, 2);
        assert_eq!((one.bytes, one.latencies.len()), (vec![5, 0, 2], 2));
    }
}
