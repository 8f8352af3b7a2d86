//! What writes carry, and how reads are checked.
//!
//! Writes are cut from a pool of random data that no controller can shrink. At every 4 KiB
//! boundary of the target they carry a stamp of two words: the place, mixed with a number that
//! only this run knows, and a generation. A read of a range that this run has filled must find
//! the stamp of its own place, and none from before the fill: so writes that were dropped,
//! misplaced or folded onto another address (a false capacity) come to light, and reads that were
//! answered with zeros or with the data of somebody else.
//!
//! A place is the same in every generation, and generations within a fill are not told apart by
//! place, so writes in flight beside a read cannot raise a false alarm.

use ssdgauge_os::memory::Region;
use std::sync::Arc;

/// The grid of verification on the target.
const UNIT: u64 = 4_096;
/// The bytes of a stamp.
const STAMP: u64 = 16;
/// The unit in which a stamp counts its place.
const SECTOR: u64 = 512;
/// Where the epoch stands in a generation; below it are the thread and its count of writes.
const EPOCH_SHIFT: u32 = 40;

/// What a read found in place of what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Zeros: the write never arrived.
    Zeros,
    /// The data of another place of this run, in bytes.
    Elsewhere(u64),
    /// Data of this place from before the last fill.
    Stale,
    /// Data that this run never wrote.
    Foreign,
}

/// The ranges that a run has filled, and with which epoch.
#[derive(Clone, Debug)]
pub struct Verification {
    /// What the places of this run are mixed with.
    tag: u64,
    /// The number of the present workload.
    epoch: u32,
    /// Filled ranges in bytes, disjoint and in order, with the epoch of their fill.
    filled: Vec<(u64, u64, u32)>,
}

impl Verification {
    /// Returns the verification of a run that has written nothing yet.
    pub fn new(tag: u64) -> Verification {
        Verification { tag, epoch: 0, filled: Vec::new() }
    }

    /// Begins the next workload.
    pub fn advance(&mut self) {
        self.epoch += 1;
    }

    /// Notes that the present workload has written every stamp from `from` to `to`.
    pub fn fill(&mut self, from: u64, to: u64) {
        self.forget(from, to);
        if from < to {
            self.filled.push((from, to, self.epoch));
            self.filled.sort_unstable();
        }
    }

    /// Notes that nobody knows what the range holds.
    pub fn forget(&mut self, from: u64, to: u64) {
        let outside = |&(begin, end, epoch): &(u64, u64, u32)| {
            let before = (begin, end.min(from), epoch);
            let behind = (begin.max(to), end, epoch);
            [before, behind].into_iter().filter(|(begin, end, _)| begin < end)
        };
        self.filled = self.filled.iter().flat_map(outside).collect();
    }

    /// Returns what reads of the range must find; `None` where this run has not filled it.
    pub fn expect(&self, from: u64, to: u64) -> Option<Expected> {
        let mut best: Option<Expected> = None;
        let mut open: Option<Expected> = None;
        for &(begin, end, epoch) in &self.filled {
            let (begin, end) = (begin.max(from), end.min(to));
            if begin >= end {
                continue;
            }
            let joined = match open {
                Some(one) if one.to == begin => {
                    Expected { to: end, least: one.least.min(epoch), ..one }
                }
                Some(_) | None => Expected { tag: self.tag, from: begin, to: end, least: epoch },
            };
            open = Some(joined);
            if best.is_none_or(|best| joined.to - joined.from > best.to - best.from) {
                best = open;
            }
        }
        best
    }

    /// Returns the header_writer of thread number `thread` in the present workload.
    pub(crate) fn header_writer(&self, thread: usize) -> HeaderWriter {
        let generation = u64::from(self.epoch) << EPOCH_SHIFT | (thread as u64 & 0xff) << 32;
        HeaderWriter { tag: self.tag, generation, count: 0 }
    }
}

/// Writes the verification of one thread.
#[derive(Clone, Debug)]
pub(crate) struct HeaderWriter {
    tag: u64,
    generation: u64,
    count: u32,
}

impl HeaderWriter {
    #[inline]
    fn next(&mut self) -> u64 {
        self.count = self.count.wrapping_add(1);
        self.generation | u64::from(self.count)
    }
}

/// What the reads of a stream must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    tag: u64,
    from: u64,
    to: u64,
    /// The epoch of the oldest fill in the range.
    least: u32,
}

impl Expected {
    /// Returns whether nothing of the range is unknown.
    pub fn is_all_of(&self, from: u64, to: u64) -> bool {
        self.from <= from && self.to >= to
    }

    /// Returns what is wrong with `length` bytes at `data`, read at `offset` of the target.
    ///
    /// # Safety
    /// The bytes must be readable, and no request in flight may write them.
    #[inline]
    pub(crate) unsafe fn check(
        &self,
        data: *const u8,
        offset: u64,
        length: u64,
    ) -> Option<Content> {
        if offset < self.from || offset + length > self.to {
            return None;
        }
        let mut at = offset.next_multiple_of(UNIT) - offset;
        while at + STAMP <= length {
            // SAFETY: the stamp lies within the bytes that the caller vouches for.
            let [place, generation] =
                unsafe { ssdgauge_os::memory::words_at(data.wrapping_add(at as usize)) };
            let right = place == self.tag ^ ((offset + at) / SECTOR);
            if !right || generation >> EPOCH_SHIFT < u64::from(self.least) {
                return Some(self.content(place, generation, right));
            }
            at += UNIT;
        }
        None
    }

    #[cold]
    fn content(&self, place: u64, generation: u64, right: bool) -> Content {
        let sector = place ^ self.tag;
        match (place, generation) {
            _ if right => Content::Stale,
            (0, 0) => Content::Zeros,
            // A foreign word lies this low by a chance of one in 2^19 at most.
            _ if sector < 1 << 45 && sector.is_multiple_of(UNIT / SECTOR) => {
                Content::Elsewhere(sector * SECTOR)
            }
            _ => Content::Foreign,
        }
    }
}

/// The write data of one thread.
///
/// Every slot has places of its own in the pool, so that no stamp changes while the kernel still
/// reads the data of an earlier request.
#[derive(Debug)]
pub(crate) struct WriteBuffer {
    pool: Arc<Region>,
    /// Where the part of this thread begins.
    from: usize,
    /// The bytes from one place to the next; 0 where all writes share one.
    stride: usize,
    block_size: u64,
    depth: usize,
    /// The places of each slot.
    rounds: usize,
    turn: usize,
    header_writer: Option<HeaderWriter>,
}

impl WriteBuffer {
    /// Returns the write_buffer of thread `thread` of `threads`, whose parts of `pool` are equal.
    ///
    /// # Panics
    /// When a part does not hold a place for every slot: [`room`] says how large a pool must be.
    pub(crate) fn of(
        pool: Arc<Region>,
        (thread, threads): (usize, usize),
        block_size: usize,
        depth: usize,
        header_writer: HeaderWriter,
    ) -> WriteBuffer {
        // Parts begin on pages: O_DIRECT asks for aligned memory.
        let part = (pool.length() / threads) & !(UNIT as usize - 1);
        let rounds = part / (block_size * depth);
        assert!(rounds > 0, "the pool has a place for every slot");
        WriteBuffer {
            pool,
            from: part * thread,
            stride: block_size,
            block_size: block_size as u64,
            depth,
            rounds,
            turn: 0,
            header_writer: Some(header_writer),
        }
    }

    /// Returns the write_buffer that writes `zeros`, without verification.
    pub(crate) fn blank(zeros: Arc<Region>, block_size: usize) -> WriteBuffer {
        let block_size = block_size as u64;
        WriteBuffer {
            pool: zeros,
            from: 0,
            stride: 0,
            block_size,
            depth: 1,
            rounds: 1,
            turn: 0,
            header_writer: None,
        }
    }

    /// Returns where the data of the next write lie: of request `slot`, to `offset`.
    #[inline]
    pub(crate) fn dip(&mut self, slot: u16, offset: u64) -> *mut u8 {
        let place = self.from + (self.turn * self.depth + usize::from(slot)) * self.stride;
        self.turn = if self.turn + 1 == self.rounds { 0 } else { self.turn + 1 };
        if let Some(header_writer) = &mut self.header_writer {
            let generation = header_writer.next();
            let mut at = offset.next_multiple_of(UNIT) - offset;
            while at + STAMP <= self.block_size {
                let words = [header_writer.tag ^ ((offset + at) / SECTOR), generation];
                // SAFETY: the place belongs to this slot of this thread, and the request that
                // used it last has completed: a slot has one request at a time.
                unsafe { self.pool.put(place + at as usize, words) };
                at += UNIT;
            }
        }
        self.pool.at(place)
    }

    /// Returns the part of this thread as the kernel's vector, for registration.
    pub(crate) fn iovec(&self) -> libc::iovec {
        let length = (self.rounds * self.depth * self.stride).max(self.block_size as usize);
        libc::iovec { iov_base: self.pool.at(self.from).cast(), iov_len: length }
    }
}

/// Returns the least size of a pool for `threads` threads with `depth` requests of `block_size`.
pub(crate) fn room(threads: usize, block_size: usize, depth: usize) -> usize {
    threads * (block_size * depth).next_multiple_of(UNIT as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(verification: &Verification, offset: u64, length: u64) -> (WriteBuffer, *mut u8) {
        let pool = Arc::new(Region::new(1 << 20).unwrap());
        let mut write_buffer =
            WriteBuffer::of(pool, (0, 1), length as usize, 4, verification.header_writer(3));
        let data = write_buffer.dip(2, offset);
        (write_buffer, data)
    }

    fn check(expected: Expected, data: *const u8, offset: u64, length: u64) -> Option<Content> {
        // SAFETY: the tests pass data of at least this length that nobody else uses.
        unsafe { expected.check(data, offset, length) }
    }

    #[test]
    fn a_read_finds_the_stamp_of_its_own_place_whatever_the_block_size() {
        let mut verification = Verification::new(77);
        verification.advance();
        verification.fill(0, 1 << 20);
        let expected = verification.expect(0, 1 << 20).unwrap();
        for (offset, length) in [(0, 4_096), (8_192, 4_096), (512, 4_096), (131_072, 131_072)] {
            let (_ink, data) = written(&verification, offset, length);
            assert_eq!(check(expected, data, offset, length), None, "{offset} {length}");
            let elsewhere = check(expected, data, offset + 4_096, length);
            let first = offset.next_multiple_of(4_096);
            assert_eq!(elsewhere, Some(Content::Elsewhere(first)), "{offset} {length}");
        }
    }

    #[test]
    fn zeros_foreign_data_and_data_from_before_a_fill_are_told_apart() {
        let mut verification = Verification::new(0x1234_5678_9abc_def0);
        verification.advance();
        verification.fill(0, 1 << 20);
        let (_ink, old) = written(&verification, 4_096, 4_096);
        verification.advance();
        verification.fill(0, 8_192);
        let expected = verification.expect(0, 8_192).unwrap();
        assert_eq!(check(expected, old, 4_096, 4_096), Some(Content::Stale));
        // Behind the second fill the first one still holds.
        let (_ink, older) =
            written(&Verification { epoch: 1, ..verification.clone() }, 8_192, 4_096);
        assert_eq!(check(verification.expect(8_192, 1 << 20).unwrap(), older, 8_192, 4_096), None);
        let zeros = [0u8; 4_096];
        assert_eq!(check(expected, zeros.as_ptr(), 0, 4_096), Some(Content::Zeros));
        let foreign = [0x5au8; 4_096];
        assert_eq!(check(expected, foreign.as_ptr(), 0, 4_096), Some(Content::Foreign));
        // Another run's stamp of this place is foreign too.
        let (_ink, other) = written(&Verification::new(!0x1234_5678_9abc_def0), 0, 4_096);
        assert_eq!(check(expected, other, 0, 4_096), Some(Content::Foreign));
    }

    #[test]
    fn only_what_is_known_is_expected() {
        let mut verification = Verification::new(1);
        assert_eq!(verification.expect(0, 100), None);
        verification.advance();
        verification.fill(0, 1_000);
        verification.advance();
        verification.fill(1_000, 2_000);
        let range = |verification: &Verification, from, to| {
            verification.expect(from, to).map(|one| (one.from, one.to, one.least))
        };
        assert_eq!(range(&verification, 0, 5_000), Some((0, 2_000, 1)));
        assert_eq!(range(&verification, 1_500, 5_000), Some((1_500, 2_000, 2)));
        verification.forget(500, 700);
        assert_eq!(range(&verification, 0, 5_000), Some((700, 2_000, 1)));
        assert_eq!(range(&verification, 0, 700), Some((0, 500, 1)));
        verification.forget(0, 5_000);
        assert_eq!(range(&verification, 0, 5_000), None);
    }

    #[test]
    fn no_place_is_used_by_two_requests_in_flight() {
        let pool = Arc::new(Region::new(1 << 20).unwrap());
        let (threads, depth, block) = (3, 5, 8_192);
        let mut seen = std::collections::BTreeMap::new();
        for thread in 0..threads {
            let header_writer = Verification::new(1).header_writer(thread);
            let mut write_buffer =
                WriteBuffer::of(pool.clone(), (thread, threads), block, depth, header_writer);
            for turn in 0..200u64 {
                let slot = (turn * 7 % depth as u64) as u16;
                let place = write_buffer.dip(slot, turn * 8_192) as usize - pool.at(0) as usize;
                assert!(place.is_multiple_of(4_096) && place + block <= pool.length());
                let owner = seen.entry(place / block).or_insert((thread, slot));
                assert_eq!(*owner, (thread, slot));
            }
        }
    }
}
