//! Random access that prefers some blocks: ranks by zones or by Zipf's law, spread over the span by a
//! permutation, so that hot blocks do not lie side by side.
//!
//! The permutation follows from the number of blocks alone: the hot blocks of a span are the same for all
//! threads, steps and runs.

use crate::distribution::{Distribution, Zone};
use crate::permutation::Permutation;
use crate::random::Random;

/// The seed of the permutation. Chosen.
const SHUFFLE: u64 = 0x5b1f_0c8e_27d4_963a;

/// The parts of an octave of ranks whose probabilities have one bound: 64 make one draw in 128 a
/// repeated one, times the exponent. Chosen.
const PARTS: u64 = 64;

/// The blocks of a span, of which some are drawn more often than others.
#[derive(Clone, Debug)]
pub(crate) struct HotBlocks {
    ranks: Ranks,
    permutation: Permutation,
}

#[derive(Clone, Debug)]
enum Ranks {
    Zones(Vec<DrawnZone>),
    Zipf(Zipf),
}

/// A zone: the ranks that it has, and the random numbers that select it.
#[derive(Clone, Copy, Debug)]
struct DrawnZone {
    /// The random number from which on the next zone is meant.
    below: u64,
    first: u64,
    ranks: u64,
}

impl HotBlocks {
    /// Returns the source of `blocks` blocks by `distribution`; `None` where all are alike.
    pub(crate) fn new(distribution: &Distribution, blocks: u64) -> Option<HotBlocks> {
        let ranks = match distribution {
            Distribution::Uniform => return None,
            Distribution::Zones(zones) => Ranks::Zones(drawn(zones, blocks)),
            Distribution::Zipf(exponent) => Ranks::Zipf(Zipf::new(*exponent, blocks)),
        };
        let permutation = Permutation::new(blocks, &mut Random::new(SHUFFLE, blocks));
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
            Ranks::Zones(zones) => {
                let place = random.next_u64();
                let zone = zones.iter().find(|zone| place < zone.below);
                let zone = zone.unwrap_or(&zones[zones.len() - 1]);
                zone.first + random.below(zone.ranks)
            }
            Ranks::Zipf(zipf) => zipf.draw(random),
        }
    }
}

/// Returns the zones of `blocks` ranks. The border between two of them is the nearest rank; each has one
/// rank at least, where there are as many ranks as zones.
fn drawn(zones: &[Zone], blocks: u64) -> Vec<DrawnZone> {
    let (mut accesses, mut space, mut first) = (0.0, 0.0, 0);
    let behind = |number: usize| (zones.len() - 1 - number) as u64;
    let mut drawn = Vec::new();
    for (number, zone) in zones.iter().enumerate() {
        accesses += zone.accesses;
        space += zone.space;
        let end = match behind(number) {
            0 => blocks,
            left => ((space * blocks as f64).round() as u64).clamp(first + 1, blocks - left),
        };
        let below = (accesses * (1u128 << 64) as f64) as u64;
        drawn.push(DrawnZone { below, first, ranks: end - first });
        first = end;
    }
    drawn
}

/// Ranks from 0 whose probabilities fall as `(rank + 1)^−exponent`.
///
/// Exact, without a table of all ranks: a part of an octave is drawn by the bound of its probability
/// (alias method: Walker, 1977), a rank in it uniformly, and the rank is accepted with the ratio of its
/// probability to the bound; otherwise everything is drawn again.
#[derive(Clone, Debug)]
struct Zipf {
    exponent: f64,
    parts: Vec<Part>,
}

/// Ranks with one bound, counted from 1, and its place in the table of the alias method.
#[derive(Clone, Copy, Debug)]
struct Part {
    first: u64,
    ranks: u64,
    /// The random number below which this part is meant; from it on, `other` is.
    own: u64,
    other: u32,
}

impl Zipf {
    fn new(exponent: f64, blocks: u64) -> Zipf {
        let mut parts = Vec::new();
        let mut first = 1;
        while first <= blocks {
            let octave = 1u64 << first.ilog2();
            let ranks = (octave / PARTS).max(1).min(blocks - first + 1);
            parts.push(Part { first, ranks, own: u64::MAX, other: 0 });
            first += ranks;
        }
        let weights =
            parts.iter().map(|part| part.ranks as f64 * (part.first as f64).powf(-exponent));
        let weights: Vec<f64> = weights.collect();
        let scale = parts.len() as f64 / weights.iter().sum::<f64>();
        let mut shares: Vec<f64> = weights.iter().map(|weight| weight * scale).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..shares.len()).partition(|part| shares[*part] < 1.0);
        while let (Some(least), Some(most)) = (small.pop(), large.last().copied()) {
            parts[least].own = (shares[least] * (1u128 << 64) as f64) as u64;
            parts[least].other = most as u32;
            shares[most] -= 1.0 - shares[least];
            if shares[most] < 1.0 {
                large.pop();
                small.push(most);
            }
        }
        Zipf { exponent, parts }
    }

    #[inline]
    fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let drawn = self.parts[random.below(self.parts.len() as u64) as usize];
            let part = match random.next_u64() < drawn.own {
                true => drawn,
                false => self.parts[drawn.other as usize],
            };
            if part.ranks == 1 {
                return part.first - 1;
            }
            let above = random.below(part.ranks);
            let place = random.unit();
            let share = above as f64 / part.first as f64;
            // (1 + x)^−s is at least 1 − s x (Bernoulli): most draws need no power.
            if place < 1.0 - self.exponent * share || place < (1.0 + share).powf(-self.exponent) {
                return part.first - 1 + above;
            }
        }
    }
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
