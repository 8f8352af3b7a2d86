//! The contents of a block: a header that names its address, and data that follows from the header.

use super::content::Content;

/// The 8-byte words of a block.
pub const WORDS_PER_BLOCK: usize = 512;

/// `SSDGPRF1`, little endian: the first word of each block, with the version of this layout.
const MAGIC: u64 = u64::from_le_bytes(*b"SSDGPRF1");
/// The words of the header: magic, tag, number of the block, generation, check.
const HEADER: usize = 5;

/// What the blocks of one pass have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The number of the proof, which follows from the id of its run.
    pub tag: u64,
    /// The number of the pass that writes, from 1.
    pub generation: u32,
}

impl Stamp {
    /// Fills `block`, of [`WORDS_PER_BLOCK`] words, with the contents of block number `address`.
    ///
    /// # Panics
    /// If the block has another length: a mistake of the caller.
    pub fn fill(self, address: u64, block: &mut [u64]) {
        assert_eq!(block.len(), WORDS_PER_BLOCK, "a block has 4 KiB");
        let header = self.header(address);
        let (head, data) = block.split_at_mut(HEADER);
        head.copy_from_slice(&header.map(u64::to_le));
        let mut state = header[HEADER - 1];
        for word in data {
            *word = next(&mut state).to_le();
        }
    }

    fn header(self, address: u64) -> [u64; HEADER] {
        let generation = u64::from(self.generation);
        let check = mix(mix(self.tag) ^ mix(address).rotate_left(17) ^ generation);
        [MAGIC, self.tag, address, generation, check]
    }

    /// Returns the content of `block`, of [`WORDS_PER_BLOCK`] words, by a proof with `tag`.
    ///
    /// # Panics
    /// If the block has another length: a mistake of the caller.
    pub fn identify(tag: u64, block: &[u64]) -> Content {
        assert_eq!(block.len(), WORDS_PER_BLOCK, "a block has 4 KiB");
        let head: [u64; HEADER] = std::array::from_fn(|word| u64::from_le(block[word]));
        let generation = u32::try_from(head[3]).unwrap_or(u32::MAX);
        let (address, stamp) = (head[2], Stamp { tag, generation });
        if stamp.header(address) == head {
            let mut state = head[HEADER - 1];
            let is_whole =
                block[HEADER..].iter().all(|word| u64::from_le(*word) == next(&mut state));
            return match is_whole {
                true => Content::Stamped { address, generation },
                false => Content::Torn { address, generation },
            };
        }
        match block[0] {
            0 if block.iter().all(|word| *word == 0) => Content::Zeros,
            u64::MAX if block.iter().all(|word| *word == u64::MAX) => Content::Ones,
            _ => Content::Foreign,
        }
    }
}

/// Returns the next word of a generator (splitmix64, Steele et al. 2014), whose words cannot be
/// compressed.
#[inline]
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mix(*state)
}

#[inline]
fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { tag: 0x1234, generation: 3 };

    fn block(address: u64) -> Vec<u64> {
        let mut block = vec![0; WORDS_PER_BLOCK];
        STAMP.fill(address, &mut block);
        block
    }

    #[test]
    fn a_block_names_its_address_and_generation() {
        let whole = Content::Stamped { address: 77, generation: 3 };
        assert_eq!(Stamp::identify(0x1234, &block(77)), whole);
        // Of another proof.
        assert_eq!(Stamp::identify(0x1235, &block(77)), Content::Foreign);
    }

    #[test]
    fn a_changed_bit_anywhere_is_found() {
        for word in 0..WORDS_PER_BLOCK {
            let mut changed = block(77);
            changed[word] ^= 1 << (word % 64);
            let expected = match word < HEADER {
                true => Content::Foreign,
                false => Content::Torn { address: 77, generation: 3 },
            };
            assert_eq!(Stamp::identify(0x1234, &changed), expected, "word {word}");
        }
    }

    #[test]
    fn blocks_without_a_stamp_are_told_apart() {
        assert_eq!(Stamp::identify(1, &[0; WORDS_PER_BLOCK]), Content::Zeros);
        assert_eq!(Stamp::identify(1, &[u64::MAX; WORDS_PER_BLOCK]), Content::Ones);
        let mut almost = [0; WORDS_PER_BLOCK];
        almost[511] = 1;
        assert_eq!(Stamp::identify(1, &almost), Content::Foreign);
    }
}
