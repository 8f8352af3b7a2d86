//! A permutation of blocks that costs little and need not be random: it spreads hot blocks.

use crate::workload::permutation::walk;
use ssdgauge_statistics::Random;

/// The rows of the table are at most this many. Chosen. From 65,536 numbers on they are more than half as many,
/// so that the domain exceeds the count by less than one part in 128; with fewer numbers a row is about as
/// long as there are rows.
const MOST_ROWS: u64 = 256;

/// A permutation of `0..count` without a table: the numbers are the cells of rows, whose length is a power of
/// two. A cell moves along its row (a product with an odd number and a shifted exclusive or), to another
/// row by its place, and again, and along that row; each move is a bijection. A cell after the
/// count moves on (cycle walking: Black and Rogaway, CT-RSA 2002), which is rare: a branch that is taken
/// at random would cost more than the moves.
///
/// Over 400 counts from 60,000 to 200 million, the images of the first fifth of numbers (100,000 at most) lie
/// next to each other 0.4 to 2.4 times as often as chance would have it; with one move less it was up to
/// 28 times. That spreads hot blocks. The order of a random pass needs more
/// ([`Permutation`](crate::workload::permutation::Permutation)).
#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    count: u64,
    rows: u64,
    /// The bits of a place in a row.
    bits: u32,
    /// Where the first row begins, so that 0 is not a fixed point.
    start: u64,
    /// Of the first two moves along a row and across the rows.
    factors: [[u64; 2]; 2],
    /// Of the last move along a row.
    last: u64,
}

impl Scatter {
    /// Returns a permutation of `0..count` by keys of `random`.
    pub(crate) fn new(count: u64, random: &mut Random) -> Scatter {
        assert!(count > 0, "a permutation has at least one element");
        let all = u64::BITS - (count - 1).leading_zeros();
        let bits = all.saturating_sub(MOST_ROWS.ilog2()).max(all / 2);
        let rows = ((count - 1) >> bits) + 1;
        let start = random.next_u64();
        // An odd factor has an inverse modulo any power of two.
        let mut odd = || random.next_u64() | 1;
        let factors = [[odd(), odd()], [odd(), odd()]];
        Scatter { count, rows, bits, start, factors, last: odd() }
    }

    /// Returns the image of `index`, which must be below the count.
    #[inline]
    pub(crate) fn at(&self, index: u64) -> u64 {
        walk(index, self.count, |value| self.mix(value))
    }

    /// Returns the image of `value` among the cells of all rows.
    #[inline]
    fn mix(&self, value: u64) -> u64 {
        let mut row = value >> self.bits;
        let mut place = value.wrapping_add(self.start);
        for [along, across] in self.factors {
            place = self.along(place.wrapping_add(row).wrapping_mul(along));
            let hash = place.wrapping_mul(across);
            row += ((u128::from(hash) * u128::from(self.rows)) >> u64::BITS) as u64;
            // The smaller one of the two is a row, because a row below 0 is a large number.
            row = row.min(row.wrapping_sub(self.rows));
        }
        row << self.bits | self.along(place.wrapping_add(row).wrapping_mul(self.last))
    }

    /// Returns the place in a row that `product` leads to.
    #[inline]
    fn along(&self, product: u64) -> u64 {
        let place = product & ((1 << self.bits) - 1);
        place ^ place >> (self.bits / 2 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scatter(count: u64) -> Scatter {
        Scatter::new(count, &mut Random::new(0x5ca7, count))
    }

    #[test]
    fn every_number_has_one_image_below_the_count() {
        for count in (1..=300).chain([4_095, 4_096, 4_097, 100_003]) {
            let scatter = scatter(count);
            let mut images: Vec<u64> = (0..count).map(|index| scatter.at(index)).collect();
            images.sort_unstable();
            assert_eq!(images, (0..count).collect::<Vec<_>>());
        }
    }

    /// Images of the first fifth of numbers, as of a hot zone: they fill no part of the span and no
    /// remainder of 64 more than another one, and are next to each other no more than three times as often as
    /// chance would have it.
    #[test]
    fn the_first_numbers_are_spread_over_the_span_its_parts_and_its_remainders() {
        for count in [10_000, 65_536, 1_000_003, 29_296_875, 122_000_000] {
            let scatter = scatter(count);
            let hot = (count / 5).min(200_000);
            let mut images: Vec<u64> = (0..hot).map(|index| scatter.at(index)).collect();
            images.sort_unstable();
            for (classes, class) in [(100, None), (64, Some(64))] {
                let mut found = vec![0u64; classes as usize];
                for image in &images {
                    let place = class.map_or(image * classes / count, |class| image % class);
                    found[place as usize] += 1;
                }
                let expected = hot as f64 / classes as f64;
                let most = 6.0 * expected.sqrt();
                let even = found.iter().all(|found| (*found as f64 - expected).abs() < most);
                assert!(even, "{count}: {found:?}");
            }
            let neighbours = images.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
            let chance = (hot * hot / count) as usize;
            assert!(neighbours < 3 * chance + 10, "{count}: {neighbours}, by chance {chance}");
        }
    }
}
