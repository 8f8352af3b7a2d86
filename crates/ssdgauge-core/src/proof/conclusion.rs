//! The verdict of a proof: a pure function of what the drive answered.

use super::answer::{Answer, Observation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The minimum number of aliases whose greatest common distance counts as the real capacity. Each
/// distance is a multiple of it; where the multiples are random, all of eight share a factor of two
/// with a probability of 2^-8, and fewer drives need a multiple at all: a drive that states less than
/// twice its capacity has none.
const ALIASES: usize = 8;
/// The minimum number of lost places after which all others count as missing. Chosen: fewer are damage.
const LOST_PLACES: usize = 4;
/// The maximum by which the smallest distance between aliases may exceed their common divisor. Beyond it
/// the distances have no period.
const MOST_MULTIPLE: u64 = 4_096;
/// The highest probability with which lost places at random would all lie above the boundary. Chosen.
const CHANCE: f64 = 1e-6;
/// The part of the lost places, one in so many, from which earlier writes at them show that they store data. Chosen.
const MOST_STALE: usize = 8;
/// The maximum number of passes with a loss that are looked at, from the last one on. A proof has some thirty.
const PASSES: usize = 64;

/// What follows from the answers of a drive, in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum Conclusion {
    /// Nothing was read.
    Untested,
    /// Every block that was read held what was written there last.
    Holds,
    /// Addresses at a distance of `period`, or of a multiple, share one place.
    Wraps {
        /// The blocks that the drive stores at least.
        least: u64,
        /// The distance of addresses that share a place: the maximum number of blocks that it stores.
        period: u64,
    },
    /// The drive stores blocks up to an address between `least` and `most`, and few or none after it.
    Ends {
        /// The end of the stored blocks at least.
        least: u64,
        /// The first block that was not stored.
        most: u64,
    },
    /// Blocks were not stored, at addresses that show no boundary.
    Damaged,
}

impl Conclusion {
    /// Returns the minimum and the maximum number of blocks that the drive stores, where they are less than stated.
    pub fn capacity(self) -> Option<(u64, u64)> {
        match self {
            Conclusion::Wraps { least, period } => Some((least, period)),
            Conclusion::Ends { least, most } => Some((least, most)),
            Conclusion::Untested | Conclusion::Holds | Conclusion::Damaged => None,
        }
    }

    /// Returns whether the drive stores less than it states, and how much it stores is known within
    /// 1 %: further writes would not change the answer.
    pub fn is_conclusive(self) -> bool {
        self.capacity().is_some_and(|(least, most)| most - least <= most / 100 + 1)
    }

    /// Returns whether an address is stated after which nothing is stored.
    pub fn is_an_end(self) -> bool {
        matches!(self, Conclusion::Ends { .. })
    }

    /// Returns whether blocks were not stored.
    pub fn is_bad(self) -> bool {
        match self {
            Conclusion::Untested | Conclusion::Holds => false,
            Conclusion::Wraps { .. } | Conclusion::Ends { .. } | Conclusion::Damaged => true,
        }
    }
}

/// The blocks that were read, by their answer. A block that was read in several passes counts in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// [`Answer::Own`].
    pub own: u64,
    /// [`Answer::OtherAddress`].
    pub other_address: u64,
    /// [`Answer::OldGeneration`].
    pub old_generation: u64,
    /// [`Answer::Torn`].
    pub torn: u64,
    /// [`Answer::Zeros`].
    pub zeros: u64,
    /// [`Answer::Ones`].
    pub ones: u64,
    /// [`Answer::Foreign`].
    pub foreign: u64,
    /// [`Answer::Error`].
    pub error: u64,
}

impl Tally {
    /// Returns the sums of `observations`.
    pub fn new(observations: &[Observation]) -> Tally {
        let mut tally = Tally::default();
        for one in observations {
            *tally.count_of(one.answer) += one.blocks;
        }
        tally
    }

    fn count_of(&mut self, answer: Answer) -> &mut u64 {
        match answer {
            Answer::Own => &mut self.own,
            Answer::OtherAddress(_) => &mut self.other_address,
            Answer::OldGeneration(_) => &mut self.old_generation,
            Answer::Torn => &mut self.torn,
            Answer::Zeros => &mut self.zeros,
            Answer::Ones => &mut self.ones,
            Answer::Foreign => &mut self.foreign,
            Answer::Error => &mut self.error,
        }
    }

    /// Returns all blocks that were read.
    pub fn read(&self) -> u64 {
        self.own + self.bad()
    }

    /// Returns the blocks that did not hold what was written there last.
    pub fn bad(&self) -> u64 {
        self.other_address
            + self.old_generation
            + self.torn
            + self.zeros
            + self.ones
            + self.foreign
            + self.error
    }
}

/// Returns the verdict on a drive that states `capacity` blocks, by its answers in the order of their
/// passes. `order` tells when a block had been written last as it was read: a number that grows from each write to the
/// next.
pub fn judge(
    observations: &[Observation],
    capacity: u64,
    order: &dyn Fn(&Observation) -> u64,
) -> Conclusion {
    if observations.is_empty() {
        return Conclusion::Untested;
    }
    let passes: BTreeSet<u32> =
        observations.iter().filter(|one| is_bad(one)).map(|one| one.pass).collect();
    if passes.is_empty() {
        return Conclusion::Holds;
    }
    let held = most_held(observations);
    // Each pass reads places all over the drive. The last one with a loss has the oldest data; one that
    // was cut short may lack what an earlier one has.
    let verdict = passes.into_iter().rev().take(PASSES).find_map(|number| {
        let of_pass = observations.iter().copied().filter(|one| one.pass == number);
        let pass: Vec<Observation> = of_pass.collect();
        wraps(observations, &pass, held).or_else(|| {
            ends(&pass, capacity, order)
                .filter(|verdict| nothing_is_lost_below(observations, *verdict))
        })
    });
    verdict.unwrap_or(Conclusion::Damaged)
}

/// Returns the most different blocks that held their own contents in one pass: the drive stored at least
/// so many at that time. A block that was read twice in a pass counts once.
pub fn most_held(observations: &[Observation]) -> u64 {
    let own = observations.iter().filter(|one| !is_bad(one));
    let mut runs: Vec<(u32, u64, u64)> = own.map(|one| (one.pass, one.first, one.end())).collect();
    runs.sort_unstable();
    let (mut most, mut held) = (0, 0);
    let (mut pass, mut covered) = (0, 0);
    for (of_pass, first, end) in runs {
        if of_pass != pass {
            (pass, covered, held) = (of_pass, 0, 0);
        }
        held += end.saturating_sub(first.max(covered));
        covered = covered.max(end);
        most = most.max(held);
    }
    most
}

/// Returns whether no pass lost a block below the end that `verdict` states.
fn nothing_is_lost_below(observations: &[Observation], verdict: Conclusion) -> bool {
    let (least, _) = verdict.capacity().unwrap_or((0, 0));
    observations.iter().all(|one| !is_bad(one) || one.end() > least)
}

fn is_bad(observation: &Observation) -> bool {
    observation.answer != Answer::Own
}

/// Returns the verdict of addresses that share their places at one distance, on a drive that held the
/// contents of `held` blocks at the same time.
fn wraps(observations: &[Observation], pass: &[Observation], held: u64) -> Option<Conclusion> {
    let distances =
        observations.iter().filter_map(|one| Some(one.answer.other_address()?.abs_diff(one.first)));
    let distances: Vec<u64> = distances.filter(|distance| *distance > 0).collect();
    let nearest = *distances.iter().min()?;
    let period = distances.iter().fold(0, |divisor, distance| gcd(divisor, *distance));
    // Two addresses of one place cannot both hold their own content in one pass.
    if nearest / period > MOST_MULTIPLE || shares_a_place(pass, period) {
        return None;
    }
    // More blocks than places: the distances follow from something else.
    if held > period {
        return None;
    }
    let least = if distances.len() >= ALIASES { period } else { held };
    Some(Conclusion::Wraps { least, period })
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns whether two blocks with their own content would lie in one place if addresses at a distance
/// of `period` share it.
fn shares_a_place(pass: &[Observation], period: u64) -> bool {
    let mut places = Vec::new();
    for one in pass.iter().filter(|one| one.answer == Answer::Own) {
        if one.blocks > period {
            return true;
        }
        let begin = one.first % period;
        let end = begin + one.blocks;
        places.push((begin, end.min(period), one.first));
        if end > period {
            places.push((0, end - period, one.first));
        }
    }
    places.sort_unstable();
    // A block may be read twice in a pass, as a sample and as part of a range.
    let overlap = |pair: &[(u64, u64, u64)]| {
        let [(begin, end, first), (next, _, other)] = [pair[0], pair[1]];
        next < end && next - begin + first != other
    };
    places.windows(2).any(overlap)
}

/// Returns the verdict of blocks that are lost from an address on.
fn ends(
    pass: &[Observation],
    capacity: u64,
    order: &dyn Fn(&Observation) -> u64,
) -> Option<Conclusion> {
    let lost = || pass.iter().filter(|one| is_bad(one));
    let most = lost().map(|one| one.first).min()?;
    let last = lost().map(Observation::end).max()?;
    let own = || pass.iter().filter(|one| !is_bad(one));
    let below = own().filter(|one| one.first < most);
    let least = below.map(|one| one.end().min(most)).max().unwrap_or(0);
    let blocks_above = |one: &Observation| one.end().saturating_sub(one.first.max(most));
    let own_above: u64 = own().map(blocks_above).sum();
    let own_below = own().map(|one| one.blocks).sum::<u64>() - own_above;
    let lost_above: u64 = lost().map(blocks_above).sum();
    let all: u64 = pass.iter().map(|one| one.blocks).sum();
    let share = (own_above + lost_above) as f64 / all.max(1) as f64;
    // A cache may still return what was written last after the boundary: then the places of the
    // losses decide. At random they would also lie below it.
    let by_chance = share.powf(lost().count() as f64);
    let is_most = lost_above >= own_above;
    let reaches_end = last >= capacity - capacity.saturating_sub(most) / 8;
    let is_boundary = reaches_end && (is_most || by_chance < CHANCE);
    let is_enough = lost().count() >= LOST_PLACES || lost_above >= 256 * LOST_PLACES as u64;
    // A cache holds what was written last, so that what is lost after an end was written before what is held there.
    // The other way round, writes were lost from a moment on, at whatever address.
    let above = |one: &&Observation| one.end() > most;
    let (held, gone) = (middle(own().filter(above), order), middle(lost(), order));
    let is_cached = held.is_none_or(|held| gone.is_some_and(|gone| gone <= held));
    // Nor can there be an earlier write after an end: it was stored.
    let stale = lost().filter(|one| matches!(one.answer, Answer::OldGeneration(_))).count();
    let is_stored = stale >= LOST_PLACES && stale >= lost().count() / MOST_STALE;
    // A drive stores at least as many blocks as it returns in one pass. Where more of them lie above the
    // end than below it, addresses do not decide what is stored: they are scrambled.
    let is_an_end = own_above <= own_below;
    let is_found = is_boundary && is_enough && is_cached && !is_stored && is_an_end;
    is_found.then_some(Conclusion::Ends { least, most })
}

/// Returns when the middle one of the blocks of `runs` was written.
fn middle<'a>(
    runs: impl Iterator<Item = &'a Observation>,
    order: &dyn Fn(&Observation) -> u64,
) -> Option<u64> {
    let mut runs: Vec<(u64, u64)> = runs.map(|one| (order(one), one.blocks)).collect();
    runs.sort_unstable();
    let half = runs.iter().map(|run| run.1).sum::<u64>() / 2;
    let mut before = 0;
    runs.into_iter().find_map(|(at, blocks)| {
        before += blocks;
        (before > half).then_some(at)
    })
}

#[cfg(test)]
mod tests;
