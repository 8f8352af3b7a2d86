//! The sequence of requests: the same for a real engine and a virtual drive.

use crate::sample::Direction;
use crate::workload::hot_blocks::HotBlocks;
use crate::workload::permutation::Permutation;
use crate::workload::sized_blocks::SizedBlocks;
use crate::workload::{Access, Operation, Stream};
use ssdgauge_statistics::Random;

/// One request of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whether it reads, writes, flushes or trims.
    pub direction: Direction,
    /// Its length in bytes; 0 for a flush.
    pub length: u32,
    /// Its start on the target, in bytes; 0 for a flush.
    pub offset: u64,
}

/// The endless, reproducible sequence of the requests of one thread of a stream.
///
/// Reads and writes are dealt from a shuffled deck of 100 (definition D6): the mix is exact over
/// every 100 requests, while independent draws would deviate from it. A sequential mix has one
/// position per direction; the writes begin half a share after the reads, so that reads are not
/// served from the cache of the writes.
#[derive(Clone, Debug)]
pub struct RequestSource {
    random: Random,
    pattern: AccessPattern,
    offset: u64,
    /// The distance between two places.
    step: u64,
    /// The length of each request, where all have one.
    length: u32,
    /// The places in the span.
    blocks: u64,
    /// The next block of each direction, for sequential access.
    position: [u64; 2],
    deck: [Direction; 100],
    /// The cards dealt since the last shuffle.
    dealt: usize,
    /// Whether there are both reads and writes.
    mixed: bool,
    /// Whether every request has one direction and writes need not be counted.
    uniform: bool,
    /// The writes between two flushes; 0 where there is no flush.
    flush_every: u32,
    /// The writes since the last flush.
    unflushed: u32,
}

/// The rule for the next block.
#[derive(Clone, Debug)]
enum AccessPattern {
    /// Requests that address no block.
    None,
    Sequential,
    Random,
    /// Some blocks more often than others.
    Hot(Box<HotBlocks>),
    /// Requests of several sizes, or of which only a share goes to random places.
    Sized(Box<SizedBlocks>),
    /// Every block exactly once per pass, in a random order.
    Covering {
        next: u64,
        permutation: Permutation,
    },
}

impl Request {
    /// Returns a flush.
    pub const FLUSH: Request = Request { direction: Direction::Flush, length: 0, offset: 0 };
}

impl RequestSource {
    /// Returns a source for one thread that visits every block of the span of `stream` exactly
    /// once per pass: in ascending or in random order.
    ///
    /// # Panics
    /// When the span contains no whole block: the planner refuses such a stream.
    pub fn covering(stream: &Stream, seed: u64) -> Self {
        let mut source = RequestSource::new(stream, 0, seed);
        if matches!(source.pattern, AccessPattern::Random) {
            let permutation = Permutation::new(source.blocks, &mut source.random);
            source.pattern = AccessPattern::Covering { next: 0, permutation };
        }
        source
    }

    /// Returns the source of thread number `thread` of `stream`.
    ///
    /// # Panics
    /// When the span contains no whole block: the planner refuses such a stream.
    pub fn new(stream: &Stream, thread: u32, seed: u64) -> Self {
        let blocks = stream.places();
        assert!(blocks > 0, "the span of a stream contains at least one block");
        let share = blocks / u64::from(stream.threads.max(1));
        let start = share * u64::from(thread);
        let reads = usize::from(stream.read_percent.min(100));
        let mixed = stream.reads() && stream.writes();
        let after = if mixed { share.max(2) / 2 } else { 0 };
        let flush_every = stream.flush_every.filter(|_| stream.writes()).unwrap_or(0);
        let card = |n| match stream.operation {
            Operation::Transfer if n < reads => Direction::Read,
            Operation::Transfer => Direction::Write,
            Operation::Flush => Direction::Flush,
            Operation::Trim => Direction::Trim,
        };
        let position = [start % blocks, (start + after) % blocks];
        let hot = match stream.access {
            Access::Sequential => None,
            Access::Random => HotBlocks::new(&stream.distribution, blocks),
        };
        let pattern = match (SizedBlocks::new(stream, position, hot.clone(), (seed, thread)), hot) {
            _ if !stream.addresses() => AccessPattern::None,
            (Some(sized), _) => AccessPattern::Sized(Box::new(sized)),
            (None, Some(hot)) => AccessPattern::Hot(Box::new(hot)),
            (None, None) => match stream.access {
                Access::Sequential => AccessPattern::Sequential,
                Access::Random => AccessPattern::Random,
            },
        };
        RequestSource {
            random: Random::new(seed, u64::from(thread)),
            pattern,
            offset: stream.offset.0,
            step: stream.step().0,
            length: if stream.addresses() { stream.block_size.0 as u32 } else { 0 },
            blocks,
            position,
            deck: std::array::from_fn(card),
            // As if all were dealt: the first draw shuffles.
            dealt: 100,
            mixed,
            uniform: !mixed && flush_every == 0,
            flush_every,
            unflushed: 0,
        }
    }

    /// Returns the next request.
    #[inline]
    pub fn deal(&mut self) -> Request {
        let direction = if self.uniform { self.deck[0] } else { self.draw() };
        let block = match &mut self.pattern {
            AccessPattern::Random => self.random.below(self.blocks),
            AccessPattern::Hot(hot) => hot.draw(&mut self.random),
            AccessPattern::Sequential => {
                let position = &mut self.position[direction.side()];
                advance(position, self.blocks)
            }
            AccessPattern::Covering { next, permutation } => {
                permutation.at(advance(next, self.blocks))
            }
            AccessPattern::Sized(sized) => {
                let (place, length) = sized.deal(&mut self.random, direction.side());
                return Request { direction, length, offset: self.offset + place };
            }
            AccessPattern::None => return Request { direction, length: 0, offset: 0 },
        };
        let offset = self.offset + block * self.step;
        Request { direction, length: self.length, offset }
    }

    /// Returns the length of the next request in bytes.
    #[inline]
    pub fn next_length(&self) -> u32 {
        match &self.pattern {
            AccessPattern::Sized(sized) => sized.next_length(),
            AccessPattern::None
            | AccessPattern::Sequential
            | AccessPattern::Random
            | AccessPattern::Hot(_)
            | AccessPattern::Covering { .. } => self.length,
        }
    }

    /// Returns the flush that is due before the next request: as many writes were dealt as it covers. A
    /// thread sends it when these have completed, and nothing else meanwhile.
    #[inline]
    pub fn take_flush(&mut self) -> Option<Request> {
        if self.flush_every == 0 || self.unflushed < self.flush_every {
            return None;
        }
        self.unflushed = 0;
        Some(Request::FLUSH)
    }

    #[inline]
    fn draw(&mut self) -> Direction {
        let direction = if self.mixed { self.draw_card() } else { self.deck[0] };
        self.unflushed += u32::from(direction == Direction::Write);
        direction
    }

    #[inline]
    fn draw_card(&mut self) -> Direction {
        if self.dealt == self.deck.len() {
            self.random.shuffle(&mut self.deck);
            self.dealt = 0;
        }
        self.dealt += 1;
        self.deck[self.dealt - 1]
    }
}

/// Returns `position` and advances it, wrapping at the end.
#[inline]
fn advance(position: &mut u64, blocks: u64) -> u64 {
    let here = *position;
    *position = if here + 1 == blocks { 0 } else { here + 1 };
    here
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
            sync: false,
            ..Stream::default()
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
    fn sequential_threads_start_in_their_own_share_and_wrap() {
        let stream = stream(Access::Sequential, 100, 4);
        let mut source = RequestSource::new(&stream, 3, 9);
        let blocks: Vec<u64> = (0..251).map(|_| (source.deal().offset - 8_192) / 4_096).collect();
        assert_eq!(&blocks[..2], &[750, 751]);
        assert_eq!(&blocks[249..], &[999, 0]);
    }

    #[test]
    fn a_stride_leaves_gaps_and_wraps_at_the_last_whole_request() {
        let mut stream = stream(Access::Sequential, 100, 2);
        stream.stride = Some(Bytes(4_096 * 3));
        // Places 0, 3, … 999, of which the second thread begins at the middle.
        assert_eq!(stream.places(), 334);
        let mut source = RequestSource::new(&stream, 1, 9);
        let blocks: Vec<u64> = (0..168).map(|_| (source.deal().offset - 8_192) / 4_096).collect();
        assert_eq!(&blocks[..2], &[501, 504]);
        assert_eq!(&blocks[166..], &[999, 0]);
        stream.span = Bytes(4_096 * 1_000 - 512);
        assert_eq!(stream.places(), 333, "the last request would exceed the span");
    }

    #[test]
    fn a_covering_source_visits_every_block_once_in_random_order() {
        for blocks in [1, 2, 3, 7, 100, 1_000, 4_097] {
            let mut stream = stream(Access::Random, 0, 1);
            stream.span = Bytes(4_096 * blocks);
            let mut source = RequestSource::covering(&stream, 5);
            let order: Vec<u64> =
                (0..blocks).map(|_| (source.deal().offset - 8_192) / 4_096).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..blocks).collect::<Vec<_>>());
            let neighbours = order.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
            assert!(blocks < 100 || neighbours < 10, "{blocks}: {neighbours}");
        }
    }

    #[test]
    fn a_flush_is_due_after_every_so_many_writes() {
        let mut stream = stream(Access::Random, 30, 1);
        stream.flush_every = Some(7);
        let (mut source, mut writes) = (RequestSource::new(&stream, 0, 9), 0);
        let mut flushes = 0;
        for _ in 0..1_000 {
            if let Some(flush) = source.take_flush() {
                assert_eq!((flush.direction, writes), (Direction::Flush, 7));
                (writes, flushes) = (0, flushes + 1);
            }
            writes += u32::from(source.deal().direction == Direction::Write);
        }
        assert_eq!(flushes, 700 / 7 - u32::from(writes == 7));
        assert_eq!(RequestSource::new(&Stream::default(), 0, 9).take_flush(), None);
    }

    #[test]
    fn random_requests_are_inside_the_span_and_aligned() {
        let mut source = RequestSource::new(&stream(Access::Random, 50, 1), 0, 4);
        for _ in 0..10_000 {
            let offset = source.deal().offset - 8_192;
            assert!(offset < 4_096 * 1_000 && offset.is_multiple_of(4_096));
        }
    }
}
