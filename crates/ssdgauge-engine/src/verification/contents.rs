//! What blocks hold, compared with what this run wrote: every byte of them.
//!
//! The data of a request comes from the pool, at a place that the loop over requests chose and did not
//! record. No 4 KiB of the pool repeat, and neither do its words: the second word after the header
//! of a sector gives the place of the sector in the pool, and so the data of all its bytes. A sector
//! without a header begins with a word that follows from its place and from the write.

use super::places::describe;
use super::written::Part;
use super::{EPOCH_SHIFT, HEADER_SPACING, Mismatch, SECTOR, Verification, gather, stamp, unstamp};
use crate::pool::Pool;
use std::collections::HashMap;

/// The words of a sector, and of a header.
const SECTOR_WORDS: usize = SECTOR as usize / 8;
const HEADER_WORDS: usize = 2;

/// What a comparison of a block has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlockState {
    /// Every byte is what this run wrote.
    Right,
    /// The block holds no data of this run, or data that may have changed since; no write to it is
    /// known.
    Skipped,
    /// It does not hold what this run wrote; the contents in words.
    Wrong(String),
}

/// The expected contents of blocks.
#[derive(Debug)]
pub(super) struct Contents {
    verification: Verification,
    /// The end of the target, in bytes.
    end: u64,
    /// The pool without headers.
    pool: Vec<u64>,
    /// The second word after the header of each sector of the pool, with the number of the sector.
    sectors: HashMap<u64, u32>,
}

impl Contents {
    /// Returns the contents of what `verification` knows, from a pool of `seed` and `length` bytes.
    pub(super) fn new(verification: Verification, seed: u64, length: usize, end: u64) -> Contents {
        let pool = Pool::words(seed, length);
        let keys = pool.chunks_exact(SECTOR_WORDS).map(|sector| sector[HEADER_WORDS]);
        let sectors = keys.zip(0..).collect();
        Contents { verification, end, pool, sectors }
    }

    /// Compares the block of `words`, which begins at byte `offset` and lies in `part`. It has 4 KiB,
    /// or less at the end of the target.
    pub(super) fn judge(&self, words: &[u64], offset: u64, part: &Part) -> BlockState {
        let [address, word] = [words[0], words[1]].map(u64::from_le);
        let epoch = gather(word) >> EPOCH_SHIFT;
        let is_of_run = (1..=u64::from(self.verification.epoch)).contains(&epoch);
        let sector = address ^ self.verification.tag;
        match sector == offset / SECTOR {
            true if is_of_run => self.judge_own(words, offset, part, epoch as u32),
            true => BlockState::Wrong("data of this run with a damaged header".into()),
            false if is_of_run && self.is_place(sector) => {
                let mismatch = Mismatch::OtherOffset(sector * SECTOR);
                match part.filled.is_none() && self.is_unknown(offset, epoch as u32) {
                    true => BlockState::Skipped,
                    false => BlockState::Wrong(describe(mismatch)),
                }
            }
            false => self.judge_foreign(words, part),
        }
    }

    /// Returns whether a header may name this sector.
    fn is_place(&self, sector: u64) -> bool {
        sector.is_multiple_of(HEADER_SPACING / SECTOR) && sector < self.end / SECTOR
    }

    fn is_unknown(&self, offset: u64, epoch: u32) -> bool {
        self.verification.is_unknown(offset, epoch)
    }

    /// Compares a block with a header of its own address, of the workload `epoch`.
    fn judge_own(&self, words: &[u64], offset: u64, part: &Part, epoch: u32) -> BlockState {
        match part.filled {
            Some(oldest) if epoch < oldest => return BlockState::Wrong(describe(Mismatch::Stale)),
            None if self.is_unknown(offset, epoch) => return BlockState::Skipped,
            Some(_) | None => {}
        }
        let numbered = || words.chunks_exact(SECTOR_WORDS).enumerate();
        // The place of the block in the pool, by the first sector that shows it.
        let place = numbered().find_map(|(number, sector)| {
            self.find(sector)?.checked_sub(number).filter(|place| self.has(*place, words.len()))
        });
        let Some(place) = place else {
            return BlockState::Wrong("a header of this run before other data".into());
        };
        // All sectors of a write have the generation of its header.
        let generation = u64::from_le(words[1]);
        let differs = |(number, sector): &(usize, &[u64])| {
            let place = place + number;
            let is_of_write = || sector[0] == stamp(generation, place as u64).to_le();
            !self.is_sector(sector, place, *number == 0) || !(*number == 0 || is_of_write())
        };
        let Some(first) = numbered().find(differs) else { return BlockState::Right };
        // Requests of less than a block, and two that were in flight together, leave sectors of
        // several writes.
        if part.splits || part.overlaps {
            let is_wrong = |&(number, sector): &(usize, &[u64])| match self.find(sector) {
                Some(place) => !self.is_sector(sector, place, number == 0),
                // It may hold earlier contents, unless the range was filled.
                None => number == 0 || !part.splits || part.filled.is_some(),
            };
            return match numbered().find(is_wrong) {
                None => BlockState::Right,
                Some((number, sector)) => {
                    let place = self.find(sector).unwrap_or(place + number);
                    BlockState::Wrong(self.describe_difference(number, sector, place, generation))
                }
            };
        }
        let (number, sector) = first;
        BlockState::Wrong(self.describe_difference(number, sector, place + number, generation))
    }

    /// Compares a block without a header of this run.
    fn judge_foreign(&self, words: &[u64], part: &Part) -> BlockState {
        let is_zeros = words.iter().all(|word| *word == 0);
        if is_zeros {
            let zeros = || BlockState::Wrong(describe(Mismatch::Zeros));
            return part.filled.map_or(BlockState::Skipped, |_| zeros());
        }
        let is_ours = |(number, sector): (usize, &[u64])| {
            self.find(sector).is_some_and(|place| self.is_sector(sector, place, number == 0))
        };
        let mut sectors = words.chunks_exact(SECTOR_WORDS).enumerate();
        // A sector after the first may come from a request of less than a block.
        let looked_at = if part.splits { 1 } else { sectors.len() };
        match (sectors.by_ref().take(looked_at).any(is_ours), part.filled) {
            (true, _) => BlockState::Wrong("data of this run with a damaged header".into()),
            (false, Some(_)) => BlockState::Wrong(describe(Mismatch::Foreign)),
            (false, None) => BlockState::Skipped,
        }
    }

    /// Returns the sector of the pool that `sector` comes from.
    fn find(&self, sector: &[u64]) -> Option<usize> {
        self.sectors.get(&sector[HEADER_WORDS]).map(|place| *place as usize)
    }

    /// Returns whether `words` of the pool begin with its sector number `place`.
    fn has(&self, place: usize, words: usize) -> bool {
        place * SECTOR_WORDS + words <= self.pool.len()
    }

    fn sector_of_pool(&self, place: usize) -> &[u64] {
        &self.pool[place * SECTOR_WORDS..][..SECTOR_WORDS]
    }

    /// Returns whether `sector` is the sector `place` of the pool. The first sector of a block begins
    /// with a header, which is checked on its own. Another one begins with the word of its write; its
    /// second word may be that of a header that an earlier request left in the pool, where a request
    /// began between two headers.
    fn is_sector(&self, sector: &[u64], place: usize, is_first: bool) -> bool {
        let expected = self.sector_of_pool(place);
        sector[HEADER_WORDS..] == expected[HEADER_WORDS..]
            && (is_first || self.is_stamped(sector, place))
    }

    /// Returns whether the words of `sector` that its pool does not have are those of a write of this run.
    fn is_stamped(&self, sector: &[u64], place: usize) -> bool {
        let [first, second] = [sector[0], sector[1]].map(u64::from_le);
        let is_second = sector[1] == self.sector_of_pool(place)[1] || self.is_of_run(second);
        is_second && self.is_of_run(unstamp(first, place as u64))
    }

    /// Returns whether `word` of a header is one of this run.
    fn is_of_run(&self, word: u64) -> bool {
        (1..=u64::from(self.verification.epoch)).contains(&(gather(word) >> EPOCH_SHIFT))
    }

    /// Returns the first byte at which sector number `number` of a block differs from the sector
    /// `place` of the pool in the write `generation`, and how many bytes of it do.
    fn describe_difference(
        &self,
        number: usize,
        sector: &[u64],
        place: usize,
        generation: u64,
    ) -> String {
        let mut expected = self.sector_of_pool(place).to_vec();
        match number {
            0 => expected[..HEADER_WORDS].copy_from_slice(&sector[..HEADER_WORDS]),
            _ => {
                expected[0] = stamp(generation, place as u64).to_le();
                // What an earlier request left.
                let second = u64::from_le(sector[1]);
                expected[1] = if self.is_of_run(second) { sector[1] } else { expected[1] };
            }
        }
        let bytes = |words: &[u64]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_ne_bytes()).collect()
        };
        let (found, expected) = (bytes(sector), bytes(&expected));
        let differing = found.iter().zip(&expected).enumerate().filter(|(_, (a, b))| a != b);
        let places: Vec<usize> = differing.map(|(at, _)| at).collect();
        let first = number * SECTOR as usize + places.first().copied().unwrap_or(0);
        let count = places.len();
        format!("other data from its byte {first} on ({count} bytes of this sector differ)")
    }
}
