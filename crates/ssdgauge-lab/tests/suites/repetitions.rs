//! Repetitions of tests.

use crate::suites::support::{Quiet, begun, carried_out, rig};
use ssdgauge_core::Rig;
use ssdgauge_lab::{Options, PlanError, Repeat, RepeatError, conduct, find_built_in, plan, resume};
use ssdgauge_runfile::Writer;

fn options(repeat: u32) -> Options {
    let only = vec!["random-read-4k".into(), "mixed-70-30".into()];
    Options { only, shorten: 5, repeat: Repeat::Times(repeat), ..Options::default() }
}

#[test]
fn repetitions_alternate_between_tests_in_the_order_of_the_suite() {
    let mut rig = rig("tiny");
    let suite = find_built_in("quick").unwrap();
    let plan = plan(&suite, rig.drive(), &options(3)).unwrap();
    let order: Vec<(&str, u32)> =
        plan.tests.iter().map(|test| (test.id.as_str(), test.repetition)).collect();
    let [read, mixed] = ["random-read-4k", "mixed-70-30"];
    assert_eq!(order, [(read, 1), (mixed, 1), (read, 2), (mixed, 2), (read, 3), (mixed, 3)]);
    // The preparation of the suite is executed before the first test only.
    assert_eq!(
        plan.tests.iter().map(|test| test.phases.len()).collect::<Vec<_>>(),
        [2, 1, 1, 1, 1, 1]
    );
    let run = carried_out(&plan, &mut rig);
    assert!(run.complete);
    assert_eq!(run.tests.len(), 2);
    for test in &run.tests {
        assert_eq!(test.repetitions.len(), 3);
        let ((low, high), value) =
            (test.headline.interval.ends().unwrap(), test.headline.value.unwrap());
        assert!(low <= value && value <= high, "{low} {value} {high}");
    }
}

#[test]
fn an_interrupted_run_resumes_in_its_repetition() {
    let mut first = rig("tiny");
    let suite = find_built_in("quick").unwrap();
    let plan = plan(&suite, first.drive(), &options(2)).unwrap();
    let (_folder, path, mut writer) = begun(&plan, &first);
    // The fill, three steps of the first repetitions, and one of the second.
    let mut watcher = Quiet { steps_left: 5, ..Quiet::default() };
    conduct(&plan, &mut first, &mut writer, &mut watcher).unwrap();
    drop(writer);
    let (mut writer, file) = Writer::resume(&path).unwrap();
    let mut watcher = Quiet::default();
    resume(&file, &mut rig("tiny"), &mut writer, &mut watcher, "ssdgauge, again").unwrap();
    drop((writer, file));
    assert_eq!(watcher.begun.len(), 2, "the two remaining steps: {:?}", watcher.begun);
    let run = ssdgauge_analysis::read(&path).unwrap();
    assert!(run.complete && run.tests.iter().all(|test| test.repetitions.len() == 2));
}

#[test]
fn zero_and_more_than_a_hundred_repetitions_are_refused() {
    let rig = rig("tiny");
    let suite = find_built_in("quick").unwrap();
    for repeat in [0, 101, u32::MAX] {
        let error = plan(&suite, rig.drive(), &options(repeat)).unwrap_err();
        assert_eq!(error, PlanError::Repeat(RepeatError::Times(repeat)));
    }
}
