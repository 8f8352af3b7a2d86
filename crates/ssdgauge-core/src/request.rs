//! The order of requests: the same for a real engine and for the virtual drive.

use crate::random::Random;
use crate::sample::Direction;
use crate::workload::{Access, Stream};

/// One request of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whether it reads or writes.
    pub direction: Direction,
    /// Where it begins on the target, in bytes.
    pub offset: u64,
}

/// Deals the requests of one thread of a stream, endlessly and reproducibly.
///
/// Reads and writes come from a shuffled deck of 100 cards, so the mix is exact over every 100
/// requests and cannot drift as a coin does. A sequential mix has one position per direction;
/// the writes begin half a share behind the reads, so that they do not meet in a cache.
#[derive(Clone, Debug)]
pub struct RequestSource {
    random: Random,
    access: Access,
    offset: u64,
    block_size: u64,
    blocks: u64,
    position: [u64; 2],
    deck: [Direction; 100],
    dealt: usize,
    mixed: bool,
}

impl RequestSource {
    /// Returns the source of thread number `thread` of `stream`.
    ///
    /// # Panics
    /// When the span holds no whole block: the planner refuses such a stream.
    pub fn new(stream: &Stream, thread: u32, seed: u64) -> Self {
        let blocks = stream.span.blocks_of(stream.block_size);
        assert!(blocks > 0, "the span of a stream holds at least one block");
        let share = blocks / u64::from(stream.threads.max(1));
        let start = share * u64::from(thread);
        let reads = usize::from(stream.read_percent.min(100));
        let mixed = reads > 0 && reads < 100;
        let behind = if mixed { share.max(2) / 2 } else { 0 };
        let card = |n| if n < reads { Direction::Read } else { Direction::Write };
        RequestSource {
            random: Random::new(seed, u64::from(thread)),
            access: stream.access,
            offset: stream.offset.0,
            block_size: stream.block_size.0,
            blocks,
            position: [start % blocks, (start + behind) % blocks],
            deck: std::array::from_fn(card),
            dealt: 100,
            mixed,
        }
    }

    /// Returns the next request.
    #[inline]
    pub fn deal(&mut self) -> Request {
        let direction = if self.mixed { self.draw() } else { self.deck[0] };
        let block = match self.access {
            Access::Random => self.random.below(self.blocks),
            Access::Sequential => {
                let position = &mut self.position[direction as usize];
                let block = *position;
                *position = if block + 1 == self.blocks { 0 } else { block + 1 };
                block
            }
        };
        Request { direction, offset: self.offset + block * self.block_size }
    }

    #[inline]
    fn draw(&mut self) -> Direction {
        if self.dealt == self.deck.len() {
            self.random.shuffle(&mut self.deck);
            self.dealt = 0;
        }
        self.dealt += 1;
        self.deck[self.dealt - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;
    use crate::workload::{Arrival, Data};

    fn stream(access: Access, read_percent: u8, threads: u32) -> Stream {
        Stream {
            name: "main".into(),
            access,
            block_size: Bytes(4_096),
            read_percent,
            queue_depth: 1,
            threads,
            offset: Bytes(8_192),
            span: Bytes(4_096 * 1_000),
            arrival: Arrival::Closed,
            data: Data::Incompressible,
        }
    }

    #[test]
    fn a_mix_is_exact_over_every_hundred_requests() {
        for percent in [0, 1, 30, 50, 70, 99, 100] {
            let mut source = RequestSource::new(&stream(Access::Random, percent, 1), 0, 9);
            for _ in 0..20 {
                let reads = (0..100).filter(|_| source.deal().direction == Direction::Read).count();
                assert_eq!(reads, usize::from(percent));
            }
        }
    }

    #[test]
    fn sequential_threads_begin_in_their_own_share_and_wrap() {
        let stream = stream(Access::Sequential, 100, 4);
        let mut source = RequestSource::new(&stream, 3, 9);
        let blocks: Vec<u64> = (0..251).map(|_| (source.deal().offset - 8_192) / 4_096).collect();
        assert_eq!(&blocks[..2], &[750, 751]);
        assert_eq!(&blocks[249..], &[999, 0]);
    }

    #[test]
    fn random_requests_stay_in_the_span_and_on_the_grid() {
        let mut source = RequestSource::new(&stream(Access::Random, 50, 1), 0, 4);
        for _ in 0..10_000 {
            let offset = source.deal().offset - 8_192;
            assert!(offset < 4_096 * 1_000 && offset.is_multiple_of(4_096));
        }
    }
}
