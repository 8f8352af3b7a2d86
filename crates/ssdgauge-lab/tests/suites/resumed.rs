//! A run on a virtual drive that was interrupted and resumed has the samples and the headlines of the
//! uninterrupted one, to the last bit.

use crate::suites::support::{begun, planned, rig};
use ssdgauge_core::{Finding, Interval, Nanos, Phase, Plan, Random, Reading, Step, Test};
use ssdgauge_lab::{Completion, ConductError, Suite, Watcher, conduct, resume};
use ssdgauge_runfile::{RunFile, StepPlace, StepState, Writer};
use std::path::Path;

/// A watcher that requests a stop when it is asked for the `stop_at`-th time: between steps, and within
/// each second of a step and of a pause.
#[derive(Default)]
struct Stopping {
    asked: u64,
    stop_at: Option<u64>,
    replayed: usize,
    unix_ms: i64,
}

impl Watcher for Stopping {
    fn unix_ms(&mut self) -> i64 {
        self.unix_ms += 1;
        self.unix_ms
    }
    fn stop(&mut self) -> bool {
        self.asked += 1;
        self.stop_at.is_some_and(|at| self.asked >= at)
    }
    fn step_began(&mut self, _: &Test, _: &Phase, _: &Step) {}
    fn pause_began(&mut self, _: Nanos) {}
    fn finding_recorded(&mut self, _: &Finding) {}
    fn step_replayed(&mut self, _: &Test, _: &Step) {
        self.replayed += 1;
    }
    fn step_ended(&mut self, _: &Test, _: &Step, _: Nanos) {}
}

/// A finished step: its place, its report and its samples.
#[derive(Debug, PartialEq)]
struct Finished {
    place: StepPlace,
    elapsed: Option<Nanos>,
    report: Option<String>,
    intervals: Vec<Interval>,
    readings: Vec<Reading>,
}

fn finished(path: &Path) -> Vec<Finished> {
    let run = RunFile::open(path).unwrap();
    let steps = run.steps().unwrap().into_iter();
    let finished = steps.filter(|step| step.state == StepState::Finished).map(|step| {
        let (mut intervals, mut readings) = (Vec::new(), Vec::new());
        run.intervals(step.id, |interval| intervals.push(interval)).unwrap();
        run.readings(step.id, |reading| readings.push(reading.clone())).unwrap();
        let (place, elapsed, report) = (step.place, step.elapsed, step.report);
        Finished { place, elapsed, report, intervals, readings }
    });
    finished.collect()
}

/// Returns the tests of the report, without their findings: those have times and attempts.
fn results(path: &Path) -> serde_json::Value {
    let run = ssdgauge_analysis::read(path).unwrap();
    assert!(run.complete);
    let mut document = ssdgauge_export::json(&[run]);
    let tests = document["runs"][0]["tests"].take();
    tests
        .as_array()
        .unwrap()
        .iter()
        .map(|test| {
            let keys =
                ["id", "headline", "also", "points", "tracked", "tried_loads", "state_checks"];
            keys.map(|key| test[key].clone()).into_iter().collect::<Vec<_>>()
        })
        .collect()
}

/// Carries `plan` out on `target`, stopped at each of `stops` and resumed, and compares it with
/// `whole`. Returns how many steps were repeated.
fn check(
    plan: &Plan,
    target: &str,
    whole: &(Vec<Finished>, serde_json::Value),
    stops: &[u64],
) -> usize {
    let (_folder, path, mut writer) = begun(plan, &rig(target));
    let mut stops = stops.iter().copied();
    let mut watcher = Stopping { stop_at: stops.next(), ..Stopping::default() };
    let mut completion = conduct(plan, &mut rig(target), &mut writer, &mut watcher).unwrap();
    drop(writer);
    let mut replayed = 0;
    while completion == Completion::Interrupted {
        let (mut writer, file) = Writer::resume(&path).unwrap();
        let mut watcher = Stopping { stop_at: stops.next(), ..Stopping::default() };
        completion = resume(&file, &mut rig(target), &mut writer, &mut watcher, "again").unwrap();
        replayed += watcher.replayed;
    }
    let steps = finished(&path);
    assert_eq!(steps.len(), whole.0.len());
    for (resumed, whole) in steps.iter().zip(&whole.0) {
        assert!(resumed == whole, "{:?} differs: {:?}", whole.place, watcher.stop_at);
    }
    assert_eq!(results(&path), whole.1);
    replayed
}

/// Carries `plan` out without a stop; returns its samples and results, and how often the watcher was
/// asked for a stop.
fn uninterrupted(plan: &Plan, target: &str) -> ((Vec<Finished>, serde_json::Value), u64) {
    let (_folder, path, mut writer) = begun(plan, &rig(target));
    let mut watcher = Stopping::default();
    conduct(plan, &mut rig(target), &mut writer, &mut watcher).unwrap();
    drop(writer);
    ((finished(&path), results(&path)), watcher.asked)
}

/// A fill, a rest, writes with pauses that leave the drive different, and a trim between them.
const SUITE: &str = r#"
[suite]
id = "resumed"
revision = 1
title = "Resumed"

[[test]]
id = "writes"
revision = 1
title = "Writes"
prepare = [{ purge = true }, { fill = "random", span = "60%" }]
settle = "3s"
stream = { access = "random", block_size = "4KiB", read_percent = 50 }
sweep = { queue_depth = [1, 32] }
until = { time = "2s" }
rest = { time = "3s" }
score = { best_of = "iops" }

[[test]]
id = "steps"
revision = 1
title = "Steps"
restart = "test"
steps = [
    { label = "write", stream = { access = "sequential", block_size = "128KiB", read_percent = 0, queue_depth = 8, span = "50%" }, until = { time = "2s" }, rest = { time = "2s" } },
    { label = "trim", trim = "30%" },
    { label = "again", stream = { access = "random", block_size = "4KiB", read_percent = 30, queue_depth = 4, span = "50%" }, until = { time = "2s" } },
]
score = { metric = "throughput_mb_s", at = 3 }
"#;

#[test]
fn a_run_that_is_stopped_at_every_possible_place_is_resumed_with_equal_samples() {
    let target = "tlc-client?capacity=1GB";
    let suite = Suite::parse("resumed.toml", SUITE).unwrap();
    let drive = rig(target);
    let plan = ssdgauge_lab::plan(&suite, ssdgauge_core::Rig::drive(&drive), &Default::default());
    let plan = plan.unwrap();
    let (whole, asked) = uninterrupted(&plan, target);
    let step = if std::env::var_os("SSDGAUGE_LONG").is_some() { 1 } else { 3 };
    let mut repeated = 0;
    for stop in (1..=asked).step_by(step) {
        repeated += check(&plan, target, &whole, &[stop]);
    }
    assert!(repeated > 0);
    // Several stops, the later ones in the repeated part, in a pause, or after it.
    let seed = 20_261_122;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    for _ in 0..8 {
        let stops: Vec<u64> = (0..4).map(|_| 1 + random.below(asked)).collect();
        check(&plan, target, &whole, &stops);
    }
}

#[test]
fn searches_and_rounds_that_are_interrupted_come_to_the_same_result() {
    let cases = [
        ("snia-pts-c", "latency", "tiny", 60),
        ("demo", "database", "tiny", 20),
        ("client-2018", "burst-random-write", "tlc-client?capacity=20GB", 60),
        ("enterprise-2020", "mixed-random-qd32", "tiny", 60),
    ];
    for (suite, test, target, shorten) in cases {
        let plan = planned(suite, &[test], &rig(target), shorten);
        let (whole, asked) = uninterrupted(&plan, target);
        for part in [3, 5, 7] {
            let repeated = check(&plan, target, &whole, &[asked * part / 8, asked * 7 / 8]);
            assert!(repeated > 0, "{suite}/{test}");
        }
    }
}

#[test]
fn a_drive_that_does_not_repeat_the_recorded_part_is_refused_and_the_file_is_not_changed() {
    let target = "tlc-client?capacity=1GB";
    let suite = Suite::parse("resumed.toml", SUITE).unwrap();
    let drive = rig(target);
    let plan = ssdgauge_lab::plan(&suite, ssdgauge_core::Rig::drive(&drive), &Default::default());
    let plan = plan.unwrap();
    let (_folder, path, mut writer) = begun(&plan, &drive);
    // After the first random writes, whose places follow from the seed.
    let (_, asked) = uninterrupted(&plan, target);
    let mut watcher = Stopping { stop_at: Some(asked * 7 / 8), ..Stopping::default() };
    conduct(&plan, &mut rig(target), &mut writer, &mut watcher).unwrap();
    drop(writer);
    let before = finished(&path);
    // The same drive with another seed: equal fingerprint, other requests.
    let mut other = ssdgauge_sim::VirtualRig::open(target, 8).unwrap();
    let (mut writer, file) = Writer::resume(&path).unwrap();
    let error =
        resume(&file, &mut other, &mut writer, &mut Stopping::default(), "again").unwrap_err();
    assert!(matches!(&error, ConductError::Differs { .. }), "{error}");
    drop((writer, file));
    assert_eq!(finished(&path), before);
    let resumed = RunFile::open(&path).unwrap().findings().unwrap();
    assert!(resumed.iter().all(|one| one.finding.kind != ssdgauge_core::FindingKind::Resumed));
}
