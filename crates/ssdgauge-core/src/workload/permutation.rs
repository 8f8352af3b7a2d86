//! Permutations of the blocks of a span without a table.

use ssdgauge_statistics::Random;

/// A pseudorandom permutation of `0..count` without a table: a Feistel network over the next power
/// of four, applied repeatedly until the value is below `count` (cycle walking: Black and Rogaway,
/// "Ciphers with Arbitrary Finite Domains", CT-RSA 2002).
///
/// A table for a drive of 8 TB in 4 KiB blocks would need 16 GB. Four rounds make the order
/// pseudorandom (Luby and Rackoff, 1988); it need not resist an attacker.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    count: u64,
    /// The bits of each half of a value.
    half: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// Returns a permutation of `0..count` by keys of `random`.
    pub(crate) fn new(count: u64, random: &mut Random) -> Self {
        assert!(count > 0, "a permutation has at least one element");
        let bits = 64 - (count - 1).leading_zeros();
        // Both halves have the same width, so the domain is below four times the count.
        let half = bits.div_ceil(2).max(1);
        Permutation { count, half, keys: std::array::from_fn(|_| random.next_u64()) }
    }

    /// Returns the image of `index`, which must be below the count. Fewer than four steps on
    /// average, because the domain is less than four times the count.
    #[inline]
    pub(crate) fn at(&self, index: u64) -> u64 {
        walk(index, self.count, |value| self.mix(value))
    }

    /// Returns the image of `value` under the Feistel network, a bijection for any round function.
    ///
    /// The round function multiplies by 2^64 ÷ the golden ratio (Fibonacci hashing) and drops the
    /// low bits, because those of a product depend on few bits of its factors.
    #[inline]
    fn mix(&self, value: u64) -> u64 {
        let mask = (1u64 << self.half) - 1;
        let (mut left, mut right) = (value >> self.half, value & mask);
        for key in self.keys {
            let hash = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (left, right) = (right, left ^ ((hash ^ hash >> 29) >> 17 & mask));
        }
        left << self.half | right
    }
}

/// Returns the first value below `count` that `mix`, a bijection of a larger domain, leads to from `index`:
/// a bijection of `0..count` (cycle walking: Black and Rogaway, CT-RSA 2002).
#[inline]
pub(crate) fn walk(index: u64, count: u64, mix: impl Fn(u64) -> u64) -> u64 {
    debug_assert!(index < count, "{index} is outside of the permutation");
    let mut value = index;
    loop {
        value = mix(value);
        if value < count {
            return value;
        }
    }
}
