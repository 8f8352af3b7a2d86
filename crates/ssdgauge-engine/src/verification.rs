//! Verification headers: what writes carry, and how reads are checked (fio: `verify`).
//!
//! Write data comes from a pool of random data that no controller can compress. At every 4 KiB
//! boundary of the target it holds a header of two words: the address, combined with the random tag
//! of the run, and a generation. Every other sector of 512 bytes begins with a word that follows from
//! the generation, so that no two sectors of a run are equal, although the pool repeats: a drive or an
//! array that stores equal sectors once finds none. A read of a range that this run has filled must find the header of
//! its own address, from the last fill or later. It detects writes that were dropped, misdirected
//! or folded onto another address (a false capacity), and reads that return zeros or data of
//! another source.
//!
//! The address word is the same in every generation, and any generation since the fill is valid, so
//! writes in flight during a read raise no false alarm. The check is not measurable: -17 to
//! +35 ns of 1,900 ns per request on zram (docs/contributing/performance.md).

mod contents;
mod every_byte;
mod header_writer;
mod places;
mod written;

pub use every_byte::verify;
pub(crate) use header_writer::HeaderWriter;
pub use places::{Place, read_back};

use header_writer::{HEADER_LENGTH, HEADER_SPACING, SECTOR, gather, stamp, unstamp};
use ssdgauge_os::memory::Region;
use std::ops::Range;
use std::sync::Arc;

/// The bits of a generation below its epoch: 8 of the thread and 32 of its count of writes.
const EPOCH_SHIFT: u32 = 40;

/// What a read found in place of the data that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Zeros: the write was dropped.
    Zeros,
    /// The data that this run wrote at another address, in bytes.
    OtherOffset(u64),
    /// Data of this address from before the last fill.
    Stale,
    /// Data that this run never wrote.
    Foreign,
}

/// The ranges that a run has filled, each with the epoch of its fill, and those whose contents became
/// unknown.
#[derive(Clone, Debug)]
pub struct Verification {
    /// The random number with which addresses are combined (XOR), so that headers of another run
    /// are not valid.
    tag: u64,
    /// The number of the current workload.
    epoch: u32,
    /// The number of the first workload of this process.
    first_epoch: u32,
    /// Filled ranges in bytes (begin, end, epoch), disjoint and in ascending order.
    filled: Vec<(u64, u64, u32)>,
    /// Ranges whose contents became unknown in or after a workload (begin, end, its number).
    unknown: Vec<(u64, u64, u32)>,
    /// Ranges that requests of this run may have written.
    written: Vec<WrittenRange>,
}

/// A range that requests may have written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WrittenRange {
    from: u64,
    to: u64,
    /// Whether a request may have written a part of a block of 4 KiB.
    splits: bool,
    /// Whether two requests to one block may have been in flight together.
    overlaps: bool,
}

impl Verification {
    /// Returns the verification of a run that has written nothing yet.
    pub fn new(tag: u64) -> Verification {
        Verification::after(tag, 0)
    }

    /// Returns the verification of a run of which an earlier process has run at most `workloads`: the
    /// data of that process is older than all that this one writes.
    pub fn after(tag: u64, workloads: u32) -> Verification {
        let (epoch, first_epoch) = (workloads, workloads.saturating_add(1));
        let (filled, unknown, written) = (Vec::new(), Vec::new(), Vec::new());
        Verification { tag, epoch, first_epoch, filled, unknown, written }
    }

    /// Begins the next workload.
    pub fn advance(&mut self) {
        self.epoch += 1;
    }

    /// Records that the current workload has written every header from `from` to `to`.
    pub fn fill(&mut self, from: u64, to: u64) {
        self.forget_fills(from, to);
        self.forget_written(from, to);
        if from < to {
            self.filled.push((from, to, self.epoch));
            self.filled.sort_unstable();
        }
    }

    /// Records that an earlier process of the run has filled the range: any header of this run is
    /// accepted there, because the numbers of the workloads of that process are not known.
    pub fn fill_earlier(&mut self, from: u64, to: u64) {
        self.forget_fills(from, to);
        self.forget_written(from, to);
        if from < to {
            self.filled.push((from, to, 1));
            self.filled.sort_unstable();
        }
    }

    /// Records that the content of the range is unknown: reads of it are not verified, and what the
    /// workloads so far have written there is not read back.
    pub fn invalidate(&mut self, from: u64, to: u64) {
        self.forget_fills(from, to);
        self.forget_written(from, to);
        if from < to {
            // Ranges within the new one say less than it: the list does not grow with each trim of
            // a long run.
            self.unknown.retain(|&(begin, end, _)| begin < from || end > to);
            self.unknown.push((from, to, self.epoch));
        }
    }

    fn forget_fills(&mut self, from: u64, to: u64) {
        let outside = |&(begin, end, epoch): &(u64, u64, u32)| {
            let before = (begin, end.min(from), epoch);
            let after = (begin.max(to), end, epoch);
            [before, after].into_iter().filter(|(begin, end, _)| begin < end)
        };
        self.filled = self.filled.iter().flat_map(outside).collect();
    }

    /// Returns what reads must find in the longest filled part of the range; `None` where this run
    /// has filled none of it. Adjoining fills count as one part, with the older epoch.
    pub fn expect(&self, from: u64, to: u64) -> Option<Expected> {
        let mut longest: Option<Expected> = None;
        let mut last: Option<Expected> = None;
        for &(begin, end, epoch) in &self.filled {
            let (begin, end) = (begin.max(from), end.min(to));
            if begin >= end {
                continue;
            }
            let part = match last {
                Some(one) if one.to == begin => {
                    // The older one: a write of the younger fill that was dropped may be missed
                    // where a workload between the two had written, and no good data is accused.
                    Expected { to: end, oldest: one.oldest.min(epoch), ..one }
                }
                Some(_) | None => Expected { tag: self.tag, from: begin, to: end, oldest: epoch },
            };
            last = Some(part);
            if longest.is_none_or(|longest| part.to - part.from > longest.to - longest.from) {
                longest = last;
            }
        }
        longest
    }

    /// Returns the header writer of thread `thread` in the current workload. Only the epoch of a
    /// generation is checked; thread and count make the data of every write unique.
    pub(crate) fn header_writer(&self, thread: usize) -> HeaderWriter {
        let generation = u64::from(self.epoch) << EPOCH_SHIFT | (thread as u64 & 0xff) << 32;
        HeaderWriter { tag: self.tag, generation, count: 0, stamps_sectors: true }
    }
}

/// What reads of a range must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    tag: u64,
    from: u64,
    to: u64,
    /// The epoch of the oldest fill in the range.
    oldest: u32,
}

impl Expected {
    /// Returns whether all of the range is verified.
    pub fn covers(&self, from: u64, to: u64) -> bool {
        self.from <= from && self.to >= to
    }

    /// Checks `length` bytes at `data` that were read at `offset` of the target; returns the first
    /// mismatch.
    ///
    /// # Safety
    /// The bytes must be readable, and no request in flight may write them.
    #[inline]
    pub(crate) unsafe fn check(
        &self,
        data: *const u8,
        offset: u64,
        length: u64,
    ) -> Option<Mismatch> {
        if offset < self.from || offset + length > self.to {
            return None;
        }
        // A block may begin between two headers, and one of 512 bytes may hold none.
        let mut at = offset.next_multiple_of(HEADER_SPACING) - offset;
        while at + HEADER_LENGTH <= length {
            // SAFETY: the header lies within the bytes that the caller guarantees.
            let [address, word] =
                unsafe { ssdgauge_os::memory::words_at(data.wrapping_add(at as usize)) };
            let is_own = address == self.tag ^ ((offset + at) / SECTOR);
            if !is_own || gather(word) >> EPOCH_SHIFT < u64::from(self.oldest) {
                return Some(self.classify(address, word, is_own));
            }
            at += HEADER_SPACING;
        }
        None
    }

    /// Classifies the words found in place of a header.
    #[cold]
    fn classify(&self, address: u64, word: u64, is_own: bool) -> Mismatch {
        let sector = address ^ self.tag;
        match (address, word) {
            _ if is_own => Mismatch::Stale,
            (0, 0) => Mismatch::Zeros,
            // Below 2^45 sectors, 16 PiB: random words of another source are that low with a
            // probability of at most 2^-19.
            _ if sector < 1 << 45 && sector.is_multiple_of(HEADER_SPACING / SECTOR) => {
                Mismatch::OtherOffset(sector * SECTOR)
            }
            _ => Mismatch::Foreign,
        }
    }
}

/// The largest buffer that a ring registers, in bytes (SZ_1G in Linux, io_uring/rsrc.c).
const MAX_REGISTERED: usize = 1 << 30;

/// The write data of one thread: a part of the pool, divided into blocks.
///
/// Every slot has its own blocks, so that no header changes while the kernel still reads the data
/// of an earlier request.
#[derive(Debug)]
pub(crate) struct WriteBuffer {
    pool: Arc<Region>,
    /// Where the part of this thread begins, in bytes.
    from: usize,
    /// The bytes from one block to the next; 0 where all writes share one block.
    stride: usize,
    block_size: u64,
    depth: usize,
    /// The blocks of each slot.
    rounds: usize,
    /// Which of its blocks the next slot uses; the whole part is written before data repeats.
    round: usize,
    header_writer: Option<HeaderWriter>,
}

impl WriteBuffer {
    /// Returns the write buffer of a thread that alone uses the bytes `part` of `pool`.
    ///
    /// # Panics
    /// If the part holds less than one block per slot: [`part_length`] returns the necessary
    /// length.
    pub(crate) fn new(
        pool: Arc<Region>,
        part: Range<usize>,
        block_size: usize,
        depth: usize,
        header_writer: HeaderWriter,
    ) -> WriteBuffer {
        // What exceeds a registered buffer could not be sent from it.
        let rounds = part.len().min(MAX_REGISTERED) / (block_size * depth);
        // Parts begin on pages: O_DIRECT requires aligned memory.
        assert_eq!(part.start, whole(part.start), "a part begins on a page");
        assert!(part.end <= pool.length(), "{part:?} of {} bytes", pool.length());
        assert!(rounds > 0, "the pool has a block for every slot");
        WriteBuffer {
            pool,
            from: part.start,
            stride: block_size,
            block_size: block_size as u64,
            depth,
            rounds,
            round: 0,
            header_writer: Some(header_writer),
        }
    }

    /// Returns a write buffer that writes the same `data` each time, without headers.
    pub(crate) fn constant(data: Arc<Region>, block_size: usize) -> WriteBuffer {
        let block_size = block_size as u64;
        WriteBuffer {
            pool: data,
            from: 0,
            stride: 0,
            block_size,
            depth: 1,
            rounds: 1,
            round: 0,
            header_writer: None,
        }
    }

    /// Returns the data of the next write of `slot`, with headers for `length` bytes at `offset`.
    #[inline]
    pub(crate) fn prepare(&mut self, slot: u16, offset: u64, length: u32) -> *mut u8 {
        let block = self.from + (self.round * self.depth + usize::from(slot)) * self.stride;
        self.round = if self.round + 1 == self.rounds { 0 } else { self.round + 1 };
        if let Some(header_writer) = &mut self.header_writer {
            let length = u64::from(length);
            let fits = usize::from(slot) < self.depth && length <= self.block_size;
            debug_assert!(fits, "{length} bytes in slot {slot} of {}", self.depth);
            // SAFETY: the block belongs to this slot of this thread, and the request that used it
            // last has completed: a slot has one request at a time.
            unsafe { header_writer.stamp(&self.pool, block, offset, length) };
        }
        self.pool.at(block)
    }

    /// Returns the part of this thread as an `iovec`, for registration with a ring.
    pub(crate) fn iovec(&self) -> libc::iovec {
        let length = (self.rounds * self.depth * self.stride).max(self.block_size as usize);
        libc::iovec { iov_base: self.pool.at(self.from).cast(), iov_len: length }
    }
}

/// Returns the minimum length of a part of the pool, for `depth` requests of `block_size`.
pub(crate) fn part_length(block_size: usize, depth: usize) -> usize {
    (block_size * depth).next_multiple_of(HEADER_SPACING as usize)
}

/// Returns `length` rounded down to whole pages.
pub(crate) fn whole(length: usize) -> usize {
    length & !(HEADER_SPACING as usize - 1)
}

#[cfg(test)]
mod tests {
    use super::header_writer::{GATHER, SCATTER, scatter};
    use super::*;

    fn written(verification: &Verification, offset: u64, length: u64) -> (WriteBuffer, *mut u8) {
        let pool = Arc::new(Region::new(1 << 20).unwrap());
        let mut write_buffer =
            WriteBuffer::new(pool, 0..1 << 20, length as usize, 4, verification.header_writer(3));
        let data = write_buffer.prepare(2, offset, length as u32);
        (write_buffer, data)
    }

    fn check(expected: Expected, data: *const u8, offset: u64, length: u64) -> Option<Mismatch> {
        // SAFETY: the tests pass data of at least this length that has no other user.
        unsafe { expected.check(data, offset, length) }
    }

    #[test]
    fn a_read_finds_the_header_of_its_own_address_with_every_block_size() {
        let mut verification = Verification::new(77);
        verification.advance();
        verification.fill(0, 1 << 20);
        let expected = verification.expect(0, 1 << 20).unwrap();
        for (offset, length) in [(0, 4_096), (8_192, 4_096), (512, 4_096), (131_072, 131_072)] {
            let (_buffer, data) = written(&verification, offset, length);
            assert_eq!(check(expected, data, offset, length), None, "{offset} {length}");
            let other = check(expected, data, offset + 4_096, length);
            let first = offset.next_multiple_of(4_096);
            assert_eq!(other, Some(Mismatch::OtherOffset(first)), "{offset} {length}");
        }
    }

    #[test]
    fn zeros_foreign_data_and_data_from_before_a_fill_are_classified() {
        let mut verification = Verification::new(0x1234_5678_9abc_def0);
        verification.advance();
        verification.fill(0, 1 << 20);
        let (_buffer, old) = written(&verification, 4_096, 4_096);
        verification.advance();
        verification.fill(0, 8_192);
        let expected = verification.expect(0, 8_192).unwrap();
        assert_eq!(check(expected, old, 4_096, 4_096), Some(Mismatch::Stale));
        // After the second fill the first one is still valid.
        let (_buffer, older) =
            written(&Verification { epoch: 1, ..verification.clone() }, 8_192, 4_096);
        assert_eq!(check(verification.expect(8_192, 1 << 20).unwrap(), older, 8_192, 4_096), None);
        let zeros = [0u8; 4_096];
        assert_eq!(check(expected, zeros.as_ptr(), 0, 4_096), Some(Mismatch::Zeros));
        let foreign = [0x5au8; 4_096];
        assert_eq!(check(expected, foreign.as_ptr(), 0, 4_096), Some(Mismatch::Foreign));
        // A header of another run at the same address is foreign too.
        let (_buffer, other) = written(&Verification::new(!0x1234_5678_9abc_def0), 0, 4_096);
        assert_eq!(check(expected, other, 0, 4_096), Some(Mismatch::Foreign));
    }

    #[test]
    fn only_filled_ranges_are_verified() {
        let mut verification = Verification::new(1);
        assert_eq!(verification.expect(0, 100), None);
        verification.advance();
        verification.fill(0, 1_000);
        verification.advance();
        verification.fill(1_000, 2_000);
        let range = |verification: &Verification, from, to| {
            verification.expect(from, to).map(|one| (one.from, one.to, one.oldest))
        };
        assert_eq!(range(&verification, 0, 5_000), Some((0, 2_000, 1)));
        assert_eq!(range(&verification, 1_500, 5_000), Some((1_500, 2_000, 2)));
        verification.invalidate(500, 700);
        assert_eq!(range(&verification, 0, 5_000), Some((700, 2_000, 1)));
        assert_eq!(range(&verification, 0, 700), Some((0, 500, 1)));
        verification.invalidate(0, 5_000);
        assert_eq!(range(&verification, 0, 5_000), None);
    }

    #[test]
    fn a_flipped_bit_in_a_generation_changes_its_epoch_beyond_any_run() {
        assert_eq!(SCATTER.wrapping_mul(GATHER), 1);
        for epoch in [1, 2, 77, 1_000_000] {
            for rest in [1, 0xff_ffff_ffff, 0x12_3456_789a] {
                let word = scatter(epoch << EPOCH_SHIFT | rest);
                assert_eq!(gather(word) >> EPOCH_SHIFT, epoch);
                for bit in 0..64 {
                    let found = gather(word ^ 1 << bit) >> EPOCH_SHIFT;
                    assert!(!(1..=1_700_000).contains(&found) || found.abs_diff(epoch) > 1_700_000);
                }
            }
        }
    }

    #[test]
    fn two_requests_in_flight_never_share_a_block() {
        let pool = Arc::new(Region::new(1 << 20).unwrap());
        let (threads, depth, block) = (3, 5, 8_192);
        let mut seen = std::collections::BTreeMap::new();
        for thread in 0..threads {
            let header_writer = Verification::new(1).header_writer(thread);
            let length = whole(pool.length() / threads);
            let part = thread * length..(thread + 1) * length;
            let mut write_buffer =
                WriteBuffer::new(pool.clone(), part, block, depth, header_writer);
            for write in 0..200u64 {
                let slot = (write * 7 % depth as u64) as u16;
                let data = write_buffer.prepare(slot, write * 8_192, block as u32) as usize;
                let at = data - pool.at(0) as usize;
                assert!(at.is_multiple_of(4_096) && at + block <= pool.length());
                let owner = seen.entry(at / block).or_insert((thread, slot));
                assert_eq!(*owner, (thread, slot));
            }
        }
    }
}
