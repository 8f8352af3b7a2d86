//! Random access that prefers some blocks: ranks by zones or by Zipf's law, spread over the span by a
//! permutation, so that hot blocks do not lie side by side.
//!
//! The permutation follows from the number of blocks alone: the hot blocks of a span are the same for all
//! threads, steps and runs.

use crate::workload::distribution::Distribution;
use crate::workload::scatter::Scatter;
use crate::workload::zipf::Zipf;
use ssdgauge_statistics::Random;
use ssdgauge_statistics::separation::Zone;

/// The seed of the permutation. Chosen.
const SHUFFLE: u64 = 0x5b1f_0c8e_27d4_963a;

/// The entries of the table that leads from the highest bits of a random number to its zone: of 64 zones
/// at most a quarter of the draws have to look further, of two zones one in 256. Chosen.
const GUIDE: usize = 256;

/// The blocks of a span, of which some are drawn more often than others.
#[derive(Clone, Debug)]
pub(crate) struct HotBlocks {
    ranks: Ranks,
    permutation: Scatter,
}

#[derive(Clone, Debug)]
enum Ranks {
    Zones(Zones),
    Zipf(Zipf),
}

/// Zones, and the first of them that a random number can mean, by its highest bits (guide table: Chen and
/// Asau, 1974).
#[derive(Clone, Debug)]
struct Zones {
    zones: Vec<DrawnZone>,
    guide: Box<[u8; GUIDE]>,
}

/// A zone: the ranks that it has, and the random numbers that select it.
#[derive(Clone, Copy, Debug)]
struct DrawnZone {
    /// The last random number that means this zone, where none before it is meant.
    last: u64,
    first: u64,
    ranks: u64,
}

impl HotBlocks {
    /// Returns the source of `blocks` blocks by `distribution`; `None` where all are alike.
    pub(crate) fn new(distribution: &Distribution, blocks: u64) -> Option<HotBlocks> {
        let ranks = match distribution {
            Distribution::Uniform => return None,
            Distribution::Zones(zones) => Ranks::Zones(Zones::new(zones, blocks)),
            Distribution::Zipf(exponent) => Ranks::Zipf(Zipf::new(*exponent, blocks)),
        };
        let permutation = Scatter::new(blocks, &mut Random::new(SHUFFLE, blocks));
        Some(HotBlocks { ranks, permutation })
    }

    /// Returns the next block.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> u64 {
        self.permutation.at(self.rank(random))
    }

    /// Returns the next rank, from 0.
    #[inline]
    fn rank(&self, random: &mut Random) -> u64 {
        match &self.ranks {
            Ranks::Zones(zones) => zones.draw(random),
            Ranks::Zipf(zipf) => zipf.draw(random),
        }
    }
}

impl Zones {
    fn new(zones: &[Zone], blocks: u64) -> Zones {
        let zones = drawn(zones, blocks);
        let first = |number: usize| {
            let least = (number as u64) << (u64::BITS - GUIDE.ilog2());
            let found = zones.iter().position(|zone| least <= zone.last);
            found.expect("the last zone ends at the highest number")
        };
        let guide = Box::new(std::array::from_fn(|number| first(number) as u8));
        Zones { zones, guide }
    }

    #[inline]
    fn draw(&self, random: &mut Random) -> u64 {
        let place = random.next_u64();
        let mut number = usize::from(self.guide[(place >> (u64::BITS - GUIDE.ilog2())) as usize]);
        while place > self.zones[number].last {
            number += 1;
        }
        let zone = self.zones[number];
        zone.first + random.below(zone.ranks)
    }
}

/// Returns the zones of `blocks` ranks. The border between two of them is the nearest rank; each has one
/// rank at least, where there are as many ranks as zones.
fn drawn(zones: &[Zone], blocks: u64) -> Vec<DrawnZone> {
    let (mut accesses, mut space, mut first) = (0.0, 0.0, 0);
    let after = |number: usize| (zones.len() - 1 - number) as u64;
    let mut drawn = Vec::new();
    for (number, zone) in zones.iter().enumerate() {
        accesses += zone.accesses;
        space += zone.space;
        let end = match after(number) {
            0 => blocks,
            left => ((space * blocks as f64).round() as u64).clamp(first + 1, blocks - left),
        };
        // The last zone takes what rounding leaves.
        let last = match after(number) {
            0 => u64::MAX,
            _ => (accesses * (1u128 << 64) as f64) as u64,
        };
        drawn.push(DrawnZone { last, first, ranks: end - first });
        first = end;
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 10_000_000;

    /// Returns χ² of `DRAWS` draws against the probabilities of groups of ranks, each of which has its
    /// first rank and its probability.
    fn chi_squared(hot: &HotBlocks, groups: &[(u64, f64)]) -> f64 {
        let mut random = Random::new(11, 0);
        let mut counts = vec![0u64; groups.len()];
        for _ in 0..DRAWS {
            let rank = hot.rank(&mut random);
            counts[groups.partition_point(|(first, _)| *first <= rank) - 1] += 1;
        }
        let terms = counts.iter().zip(groups).map(|(count, (_, probability))| {
            let expected = probability * DRAWS as f64;
            (*count as f64 - expected).powi(2) / expected
        });
        terms.sum()
    }

    /// The mean of χ² is its degrees of freedom k, its variance 2k: five standard deviations.
    fn check(hot: &HotBlocks, groups: &[(u64, f64)]) {
        let (found, k) = (chi_squared(hot, groups), groups.len() as f64 - 1.0);
        assert!((found - k).abs() < 5.0 * (2.0 * k).sqrt(), "{found} of {k}");
    }

    #[test]
    fn zipf_has_exact_frequencies_at_ten_million_draws() {
        for (exponent, blocks) in [(0.8, 1_000), (1.0, 100_003), (1.2, 1 << 20)] {
            let hot = HotBlocks::new(&Distribution::Zipf(exponent), blocks).unwrap();
            let weight = |rank: u64| ((rank + 1) as f64).powf(-exponent);
            let total: f64 = (0..blocks).map(weight).sum();
            // Groups of at least a thousandth each.
            let mut groups: Vec<(u64, f64)> = vec![(0, 0.0)];
            for rank in 0..blocks {
                if groups.last().is_some_and(|group| group.1 >= 1e-3) {
                    groups.push((rank, 0.0));
                }
                groups.last_mut().unwrap().1 += weight(rank) / total;
            }
            check(&hot, &groups);
        }
    }

    #[test]
    fn zones_have_exact_frequencies_at_ten_million_draws() {
        let zone = |accesses, space| Zone { accesses, space };
        let zones = vec![zone(0.5, 0.05), zone(0.3, 0.15), zone(0.2, 0.8)];
        let hot = HotBlocks::new(&Distribution::Zones(zones.clone()), 1_000).unwrap();
        // Ten ranks a group: uniform within each zone.
        let share = |rank: u64| match rank {
            0..50 => 0.5 / 50.0,
            50..200 => 0.3 / 150.0,
            _ => 0.2 / 800.0,
        };
        let groups: Vec<(u64, f64)> =
            (0..100).map(|group| (group * 10, 10.0 * share(group * 10))).collect();
        check(&hot, &groups);
        let smallest = HotBlocks::new(&Distribution::Zones(zones), 3).unwrap();
        check(&smallest, &[(0, 0.5), (1, 0.3), (2, 0.2)]);
    }

    #[test]
    fn hot_blocks_are_spread_over_the_span_and_equal_for_all() {
        let zone = |accesses, space| Zone { accesses, space };
        let zones = Distribution::Zones(vec![zone(0.9, 0.1), zone(0.1, 0.9)]);
        let hot = HotBlocks::new(&zones, 10_000).unwrap();
        let mut counts = vec![0u32; 10_000];
        let mut random = Random::new(3, 0);
        (0..2_000_000).for_each(|_| counts[hot.draw(&mut random) as usize] += 1);
        // 1,800 draws of each hot block, 22 of each cold one.
        let is_hot: Vec<bool> = counts.iter().map(|count| *count > 500).collect();
        assert_eq!(is_hot.iter().filter(|hot| **hot).count(), 1_000);
        for tenth in is_hot.chunks(1_000) {
            let hot = tenth.iter().filter(|hot| **hot).count();
            assert!(hot.abs_diff(100) < 50, "{hot} of 1,000 in a tenth of the span");
        }
        let again = HotBlocks::new(&zones, 10_000).unwrap();
        let place = |hot: &HotBlocks| hot.permutation.at(0);
        assert_eq!(place(&hot), place(&again));
    }
}
