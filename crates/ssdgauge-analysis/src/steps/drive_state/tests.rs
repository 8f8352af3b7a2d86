use super::*;
use crate::headlines::constructed::{self, MB, drive, point, step, write};
use ssdgauge_core::{Bytes, DriveInfo, Severity, Step, TargetKind};

const GB: u64 = 1_000_000_000;
const CAPACITY: u64 = 100 * GB;

/// Written, scattered and since the last rest, each in gigabytes, and whether the drive is empty.
type State = (Option<u64>, Option<u64>, Option<u64>, bool);

fn prepare(preparation: Preparation) -> Step {
    step("prepare", Action::Prepare(preparation), 0)
}

fn purge() -> Step {
    prepare(Preparation::Purge)
}

fn trim(span: u64) -> Step {
    prepare(Preparation::Trim { offset: Bytes(0), span: Bytes(span * GB) })
}

fn fill(access: Access, span: u64) -> Step {
    let (block_size, offset, span) = (Bytes(131_072), Bytes(0), Bytes(span * GB));
    prepare(Preparation::Fill { access, block_size, offset, span })
}

/// Returns the state of `drive` before a last measured step that follows `steps`.
fn state(drive: &DriveInfo, steps: Vec<Step>, findings: &[Finding]) -> State {
    let last = point("last", Access::Sequential, &[100; 5], &[]);
    let phases = vec![
        (PhaseKind::Precondition, steps),
        (PhaseKind::Measure, vec![write("last", Access::Sequential, 0)]),
    ];
    let states = before_steps(drive, findings, &[constructed::test(phases, vec![last])]);
    let [of_test] = states.as_slice() else { panic!("{states:?}") };
    let [state] = of_test.as_slice() else { panic!("{of_test:?}") };
    let gb = |bytes: Option<u64>| bytes.map(|bytes| bytes / GB);
    (gb(state.written), gb(state.scattered), gb(state.since_rest), state.is_empty())
}

#[test]
fn the_state_of_a_drive_follows_from_what_was_done_to_it() {
    use Access::{Random, Sequential};
    let rest = |seconds| step("rest", Action::Rest(Nanos::from_secs(seconds)), 0);
    let nothing_known = (None, None, None, false);
    let empty = (Some(0), Some(0), Some(0), true);
    let block = drive(TargetKind::Block, CAPACITY);
    for (what, steps, expected) in [
        ("nothing", vec![], nothing_known),
        ("purge", vec![purge()], empty),
        ("trim", vec![trim(96)], empty),
        ("trim of a part", vec![trim(50)], nothing_known),
        ("a short rest", vec![rest(9)], nothing_known),
        ("a rest", vec![rest(10)], (None, None, Some(0), false)),
        ("two rests", vec![rest(6), rest(6)], (None, None, Some(0), false)),
        (
            "a part in order",
            vec![purge(), fill(Sequential, 40)],
            (Some(40), Some(0), Some(40), false),
        ),
        (
            "a part in order, and a rest",
            vec![purge(), fill(Sequential, 40), rest(60)],
            (Some(40), Some(0), Some(0), false),
        ),
        (
            "a write after a rest",
            vec![purge(), rest(60), fill(Sequential, 5)],
            (Some(5), Some(0), Some(5), false),
        ),
        (
            "a part out of order",
            vec![purge(), fill(Random, 40)],
            (Some(40), Some(40), Some(40), false),
        ),
        // A fill in order leaves no block with a part of old data, whatever was before.
        (
            "all in order after a part out of order",
            vec![purge(), fill(Random, 40), fill(Sequential, 100)],
            (Some(140), Some(0), Some(140), false),
        ),
        (
            "all in order on an unknown drive",
            vec![fill(Sequential, 100)],
            (None, Some(0), None, false),
        ),
        ("purge after data", vec![fill(Random, 100), purge()], empty),
        // A load without samples may have written the whole drive.
        (
            "a load out of order without samples",
            vec![purge(), write("load", Random, 0)],
            (Some(100), None, Some(100), false),
        ),
        (
            "a load in order without samples",
            vec![purge(), write("load", Sequential, 30)],
            (Some(100), Some(0), Some(0), false),
        ),
    ] {
        assert_eq!(state(&block, steps, &[]), expected, "{what}");
    }
}

#[test]
fn a_purge_that_failed_or_a_part_of_a_drive_leaves_unknown_what_was_before() {
    let block = drive(TargetKind::Block, CAPACITY);
    for kind in [FindingKind::PurgeNotPossible, FindingKind::TrimIneffective] {
        let failed = [Finding::new(kind, Severity::Warning, String::new(), "")];
        assert_eq!(state(&block, vec![purge()], &failed), (None, None, None, false));
    }
    // Purging a file drops what is in the cache, and leaves the rest of the drive as it was.
    let file = drive(TargetKind::File, CAPACITY);
    assert_eq!(state(&file, vec![purge()], &[]), (None, None, Some(0), false));
    assert_eq!(state(&file, vec![trim(100)], &[]), (None, None, None, false));
}

#[test]
fn measured_steps_count_with_their_samples_and_a_test_begins_where_the_one_before_ended() {
    let measured = |label: &str, access, rest| {
        // 50 s of 200 MB: 10 GB.
        let of_label = point(label, access, &[200; 50], &[]);
        (write(label, access, rest), of_label)
    };
    let (first, first_point) = measured("first", Access::Random, 0);
    let (second, second_point) = measured("second", Access::Sequential, 60);
    let tests = [
        constructed::test(
            vec![(PhaseKind::Purge, vec![purge()]), (PhaseKind::Measure, vec![first, second])],
            vec![first_point, second_point],
        ),
        constructed::test(
            vec![(PhaseKind::Measure, vec![write("third", Access::Sequential, 0)])],
            vec![point("third", Access::Sequential, &[200; 50], &[])],
        ),
    ];
    let states = before_steps(&drive(TargetKind::Virtual, CAPACITY), &[], &tests);
    let gb = |test: usize, point: usize| {
        let DriveState { written, scattered, since_rest, .. } = states[test][point];
        [written, scattered, since_rest].map(|bytes| bytes.map(|bytes| bytes / GB))
    };
    assert_eq!(gb(0, 0), [Some(0), Some(0), Some(0)]);
    assert_eq!(gb(0, 1), [Some(10), Some(10), Some(10)]);
    assert_eq!(gb(1, 0), [Some(20), Some(10), Some(0)]);
    assert_eq!(200 * 50 * MB, 10 * GB);
}

#[test]
fn the_steps_of_rounds_and_of_repetitions_have_no_known_order() {
    let build = || {
        let phases = vec![
            (PhaseKind::Purge, vec![purge()]),
            (PhaseKind::Measure, vec![write("one", Access::Sequential, 0)]),
        ];
        constructed::test(phases, vec![point("one", Access::Sequential, &[200; 50], &[])])
    };
    let before =
        |test: TestRun| before_steps(&drive(TargetKind::Block, CAPACITY), &[], &[test])[0].clone();
    assert!(before(build())[0].is_empty());
    let mut rounds = build();
    rounds.test.rounds = Some(ssdgauge_core::Rounds {
        phase: 1,
        at_most: 25,
        tracking: 0,
        metric: ssdgauge_core::Metric::Iops,
    });
    assert_eq!(before(rounds), [DriveState::UNKNOWN]);
}
