//! The places of a proof: which blocks are written, in which order, and what each of them holds then.
//!
//! Everything follows from capacity and depth, so that a run file states it in two numbers.

use serde::{Deserialize, Serialize};
use ssdgauge_core::proof::PROOF_BLOCK;
use ssdgauge_core::{Bytes, Random};

/// The block of the ownership label, which the proof leaves out.
const FIRST: u64 = 1;
/// The maximum number of segments. Chosen: one sample of each is read in a second or a few.
const SEGMENTS: u64 = 4_096;
/// The minimum number of blocks of a segment: 64 KiB.
const LEAST_SEGMENT: u64 = 16;
/// The number of segments in the first round; each further round doubles the written ones.
const FIRST_ROUND: u64 = 16;
/// The first mark that keeps its distance in proportion: 1 MiB.
const FIRST_MARK: u64 = 256;
/// The distance of two marks, as a share of the address of the first: a boundary is found within it.
const MARK_DISTANCE: f64 = 0.005;
/// Further marks at equal distances, for losses of a small part at the end.
const EVEN_MARKS: u64 = 1_024;
/// The bytes that a quick proof fills, as long as they are a 256th to an eighth of the capacity. Chosen:
/// more than the memory of a controller.
const QUICK_FILL: u64 = 4 << 30;
/// The bytes of an operation, whose record is durable before the next. Chosen: a tenth of a second to
/// half a minute.
const OPERATION: u64 = 256 << 20;
/// The maximum number of blocks of an operation that lie apart.
const MOST_PLACES: u64 = 256;

/// How much of a drive is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// Marks and heads of segments, spread over all addresses.
    Quick,
    /// Every block but the first.
    Full,
}

/// A set of blocks, in the order in which they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Set {
    /// Single blocks, at distances in proportion to their address and at equal distances.
    Marks,
    /// The first blocks of each segment.
    Heads,
    /// Whole segments.
    Segments,
    /// One written block of each segment, another one in each pass.
    Samples,
}

/// How much of each set is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The marks.
    pub marks: u64,
    /// The heads.
    pub heads: u64,
    /// The whole segments.
    pub segments: u64,
}

impl Progress {
    /// Returns the number of `set`; of samples there are as many as of segments with a written part.
    pub fn of(&self, set: Set) -> u64 {
        match set {
            Set::Marks => self.marks,
            Set::Heads | Set::Samples => self.heads,
            Set::Segments => self.segments,
        }
    }

    /// Records that the members of `set` before `to` are written.
    pub fn record(&mut self, set: Set, to: u64) {
        let slot = match set {
            Set::Marks => &mut self.marks,
            Set::Heads => &mut self.heads,
            Set::Segments => &mut self.segments,
            Set::Samples => return,
        };
        *slot = (*slot).max(to);
    }
}

/// What a block and those after it hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The generation that was written there last.
    pub generation: u32,
    /// The number of blocks for which it is the same.
    pub blocks: u64,
}

/// The places of a proof on one drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The blocks that the drive states.
    pub capacity: u64,
    /// How much is proved.
    pub depth: Depth,
    /// Blocks of a segment, and of its head.
    segment: u64,
    head: u64,
    marks: Vec<u64>,
    /// The segments in the order of writing: neighbours in it lie far apart.
    order: Vec<u64>,
    /// The place of each segment in that order.
    place: Vec<u64>,
}

impl Layout {
    /// The minimum capacity of a drive that can be proved: 16 MiB.
    pub const LEAST: Bytes = Bytes(16 << 20);

    /// Returns the places on a drive with `capacity`.
    ///
    /// # Panics
    /// If it is less than [`Layout::LEAST`]: a mistake of the caller.
    pub fn new(capacity: Bytes, depth: Depth) -> Layout {
        assert!(capacity >= Layout::LEAST, "the caller checks the capacity");
        let capacity = capacity.0 / PROOF_BLOCK.0;
        let segment = capacity.div_ceil(SEGMENTS).max(LEAST_SEGMENT);
        let count = capacity.div_ceil(segment);
        let bytes = capacity * PROOF_BLOCK.0;
        let fill = QUICK_FILL.clamp(bytes / 256, bytes / 8) / PROOF_BLOCK.0;
        let order = spread(count);
        let mut place = vec![0; order.len()];
        for (at, segment) in (0..).zip(&order) {
            place[*segment as usize] = at;
        }
        Layout {
            capacity,
            depth,
            segment,
            head: (fill / count).clamp(1, segment),
            marks: marks(capacity),
            order,
            place,
        }
    }

    /// Returns the number of members of `set`.
    pub fn count(&self, set: Set) -> u64 {
        match set {
            Set::Marks => self.marks.len() as u64,
            Set::Heads | Set::Segments | Set::Samples => self.order.len() as u64,
        }
    }

    /// Returns the members of each round of `set`, from 0 to the end after the last one.
    pub fn rounds(&self, set: Set) -> Vec<u64> {
        let count = self.count(set);
        let doubling = std::iter::successors(Some(FIRST_ROUND), |end| Some(end * 2));
        doubling.take_while(|end| *end < count).chain([count]).collect()
    }

    /// Returns the end of the operation on `set` that begins at `from`, at `to` at most.
    pub fn operation_end(&self, set: Set, from: u64, to: u64) -> u64 {
        let blocks = match set {
            Set::Marks | Set::Samples => 1,
            Set::Heads => self.head,
            Set::Segments => self.segment,
        };
        let members = (OPERATION / PROOF_BLOCK.0 / blocks).clamp(1, MOST_PLACES);
        to.min(from + members)
    }

    /// Returns the set that is written next, and from which member on; `None` where all are written.
    pub fn next_write(&self, progress: &Progress) -> Option<(Set, u64)> {
        let sets: &[Set] = match self.depth {
            Depth::Quick => &[Set::Marks, Set::Heads],
            Depth::Full => &[Set::Marks, Set::Heads, Set::Segments],
        };
        let unwritten = |set: &&Set| progress.of(**set) < self.count(**set);
        sets.iter().find(unwritten).map(|set| (*set, progress.of(*set)))
    }

    /// Returns the ranges (first block, number) of the members `from` to `to` of `set`. Samples are
    /// those of `pass`, of what is written by `progress`.
    pub fn ranges(
        &self,
        set: Set,
        (from, to): (u64, u64),
        pass: u32,
        progress: &Progress,
    ) -> Vec<(u64, u64)> {
        let range = |member: u64| match set {
            Set::Marks => (self.marks[member as usize], 1),
            Set::Heads => self.part(member, self.head),
            Set::Segments => self.part(member, self.segment),
            Set::Samples => {
                let is_whole = member < progress.segments;
                let length = if is_whole { self.segment } else { self.head };
                let (first, blocks) = self.part(member, length);
                let mut random = Random::new(u64::from(pass), member);
                match blocks {
                    0 => (first, 0),
                    _ => (first + random.below(blocks), 1),
                }
            }
        };
        (from..to).map(range).filter(|(_, blocks)| *blocks > 0).collect()
    }

    /// Returns the first blocks of the segment at `member` of the order, `length` at most.
    fn part(&self, member: u64, length: u64) -> (u64, u64) {
        let begin = self.order[member as usize] * self.segment;
        let first = begin.max(FIRST);
        (first, (begin + length).min(self.capacity).max(first) - first)
    }

    /// Returns the generation of the writes of member `member` of `set`, from 1.
    pub fn generation(&self, set: Set, member: u64) -> u32 {
        let round = |set| {
            let rounds = self.rounds(set);
            rounds.iter().position(|end| member < *end).unwrap_or(rounds.len()) as u32
        };
        match set {
            Set::Marks => 1,
            Set::Heads | Set::Samples => 2 + round(Set::Heads),
            Set::Segments => 2 + self.rounds(Set::Heads).len() as u32 + round(Set::Segments),
        }
    }

    /// Returns the set and the member that wrote `block` last, by `progress`; `None` where none did.
    pub fn writer(&self, block: u64, progress: &Progress) -> Option<(Set, u64)> {
        if block < FIRST || block >= self.capacity {
            return None;
        }
        let member = self.place[(block / self.segment) as usize];
        if member < progress.segments {
            return Some((Set::Segments, member));
        }
        if member < progress.heads && block % self.segment < self.head {
            return Some((Set::Heads, member));
        }
        let mark = self.marks.binary_search(&block).ok()? as u64;
        (mark < progress.marks).then_some((Set::Marks, mark))
    }

    /// Returns the place of the last write of `block` among all writes, by `progress`: a number that grows from each
    /// of them to the next; 0 where none was.
    pub fn written_as(&self, block: u64, progress: &Progress) -> u64 {
        let sets = [Set::Marks, Set::Heads, Set::Segments];
        self.writer(block, progress).map_or(0, |(set, member)| {
            let before = sets.iter().take_while(|one| **one != set).map(|one| self.count(*one));
            1 + before.sum::<u64>() + member
        })
    }

    /// Returns the generation that `block` and some blocks after it hold by `progress`; generation 0
    /// where none was written.
    pub fn expected(&self, block: u64, progress: &Progress) -> Expected {
        let Some((set, member)) = self.writer(block, progress) else {
            return Expected { generation: 0, blocks: 1 };
        };
        let end = match set {
            Set::Marks | Set::Samples => block + 1,
            Set::Heads => block - block % self.segment + self.head,
            Set::Segments => block - block % self.segment + self.segment,
        };
        Expected { generation: self.generation(set, member), blocks: end - block }
    }

    /// Returns the bytes of the members `from` to `to` of `set`.
    pub fn bytes(&self, set: Set, from: u64, to: u64) -> Bytes {
        let ranges = self.ranges(set, (from, to), 0, &Progress::default());
        PROOF_BLOCK * ranges.iter().map(|(_, blocks)| blocks).sum::<u64>()
    }

    /// Returns the bytes that the whole proof writes.
    pub fn written(&self) -> Bytes {
        let sets: &[Set] = match self.depth {
            Depth::Quick => &[Set::Marks, Set::Heads],
            Depth::Full => &[Set::Marks, Set::Heads, Set::Segments],
        };
        sets.iter().map(|set| self.bytes(*set, 0, self.count(*set))).sum()
    }

    /// Returns the bytes that the whole proof reads on a drive that holds what was written: everything
    /// once, and marks and samples in each pass.
    pub fn read(&self) -> Bytes {
        let last = match self.depth {
            Depth::Quick => self.bytes(Set::Heads, 0, self.count(Set::Heads)),
            Depth::Full => self.bytes(Set::Segments, 0, self.count(Set::Segments)),
        };
        let rounds = match self.depth {
            Depth::Quick => self.rounds(Set::Heads).len(),
            Depth::Full => self.rounds(Set::Heads).len() + self.rounds(Set::Segments).len(),
        };
        let pass = PROOF_BLOCK * (self.count(Set::Marks) + self.count(Set::Samples));
        last + pass * (rounds as u64 + 1)
    }
}

/// Returns the marks of a drive with `capacity` blocks, in ascending order.
fn marks(capacity: u64) -> Vec<u64> {
    let mut marks: Vec<u64> = (0..EVEN_MARKS)
        .map(|number| (capacity * (2 * number + 1) / (2 * EVEN_MARKS)).max(FIRST))
        .collect();
    let mut mark = FIRST_MARK;
    while mark < capacity {
        marks.push(mark);
        mark += ((mark as f64 * MARK_DISTANCE) as u64).max(1);
    }
    marks.extend([FIRST, capacity - 1]);
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// Returns the numbers below `count` in an order whose beginnings are spread evenly: by their bits in
/// reverse (van der Corput 1935).
fn spread(count: u64) -> Vec<u64> {
    let bits = u64::BITS - (count - 1).leading_zeros();
    let reversed = |number: u64| number.reverse_bits().unbounded_shr(u64::BITS - bits);
    (0..1u64 << bits).map(reversed).filter(|number| *number < count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEPTHS: [Depth; 2] = [Depth::Quick, Depth::Full];

    #[test]
    fn a_full_proof_writes_every_block_but_the_first() {
        for capacity in [16 << 20, 1_000_000_007, 256 << 30, 4_000_787_030_016] {
            let layout = Layout::new(Bytes(capacity), Depth::Full);
            let all = layout.bytes(Set::Segments, 0, layout.count(Set::Segments));
            assert_eq!(all.0 / 4_096, capacity / 4_096 - 1, "{capacity}");
            let whole = Progress {
                marks: layout.count(Set::Marks),
                heads: layout.count(Set::Heads),
                segments: layout.count(Set::Segments),
            };
            for block in [1, 2, layout.capacity / 3, layout.capacity - 1] {
                let Some((Set::Segments, member)) = layout.writer(block, &whole) else {
                    panic!("block {block} of {capacity} is not written");
                };
                let (first, blocks) = layout.part(member, layout.segment);
                assert!((first..first + blocks).contains(&block));
            }
            assert_eq!(layout.writer(0, &whole), None);
        }
    }

    #[test]
    fn a_quick_proof_writes_an_eighth_at_most_and_marks_every_half_percent() {
        for capacity in [16 << 20, 1 << 30, 32 << 30, 1 << 40] {
            let layout = Layout::new(Bytes(capacity), Depth::Quick);
            let heads = layout.bytes(Set::Heads, 0, layout.count(Set::Heads));
            assert!(heads.0 <= capacity / 8, "{heads:?} of {capacity:?}");
            for pair in layout.marks.windows(2).filter(|pair| pair[0] >= FIRST_MARK) {
                assert!((pair[1] - pair[0]) as f64 <= pair[0] as f64 * MARK_DISTANCE + 1.0);
            }
            assert!(layout.marks.len() < 5_000);
        }
    }

    #[test]
    fn the_order_has_every_segment_once_and_begins_spread_out() {
        for count in [1, 2, 3, 256, 4_095, 4_096] {
            let order = spread(count);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..count).collect::<Vec<_>>());
        }
        assert_eq!(spread(8)[..4], [0, 4, 2, 6]);
    }

    #[test]
    fn the_writer_of_a_block_is_the_last_one_in_the_order_of_generations() {
        for depth in DEPTHS {
            let layout = Layout::new(Bytes(64 << 20), depth);
            let mut progress = Progress::default();
            let mut last = std::collections::BTreeMap::new();
            while let Some((set, from)) = layout.next_write(&progress) {
                let to = layout.operation_end(set, from, layout.count(set));
                for member in from..to {
                    let generation = layout.generation(set, member);
                    for (first, blocks) in layout.ranges(set, (member, member + 1), 0, &progress) {
                        for block in first..first + blocks {
                            let before = last.insert(block, generation);
                            assert!(before.is_none_or(|before| before < generation));
                        }
                    }
                }
                progress.record(set, to);
            }
            for block in 0..layout.capacity {
                let writer = layout.writer(block, &progress);
                let generation = writer.map(|(set, member)| layout.generation(set, member));
                assert_eq!(generation.as_ref(), last.get(&block), "{depth:?}: block {block}");
            }
        }
    }

    #[test]
    fn the_first_round_is_small() {
        let layout = Layout::new(Bytes(1 << 40), Depth::Full);
        let first = layout.bytes(Set::Heads, 0, layout.rounds(Set::Heads)[0]);
        assert!(first <= Bytes(16 << 20), "{first:?}");
    }
}
