//! Runs of suites on virtual drives, and their results.

use rustix::fs::statvfs;
use ssdgauge_analysis::bench::check::Wrong;
use ssdgauge_analysis::bench::record::Record;
use ssdgauge_analysis::{Run, TestRun};
use ssdgauge_core::{Finding, FindingKind, Nanos, Phase, Plan, Rig, Step, Test};
use ssdgauge_lab::{Completion, Options, Watcher, conduct, find_built_in, plan};
use ssdgauge_runfile::{Opening, Writer};
use ssdgauge_sim::VirtualRig;
use std::path::PathBuf;
use tempfile::TempDir;

/// A watcher with a virtual time of day that requests a stop after a number of steps.
#[derive(Debug)]
pub struct Quiet {
    pub unix_ms: i64,
    pub steps_left: usize,
    pub begun: Vec<String>,
}

impl Default for Quiet {
    fn default() -> Self {
        Quiet { unix_ms: 1_000, steps_left: usize::MAX, begun: Vec::new() }
    }
}

impl Watcher for Quiet {
    fn unix_ms(&mut self) -> i64 {
        self.unix_ms += 1;
        self.unix_ms
    }

    fn stop(&mut self) -> bool {
        self.steps_left == 0
    }

    fn step_began(&mut self, _: &Test, _: &Phase, step: &Step) {
        self.begun.push(step.label.clone());
    }

    fn pause_began(&mut self, _: Nanos) {}

    fn finding_recorded(&mut self, _: &Finding) {}

    fn step_ended(&mut self, _: &Test, _: &Step, _: Nanos) {
        self.steps_left -= 1;
    }
}

/// Returns the rig of `target` with a fixed seed.
pub fn rig(target: &str) -> VirtualRig {
    VirtualRig::open(target, 7).unwrap_or_else(|error| panic!("{target}: {error}"))
}

/// Returns whether a site would take the results of `run` from a stranger; it began in this century.
pub fn is_possible(run: &Run) -> Result<(), Wrong> {
    let started_unix_ms = 1_700_000_000_000;
    Record { started_unix_ms: Some(started_unix_ms), ..Record::of(run) }.check(started_unix_ms)
}

/// Plans `tests` of a built-in suite on `rig`, shortened and with spans scaled to the drive.
pub fn planned(suite: &str, tests: &[&str], rig: &VirtualRig, shorten: u32) -> Plan {
    let suite = find_built_in(suite).unwrap();
    let only = tests.iter().map(|id| (*id).to_owned()).collect();
    let options = Options { only, shorten, scale_spans: true, ..Options::default() };
    plan(&suite, rig.drive(), &options).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a new folder: in memory where the system has a file system there with enough room for
/// the run file of the longest suite, because no claim of these tests is about durability, and
/// every step waits for several syncs of a disk.
fn new_folder() -> TempDir {
    const MEMORY: &str = "/dev/shm";
    let room = statvfs(MEMORY).map_or(0, |memory| memory.f_bavail * memory.f_frsize);
    match room >= 4 << 30 {
        true => TempDir::new_in(MEMORY).or_else(|_| TempDir::new()).unwrap(),
        false => TempDir::new().unwrap(),
    }
}

/// Creates the run file of `plan` on `rig` in a new folder.
pub fn begun(plan: &Plan, rig: &VirtualRig) -> (TempDir, PathBuf, Writer) {
    let folder = new_folder();
    let path = folder.path().join("run.ssdg");
    let opening = Opening {
        id: "test",
        program: "ssdgauge test",
        unix_ms: 0,
        plan,
        drive: rig.drive(),
        environment: &[],
        properties: &[],
    };
    let writer = Writer::create(&path, &opening).unwrap();
    (folder, path, writer)
}

/// Executes `plan` on `rig` and reads the results.
pub fn carried_out(plan: &Plan, rig: &mut VirtualRig) -> Run {
    let (_folder, path, mut writer) = begun(plan, rig);
    let completion = conduct(plan, rig, &mut writer, &mut Quiet::default()).unwrap();
    assert_eq!(completion, Completion::Finished);
    drop(writer);
    ssdgauge_analysis::read(&path).unwrap()
}

/// Runs `tests` of a suite on `target`.
pub fn run(suite: &str, tests: &[&str], target: &str, shorten: u32) -> Run {
    let mut rig = rig(target);
    let plan = planned(suite, tests, &rig, shorten);
    carried_out(&plan, &mut rig)
}

/// Returns the texts of the findings of `kind` in a test.
pub fn found(test: &TestRun, kind: FindingKind) -> Vec<String> {
    let of_kind = test.findings.iter().filter(|found| found.finding.kind == kind);
    of_kind.map(|found| found.finding.text.clone()).collect()
}

/// Returns the remarks next to the headline of a test, as JSON.
pub fn remarks(run: &Run, test: usize) -> String {
    let json = ssdgauge_export::json(std::slice::from_ref(run));
    json["runs"][0]["tests"][test]["remarks"].to_string()
}
