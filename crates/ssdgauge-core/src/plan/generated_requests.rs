//! The requests of a generated trace.
//!
//! Lengths, directions and sequential requests are drawn without being put back, so that their numbers are
//! exact at the end. The requests of a burst are due at once; the next burst follows the completion of all
//! of them.

use crate::plan::GeneratedTrace;
use crate::sample::Direction;
use crate::sample::recorded::{RecordedRequest, RecordedRequests, RecordedTime};
use crate::units::Nanos;
use ssdgauge_statistics::Random;

/// The requests of a generated trace, from the first on.
#[derive(Clone, Debug)]
pub struct GeneratedRequests {
    trace: GeneratedTrace,
    random: Random,
    /// Reads and writes of each length that are left.
    left: Vec<[u64; 2]>,
    total: u64,
    sequential: u64,
    /// The ends of the last read and the last write.
    ends: [u64; 2],
    /// The requests of the current burst that are left.
    burst: u32,
}

impl GeneratedRequests {
    /// Returns the requests of `trace`.
    pub fn new(trace: &GeneratedTrace) -> GeneratedRequests {
        let left: Vec<[u64; 2]> = trace.lengths.iter().map(|one| one.requests).collect();
        GeneratedRequests {
            random: Random::new(trace.seed, 0),
            total: left.iter().flatten().sum(),
            left,
            sequential: trace.sequential,
            ends: [0; 2],
            burst: 0,
            trace: trace.clone(),
        }
    }

    /// Draws a length, by its number, and a direction.
    fn draw(&mut self) -> (usize, usize) {
        let mut rest = self.random.below(self.total);
        for (number, counts) in self.left.iter_mut().enumerate() {
            for (side, count) in counts.iter_mut().enumerate() {
                if rest < *count {
                    *count -= 1;
                    return (number, side);
                }
                rest -= *count;
            }
        }
        unreachable!("the total is the sum of the counts");
    }

    fn time(&mut self) -> RecordedTime {
        if self.burst > 0 {
            self.burst -= 1;
            return RecordedTime::InBurst(Nanos::ZERO);
        }
        let drawn = (self.random.next_u64() >> 32) as u32;
        self.burst = self.trace.bursts.partition_point(|edge| *edge < drawn) as u32;
        let idles = self.random.below(1_000_000) < u64::from(self.trace.idle_per_million);
        RecordedTime::AfterCompletion(if idles { self.trace.idle_time } else { Nanos::ZERO })
    }
}

impl RecordedRequests for GeneratedRequests {
    fn next_request(&mut self) -> Result<Option<RecordedRequest>, String> {
        if self.total == 0 {
            return Ok(None);
        }
        let time = self.time();
        let (number, side) = self.draw();
        let length = self.trace.lengths[number].length.0;
        let span = self.trace.span.0;
        let is_sequential = self.random.below(self.total) < self.sequential;
        self.total -= 1;
        self.sequential -= u64::from(is_sequential);
        let anywhere = self.random.below(span / self.trace.alignment.0) * self.trace.alignment.0;
        let offset = if is_sequential { self.ends[side] } else { anywhere };
        // At the end of the range it goes on at the start.
        let offset = if offset + length <= span { offset } else { 0 };
        self.ends[side] = offset + length;
        let direction = Direction::TRANSFERS[side];
        Ok(Some(RecordedRequest { time, direction, stream: 0, offset, length }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::LengthCount;
    use crate::units::Bytes;

    fn trace() -> GeneratedTrace {
        let of = |length, reads, writes| LengthCount {
            length: Bytes(length),
            requests: [reads, writes],
        };
        GeneratedTrace {
            seed: 7,
            share: 1.0,
            lengths: vec![of(4_096, 6_000, 3_000), of(131_072, 500, 500)],
            sequential: 4_000,
            // Half of the bursts have one request, half of them three.
            bursts: vec![u32::MAX / 2, u32::MAX / 2, u32::MAX],
            idle_per_million: 100_000,
            idle_time: Nanos(25_000_000),
            span: Bytes(64 << 20),
            alignment: Bytes(4_096),
            compared: Vec::new(),
        }
    }

    #[test]
    fn the_sums_of_the_requests_are_exact_and_equal_seeds_are_equal() {
        let trace = trace();
        let all = || {
            let mut requests = GeneratedRequests::new(&trace);
            std::iter::from_fn(move || requests.next_request().unwrap()).collect::<Vec<_>>()
        };
        let requests = all();
        assert_eq!(requests, all());
        let of = |direction, length: u64| {
            let same = |one: &&RecordedRequest| (one.direction, one.length) == (direction, length);
            requests.iter().filter(same).count()
        };
        assert_eq!((of(Direction::Read, 4_096), of(Direction::Write, 4_096)), (6_000, 3_000));
        assert_eq!((of(Direction::Read, 131_072), of(Direction::Write, 131_072)), (500, 500));
        let end = requests.iter().map(|one| one.offset + one.length).max();
        assert!(end <= Some(trace.span.0));
        // 4,000 of 10,000 begin where the one before in their direction ended.
        let (mut ends, mut sequential) = ([0; 2], 0);
        for one in &requests {
            let end = &mut ends[one.direction as usize];
            sequential += u64::from(one.offset == *end);
            *end = one.offset + one.length;
        }
        assert!((3_990..=4_010).contains(&sequential), "{sequential}");
        let begins = |one: &&RecordedRequest| matches!(one.time, RecordedTime::AfterCompletion(_));
        let bursts = requests.iter().filter(begins).count();
        let idle =
            |one: &&RecordedRequest| one.time == RecordedTime::AfterCompletion(Nanos(25_000_000));
        // A mean of two requests a burst; a tenth of the bursts is after an idle time.
        assert!((4_800..=5_200).contains(&bursts), "{bursts}");
        assert!((400..=600).contains(&requests.iter().filter(idle).count()));
        let (mean, depth) = trace.burst_and_depth();
        assert!((mean - 2.0).abs() < 1e-6 && (depth - 1.75).abs() < 1e-6, "{mean} {depth}");
        assert_eq!(trace.idle(), Nanos(500 * 25_000_000));
    }
}
