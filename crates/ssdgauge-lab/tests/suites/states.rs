//! The state in which a drive is measured: settled after a fill, steady after preconditioning, and the
//! same from the first point to the last.

use crate::suites::support::{carried_out, found, planned, rig, run};
use ssdgauge_analysis::{Run, TestRun};
use ssdgauge_core::{Action, Bytes, FindingKind, Nanos, Phase, PhaseKind, Plan, Random};
use ssdgauge_lab::Suite;

fn headline(run: &Run, id: &str) -> f64 {
    let test = run.tests.iter().find(|test| test.test.id == id).unwrap();
    test.headline.value.unwrap()
}

#[test]
fn bursts_after_a_fill_are_those_of_an_empty_cache() {
    let tests = ["burst-sequential-write-empty", "burst-sequential-write-full", "fill-first-pass"];
    let run = run("client-2021", &tests, "tlc-client?capacity=64GB", 1);
    let native = headline(&run, "fill-first-pass");
    for id in &tests[..2] {
        let burst = headline(&run, id);
        assert!(burst > 2.5 * native, "{id}: {burst}, behind the cache {native}");
    }
}

#[test]
fn every_wake_up_begins_asleep() {
    let run = run("client-2018", &["wake-up"], "tlc-client?capacity=32GB", 1);
    let points = &run.tests[0].points;
    let latencies: Vec<f64> = points
        .iter()
        .map(|point| point.point.totals.directions[0].latency.max().unwrap() as f64 / 1e3)
        .collect();
    // The profile states 8,000 µs for the exit from its deepest state.
    assert_eq!(latencies.len(), 10);
    assert!(latencies.iter().all(|latency| *latency > 8_000.0), "{latencies:?}");
}

#[test]
fn equal_writes_of_two_kinds_of_data_are_equally_fast_on_a_drive_that_does_not_compress() {
    let run = run("size-curve", &["write", "write-compressible"], "tlc-client?capacity=64GB", 1);
    let ratio = headline(&run, "write-compressible") / headline(&run, "write");
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

#[test]
fn a_fuller_drive_is_not_faster_than_an_emptier_one() {
    let run = run("fill-ladder", &["random-write"], "tlc-client?capacity=64GB", 1);
    let iops: Vec<f64> = run.tests[0]
        .points
        .iter()
        .map(|point| point.point.totals.directions[1].ios as f64)
        .zip(run.tests[0].points.iter().map(|point| point.point.totals.elapsed.as_secs_f64()))
        .map(|(ios, seconds)| ios / seconds)
        .collect();
    assert!(iops.windows(2).all(|pair| pair[1] <= 1.02 * pair[0]), "{iops:?}");
}

#[test]
fn a_step_that_leaves_the_cache_is_reported_with_both_levels() {
    let text = r#"
        [suite]
        id = "levels"
        revision = 1
        title = "Levels"
        [[test]]
        id = "write"
        revision = 1
        title = "Write"
        prepare = [{ purge = true }]
        stream = { access = "sequential", block_size = "128KiB", read_percent = 0, queue_depth = 32 }
        sweep = { queue_depth = [1, 32] }
        until = { time = "20s" }
        rest = { time = "5min" }
        score = { best_of = "throughput_mb_s" }
    "#;
    let text = text.replace(", queue_depth = 32 }", " }");
    let suite = Suite::parse("levels.toml", &text).unwrap();
    let mut rig = rig("tlc-client?capacity=64GB");
    let plan = ssdgauge_lab::plan(&suite, ssdgauge_core::Rig::drive(&rig), &Default::default());
    let run = carried_out(&plan.unwrap(), &mut rig);
    let test = &run.tests[0];
    for point in &test.points {
        let levels = point.levels.unwrap_or_else(|| panic!("{}", point.point.label));
        assert!(levels.after < 0.6 * levels.before, "{levels:?}");
    }
    let first = test.points[0].levels.unwrap();
    let truth = test.points[0].point.totals.reading("slc_exhausted_bytes").unwrap();
    let (low, high) = first.bytes_interval;
    assert!((low as f64..=high as f64).contains(&truth), "{low} {high} {truth}");
    assert_eq!(found(test, FindingKind::TwoLevels).len(), 2, "{:?}", test.findings);
}

/// Shortens the ladder of a plan to `each` for each step, and the rounds of its preconditioning to a
/// second, so that a small drive has as many rounds as a large one.
fn shorten_steps(plan: &mut Plan, each: Nanos) {
    let steps = |phase: &mut Phase| std::mem::take(&mut phase.steps);
    for phase in plan.tests.iter_mut().flat_map(|test| &mut test.phases) {
        let kind = phase.kind;
        let mut taken = steps(phase);
        for step in &mut taken {
            if let Action::Run { until, steady, .. } = &mut step.action {
                match kind {
                    PhaseKind::Measure | PhaseKind::Check => until.time = Some(each),
                    _ => {
                        *steady = steady
                            .map(|rule| ssdgauge_core::SteadyRule { round: Nanos::SECOND, ..rule })
                    }
                }
            }
        }
        phase.steps = taken;
    }
}

/// A small drive with parameters drawn from `seed`.
fn random_drive(seed: u64) -> String {
    let mut random = Random::new(seed, 0);
    let mut one_of =
        |values: &[&str]| values[random.below(values.len() as u64) as usize].to_owned();
    let class = one_of(&[
        "tlc-client",
        "qlc-client",
        "mlc-client",
        "sata-datacentre",
        "nvme-datacentre",
        "slc-low-latency",
    ]);
    let dies = one_of(&["4", "8", "16", "32"]);
    let pacing = one_of(&["proportional", "burst"]);
    let capacity = one_of(&["1GB", "2GB", "3GB"]);
    let spare = 0.07 + 0.33 * random.unit();
    format!(
        "{class}?capacity={capacity}&over_provisioning={spare:.3}&nand.dies={dies}&gc.pacing={pacing}\
         &seed={seed}"
    )
}

/// The knee of a ladder of random writes, and what the run says about it.
struct Ladder {
    knee: f64,
    /// Whether a point lies within 1 % of the limit of 95 %, so that two knees are equally right.
    is_close: bool,
    doubts: Vec<String>,
}

fn ladder(target: &str, is_prepared: bool) -> Ladder {
    let mut rig = rig(target);
    let mut plan = planned("enterprise-2020", &["steady-random-write"], &rig, 1);
    if !is_prepared {
        let phases = &mut plan.tests[0].phases;
        phases.retain(|phase| phase.kind == PhaseKind::Measure || phase.kind == PhaseKind::Check);
    }
    shorten_steps(&mut plan, Nanos::from_secs(5));
    let run = carried_out(&plan, &mut rig);
    let test: &TestRun = &run.tests[0];
    let rates: Vec<(f64, f64)> = test
        .points
        .iter()
        .map(|point| {
            let totals = &point.point.totals;
            (point.point.position, totals.directions[1].ios as f64 / totals.elapsed.as_secs_f64())
        })
        .collect();
    let best = rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let knee = rates.iter().find(|(_, rate)| *rate >= 0.95 * best).unwrap().0;
    let is_close = rates.iter().any(|(_, rate)| (rate / best - 0.95).abs() < 0.01);
    let kinds = [FindingKind::StateChanged, FindingKind::LeftSteadyState, FindingKind::NotSteady];
    let doubts = kinds.into_iter().flat_map(|kind| found(test, kind)).collect();
    Ladder { knee, is_close, doubts }
}

#[test]
#[ignore = "second tier"]
fn the_knee_after_preconditioning_is_that_of_a_drive_born_worn_in() {
    let drives = if std::env::var_os("SSDGAUGE_LONG").is_some() { 300 } else { 30 };
    let (mut equal, mut close, mut doubted, mut doubted_right) = (0, 0, 0, 0);
    for seed in 0..drives {
        let target = random_drive(seed);
        let born = ladder(&format!("{target}&state=steady"), false);
        let prepared = ladder(&target, true);
        let is_equal = born.knee == prepared.knee;
        equal += u64::from(is_equal);
        doubted_right += u64::from(is_equal && !prepared.doubts.is_empty());
        if !is_equal {
            let is_close = born.is_close || prepared.is_close;
            close += u64::from(is_close);
            doubted += u64::from(!is_close && !prepared.doubts.is_empty());
            println!(
                "seed {seed}: {target}: knee {} instead of {}{}: {:?}",
                prepared.knee,
                born.knee,
                if is_close { ", two points within 1 %" } else { "" },
                prepared.doubts
            );
        }
    }
    println!(
        "{drives} drives: {equal} knees equal, {close} close, {doubted} wrong with a finding, {doubted_right} right with a finding"
    );
    assert!((equal + close) * 100 >= drives * 98 && equal + close + doubted == drives);
    assert!(doubted_right * 100 <= 5 * drives, "{doubted_right} of {drives}");
}

#[test]
fn rounds_of_a_small_share_of_the_capacity_are_not_enough() {
    // A drive of 2 GB whose rounds are 2 % of its capacity, as a minute is on a drive of 1 TB: it
    // counts as steady while its write amplification still changes, and the last point shows it.
    let target = "sata-datacentre?capacity=6GB&over_provisioning=0.304&nand.dies=8&gc.pacing=burst";
    let mut rig = rig(target);
    let mut plan = planned("enterprise-2020", &["steady-random-write"], &rig, 1);
    shorten_steps(&mut plan, Nanos::from_secs(5));
    for phase in &mut plan.tests[0].phases {
        for step in &mut phase.steps {
            if let Action::Run { steady: Some(rule), .. } = &mut step.action {
                (rule.round_bytes, rule.least_bytes) = (Bytes(6_000_000_000 / 50), Bytes(0));
            }
        }
    }
    let run = carried_out(&plan, &mut rig);
    let changed = found(&run.tests[0], FindingKind::StateChanged);
    assert_eq!(changed.len(), 1, "{:?}", run.tests[0].findings);
    assert!(changed[0].starts_with("the drive changed during the test: QD1 gave "), "{changed:?}");
}
