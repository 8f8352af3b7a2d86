//! Read retries: a sense operation whose data cannot be corrected is repeated with other thresholds.
//!
//! Which operations are repeated follows from the seed of the drive alone, and, where their share grows, from wear
//! (Cai et al., Proceedings of the IEEE 2017), age and place of the data (Luo et al., SIGMETRICS 2018). A drive without
//! retries must never draw a random number for a read.

use crate::page_times::deviate;
use crate::profile::EffectFigures;
use crate::time::SimTime;
use ssdgauge_core::Random;

/// The random stream of the retries.
const RETRIES: u64 = 0x7e7;

/// The maximum number of repetitions of one sense operation. Chosen: with a half of them continued, one read in 128
/// of those that are repeated reaches it.
const MOST_REPETITIONS: u32 = 8;

/// The largest share of reads that are repeated, as that of the profile.
const MOST_SHARE: f64 = 0.5;

/// The reads of a drive that are repeated.
#[derive(Clone, Debug)]
pub(crate) struct ReadRetries {
    /// Share of the reads that are repeated.
    share: f64,
    /// Reads before the next one that is repeated.
    reads_before: u64,
    random: Random,
    growth: Option<Growth>,
}

/// How the share of retries grows, from that of a new block whose data was just written.
#[derive(Clone, Debug)]
struct Growth {
    /// Cycles after which it has doubled; infinite where it does not grow by wear.
    cycles: f64,
    worn: f64,
    /// The unit of age, in nanoseconds; infinite where it does not grow by age.
    age: f64,
    spread: f64,
    /// When each superblock was programmed last.
    programmed: Vec<SimTime>,
}

impl Growth {
    fn new(figures: &EffectFigures, superblocks: usize) -> Option<Growth> {
        let or_never = |value: f64| if value > 0.0 { value } else { f64::INFINITY };
        let grows =
            figures.retry_cycles > 0.0 || figures.retry_age_s > 0.0 || figures.retry_spread > 0.0;
        (grows && figures.read_retry_share > 0.0).then(|| Growth {
            cycles: or_never(figures.retry_cycles),
            worn: figures.worn_cycles,
            age: or_never(figures.retry_age_s * 1e9),
            spread: figures.retry_spread,
            programmed: vec![0; superblocks],
        })
    }

    /// Returns by how much the share is larger for a read on `die` of `superblock` at `at`, after `cycles` of each block.
    fn factor(&self, superblock: u32, die: u32, at: SimTime, cycles: f64) -> f64 {
        let wear = 1.0 + (self.worn + cycles) / self.cycles;
        let programmed = self.programmed.get(superblock as usize).copied().unwrap_or(at);
        let age = 1.0 + (at.saturating_sub(programmed) as f64 / self.age).ln_1p();
        // The deviate is above −3.5, the spread at most 0.28: the factor is positive.
        let place = 1.0 + self.spread * deviate(u64::from(superblock) << 32 | u64::from(die));
        wear * age * place
    }
}

impl ReadRetries {
    /// Returns the retries of a drive with `seed` and `superblocks`, numbered from 1.
    pub(crate) fn new(figures: &EffectFigures, superblocks: u32, seed: u64) -> ReadRetries {
        let mut retries = ReadRetries {
            share: figures.read_retry_share,
            reads_before: u64::MAX,
            random: Random::new(seed, RETRIES),
            growth: Growth::new(figures, superblocks as usize + 1),
        };
        if retries.share > 0.0 && retries.growth.is_none() {
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

    /// Returns whether the share of retries grows with wear or age.
    #[inline]
    pub(crate) fn grow(&self) -> bool {
        self.growth.is_some()
    }

    /// Returns how often the next read is repeated, on `die` of `superblock` at `at`, after `cycles` of each block.
    #[cold]
    #[inline(never)]
    pub(crate) fn repetitions_at(
        &mut self,
        superblock: u32,
        die: u32,
        at: SimTime,
        cycles: f64,
    ) -> u32 {
        let Some(growth) = &self.growth else { return 0 };
        let share = (self.share * growth.factor(superblock, die, at, cycles)).min(MOST_SHARE);
        // The chance that an exponential deviate is below −ln(1 − share).
        match self.random.exponential() < -(1.0 - share).ln() {
            true => self.continued(),
            false => 0,
        }
    }

    /// Notes that `superblock` was programmed at `at`.
    pub(crate) fn note_program(&mut self, superblock: u32, at: SimTime) {
        if let Some(growth) = &mut self.growth
            && let Some(programmed) = growth.programmed.get_mut(superblock as usize)
        {
            *programmed = at;
        }
    }

    // Not inlined: few reads are repeated.
    #[cold]
    #[inline(never)]
    fn repeat(&mut self) -> u32 {
        self.draw_next();
        self.continued()
    }

    /// Returns how often a read is repeated that is repeated at all.
    fn continued(&mut self) -> u32 {
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
        let mut retries = ReadRetries::new(&figures, 0, seed);
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
