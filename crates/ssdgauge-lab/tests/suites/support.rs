//! Running a suite on a virtual drive, and reading the run back.

use ssdgauge_core::{Finding, FindingKind, Nanos, Phase, Plan, Rig, Step, Test};
use ssdgauge_lab::{Completion, Glimpse, Options, Watcher, conduct, find_built_in, plan};
use ssdgauge_report::{Run, TestRun};
use ssdgauge_runfile::{Opening, Writer};
use ssdgauge_sim::VirtualRig;
use std::path::PathBuf;
use tempfile::TempDir;

/// A watcher in virtual time, who wishes for nothing but an end after so many steps.
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

    fn begins(&mut self, _: &Test, _: &Phase, step: &Step) {
        self.begun.push(step.label.clone());
    }

    fn sees(&mut self, _: &Glimpse) {}

    fn rests(&mut self, _: Nanos) {}

    fn finds(&mut self, _: &Finding) {}

    fn ended(&mut self, _: &Test, _: &Step, _: Nanos) {
        self.steps_left -= 1;
    }
}

/// Returns the rig of `target` with a fixed seed.
pub fn rig(target: &str) -> VirtualRig {
    VirtualRig::open(target, 7).unwrap_or_else(|error| panic!("{target}: {error}"))
}

/// Plans `tests` of a built-in suite on `rig`, shortened and with spans scaled to the drive.
pub fn planned(suite: &str, tests: &[&str], rig: &VirtualRig, shorten: u32) -> Plan {
    let suite = find_built_in(suite).unwrap();
    let only = tests.iter().map(|id| (*id).to_owned()).collect();
    let options = Options { only, shorten, scale_spans: true, ..Options::default() };
    plan(&suite, rig.drive(), &options).unwrap_or_else(|error| panic!("{error}"))
}

/// Begins a run of `plan` on `rig` in a folder of its own.
pub fn begun(plan: &Plan, rig: &VirtualRig) -> (TempDir, PathBuf, Writer) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("run.ssdg");
    let opening = Opening {
        id: "test",
        program: "ssdgauge test",
        unix_ms: 0,
        plan,
        drive: rig.drive(),
        environment: &[],
    };
    let writer = Writer::create(&path, &opening).unwrap();
    (folder, path, writer)
}

/// Carries `plan` out on `rig` and reads the run back.
pub fn carried_out(plan: &Plan, rig: &mut VirtualRig) -> Run {
    let (_folder, path, mut writer) = begun(plan, rig);
    let completion = conduct(plan, rig, &mut writer, &mut Quiet::default()).unwrap();
    assert_eq!(completion, Completion::Finished);
    drop(writer);
    ssdgauge_report::read(&path).unwrap()
}

/// Runs `tests` of a suite on `target`.
pub fn run(suite: &str, tests: &[&str], target: &str, shorten: u32) -> Run {
    let mut rig = rig(target);
    let plan = planned(suite, tests, &rig, shorten);
    carried_out(&plan, &mut rig)
}

/// Returns the findings of `kind` that a test has.
pub fn found(test: &TestRun, kind: FindingKind) -> Vec<String> {
    let of_kind = test.findings.iter().filter(|found| found.finding.kind == kind);
    of_kind.map(|found| found.finding.text.clone()).collect()
}

/// Returns what a reader is told beside the headline of a test.
pub fn remarks(run: &Run, test: usize) -> String {
    let json = ssdgauge_report::json(std::slice::from_ref(run));
    json["runs"][0]["tests"][test]["remarks"].to_string()
}
