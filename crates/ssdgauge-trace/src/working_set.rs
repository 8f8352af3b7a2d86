//! The bytes that a trace addresses, each counted once, in bounded memory.

use std::collections::BTreeMap;

/// The bits of the block that is counted at first: 4 KiB.
const FIRST_SHIFT: u32 = 12;
/// The words of a chunk: 4,096 blocks.
const WORDS: usize = 64;
/// The maximum number of chunks, 0.5 KiB each: 32 MiB, 1 TiB of blocks of 4 KiB where all are addressed.
const MAX_CHUNKS: usize = 1 << 16;

/// The blocks that were addressed so far.
pub(crate) struct WorkingSet {
    /// The binary logarithm of the block, which grows when the memory is used up.
    shift: u32,
    chunks: BTreeMap<u64, Box<[u64; WORDS]>>,
}

impl WorkingSet {
    pub(crate) fn new() -> WorkingSet {
        WorkingSet { shift: FIRST_SHIFT, chunks: BTreeMap::new() }
    }

    /// Adds the blocks that `length` bytes from `offset` touch.
    pub(crate) fn add(&mut self, offset: u64, length: u64) {
        let Some(last) = (offset + length).checked_sub(1) else { return };
        let blocks = offset >> self.shift..=last >> self.shift;
        for block in blocks {
            self.set(block);
        }
        while self.chunks.len() > MAX_CHUNKS {
            self.coarsen();
        }
    }

    fn set(&mut self, block: u64) {
        let chunk = self.chunks.entry(block >> 12).or_insert_with(|| Box::new([0; WORDS]));
        chunk[(block >> 6 & 63) as usize] |= 1 << (block & 63);
    }

    /// Doubles the length of the blocks.
    fn coarsen(&mut self) {
        let old = std::mem::take(&mut self.chunks);
        self.shift += 1;
        for (number, words) in old {
            for (index, word) in (0..).zip(words.iter()) {
                let mut word = *word;
                while word != 0 {
                    let block = number << 12 | index << 6 | u64::from(word.trailing_zeros());
                    self.set(block >> 1);
                    word &= word - 1;
                }
            }
        }
    }

    /// Returns the bytes of the addressed blocks, and the length of a block.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        let ones = |words: &[u64; WORDS]| {
            words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>()
        };
        let blocks: u64 = self.chunks.values().map(|words| ones(words)).sum();
        (blocks << self.shift, 1 << self.shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_counts_once_and_memory_is_bounded() {
        let mut set = WorkingSet::new();
        set.add(0, 8_192);
        set.add(4_095, 2);
        assert_eq!(set.bytes(), (8_192, 4_096));
        // One block in each chunk of 16 MiB: twice as many chunks as there is memory for.
        for chunk in 0..2 * MAX_CHUNKS as u64 {
            set.add(chunk << 24, 512);
        }
        let (bytes, block) = set.bytes();
        assert!(set.chunks.len() <= MAX_CHUNKS, "{}", set.chunks.len());
        assert_eq!((bytes, block), (2 * MAX_CHUNKS as u64 * block, 8_192));
    }
}
