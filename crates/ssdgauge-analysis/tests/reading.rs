//! Reading: which samples count, what is refused, and what an old or broken file still tells.

use crate::support::{Pace, Recipe, drive, plan, quick, record, run, step, stream, test};
use ssdgauge_analysis::{ReportError, read};
use ssdgauge_core::{
    Access, Action, Direction, FindingKind, Histogram, Interval, Metric, Nanos, Reading, Restart,
    Scope, Score, Severity,
};
use ssdgauge_runfile::{Opening, RunFileError, StepEnd, StepPlace, StepState, Writer};

fn plain(second: u32, stream: u16, direction: Direction, ios: u64) -> Interval {
    let mut latency = Histogram::default();
    (0..ios).for_each(|_| latency.record(100_000));
    let bytes = ios * 4_096;
    Interval { second, stream, direction, length: Nanos::SECOND, ios, bytes, errors: 0, latency }
}

/// Records attempts of a test of two steps: (step, attempt, state, requests each second).
fn attempts(restart: Restart, attempts: &[(usize, u32, StepState, u64)]) -> ssdgauge_analysis::Run {
    let folder = tempfile::tempdir().expect("a folder for the run file");
    let path = folder.path().join("run.ssdg");
    let steps = vec![
        step("one", 1.0, stream(Access::Random, 4_096, 100, 1), 2),
        step("two", 2.0, stream(Access::Random, 4_096, 100, 2), 2),
    ];
    let mut only = test("t", "Test", Score::MeanOf(Metric::Iops), &[], steps);
    only.restart = restart;
    let plan = plan("suite", vec![only]);
    let drive = drive(ssdgauge_core::TargetKind::File, "Disk");
    let opening = Opening {
        id: "run",
        program: "ssdgauge",
        unix_ms: 0,
        plan: &plan,
        drive: &drive,
        environment: &[],
        properties: &[],
    };
    let mut writer = Writer::create(&path, &opening).expect("a new run file");
    for (step, attempt, state, ios) in attempts {
        let place = StepPlace { test: 0, phase: 0, step: *step };
        let id = writer.begin_step(place, *attempt, &plan, 0).expect("a step begins");
        for second in 0..2 {
            let interval = plain(second, 0, Direction::Read, *ios);
            writer.interval(id, &interval).expect("an interval is kept");
        }
        if *state != StepState::Running {
            let end = StepEnd {
                state: *state,
                unix_ms: 0,
                elapsed: Nanos::from_secs(2),
                ended_by: "time".into(),
                report: String::new(),
            };
            writer.finish_step(id, &end).expect("a step ends");
        }
    }
    writer.commit().expect("what was recorded is kept");
    read(&path).expect("a run file that was just written")
}

fn iops(run: &ssdgauge_analysis::Run) -> Vec<f64> {
    let value = |point: &ssdgauge_analysis::PointRun| {
        point.point.totals.value(Metric::Iops, Scope::All).expect("the step took time")
    };
    run.tests[0].points.iter().map(value).collect()
}

#[test]
fn only_finished_attempts_count() {
    use StepState::{Broken, Finished, Running};
    let run = attempts(
        Restart::Step,
        &[(0, 1, Finished, 100), (1, 1, Broken, 7), (1, 2, Finished, 200), (1, 3, Running, 9)],
    );
    assert_eq!(iops(&run), [100.0, 200.0]);
    assert!(run.complete);
    assert_eq!(run.tests[0].headline.value, Some(150.0));
}

#[test]
fn a_restarted_test_counts_from_its_last_start() {
    use StepState::{Broken, Finished};
    let history = [(0, 1, Finished, 100), (1, 1, Broken, 7), (0, 2, Finished, 120)];
    let again = attempts(Restart::Test, &history);
    assert_eq!(iops(&again), [120.0]);
    assert_eq!((again.complete, again.tests[0].headline.value), (false, None));
    let whole = [&history[..], &[(1, 2, Finished, 220)]].concat();
    assert_eq!(iops(&attempts(Restart::Test, &whole)), [120.0, 220.0]);
    let mixed = [(0, 1, Finished, 100), (1, 1, Finished, 200), (0, 2, Broken, 120)];
    assert!(iops(&attempts(Restart::Test, &mixed)).is_empty(), "halves are never mixed");
}

#[test]
fn streams_and_directions_of_one_second_lie_side_by_side() {
    let mut recipe = Recipe::new("a", quick(6), "Disk");
    recipe.pace = &|_, _| Pace { iops: 1_000, lat_us: 100.0 };
    for step in &mut recipe.plan.tests[4].phases[0].steps {
        let Action::Run { workload, .. } = &mut step.action else { panic!("a load") };
        let second = workload.streams[0].clone();
        workload.streams.push(second);
    }
    let run = run(&recipe);
    let point = &run.tests[4].points[0];
    assert_eq!(point.point.totals.value(Metric::Iops, Scope::All), Some(2_000.0));
    assert_eq!(point.point.totals.value(Metric::Iops, Scope::Write), Some(600.0));
    assert_eq!((point.seconds().len(), point.seconds().nth(3).unwrap().iops()), (6, 2_000.0));
    assert_eq!(run.tests[4].headline.n, 6);
}

#[test]
fn foreign_damaged_and_missing_files_are_refused_with_their_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = |path: &std::path::Path| match read(path) {
        Err(ReportError::RunFile(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(words(&folder.path().join("none.ssdg")).contains("does not exist"));
    let text = folder.path().join("text.ssdg");
    std::fs::write(&text, "hello ".repeat(100)).expect("a text file");
    assert!(words(&text).contains("it is not an SQLite file"));
    let path = record(folder.path(), &Recipe::new("a", quick(1), "Disk"));
    let mut bytes = std::fs::read(&path).expect("the run file");
    let at = bytes.windows(9).rposition(|part| part == b"1MiB QD8\"").expect("a label of the plan");
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).expect("the damaged file");
    assert!(words(&path).contains("checksum"), "{}", words(&path));
}

#[test]
fn impossible_values_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.ssdg");
    let steps = vec![step("one", 1.0, stream(Access::Random, 4_096, 100, 1), 2)];
    let plan = plan("suite", vec![test("t", "T", Score::MeanOf(Metric::Iops), &[], steps)]);
    let drive = drive(ssdgauge_core::TargetKind::File, "Disk");
    let opening = Opening {
        id: "run",
        program: "ssdgauge",
        unix_ms: 0,
        plan: &plan,
        drive: &drive,
        environment: &[],
        properties: &[],
    };
    let mut writer = Writer::create(&path, &opening).expect("a new run file");
    let place = StepPlace { test: 0, phase: 0, step: 0 };
    let id = writer.begin_step(place, 1, &plan, 0).expect("a step begins");
    for second in 0..3 {
        let mut interval = plain(second, 0, Direction::Read, 10);
        interval.ios = i64::MAX as u64;
        interval.bytes = i64::MAX as u64;
        writer.interval(id, &interval).expect("an interval is kept");
    }
    let end = StepEnd {
        state: StepState::Finished,
        unix_ms: 0,
        elapsed: Nanos::SECOND,
        ended_by: "time".into(),
        report: String::new(),
    };
    writer.finish_step(id, &end).expect("a step ends");
    drop(writer);
    let error = read(&path).expect_err("nine million million million requests");
    assert!(matches!(error, ReportError::RunFile(RunFileError::Impossible { .. })), "{error}");
    assert!(error.to_string().contains("exceeds the limits of any drive"));
}

/// Returns severity and text of each finding on a contradiction in a run of `recipe`.
fn contradictions(recipe: &Recipe<'_>) -> Vec<(Severity, String)> {
    let run = run(recipe);
    let all = run.all_findings().into_iter().map(|located| located.finding);
    let found = all.filter(|finding| finding.kind == FindingKind::Contradictory);
    found.map(|finding| (finding.severity, finding.text.clone())).collect()
}

/// A change of an interval before it is recorded.
type Twist<'a> = &'a dyn Fn(&mut Interval);

#[test]
fn a_run_file_that_contradicts_itself_has_a_finding() {
    let recipe = || Recipe::new("a", quick(6), "Disk");
    let mut sound = recipe();
    sound.power_w = Some(3.0);
    assert_eq!(contradictions(&sound), []);
    let cases: [(Twist<'_>, &str); 4] = [
        (&|one| one.ios *= 10, "requests and"),
        (&|one| one.bytes *= 10, "bytes"),
        (&|one| one.bytes += u64::from(one.second == 3), "second 3 counts"),
        (&|one| one.length = Nanos(Nanos::SECOND.0 + 1), "last 6,000,000,006 ns together"),
    ];
    for (twist, words) in cases {
        let mut recipe = recipe();
        recipe.twist = twist;
        let found = contradictions(&recipe);
        assert!(!found.is_empty(), "{words}");
        let is_right = |(severity, text): &(Severity, String)| {
            *severity == Severity::Invalid && text.starts_with("the run file contradicts itself: ")
        };
        assert!(found.iter().all(is_right), "{found:?}");
        assert!(found.iter().any(|(_, text)| text.contains(words)), "{words}: {found:?}");
    }
    let mut short = recipe();
    short.elapsed = &|_| Nanos(1);
    let found = contradictions(&short);
    assert!(found[0].1.contains("last 6,000,000,000 ns together, and the step 1 ns"), "{found:?}");
}

#[test]
fn a_reading_that_no_meter_gives_is_left_out_with_a_finding() {
    let readings = [("energy_j", 18.0), ("power_covered_s", 6.0)];
    for (value, words) in [
        (18.0, ""),
        (-9.0, "energy_j is -9.00"),
        (1e308, "energy_j is 1.00e308"),
        (f64::INFINITY, "energy_j is inf"),
    ] {
        let mut recipe = Recipe::new("a", quick(6), "Disk");
        recipe.readings = readings
            .map(|(quantity, usual)| {
                let value = if quantity == "energy_j" { value } else { usual };
                let at = Nanos::from_secs(6);
                let (instrument, quantity) = ("meter".to_owned(), quantity.to_owned());
                (0, Reading { at, instrument, quantity, value })
            })
            .to_vec();
        let power = |run: &ssdgauge_analysis::Run| {
            run.tests[0].points[0].point.totals.value(Metric::PowerW, Scope::All)
        };
        let found = contradictions(&recipe);
        let expected = (value == 18.0).then_some(3.0);
        assert_eq!(power(&run(&recipe)), expected, "{value}");
        match words {
            "" => assert_eq!(found, []),
            words => {
                assert_eq!(found.len(), 1, "{found:?}");
                assert!(found[0].0 == Severity::Warning && found[0].1.contains(words), "{found:?}");
            }
        }
    }
}
