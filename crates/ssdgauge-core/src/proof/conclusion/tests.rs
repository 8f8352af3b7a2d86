use super::*;
use ssdgauge_statistics::Random;
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
fn judged(seen: &[Observation]) -> Conclusion {
    judge(seen, CAPACITY, &|one| one.first)
}

fn one(first: u64, blocks: u64, answer: Answer) -> Observation {
    Observation { pass: 1, first, blocks, answer }
}

#[test]
fn nothing_is_said_without_a_read_and_nothing_bad_without_a_loss() {
    assert_eq!(judged(&[]), Conclusion::Untested);
    assert_eq!(judged(&pass(0, |_| Answer::Own)), Conclusion::Holds);
}

#[test]
fn the_period_of_a_wrap_is_the_common_divisor_of_its_distances() {
    // Blocks below 40,000 hold what was written last at a multiple of 20,000 after them.
    let seen = pass(0, |place| match place {
        0..20_000 => Answer::OtherAddress(place + 60_000),
        20_000..40_000 => Answer::OtherAddress(place + 40_000),
        40_000..80_000 => Answer::OtherAddress(place % 20_000 + 80_000),
        _ => Answer::Own,
    });
    let verdict = judged(&seen);
    assert_eq!(verdict, Conclusion::Wraps { least: 20_000, period: 20_000 });
    assert!(verdict.is_conclusive());
}

#[test]
fn few_aliases_state_only_the_most() {
    let seen = [one(5, 1, Answer::OtherAddress(40_005)), one(9, 1, Answer::Own)];
    let verdict = judged(&seen);
    assert_eq!(verdict, Conclusion::Wraps { least: 1, period: 40_000 });
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
    assert_eq!(judged(&seen), Conclusion::Damaged);
}

#[test]
fn a_boundary_lies_between_the_last_kept_block_and_the_first_lost_one() {
    for lost in [Answer::Zeros, Answer::Ones, Answer::Foreign] {
        let seen = pass(2, |place| if place < 31_400 { Answer::Own } else { lost });
        let verdict = Conclusion::Ends { least: 31_351, most: 31_400 };
        assert_eq!(judged(&seen), verdict, "{lost:?}");
    }
    // What was written there before was stored.
    let stale = Answer::OldGeneration(1);
    let seen = pass(2, |place| if place < 31_400 { Answer::Own } else { stale });
    assert_eq!(judged(&seen), Conclusion::Damaged);
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
    assert_eq!(verdict, Conclusion::Ends { least: 49_951, most: 50_000 });
}

#[test]
fn writes_that_are_lost_from_a_moment_on_are_damage() {
    // Every fourth place was written again, in an order that has nothing to do with its address, and lost.
    let late = |block: u64| block.is_multiple_of(200);
    let seen = pass(3, |place| if late(place + 50) { Answer::Zeros } else { Answer::Own });
    assert_eq!(judge(&seen, CAPACITY, &|one| u64::from(late(one.first + 50))), Conclusion::Damaged);
    // Marks were lost from an address on, and then heads below it.
    let mut seen = pass(0, |place| if place < 50_000 { Answer::Own } else { Answer::Zeros });
    seen.extend(pass(1, |place| match place {
        100 | 20_000 | 50_000.. => Answer::Zeros,
        _ => Answer::Own,
    }));
    let is_late = |first: u64| u64::from(first == 100 || first == 20_000);
    let again = |one: &Observation| is_late(one.first) * CAPACITY + one.first;
    assert_eq!(judge(&seen, CAPACITY, &again), Conclusion::Damaged);
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
    assert_eq!(verdict, Conclusion::Damaged);
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
            assert!(stated.is_none_or(|(_, most)| most >= most_held(&seen)), "{seed}: {stated:?}");
        }
    }
}

#[test]
fn what_was_held_in_one_pass_counts_each_block_once_and_passes_are_not_added_up() {
    let mut seen = vec![one(0, 10, Answer::Own), one(5, 10, Answer::Own), one(7, 1, Answer::Own)];
    seen.push(one(50, 3, Answer::Zeros));
    seen.push(Observation { pass: 2, ..one(0, 12, Answer::Own) });
    assert_eq!(most_held(&seen), 15);
    assert_eq!(most_held(&[]), 0);
}

#[test]
fn a_damaged_region_is_not_a_boundary() {
    let seen = pass(0, |place| match place {
        50_000..51_500 => Answer::Zeros,
        _ => Answer::Own,
    });
    assert_eq!(judged(&seen), Conclusion::Damaged);
    // Nor is one lost block at the end.
    let seen = pass(0, |place| if place == 99_950 { Answer::Torn } else { Answer::Own });
    assert_eq!(judged(&seen), Conclusion::Damaged);
}

#[test]
fn losses_all_over_the_drive_are_damage() {
    let lost = |place: u64| if place.is_multiple_of(700) { Answer::Zeros } else { Answer::Own };
    assert_eq!(judged(&pass(0, lost)), Conclusion::Damaged);
}

#[test]
fn a_loss_of_an_earlier_pass_stays_one() {
    let mut seen = pass(0, |place| if place < 50_000 { Answer::Own } else { Answer::Zeros });
    seen.extend(pass(1, |_| Answer::Own));
    assert_eq!(judged(&seen), Conclusion::Ends { least: 49_951, most: 50_000 });
}

#[test]
fn a_last_pass_that_was_cut_short_does_not_replace_an_earlier_one() {
    let mut seen = pass(0, |place| if place < 50_000 { Answer::Own } else { Answer::Zeros });
    seen.push(one(600, 1, Answer::Own));
    seen.push(one(70_000, 1, Answer::Error));
    assert_eq!(judged(&seen), Conclusion::Ends { least: 49_951, most: 50_000 });
}

#[test]
fn the_tally_counts_every_block_once_for_each_read() {
    let seen = [one(0, 10, Answer::Own), one(10, 3, Answer::OtherAddress(4))];
    let tally = Tally::new(&seen);
    assert_eq!((tally.own, tally.other_address, tally.bad(), tally.read()), (10, 3, 3, 13));
}
