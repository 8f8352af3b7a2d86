//! The verdict of a proof: a pure function of what the drive answered.

use super::answer::{Answer, Observation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The least number of aliases whose greatest common distance counts as the real capacity. Each
/// distance is a multiple of it; where the multiples are random, all of eight share a factor of two
/// with a probability of 2^-8, and fewer drives need a multiple at all: a drive that states less than
/// twice its capacity has none.
const ALIASES: usize = 8;
/// The least number of lost places behind which all others count as missing. Chosen: fewer are damage.
const LOST_PLACES: usize = 4;
/// The most by which the smallest distance between aliases may exceed their common divisor. Beyond it
/// the distances have no period.
const MOST_MULTIPLE: u64 = 4_096;
/// The highest probability with which lost places at random would all lie above the boundary. Chosen.
const CHANCE: f64 = 1e-6;
/// The part of the lost places, one in so many, from which earlier writes at them show that they store data. Chosen.
const MOST_STALE: usize = 8;
/// The most passes with a loss that are looked at, from the last one on. A proof has some thirty.
const PASSES: usize = 64;

/// What follows from the answers of a drive, in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing was read.
    Untested,
    /// Every block that was read held what was written there last.
    Holds,
    /// Addresses at a distance of `period`, or of a multiple, share one place.
    Wraps {
        /// The blocks that the drive stores at least.
        least: u64,
        /// The distance of addresses that share a place: the most blocks that it stores.
        period: u64,
    },
    /// The drive stores blocks up to an address between `least` and `most`, and few or none behind it.
    Ends {
        /// The end of the stored blocks at least.
        least: u64,
        /// The first block that was not stored.
        most: u64,
    },
    /// Blocks were not stored, at addresses that show no boundary.
    Damaged,
}

impl Verdict {
    /// Returns the least and the most blocks that the drive stores, where they are less than stated.
    pub fn capacity(self) -> Option<(u64, u64)> {
        match self {
            Verdict::Wraps { least, period } => Some((least, period)),
            Verdict::Ends { least, most } => Some((least, most)),
            Verdict::Untested | Verdict::Holds | Verdict::Damaged => None,
        }
    }

    /// Returns whether the drive stores less than it states, and how much it stores is known within
    /// 1 %: further writes would not change the answer.
    pub fn is_conclusive(self) -> bool {
        self.capacity().is_some_and(|(least, most)| most - least <= most / 100 + 1)
    }

    /// Returns whether an address is stated behind which nothing is stored.
    pub fn is_an_end(self) -> bool {
        matches!(self, Verdict::Ends { .. })
    }

    /// Returns whether blocks were not stored.
    pub fn is_bad(self) -> bool {
        match self {
            Verdict::Untested | Verdict::Holds => false,
            Verdict::Wraps { .. } | Verdict::Ends { .. } | Verdict::Damaged => true,
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
) -> Verdict {
    if observations.is_empty() {
        return Verdict::Untested;
    }
    let passes: BTreeSet<u32> =
        observations.iter().filter(|one| is_bad(one)).map(|one| one.pass).collect();
    if passes.is_empty() {
        return Verdict::Holds;
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
    verdict.unwrap_or(Verdict::Damaged)
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
fn nothing_is_lost_below(observations: &[Observation], verdict: Verdict) -> bool {
    let (least, _) = verdict.capacity().unwrap_or((0, 0));
    observations.iter().all(|one| !is_bad(one) || one.end() > least)
}

fn is_bad(observation: &Observation) -> bool {
    observation.answer != Answer::Own
}

/// Returns the verdict of addresses that share their places at one distance, on a drive that held the
/// contents of `held` blocks at the same time.
fn wraps(observations: &[Observation], pass: &[Observation], held: u64) -> Option<Verdict> {
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
    Some(Verdict::Wraps { least, period })
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
) -> Option<Verdict> {
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
    // A cache may still return what was written last behind the boundary: then the places of the
    // losses decide. At random they would also lie below it.
    let by_chance = share.powf(lost().count() as f64);
    let is_most = lost_above >= own_above;
    let reaches_end = last >= capacity - capacity.saturating_sub(most) / 8;
    let is_boundary = reaches_end && (is_most || by_chance < CHANCE);
    let is_enough = lost().count() >= LOST_PLACES || lost_above >= 256 * LOST_PLACES as u64;
    // A cache holds what was written last, so that what is lost behind an end was written before what is held there.
    // The other way round, writes were lost from a moment on, at whatever address.
    let above = |one: &&Observation| one.end() > most;
    let (held, gone) = (middle(own().filter(above), order), middle(lost(), order));
    let is_cached = held.is_none_or(|held| gone.is_some_and(|gone| gone <= held));
    // Nor can there be an earlier write behind an end: it was stored.
    let stale = lost().filter(|one| matches!(one.answer, Answer::OldGeneration(_))).count();
    let is_stored = stale >= LOST_PLACES && stale >= lost().count() / MOST_STALE;
    // A drive stores at least as many blocks as it returns in one pass. Where more of them lie above the
    // end than below it, addresses do not decide what is stored: they are scrambled.
    let is_an_end = own_above <= own_below;
    let is_found = is_boundary && is_enough && is_cached && !is_stored && is_an_end;
    is_found.then_some(Verdict::Ends { least, most })
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
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeMap;

    const CAPACITY: u64 = 100_000;

    /// Returns what a drive answers in `pass` for every 50th block, by `answer`.
    fn pass(pass: u32, mut answer: impl FnMut(u64) -> Answer) -> Vec<Observation> {
        (0..CAPACITY)
            .step_by(50)
            .map(|first| Observation { pass, first, blocks: 1, answer: answer(first) })
            .collect()
    }

    /// Returns the verdict where blocks were written in the order of their addresses.
    fn judged(seen: &[Observation]) -> Verdict {
        judge(seen, CAPACITY, &|one| one.first)
    }

    fn one(first: u64, blocks: u64, answer: Answer) -> Observation {
        Observation { pass: 1, first, blocks, answer }
    }

    #[test]
    fn nothing_is_said_without_a_read_and_nothing_bad_without_a_loss() {
        assert_eq!(judged(&[]), Verdict::Untested);
        assert_eq!(judged(&pass(0, |_| Answer::Own)), Verdict::Holds);
    }

    #[test]
    fn the_period_of_a_wrap_is_the_common_divisor_of_its_distances() {
        // Blocks below 40,000 hold what was written last at a multiple of 20,000 behind them.
        let seen = pass(0, |place| match place {
            0..20_000 => Answer::OtherAddress(place + 60_000),
            20_000..40_000 => Answer::OtherAddress(place + 40_000),
            40_000..80_000 => Answer::OtherAddress(place % 20_000 + 80_000),
            _ => Answer::Own,
        });
        let verdict = judged(&seen);
        assert_eq!(verdict, Verdict::Wraps { least: 20_000, period: 20_000 });
        assert!(verdict.is_conclusive());
    }

    #[test]
    fn few_aliases_state_only_the_most() {
        let seen = [one(5, 1, Answer::OtherAddress(40_005)), one(9, 1, Answer::Own)];
        let verdict = judged(&seen);
        assert_eq!(verdict, Verdict::Wraps { least: 1, period: 40_000 });
        assert!(!verdict.is_conclusive());
    }

    #[test]
    fn misplaced_blocks_without_a_period_are_damage() {
        let seen = pass(0, |place| match place {
            500 => Answer::OtherAddress(70_301),
            9_000 => Answer::OtherAddress(22_017),
            60_000 => Answer::OtherAddress(3),
            _ => Answer::Own,
        });
        assert_eq!(judged(&seen), Verdict::Damaged);
    }

    #[test]
    fn a_boundary_lies_between_the_last_kept_block_and_the_first_lost_one() {
        for lost in [Answer::Zeros, Answer::Ones, Answer::Foreign] {
            let seen = pass(2, |place| if place < 31_400 { Answer::Own } else { lost });
            let verdict = Verdict::Ends { least: 31_351, most: 31_400 };
            assert_eq!(judged(&seen), verdict, "{lost:?}");
        }
        // What was written there before was stored.
        let stale = Answer::OldGeneration(1);
        let seen = pass(2, |place| if place < 31_400 { Answer::Own } else { stale });
        assert_eq!(judged(&seen), Verdict::Damaged);
    }

    #[test]
    fn a_cache_that_returns_most_of_the_latest_writes_does_not_hide_the_boundary() {
        let seen = pass(2, |place| match place {
            0..50_000 => Answer::Own,
            _ if place.is_multiple_of(200) => Answer::Zeros,
            _ => Answer::Own,
        });
        // What is still held was written last.
        let held_last = |one: &Observation| u64::from(!one.first.is_multiple_of(200));
        let verdict = judge(&seen, CAPACITY, &held_last);
        assert_eq!(verdict, Verdict::Ends { least: 49_951, most: 50_000 });
    }

    #[test]
    fn writes_that_are_lost_from_a_moment_on_are_damage() {
        // Every fourth place was written again, in an order that has nothing to do with its address, and lost.
        let late = |block: u64| block.is_multiple_of(200);
        let seen = pass(3, |place| if late(place + 50) { Answer::Zeros } else { Answer::Own });
        assert_eq!(
            judge(&seen, CAPACITY, &|one| u64::from(late(one.first + 50))),
            Verdict::Damaged
        );
        // Marks were lost from an address on, and then heads below it.
        let mut seen = pass(0, |place| if place < 50_000 { Answer::Own } else { Answer::Zeros });
        seen.extend(pass(1, |place| match place {
            100 | 20_000 | 50_000.. => Answer::Zeros,
            _ => Answer::Own,
        }));
        let is_late = |first: u64| u64::from(first == 100 || first == 20_000);
        let again = |one: &Observation| is_late(one.first) * CAPACITY + one.first;
        assert_eq!(judge(&seen, CAPACITY, &again), Verdict::Damaged);
    }

    #[test]
    fn scrambled_addresses_that_hold_their_own_blocks_all_over_the_drive_have_no_end() {
        // A drive of 100,000 addresses stores 40,000 blocks; which address shares a place with which one is
        // random. The writes came in order of address, so that the last one of each place is returned.
        let mut random = Random::new(43, 0);
        let places: Vec<u64> = (0..CAPACITY).map(|_| random.below(40_000)).collect();
        let last: BTreeMap<u64, u64> = (0..CAPACITY).map(|at| (places[at as usize], at)).collect();
        let answer = |first: u64| match last[&places[first as usize]] {
            own if own == first => Answer::Own,
            other => Answer::OtherAddress(other),
        };
        let read = |first| Observation { pass: 0, first, blocks: 1, answer: answer(first) };
        let seen: Vec<Observation> = (0..CAPACITY).map(read).collect();
        // Each place holds the last block that was written to it, and no other one.
        assert_eq!(most_held(&seen), last.len() as u64);
        let verdict = judged(&seen);
        assert_eq!(verdict, Verdict::Damaged);
        // Whatever a drive answers, no capacity below what it held is stated.
        for zeros in [false, true] {
            for seed in 0..200 {
                let mut random = Random::new(seed, 1);
                let share = random.below(100);
                let seen = pass(0, |place| match random.below(100) < share {
                    true => Answer::Own,
                    false if zeros => Answer::Zeros,
                    false => Answer::OtherAddress(places[place as usize]),
                });
                let stated = judged(&seen).capacity();
                assert!(
                    stated.is_none_or(|(_, most)| most >= most_held(&seen)),
                    "{seed}: {stated:?}"
                );
            }
        }
    }

    #[test]
    fn what_was_held_in_one_pass_counts_each_block_once_and_passes_are_not_added_up() {
        let mut seen =
            vec![one(0, 10, Answer::Own), one(5, 10, Answer::Own), one(7, 1, Answer::Own)];
        seen.push(one(50, 3, Answer::Zeros));
        seen.push(Observation { pass: 2, ..one(0, 12, Answer::Own) });
        assert_eq!(most_held(&seen), 15);
        assert_eq!(most_held(&[]), 0);
    }

    #[test]
    fn a_damaged_region_is_no_boundary() {
        let seen = pass(0, |place| match place {
            50_000..51_500 => Answer::Zeros,
            _ => Answer::Own,
        });
        assert_eq!(judged(&seen), Verdict::Damaged);
        // Nor is one lost block at the end.
        let seen = pass(0, |place| if place == 99_950 { Answer::Torn } else { Answer::Own });
        assert_eq!(judged(&seen), Verdict::Damaged);
    }

    #[test]
    fn losses_all_over_the_drive_are_damage() {
        let lost = |place: u64| if place.is_multiple_of(700) { Answer::Zeros } else { Answer::Own };
        assert_eq!(judged(&pass(0, lost)), Verdict::Damaged);
    }

    #[test]
    fn a_loss_of_an_earlier_pass_stays_one() {
        let mut seen = pass(0, |place| if place < 50_000 { Answer::Own } else { Answer::Zeros });
        seen.extend(pass(1, |_| Answer::Own));
        assert_eq!(judged(&seen), Verdict::Ends { least: 49_951, most: 50_000 });
    }

    #[test]
    fn a_last_pass_that_was_cut_short_does_not_replace_an_earlier_one() {
        let mut seen = pass(0, |place| if place < 50_000 { Answer::Own } else { Answer::Zeros });
        seen.push(one(600, 1, Answer::Own));
        seen.push(one(70_000, 1, Answer::Error));
        assert_eq!(judged(&seen), Verdict::Ends { least: 49_951, most: 50_000 });
    }

    #[test]
    fn the_tally_counts_every_block_once_for_each_read() {
        let seen = [one(0, 10, Answer::Own), one(10, 3, Answer::OtherAddress(4))];
        let tally = Tally::new(&seen);
        assert_eq!((tally.own, tally.other_address, tally.bad(), tally.read()), (10, 3, 3, 13));
    }
}
