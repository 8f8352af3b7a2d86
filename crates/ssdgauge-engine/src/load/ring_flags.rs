//! The setup flags of a ring, as far as they determine how completions arrive.

use ssdgauge_core::{Arrival, Bytes, Operation, Stream};

/// The setup flags of a ring. Which of them costs least depends on the drive: deferred completions
/// cost 6 to 19 % more on a virtio disk and nothing elsewhere (docs/contributing/performance.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RingFlags {
    /// No flag: completions may interrupt the thread.
    #[default]
    Plain,
    /// COOP_TASKRUN and SINGLE_ISSUER: completions are posted when the thread enters the
    /// kernel.
    Cooperative,
    /// DEFER_TASKRUN and SINGLE_ISSUER: completions are posted only when the thread waits for
    /// them.
    Deferred,
    /// IOPOLL: the kernel asks the drive for completions in each call, and no interrupt announces
    /// them. Used only where requested and where the queue of the drive supports polling: elsewhere
    /// such requests fail, or use interrupts without notice.
    Polled(WholeRequests),
}

/// The requests that the kernel sends to a drive in one piece. A polled request that it has to split never
/// completes: Linux 6.1 tries it again without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeRequests {
    /// The length of the longest.
    pub longest: Bytes,
    /// The multiples of this that no request may cross; 0 where there are none.
    pub boundary: Bytes,
}

impl WholeRequests {
    /// Returns whether every read and write of `stream` is one of them.
    pub fn contain(self, stream: &Stream) -> bool {
        let Bytes(block) = stream.block_size;
        let Bytes(boundary) = self.boundary;
        let steps = [boundary, stream.offset.0, stream.stride.map_or(0, |stride| stride.0)];
        let crosses = boundary > 0
            && (stream.has_sizes() || steps.iter().any(|step| !step.is_multiple_of(block)));
        stream.block_size <= self.longest && !crosses
    }
}

impl RingFlags {
    /// The candidates of ring tuning, the default first.
    pub(crate) const CANDIDATES: [RingFlags; 3] =
        [RingFlags::Plain, RingFlags::Cooperative, RingFlags::Deferred];

    /// Returns the flags for the requests of `stream`, with these for those of a closed loop.
    pub(crate) fn for_stream(self, stream: &Stream) -> RingFlags {
        match (self, stream.arrival, stream.operation) {
            // The kernel polls for reads and writes only.
            (RingFlags::Polled(whole), _, Operation::Transfer) if whole.contain(stream) => self,
            (RingFlags::Polled(_), _, _) => RingFlags::Plain,
            (flags, Arrival::Closed, _) => flags,
            // With deferred completions, a request would complete at the next due time.
            (
                _,
                Arrival::Uniform { .. }
                | Arrival::InPhase { .. }
                | Arrival::Poisson { .. }
                | Arrival::Recorded { .. },
                _,
            ) => RingFlags::Plain,
        }
    }

    /// Returns the name used in run files.
    pub fn name(self) -> &'static str {
        match self {
            RingFlags::Plain => "plain flags",
            RingFlags::Cooperative => "cooperative task run",
            RingFlags::Deferred => "deferred task run",
            RingFlags::Polled(_) => "polled",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: WholeRequests = WholeRequests { longest: Bytes(512 << 10), boundary: Bytes(0) };

    fn stream(block: u64, arrival: Arrival, operation: Operation) -> Stream {
        Stream { block_size: Bytes(block), arrival, operation, ..Stream::default() }
    }

    #[test]
    fn reads_and_writes_are_polled_and_no_other_request_is() {
        use RingFlags::{Cooperative, Deferred, Plain};
        let polled = RingFlags::Polled(WHOLE);
        let (closed, due) = (Arrival::Closed, Arrival::Uniform { per_second: 9.0 });
        for (flags, arrival, operation, expected) in [
            (polled, closed, Operation::Transfer, polled),
            (polled, due, Operation::Transfer, polled),
            (polled, closed, Operation::Trim, Plain),
            (polled, due, Operation::Flush, Plain),
            (Deferred, closed, Operation::Transfer, Deferred),
            (Cooperative, closed, Operation::Trim, Cooperative),
            (Deferred, due, Operation::Transfer, Plain),
        ] {
            let stream = stream(4_096, arrival, operation);
            assert_eq!(flags.for_stream(&stream), expected, "{flags:?} {arrival:?}");
        }
        let long = stream((512 << 10) + 4_096, closed, Operation::Transfer);
        assert_eq!(polled.for_stream(&long), Plain);
    }

    #[test]
    fn requests_that_cross_a_boundary_are_not_whole() {
        let bounded = WholeRequests { boundary: Bytes(128 << 10), ..WHOLE };
        let aligned = stream(16 << 10, Arrival::Closed, Operation::Transfer);
        assert!(bounded.contain(&aligned));
        let odd = stream(12 << 10, Arrival::Closed, Operation::Transfer);
        let large = stream(256 << 10, Arrival::Closed, Operation::Transfer);
        let shifted = Stream { offset: Bytes(4_096), ..aligned.clone() };
        let strided = Stream { stride: Some(Bytes(20 << 10)), ..aligned };
        for stream in [odd, large, shifted, strided] {
            assert!(!bounded.contain(&stream), "{stream:?}");
            assert!(WHOLE.contain(&stream), "{stream:?}");
        }
    }
}
