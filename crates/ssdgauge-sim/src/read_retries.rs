//! Read retries: a sense operation whose data cannot be corrected is repeated with other thresholds.
//!
//! Which operations are repeated follows from the seed of the drive alone. A drive without retries
//! must never draw a random number for a read.

use crate::profile::EffectFigures;
use ssdgauge_core::Random;

/// The random stream of the retries.
const RETRIES: u64 = 0x7e7;

/// The most repetitions of one sense operation. Chosen: with a half of them continued, one read in 128
/// of those that are repeated reaches it.
const MOST_REPETITIONS: u32 = 8;

/// The reads of a drive that are repeated.
#[derive(Clone, Debug)]
pub(crate) struct ReadRetries {
    /// Share of the reads that are repeated.
    share: f64,
    /// Reads before the next one that is repeated.
    reads_before: u64,
    random: Random,
}

impl ReadRetries {
    /// Returns the retries of a drive with `seed`.
    pub(crate) fn new(figures: &EffectFigures, seed: u64) -> ReadRetries {
        let mut retries = ReadRetries {
            share: figures.read_retry_share,
            reads_before: u64::MAX,
            random: Random::new(seed, RETRIES),
        };
        if retries.share > 0.0 {
            retries.draw_next();
        }
        retries
    }

    /// Returns how often the next read is repeated.
    #[inline]
    pub(crate) fn repetitions(&mut self) -> u32 {
        match self.reads_before {
            0 => self.repeat(),
            _ => {
                self.reads_before -= 1;
                0
            }
        }
    }

    // Not inlined: few reads are repeated.
    #[cold]
    #[inline(never)]
    fn repeat(&mut self) -> u32 {
        self.draw_next();
        let mut repetitions = 1;
        while repetitions < MOST_REPETITIONS && self.random.below(2) == 0 {
            repetitions += 1;
        }
        repetitions
    }

    /// Draws the number of reads before the next repeated one: geometrically distributed, so that each
    /// read is repeated with the same probability.
    fn draw_next(&mut self) {
        // One random number for each repeated read instead of one for each read.
        self.reads_before = (self.random.exponential() / -(1.0 - self.share).ln()) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repetitions(share: f64, seed: u64) -> Vec<u32> {
        let figures = EffectFigures { read_retry_share: share, ..Default::default() };
        let mut retries = ReadRetries::new(&figures, seed);
        (0..1_000_000).map(|_| retries.repetitions()).collect()
    }

    #[test]
    fn the_share_of_repeated_reads_is_that_of_the_profile_and_halves_with_each_repetition() {
        let found = repetitions(0.01, 1);
        for most in 1..=4 {
            let share = found.iter().filter(|n| **n >= most).count() as f64 / found.len() as f64;
            let expected = 0.01 * 0.5f64.powi(most as i32 - 1);
            // Four standard errors of a share in a million.
            let error = 4.0 * (expected / found.len() as f64).sqrt();
            assert!((share - expected).abs() < error, "{most}: {share} {expected}");
        }
        assert!(found.iter().all(|n| *n <= MOST_REPETITIONS));
    }

    #[test]
    fn retries_follow_from_the_seed() {
        assert_eq!(repetitions(0.001, 7), repetitions(0.001, 7));
        assert_ne!(repetitions(0.001, 7), repetitions(0.001, 8));
        assert!(repetitions(0.0, 7).iter().all(|n| *n == 0));
    }
}
