//! What each write carries: headers at its blocks, and a first word in each other sector.

use ssdgauge_os::memory::Region;

/// The distance of headers on the target, in bytes: the size of a flash-translation unit and of a
/// memory page.
pub(super) const HEADER_SPACING: u64 = 4_096;
/// The length of a header, in bytes.
pub(super) const HEADER_LENGTH: u64 = 16;
/// The unit of the address in a header, in bytes: the smallest logical block.
pub(super) const SECTOR: u64 = 512;
/// The odd number that generations are multiplied with in headers, modulo 2^64, and its inverse. Of
/// 200,000 random ones the best: a flipped bit in a header changes the epoch by 1,755,574 or more, so
/// it is found in each run of fewer workloads.
pub(super) const SCATTER: u64 = 0xccba_fdad_b53c_bda9;
pub(super) const GATHER: u64 = 0x6cd9_c6b2_6dc9_3699;

/// The headers of one thread.
#[derive(Clone, Debug)]
pub(crate) struct HeaderWriter {
    pub(super) tag: u64,
    pub(super) generation: u64,
    pub(super) count: u32,
    /// Whether the sectors between the headers differ in each write as well.
    pub(super) stamps_sectors: bool,
}

impl HeaderWriter {
    /// Writes the headers of a write of `length` bytes at `offset` of the target, whose data begins at byte
    /// `at` of `pool`.
    ///
    /// # Safety
    /// No request in flight may use these bytes.
    #[inline]
    pub(crate) unsafe fn stamp(&mut self, pool: &Region, at: usize, offset: u64, length: u64) {
        let generation = self.next();
        let first = offset.next_multiple_of(HEADER_SPACING) - offset;
        if self.stamps_sectors {
            let mut next = if first == 0 { SECTOR } else { 0 };
            while next + SECTOR <= length {
                let place = at as u64 + next;
                // SAFETY: no request uses the bytes, by the contract of this function.
                unsafe { pool.put_word(place as usize, stamp(generation, place / SECTOR)) };
                next += SECTOR;
                // The sector at the next boundary has a header.
                next += if next % HEADER_SPACING == first % HEADER_SPACING { SECTOR } else { 0 };
            }
        }
        let mut next = first;
        while next + HEADER_LENGTH <= length {
            let words = [self.tag ^ ((offset + next) / SECTOR), generation];
            // SAFETY: no request uses the bytes, by the contract of this function.
            unsafe { pool.put(at + next as usize, words) };
            next += HEADER_SPACING;
        }
    }

    /// Returns the same headers, but for a tag that no read accepts: they make each block differ, and
    /// verify nothing. Sectors between them stay as they are: data that is compressible in part keeps its
    /// share.
    pub(crate) fn unverified(self) -> HeaderWriter {
        HeaderWriter { tag: !self.tag, stamps_sectors: false, ..self }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.count = self.count.wrapping_add(1);
        scatter(self.generation | u64::from(self.count))
    }
}

/// Returns the word of a header for `generation`.
#[inline]
pub(super) fn scatter(generation: u64) -> u64 {
    generation.wrapping_mul(SCATTER)
}

/// Returns the generation of a word of a header.
#[inline]
pub(super) fn gather(word: u64) -> u64 {
    word.wrapping_mul(GATHER)
}

/// Returns the first word of sector number `place` of the pool in the write whose headers have the word
/// `generation`. At one place no two writes have the same word, because each step is a bijection; at
/// two places the other 504 bytes differ. The words of neighbours have no bytes in common that a
/// compressor could use.
#[inline]
pub(super) fn stamp(generation: u64, place: u64) -> u64 {
    (generation ^ place).wrapping_mul(SCATTER)
}

/// Returns the word of a header from the first word of sector number `place` of the pool: the inverse of
/// [`stamp`].
pub(super) fn unstamp(word: u64, place: u64) -> u64 {
    word.wrapping_mul(GATHER) ^ place
}
