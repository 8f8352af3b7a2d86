//! Ranks by Zipf's law, exactly and without a table of all ranks.

use ssdgauge_statistics::Random;

/// The parts of an octave of ranks whose probabilities have one bound: 32 make one draw in 64 a repeated
/// one, times the exponent, and the tables of a drive of 8 TB take 32 KiB. Chosen.
const PARTS: u64 = 32;

/// Ranks from 0 whose probabilities fall as `(rank + 1)^−exponent`.
///
/// A part of an octave is drawn by the bound of its probability (alias method: Walker, 1977), a rank in it
/// uniformly, and the rank is accepted with the ratio of its probability to the bound; otherwise
/// everything is drawn again.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    exponent: f64,
    /// The table of the alias method. The highest bits of a random number are the place in it, which is a
    /// part or none; the others are compared with the entry: below it that part is meant, and from it
    /// on the one that the lowest bits of the entry name. These bits change a probability by less than
    /// its size of 2^−50 of the whole.
    choices: Vec<u64>,
    /// As many as choices; those after the last one are never meant.
    parts: Vec<Part>,
    /// The highest bits of a random number that are a place in the table.
    bits: u32,
}

/// Ranks with one bound.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// The first rank, from 1.
    first: u64,
    ranks: u64,
    /// The random number up to which every rank is accepted.
    accepted: u64,
}

impl Part {
    /// Fills the table.
    const NONE: Part = Part { first: 1, ranks: 1, accepted: u64::MAX };
}

impl Zipf {
    /// Returns the law of `exponent` for `blocks` ranks.
    pub(crate) fn new(exponent: f64, blocks: u64) -> Zipf {
        let mut parts = Vec::new();
        let mut first = 1;
        while first <= blocks {
            let octave = 1u64 << first.ilog2();
            let ranks = (octave / PARTS).max(1).min(blocks - first + 1);
            // (1 + x)^−s is at least 1 − s x (Bernoulli).
            let share = (ranks - 1) as f64 / first as f64;
            let accepted = fraction(1.0 - exponent * share);
            parts.push(Part { first, ranks, accepted });
            first += ranks;
        }
        let mut weights: Vec<f64> = parts
            .iter()
            .map(|part| part.ranks as f64 * (part.first as f64).powf(-exponent))
            .collect();
        // Two entries at least: a shift by all bits of a number is none.
        let entries = parts.len().next_power_of_two().max(2);
        weights.resize(entries, 0.0);
        parts.resize(entries, Part::NONE);
        Zipf { exponent, choices: choices(&weights), parts, bits: entries.ilog2() }
    }

    /// Returns the next rank.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> u64 {
        let last = self.choices.len() as u64 - 1;
        loop {
            let drawn = random.next_u64();
            let chosen = drawn >> (u64::BITS - self.bits);
            let choice = self.choices[chosen as usize];
            // Without a branch: which of the two it is follows from chance.
            let own = u64::from(drawn << self.bits < choice).wrapping_neg();
            let part = self.parts[((choice ^ (choice ^ chosen) & own) & last) as usize];
            // The number of the rank, and the 64 bits after it: the bias is below ranks / 2^64.
            let product = u128::from(random.next_u64()) * u128::from(part.ranks);
            let (above, place) = ((product >> u64::BITS) as u64, product as u64);
            if place <= part.accepted || self.accepts(part.first, above, place) {
                return part.first - 1 + above;
            }
        }
    }

    /// Returns whether the rank `above` the first one of a part is accepted.
    #[cold]
    fn accepts(&self, first: u64, above: u64, place: u64) -> bool {
        let share = above as f64 / first as f64;
        // Bernoulli's bound spares the power in half of these cases.
        place < fraction(1.0 - self.exponent * share)
            || place < fraction((1.0 + share).powf(-self.exponent))
    }
}

/// Returns the random number below which a share of all lies; 0 for a negative share.
fn fraction(share: f64) -> u64 {
    (share * (1u128 << 64) as f64) as u64
}

/// Returns the table of the alias method for as many weights as a power of two.
fn choices(weights: &[f64]) -> Vec<u64> {
    let last = weights.len() as u64 - 1;
    let scale = weights.len() as f64 / weights.iter().sum::<f64>();
    let mut shares: Vec<f64> = weights.iter().map(|weight| weight * scale).collect();
    let mut choices: Vec<u64> = (0..=last).map(|part| !last | part).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..shares.len()).partition(|part| shares[*part] < 1.0);
    while let (Some(least), Some(most)) = (small.pop(), large.last().copied()) {
        choices[least] = fraction(shares[least]) & !last | most as u64;
        shares[most] -= 1.0 - shares[least];
        if shares[most] < 1.0 {
            large.pop();
            small.push(most);
        }
    }
    choices
}
