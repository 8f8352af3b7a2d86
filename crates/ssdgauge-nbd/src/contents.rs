//! The contents of the drive in memory: blocks of 4 KiB that a client has written.
//!
//! It must never hold more blocks than its limit. A block of zeros takes no memory.

use std::collections::HashMap;

/// The unit of contents, in bytes: that of the model.
pub(crate) const BLOCK: u64 = 4_096;

/// The memory of a block besides its data, in bytes: its entry in the map, at the lowest fill of a
/// map that has just grown, and the header of its allocation.
const OVERHEAD: u64 = 64;

/// Written blocks by their numbers; others are zeros.
#[derive(Debug)]
pub(crate) struct Contents {
    blocks: HashMap<u64, Box<[u8; BLOCK as usize]>>,
    max_blocks: usize,
}

/// The contents have reached their limit; what lay before the first block without room is written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Contents {
    /// Returns empty contents that take up to `memory` bytes.
    pub(crate) fn new(memory: u64) -> Contents {
        let max_blocks = usize::try_from(memory / (BLOCK + OVERHEAD)).unwrap_or(usize::MAX);
        Contents { blocks: HashMap::new(), max_blocks }
    }

    /// Writes `data` at `offset`.
    ///
    /// # Errors
    /// [`Full`] where a block has no room.
    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Full> {
        for (block, from, range) in pieces(offset, data.len() as u64) {
            let data = &data[range];
            if data.len() as u64 == BLOCK && data.iter().all(|byte| *byte == 0) {
                self.blocks.remove(&block);
                continue;
            }
            let is_full = self.blocks.len() >= self.max_blocks;
            if is_full && !self.blocks.contains_key(&block) {
                return Err(Full);
            }
            let stored = self.blocks.entry(block).or_insert_with(|| Box::new([0; BLOCK as usize]));
            stored[from..from + data.len()].copy_from_slice(data);
        }
        Ok(())
    }

    /// Reads into `data`, which must hold zeros, from `offset` on.
    pub(crate) fn read(&self, offset: u64, data: &mut [u8]) {
        for (block, from, range) in pieces(offset, data.len() as u64) {
            if let Some(stored) = self.blocks.get(&block) {
                let length = range.len();
                data[range].copy_from_slice(&stored[from..from + length]);
            }
        }
    }

    /// Returns whether the block at `offset` takes memory; another one is of zeros.
    pub(crate) fn holds(&self, offset: u64) -> bool {
        self.blocks.contains_key(&(offset / BLOCK))
    }

    /// Sets `length` bytes from `offset` to zero.
    pub(crate) fn clear(&mut self, offset: u64, length: u64) {
        let (first, end) = (offset.div_ceil(BLOCK), (offset + length) / BLOCK);
        // The range can be the whole drive, of which few blocks were written.
        match end.saturating_sub(first) > self.blocks.len() as u64 {
            true => self.blocks.retain(|block, _| !(first..end).contains(block)),
            false => (first..end).for_each(|block| drop(self.blocks.remove(&block))),
        }
        for (block, from, range) in edges(offset, length) {
            if let Some(stored) = self.blocks.get_mut(&block) {
                stored[from..from + range].fill(0);
            }
        }
    }

    /// Returns the number of blocks that take memory.
    #[cfg(test)]
    fn stored(&self) -> usize {
        self.blocks.len()
    }
}

/// Divides `length` bytes from `offset` at the borders of blocks: the number of the block, the first
/// byte in it, and the range of the bytes.
fn pieces(offset: u64, length: u64) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done;
        let count = (BLOCK - at % BLOCK).min(length - done);
        let range = done as usize..(done + count) as usize;
        done += count;
        (count > 0).then_some((at / BLOCK, (at % BLOCK) as usize, range))
    })
}

/// Returns the parts of a range that cover a block in part: its number, the first byte in it, and the
/// number of bytes.
fn edges(offset: u64, length: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    let end = offset + length;
    let head = (!offset.is_multiple_of(BLOCK)).then(|| {
        let count = (BLOCK - offset % BLOCK).min(length);
        (offset / BLOCK, (offset % BLOCK) as usize, count as usize)
    });
    let has_own_tail = offset / BLOCK != end / BLOCK || offset.is_multiple_of(BLOCK);
    let tail = (!end.is_multiple_of(BLOCK) && has_own_tail).then_some((
        end / BLOCK,
        0,
        (end % BLOCK) as usize,
    ));
    head.into_iter().chain(tail)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use ssdgauge_core::Random;

    #[test]
    fn contents_agree_with_a_plain_array_after_random_writes_and_clears() {
        let seed = 20_261_123;
        println!("seed {seed}");
        let mut random = Random::new(seed, 0);
        let size = 40 * BLOCK;
        let mut contents = Contents::new(u64::MAX);
        let mut plain = vec![0u8; size as usize];
        for turn in 0..4_000u64 {
            let offset = random.below(size);
            let length = random.below((size - offset).min(3 * BLOCK) + 1);
            let range = offset as usize..(offset + length) as usize;
            if random.below(3) == 0 {
                contents.clear(offset, length);
                plain[range].fill(0);
            } else {
                plain[range.clone()].fill((turn % 7) as u8);
                contents.write(offset, &plain[range]).unwrap();
            }
        }
        let mut read = vec![0; plain.len()];
        contents.read(0, &mut read);
        assert!(read == plain);
        let mut part = vec![0; 10_000];
        contents.read(777, &mut part);
        assert!(part == plain[777..10_777]);
    }

    #[test]
    fn contents_never_exceed_their_limit_and_zeros_take_no_memory() {
        let mut contents = Contents::new(2 * (BLOCK + OVERHEAD));
        let ones = [1; 3 * BLOCK as usize];
        assert_eq!(contents.write(0, &ones), Err(Full));
        assert_eq!(contents.stored(), 2);
        assert_eq!(contents.write(BLOCK, &ones[..100]), Ok(()), "an existing block needs no room");
        contents.write(0, &[0; BLOCK as usize]).unwrap();
        assert_eq!(contents.stored(), 1);
        assert_eq!(contents.write(7 * BLOCK, &ones[..1]), Ok(()));
        contents.clear(0, 1 << 40);
        assert_eq!(contents.stored(), 0);
    }
}
