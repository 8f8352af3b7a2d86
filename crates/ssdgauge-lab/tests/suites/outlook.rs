//! The rest of a run in progress: by assumed rates, by the rate of its fills, and after a pause.

use crate::suites::support::{Quiet, begun, planned, rig};
use ssdgauge_core::{Action, Bytes, Finding, Nanos, Phase, Plan, Rig, Step, Test};
use ssdgauge_lab::{Completion, Outlook, Remaining, Watcher, assumed_rates, conduct};
use ssdgauge_runfile::{RunFile, StepPlace};

/// Sequential writes and reads three times slower than the class says.
const SLOW: &str = "sata-datacentre?capacity=4GB&nand.t_prog_us=8000";

/// Follows a run with its outlook; each step begins at the next place of the plan.
struct Follower<'a> {
    plan: &'a Plan,
    outlook: Outlook<'a>,
    place: StepPlace,
    time: Nanos,
    /// The time at the start of each step, the outlook from it on, and whether it is a fill.
    seen: Vec<(Nanos, Remaining, bool)>,
    learned: usize,
}

impl<'a> Follower<'a> {
    fn new(plan: &'a Plan, rig: &dyn Rig) -> Follower<'a> {
        let drive = rig.drive();
        let outlook = Outlook::new(plan, drive.capacity, &assumed_rates(drive));
        let place = StepPlace { test: 0, phase: 0, step: 0 };
        Follower { plan, outlook, place, time: Nanos::ZERO, seen: Vec::new(), learned: 0 }
    }
}

impl Watcher for Follower<'_> {
    fn unix_ms(&mut self) -> i64 {
        1_000
    }

    fn stop(&mut self) -> bool {
        false
    }

    fn step_began(&mut self, test: &Test, phase: &Phase, step: &Step) {
        let of_plan = self.plan.tests.iter().position(|other| std::ptr::eq(other, test)).unwrap();
        let of_test = test.phases.iter().position(|other| std::ptr::eq(other, phase)).unwrap();
        let of_phase = phase.steps.iter().position(|other| std::ptr::eq(other, step)).unwrap();
        self.place = StepPlace { test: of_plan, phase: of_test, step: of_phase };
        let is_fill = matches!(&step.action, Action::Prepare(one) if one.writes() > Bytes(0));
        self.seen.push((self.time, self.outlook.remaining_from(self.place), is_fill));
    }

    fn pause_began(&mut self, _: Nanos) {}

    fn finding_recorded(&mut self, _: &Finding) {}

    fn step_ended(&mut self, _: &Test, step: &Step, elapsed: Nanos) {
        self.time += elapsed + step.rest.after(elapsed);
        self.learned += usize::from(self.outlook.step_ended(self.place, elapsed).is_some());
        assert_eq!(self.outlook.elapsed(), self.time);
    }
}

/// Returns the ratio of each outlook to what came: before the first fill has ended, and after it.
fn followed(suite: &str, tests: &[&str], target: &str, shorten: u32) -> [Vec<f64>; 2] {
    let mut rig = rig(target);
    let plan = planned(suite, tests, &rig, shorten);
    let (_folder, _path, mut writer) = begun(&plan, &rig);
    let mut follower = Follower::new(&plan, &rig);
    let end = conduct(&plan, &mut rig, &mut writer, &mut follower).unwrap();
    assert_eq!((end, follower.learned), (Completion::Finished, 1));
    let first_fill = follower.seen.iter().position(|(_, _, is_fill)| *is_fill).unwrap();
    let ratio = |(at, left, _): &(Nanos, Remaining, bool)| {
        left.time.as_secs_f64() / (follower.time.as_secs_f64() - at.as_secs_f64())
    };
    let (before, after) = follower.seen.split_at(first_fill + 1);
    // The last step may be much shorter than a second, which has no meaning for a display.
    let after = &after[..after.len() - 1];
    [before, after].map(|part| part.iter().map(ratio).collect())
}

#[test]
fn the_first_fill_corrects_the_rest_of_the_run() {
    let [before, after] = followed("fill-ladder", &["sequential-write"], SLOW, 100);
    assert!(before.iter().all(|ratio| *ratio < 0.75), "{before:?}");
    assert!(after.iter().all(|ratio| (0.75..=1.3).contains(ratio)), "{after:?}");
}

#[test]
fn rounds_and_searches_end_with_nothing_left() {
    for (suite, test) in [("snia-pts-e", "latency"), ("demo", "database")] {
        let [_, after] = followed(suite, &[test], "nvme-datacentre?capacity=2GB", 60);
        assert!(after.iter().all(|ratio| *ratio > 0.1), "{suite}: {after:?}");
    }
}

#[test]
fn a_resumed_run_knows_the_fills_of_its_earlier_part() {
    let mut rig = rig(SLOW);
    let plan = planned("fill-ladder", &["sequential-write"], &rig, 100);
    let (_folder, path, mut writer) = begun(&plan, &rig);
    // Level 0, then the purge and the fill of level 50.
    let fill = plan.steps().position(|(_, _, step)| step.label.starts_with("fill")).unwrap();
    let mut watcher = Quiet { steps_left: fill + 1, ..Quiet::default() };
    let end = conduct(&plan, &mut rig, &mut writer, &mut watcher).unwrap();
    assert_eq!(end, Completion::Interrupted);
    drop(writer);
    let steps = RunFile::open(&path).unwrap().steps().unwrap();
    let place = steps.last().unwrap().place;
    let fresh = Outlook::new(&plan, rig.drive().capacity, &assumed_rates(rig.drive()));
    let mut resumed = fresh.clone();
    resumed.resume(&steps);
    let [by_class, by_fill] = [&fresh, &resumed].map(|outlook| outlook.remaining_from(place));
    assert!(by_fill.time.as_secs_f64() > 1.3 * by_class.time.as_secs_f64(), "{by_fill:?}");
    assert!(resumed.elapsed() > Nanos::ZERO && fresh.elapsed() == Nanos::ZERO);
    // Without an earlier part nothing is assumed beyond the class.
    let mut unknown = fresh.clone();
    unknown.resume(&[]);
    assert_eq!(unknown.remaining_from(place), by_class);
}
