use super::*;
use crate::headlines::constructed::{self, MB, drive, point, step, write};
use ssdgauge_core::{Access, Action, PhaseKind, Preparation, TargetKind};

/// The capacity of the drive in megabytes.
const CAPACITY: u64 = 100_000;

/// Seconds at each of `levels`: so many seconds of so many megabytes, with 2 % of change from one second to
/// the next.
fn series(levels: &[(usize, u64)]) -> Vec<u64> {
    let of_level = |(seconds, megabytes): &(usize, u64)| {
        (0..*seconds)
            .map(|second| megabytes + megabytes * (second % 2) as u64 / 50)
            .collect::<Vec<_>>()
    };
    levels.iter().flat_map(of_level).collect()
}

fn throttled(seconds: std::ops::Range<u64>) -> Vec<(u64, &'static str, f64)> {
    seconds.map(|second| (second, "throttled", 1.0)).collect()
}

/// What was done to a drive, and then written in one step.
struct Case {
    what: &'static str,
    before: Vec<Preparation>,
    rest: u64,
    access: Access,
    levels: Vec<(usize, u64)>,
    readings: Vec<(u64, &'static str, f64)>,
    expected: Vec<FallCause>,
}

fn run(target: TargetKind, case: &Case) -> TestRun {
    let prepared = case.before.iter().map(|one| step("prepare", Action::Prepare(*one), case.rest));
    let phases = vec![
        (PhaseKind::Precondition, prepared.collect()),
        (PhaseKind::Measure, vec![write("write", case.access, 0)]),
    ];
    let points = vec![point("write", case.access, &series(&case.levels), &case.readings)];
    let mut tests = [constructed::test(phases, points)];
    annotate(&drive(target, CAPACITY * MB), &[], &mut tests, &[Vec::new()]);
    let [test] = tests;
    test
}

fn causes(test: &TestRun) -> Vec<FallCause> {
    test.points[0].falls.iter().map(|fall| fall.cause).collect()
}

fn fill(access: Access, megabytes: u64) -> Preparation {
    let bytes = |megabytes: u64| ssdgauge_core::Bytes(megabytes * MB);
    let (offset, span) = (bytes(0), bytes(megabytes));
    Preparation::Fill { access, block_size: ssdgauge_core::Bytes(131_072), offset, span }
}

/// Cases of an empty drive whose truth is constructed: what falls, where, and when it is throttled.
fn of_an_empty_drive() -> Vec<Case> {
    use FallCause::{Cache, GiveBack, Heat, Unknown};
    let case = |what, levels: &[(usize, u64)], readings, expected: &[FallCause]| Case {
        what,
        before: vec![Preparation::Purge],
        rest: 60,
        access: Access::Sequential,
        levels: levels.to_vec(),
        readings,
        expected: expected.to_vec(),
    };
    vec![
        case("one level", &[(200, 500)], vec![], &[]),
        case("a fall to 85 %", &[(50, 1_000), (50, 850)], vec![], &[]),
        case("a cache of a fifth", &[(20, 1_000), (160, 500)], vec![], &[Cache]),
        case("a tiny cache", &[(2, 1_000), (190, 500)], vec![], &[Cache]),
        case("a cache of a half", &[(50, 1_000), (100, 500)], vec![], &[Cache]),
        // No flash of two bits a cell has so large a cache, and the space is not used up.
        case("a fall at two thirds", &[(65, 1_000), (70, 500)], vec![], &[Unknown]),
        case("the end of the space", &[(90, 1_000), (20, 500)], vec![], &[GiveBack]),
        case(
            "a cache, then the end of the space",
            &[(20, 1_000), (100, 600), (40, 200)],
            vec![],
            &[Cache, GiveBack],
        ),
        case(
            "a cache, then a fall at a third",
            &[(20, 1_000), (20, 600), (200, 300)],
            vec![],
            &[Cache, Unknown],
        ),
        case("heat until the end", &[(20, 1_000), (160, 500)], throttled(19..180), &[Heat]),
        case(
            "heat from two seconds before on",
            &[(20, 1_000), (160, 500)],
            throttled(18..180),
            &[Heat],
        ),
        // Throttled at times; the other seconds are as fast as before.
        case(
            "heat at times",
            &[
                (20, 1_000),
                (10, 600),
                (2, 1_000),
                (10, 600),
                (2, 1_000),
                (10, 600),
                (2, 1_000),
                (40, 600),
            ],
            [throttled(20..30), throttled(32..42), throttled(44..54), throttled(56..96)].concat(),
            &[Heat],
        ),
        // The seconds after the throttled ones are slow too: a cache that ends while it is hot.
        case("heat and a cache at once", &[(20, 1_000), (100, 500)], throttled(19..40), &[Unknown]),
        case("heat long after a cache", &[(20, 1_000), (160, 500)], throttled(100..110), &[Cache]),
        case(
            "a cache, then heat",
            &[(20, 1_000), (60, 600), (60, 250)],
            throttled(80..140),
            &[Cache, Heat],
        ),
        // It counts transitions: the drive may have been throttled from then on.
        case(
            "a transition to throttling around the fall",
            &[(20, 1_000), (160, 500)],
            vec![
                (10, "light_throttles", 3.0),
                (30, "light_throttles", 4.0),
                (170, "light_throttles", 4.0),
            ],
            &[Unknown],
        ),
        // A second of throttling within twenty, and the seconds after them are slow too.
        case(
            "a throttled second around the fall",
            &[(20, 1_000), (160, 500)],
            vec![
                (10, "light_throttles", 3.0),
                (10, "light_throttle_s", 7.0),
                (30, "light_throttles", 4.0),
                (30, "light_throttle_s", 8.0),
                (170, "light_throttles", 4.0),
                (170, "light_throttle_s", 8.0),
            ],
            &[Cache],
        ),
        case(
            "throttled seconds from the fall on",
            &[(20, 1_000), (60, 500)],
            (10..80).map(|second| (second, "heavy_throttle_s", second.max(19) as f64)).collect(),
            &[Heat],
        ),
    ]
}

/// Cases of a drive with data.
fn of_a_used_drive() -> Vec<Case> {
    use FallCause::{Cache, SpareArea, Unknown};
    let case = |what,
                before: &[Preparation],
                rest,
                access,
                levels: &[(usize, u64)],
                expected: &[FallCause]| {
        let (levels, expected) = (levels.to_vec(), expected.to_vec());
        Case { what, before: before.to_vec(), rest, access, levels, readings: vec![], expected }
    };
    let (purge, whole) = (Preparation::Purge, fill(Access::Sequential, CAPACITY));
    let (part, scatter) = (fill(Access::Sequential, 40_000), fill(Access::Random, 60_000));
    let (in_order, random) = (Access::Sequential, Access::Random);
    let falls = [(20, 500), (200, 200)];
    vec![
        case("nothing is known", &[], 0, in_order, &falls, &[Unknown]),
        case("a part in order, rested", &[purge, part], 60, in_order, &falls, &[Cache]),
        // 40 GB are in the cache at most: it may end anywhere.
        case("a part in order, no rest", &[purge, part], 0, in_order, &falls, &[Cache]),
        case("all in order, rested", &[purge, whole], 60, in_order, &falls, &[Cache]),
        case("all in order, no rest", &[purge, whole], 0, in_order, &falls, &[Unknown]),
        case("out of order, no rest", &[purge, whole, scatter], 0, in_order, &falls, &[SpareArea]),
        // Both the cache and the spare area may have recovered.
        case("out of order, rested", &[purge, whole, scatter], 60, in_order, &falls, &[Unknown]),
        case("random writes of all", &[purge, whole], 0, random, &falls, &[SpareArea]),
        case(
            "a cache, then the spare area",
            &[purge, whole],
            60,
            random,
            &[(4, 1_000), (40, 500), (60, 100)],
            &[Cache, SpareArea],
        ),
    ]
}

#[test]
fn the_cause_of_a_fall_is_the_one_that_was_constructed() {
    for case in of_an_empty_drive().into_iter().chain(of_a_used_drive()) {
        assert_eq!(causes(&run(TargetKind::Block, &case)), case.expected, "{}", case.what);
    }
}

#[test]
fn of_a_file_only_a_fall_directly_after_a_rest_is_the_cache() {
    let mut cases = of_an_empty_drive();
    cases.retain(|case| case.what == "a cache of a fifth");
    let [rested] = cases.as_mut_slice() else { panic!("{}", cases.len()) };
    assert_eq!(causes(&run(TargetKind::File, rested)), [FallCause::Cache]);
    (rested.before, rested.rest) = (vec![], 0);
    assert_eq!(causes(&run(TargetKind::File, rested)), [FallCause::Unknown]);
}

#[test]
fn a_fall_that_is_elsewhere_in_another_repetition_is_not_a_cache() {
    let test = |seconds: usize| {
        let megabytes = series(&[(seconds, 1_000), (100, 500)]);
        let steps = vec![write("write", Access::Sequential, 0)];
        let points = vec![point("write", Access::Sequential, &megabytes, &[])];
        constructed::test(vec![(PhaseKind::Measure, steps)], points)
    };
    assert_eq!(unrepeated(&[test(20), test(21)]), [""; 0]);
    assert_eq!(unrepeated(&[test(20), test(40)]), ["write"]);
    assert_eq!(unrepeated(&[test(20)]), [""; 0]);
}

#[test]
fn a_step_in_order_with_a_fall_of_unknown_cause_has_a_finding_and_no_other_step() {
    use crate::findings::trust;
    for case in of_an_empty_drive().into_iter().chain(of_a_used_drive()) {
        let test = run(TargetKind::Block, &case);
        let is_it = |one: &&StepFinding| one.finding.kind == FindingKind::FallUnexplained;
        let found: Vec<&StepFinding> = test.findings.iter().filter(is_it).collect();
        let in_order = case.access == Access::Sequential;
        let is_expected = in_order && case.expected.contains(&FallCause::Unknown);
        assert_eq!(found.len(), usize::from(is_expected), "{}: {found:?}", case.what);
        let doubts = trust::doubts(&test);
        let is_doubted = doubts.iter().any(|reason| reason.contains("unknown cause"));
        assert_eq!(is_doubted, is_expected, "{}: {doubts:?}", case.what);
    }
    let mut cases = of_an_empty_drive();
    cases.retain(|case| case.what == "a fall at two thirds");
    let test = run(TargetKind::Block, &cases[0]);
    let text = &test.findings.iter().find(|one| one.finding.kind == FindingKind::FallUnexplained);
    let text = &text.unwrap().finding.text;
    assert!(text.starts_with("the write speed falls from 1,010 to 505 MB/s after 65."), "{text}");
}
