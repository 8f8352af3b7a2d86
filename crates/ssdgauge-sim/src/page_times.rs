//! How long the pages of a drive differ from each other: types of the pages of a cell, and spread between blocks and
//! pages.
//!
//! Both follow from the place of a page alone. A drive whose pages are equal must never compute a place.

use crate::profile::Profile;

/// Parts of 1 in which factors of times are counted.
const ONE: u64 = 1 << 16;

/// A page of flash: its superblock, its die, and its number on that die.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) superblock: u32,
    pub(crate) die: u32,
    pub(crate) row: u32,
}

/// The factors by which the times of a page differ from those of the profile.
#[derive(Clone, Debug)]
pub(crate) struct PageTimes {
    /// Whether the times of any two pages differ.
    pub(crate) are_different: bool,
    /// Factors of the sense time of the types of pages, one for each bit of a cell; their mean is 1.
    types: Vec<u64>,
    read_spread: f64,
    program_spread: f64,
}

impl PageTimes {
    pub(crate) fn new(profile: &Profile) -> PageTimes {
        let effects = &profile.effects;
        let ratio = if effects.page_type_ratio > 0.0 { effects.page_type_ratio } else { 1.0 };
        let bits = profile.nand.bits.max(1);
        let powers: Vec<f64> = (0..bits).map(|bit| ratio.powi(bit as i32)).collect();
        let mean = powers.iter().sum::<f64>() / f64::from(bits);
        let factor = |power: &f64| (power / mean * ONE as f64).round() as u64;
        PageTimes {
            are_different: ratio > 1.0 && bits > 1
                || effects.read_spread > 0.0
                || effects.program_spread > 0.0,
            types: powers.iter().map(factor).collect(),
            read_spread: effects.read_spread,
            program_spread: effects.program_spread,
        }
    }

    /// Returns the time of a sense operation at `place`, where `sense` is the mean. Cells in SLC mode have one type.
    #[inline(never)]
    pub(crate) fn sense(&self, place: Place, slc: bool, sense: u64) -> u64 {
        // Neighbouring rows of a die are the pages of one cell, which one operation programs.
        let of_type = match slc {
            true => sense,
            false => (sense * self.types[place.row as usize % self.types.len()] + ONE / 2) / ONE,
        };
        vary(of_type, self.read_spread, place)
    }

    /// Returns the time of a program operation at `place`.
    #[inline]
    pub(crate) fn program(&self, place: Place, program: u64) -> u64 {
        vary(program, self.program_spread, place)
    }
}

/// Returns `time` with a relative standard deviation of `spread`: one half of its variance is that between blocks, the
/// other that between the pages of a block.
fn vary(time: u64, spread: f64, place: Place) -> u64 {
    if spread == 0.0 {
        return time;
    }
    let block = u64::from(place.superblock) << 32 | u64::from(place.die);
    let deviation = (deviate(block) + deviate(block << 20 ^ u64::from(place.row))) / 2f64.sqrt();
    (time as f64 * (1.0 + spread * deviation)).round() as u64
}

/// Returns a deviate of `place` with mean 0 and standard deviation 1, between −3.5 and 3.5: the sum of four uniform ones,
/// which are the quarters of a hash (Steele et al., SplitMix, OOPSLA 2014).
pub(crate) fn deviate(place: u64) -> f64 {
    let mut hash = place.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    let sum: u64 = (0..4).map(|quarter| hash >> (16 * quarter) & 0xffff).sum();
    // The variance of four uniform deviates is 4/12.
    (sum as f64 / 65_535.0 - 2.0) * 3f64.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ProfileSpec;

    fn times(keys: &str) -> PageTimes {
        PageTimes::new(&ProfileSpec::parse(&format!("tiny?{keys}")).unwrap().profile)
    }

    /// Returns mean and standard deviation of `values`.
    fn moments(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        (mean, (squares / values.len() as f64).sqrt())
    }

    #[test]
    fn a_third_of_the_pages_of_tlc_has_each_time() {
        let times = times("effects.page_type_ratio=1.4");
        let of_row = |row| times.sense(Place { superblock: 9, die: 3, row }, false, 50_000);
        let fastest = 50_000.0 / ((1.0 + 1.4 + 1.96) / 3.0);
        for (row, factor) in [(0, 1.0), (1, 1.4), (2, 1.96), (3, 1.0)] {
            assert!((of_row(row) as f64 - fastest * factor).abs() <= 1.0, "{row}");
        }
        assert!([0, 1, 2].map(of_row).iter().sum::<u64>().abs_diff(150_000) <= 3);
        assert_eq!(times.sense(Place { superblock: 9, die: 3, row: 2 }, true, 50_000), 50_000);
        assert!(times.are_different && !self::times("").are_different);
    }

    #[test]
    fn half_of_the_variance_is_between_blocks_and_half_within_them() {
        let times = times("effects.read_spread=0.1&effects.program_spread=0.05");
        let places = |block: u32| {
            (0..200).map(move |row| Place { superblock: block / 16 + 1, die: block % 16, row })
        };
        let blocks: Vec<Vec<f64>> = (0..2_000)
            .map(|block| {
                places(block).map(|p| times.sense(p, false, 1_000_000) as f64 / 1e6).collect()
            })
            .collect();
        let means: Vec<f64> = blocks.iter().map(|pages| moments(pages).0).collect();
        let within: Vec<f64> = blocks.iter().map(|pages| moments(pages).1.powi(2)).collect();
        let (mean, between) = moments(&means);
        let within = moments(&within).0.sqrt();
        let expected = 0.1 / 2f64.sqrt();
        assert!((mean - 1.0).abs() < 0.005, "{mean}");
        assert!((between / expected - 1.0).abs() < 0.05, "{between}");
        assert!((within / expected - 1.0).abs() < 0.05, "{within}");
        let programs: Vec<f64> =
            (0..2_000).flat_map(places).map(|p| times.program(p, 1_000_000) as f64 / 1e6).collect();
        assert!((moments(&programs).1 / 0.05 - 1.0).abs() < 0.05);
    }
}
