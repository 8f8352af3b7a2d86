//! The places and lengths of the requests of a stream that has several sizes, or of which only a share goes to
//! random places.

use crate::workload::hot_blocks::HotBlocks;
use crate::workload::{Access, Stream};
use ssdgauge_statistics::Random;

/// The requests of one thread of such a stream: a place and a length each. The lengths are independent of
/// directions and places.
#[derive(Clone, Debug)]
pub(crate) struct SizedBlocks {
    order: Order,
    /// The length of the span in bytes.
    span: u64,
    lengths: Deck<u32>,
}

/// A hundred cards, reshuffled after each hundred that are dealt: the share of each kind is exact
/// over every hundred.
#[derive(Clone, Debug)]
struct Deck<T> {
    cards: [T; 100],
    /// The cards dealt since the last shuffle; at least one is left.
    dealt: usize,
    random: Random,
}

/// The rule for the next place.
#[derive(Clone, Debug)]
enum Order {
    /// After the request before: the next byte of each direction.
    Sequential { position: [u64; 2] },
    /// Any multiple of the length of the request.
    Random,
    /// Some blocks of the largest size more often than others; any place in them.
    Hot { blocks: HotBlocks, largest: u64 },
    /// A share of the requests by a random order, and the others after the one before in their direction.
    Partly { random: Box<Order>, is_random: Box<Deck<bool>>, position: [u64; 2] },
}

impl SizedBlocks {
    /// Returns the requests of `stream`; `None` where all have one size and one order. `position` are the
    /// first blocks of the largest size, by direction, for sequential access.
    pub(crate) fn new(
        stream: &Stream,
        position: [u64; 2],
        hot: Option<HotBlocks>,
        (seed, thread): (u64, u32),
    ) -> Option<SizedBlocks> {
        let has_one_order = stream.is_sequential() || stream.is_random();
        if has_one_order && !stream.has_sizes() {
            return None;
        }
        let largest = stream.block_size.0;
        let position = position.map(|block| block * largest);
        let order = match (stream.access, hot) {
            (Access::Sequential, _) => Order::Sequential { position },
            (Access::Random, None) => Order::Random,
            (Access::Random, Some(blocks)) => Order::Hot { blocks, largest },
        };
        let order = match has_one_order {
            true => order,
            false => {
                let cards = std::array::from_fn(|card| card < usize::from(stream.random_percent));
                // Another seed, for the same reason as below.
                let deck = Deck::new(cards, Random::new(seed ^ 0x70a7_1a15, u64::from(thread)));
                Order::Partly { random: Box::new(order), is_random: Box::new(deck), position }
            }
        };
        let shares = stream.sizes.0.iter();
        let mut cards = shares
            .flat_map(|share| std::iter::repeat_n(share.size.0 as u32, usize::from(share.percent)));
        let cards = std::array::from_fn(|_| cards.next().unwrap_or(largest as u32));
        // Another seed than that of the offsets: they must be independent.
        let lengths = Deck::new(cards, Random::new(seed ^ 0x512e_5eed, u64::from(thread)));
        Some(SizedBlocks { order, span: stream.span.0, lengths })
    }

    /// Returns the length of the next request.
    pub(crate) fn next_length(&self) -> u32 {
        self.lengths.top()
    }

    /// Returns the place of the next request in the span, and its length. `side` is 0 for reads and 1
    /// for writes; `random` chooses the place.
    pub(crate) fn deal(&mut self, random: &mut Random, side: usize) -> (u64, u32) {
        let length = self.lengths.deal();
        (self.order.place(u64::from(length), self.span, random, side), length)
    }
}

impl<T: Copy> Deck<T> {
    /// Returns the shuffled `cards`.
    fn new(mut cards: [T; 100], mut random: Random) -> Deck<T> {
        random.shuffle(&mut cards);
        Deck { cards, dealt: 0, random }
    }

    /// Returns the card that is dealt next.
    fn top(&self) -> T {
        self.cards[self.dealt]
    }

    fn deal(&mut self) -> T {
        let card = self.top();
        self.dealt += 1;
        if self.dealt == self.cards.len() {
            self.random.shuffle(&mut self.cards);
            self.dealt = 0;
        }
        card
    }
}

impl Order {
    /// Returns the place of the next request of `size` in `span` bytes.
    fn place(&mut self, size: u64, span: u64, random: &mut Random, side: usize) -> u64 {
        match self {
            Order::Sequential { position } => advance(&mut position[side], size, span),
            Order::Partly { random: order, is_random, position } => {
                if is_random.deal() {
                    position[side] = order.place(size, span, random, side);
                }
                advance(&mut position[side], size, span)
            }
            Order::Random => random.below(span / size) * size,
            Order::Hot { blocks, largest } => {
                blocks.draw(random) * *largest + random.below(*largest / size) * size
            }
        }
    }
}

/// Returns the place of a request of `size` at `position`, or at the start where it would exceed the span,
/// and moves the position after it.
fn advance(position: &mut u64, size: u64, span: u64) -> u64 {
    if *position + size > span {
        *position = 0;
    }
    *position += size;
    *position - size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Direction;
    use crate::units::Bytes;
    use crate::workload::block_sizes::{BlockSizes, SizeShare};
    use crate::workload::distribution::Distribution;
    use crate::workload::request::RequestSource;
    use ssdgauge_statistics::separation::Zone;

    fn sizes(shares: &[(u64, u8)]) -> BlockSizes {
        let share = |&(size, percent): &(u64, u8)| SizeShare { size: Bytes(size), percent };
        BlockSizes(shares.iter().map(share).collect())
    }

    fn stream(access: Access, read_percent: u8) -> Stream {
        Stream {
            access,
            read_percent,
            sizes: sizes(&[(4_096, 60), (16_384, 30), (131_072, 10)]),
            block_size: Bytes(131_072),
            offset: Bytes(1 << 20),
            span: Bytes(131_072 * 100 + 4_096),
            ..Stream::default()
        }
    }

    #[test]
    fn sizes_are_exact_over_every_hundred_requests_of_a_thread_and_follow_from_the_seed() {
        for access in [Access::Sequential, Access::Random] {
            for thread in [0, 3] {
                let stream = Stream { threads: 4, ..stream(access, 70) };
                let mut source = RequestSource::new(&stream, thread, 9);
                let mut again = RequestSource::new(&stream, thread, 9);
                for _ in 0..50 {
                    let mut counts = [0; 4];
                    for _ in 0..100 {
                        assert_eq!(source.next_length(), again.next_length());
                        let (length, request) = (source.next_length(), source.deal());
                        assert_eq!((request, length), (again.deal(), request.length));
                        let size = [4_096, 16_384, 131_072].iter().position(|one| *one == length);
                        counts[size.expect("a length of the stream")] += 1;
                        counts[3] += u32::from(request.direction == Direction::Read);
                    }
                    assert_eq!(counts, [60, 30, 10, 70]);
                }
            }
        }
    }

    #[test]
    fn random_requests_are_aligned_to_their_size_and_reach_every_place_in_the_span() {
        let stream = stream(Access::Random, 100);
        let mut source = RequestSource::new(&stream, 0, 4);
        let mut furthest = 0;
        for _ in 0..200_000 {
            let request = source.deal();
            let (at, length) = (request.offset - (1 << 20), u64::from(request.length));
            assert!(at.is_multiple_of(length) && at + length <= stream.span.0, "{request:?}");
            furthest = furthest.max(at + length);
        }
        assert_eq!(furthest, stream.span.0, "the last 4 KiB are addressed too");
    }

    #[test]
    fn sequential_requests_adjoin_and_wrap_inside_the_span() {
        let stream = stream(Access::Sequential, 0);
        let mut source = RequestSource::new(&stream, 0, 4);
        let (mut next, mut wraps) = (1 << 20, 0);
        for _ in 0..10_000 {
            let request = source.deal();
            if request.offset != next {
                assert_eq!(request.offset, 1 << 20);
                assert!(next + u64::from(request.length) > (1 << 20) + stream.span.0);
                wraps += 1;
            }
            next = request.offset + u64::from(request.length);
            assert!(next <= (1 << 20) + stream.span.0);
        }
        assert!(wraps > 10, "{wraps}");
    }

    #[test]
    fn a_share_of_random_requests_is_exact_and_the_others_follow_the_one_before_in_their_direction()
    {
        let zone = |accesses, space| Zone { accesses, space };
        let hot = Distribution::Zones(vec![zone(0.9, 0.1), zone(0.1, 0.9)]);
        let one_size = Stream { sizes: BlockSizes::default(), ..stream(Access::Random, 70) };
        let hot = Stream { distribution: hot, ..stream(Access::Random, 70) };
        for (stream, percent) in
            [(one_size.clone(), 30), (one_size, 99), (stream(Access::Random, 70), 30), (hot, 1)]
        {
            let stream = Stream { random_percent: percent, ..stream };
            let mut source = RequestSource::new(&stream, 0, 4);
            let mut ends = [None; 2];
            let mut follows = 0;
            for _ in 0..100_000 {
                let length = source.next_length();
                let request = source.deal();
                let (at, size) = (request.offset - (1 << 20), u64::from(request.length));
                assert_eq!(request.length, length);
                assert!(at + size <= stream.span.0 && at.is_multiple_of(4_096), "{request:?}");
                let end = &mut ends[request.direction.side()];
                let wraps = at == 0 && end.is_some_and(|end| end + size > stream.span.0);
                follows += u64::from(*end == Some(at) || wraps);
                *end = Some(at + size);
            }
            // A random request may hit the end of the one before by chance, and the first ones follow none.
            let expected = 1_000 * (100 - u64::from(percent));
            let chance = 1_000 * u64::from(percent) / 10 + 2;
            assert!((expected - 2..=expected + chance).contains(&follows), "{percent}: {follows}");
        }
    }

    #[test]
    fn hot_blocks_have_the_largest_size_and_their_share_of_requests_of_every_size() {
        let zone = |accesses, space| Zone { accesses, space };
        let distribution = Distribution::Zones(vec![zone(0.9, 0.1), zone(0.1, 0.9)]);
        let stream = Stream { distribution, ..stream(Access::Random, 0) };
        let mut source = RequestSource::new(&stream, 0, 4);
        let mut counts = [0u32; 100];
        for _ in 0..200_000 {
            let request = source.deal();
            let at = request.offset - (1 << 20);
            assert!(at.is_multiple_of(u64::from(request.length)));
            counts[(at / 131_072) as usize] += 1;
        }
        // 18,000 requests to each of 10 hot blocks, 222 to each other one.
        assert_eq!(counts.iter().filter(|count| **count > 10_000).count(), 10);
    }
}
