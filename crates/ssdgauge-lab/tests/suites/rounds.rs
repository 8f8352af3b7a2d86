//! Rounds to a steady state by the rule of the SNIA PTS.

use crate::suites::support::{Quiet, begun, found, planned, rig, run};
use ssdgauge_core::{FindingKind, Nanos, Rig};
use ssdgauge_lab::{Completion, conduct, resume};
use ssdgauge_runfile::Writer;

#[test]
fn the_cells_of_the_iops_test_are_merged_over_five_steady_rounds() {
    let run = run("snia-pts-e", &["iops"], "tiny?state=steady", 10);
    let test = &run.tests[0];
    assert!(test.complete && run.complete);
    assert_eq!(test.points.len(), 56);
    let labels: Vec<&str> = test.points.iter().map(|point| point.point.label.as_str()).collect();
    assert_eq!((labels[0], labels[1]), ("100 % read 1MiB", "100 % read 128KiB"));
    assert_eq!(labels[55], "0 % read 512B");
    let verdicts = found(test, FindingKind::SteadyState).len();
    assert_eq!(verdicts + found(test, FindingKind::NotSteady).len(), 1, "{:?}", test.findings);
    // Five rounds of six seconds each.
    let elapsed = test.points[54].point.totals.elapsed;
    assert!(elapsed >= Nanos::from_secs(30) && elapsed < Nanos::from_secs(31), "{elapsed:?}");
    assert!(test.headline.value.unwrap() > 0.0);
}

#[test]
fn interrupted_rounds_continue_where_they_were_stopped() {
    let mut first = rig("tiny");
    let plan = planned("snia-pts-c", &["latency"], &first, 60);
    let (_folder, path, mut writer) = begun(&plan, &first);
    // Three preparations, one whole round of nine cells, and four cells of the next.
    let mut watcher = Quiet { steps_left: 16, ..Quiet::default() };
    let cut = conduct(&plan, &mut first, &mut writer, &mut watcher).unwrap();
    assert_eq!(cut, Completion::Interrupted);
    drop(writer);
    assert!(!ssdgauge_analysis::read(&path).unwrap().complete);
    let (mut writer, file) = Writer::resume(&path).unwrap();
    let mut watcher = Quiet::default();
    let on = resume(&file, &mut rig("tiny"), &mut writer, &mut watcher, "ssdgauge, again").unwrap();
    assert_eq!((on, watcher.begun[0].as_str()), (Completion::Finished, "4KiB 100 % read"));
    drop((writer, file));
    let run = ssdgauge_analysis::read(&path).unwrap();
    assert!(run.complete);
    let elapsed = run.tests[0].points[0].point.totals.elapsed;
    assert!(elapsed < Nanos::from_secs(6), "only the rounds after the pause count: {elapsed:?}");
}

#[test]
fn requests_smaller_than_a_logical_block_are_left_out_and_listed() {
    let rig = rig("tiny");
    let mut drive = rig.drive().clone();
    drive.logical_block = ssdgauge_core::Bytes(4_096);
    let suite = ssdgauge_lab::find_built_in("snia-pts-e").unwrap();
    let options = ssdgauge_lab::Options { only: vec!["iops".into()], ..Default::default() };
    let plan = ssdgauge_lab::plan(&suite, &drive, &options).unwrap();
    let test = &plan.tests[0];
    assert_eq!(test.phases.last().unwrap().steps.len(), 49);
    let left_out = test.chosen.iter().find(|chosen| chosen.key == "left out").unwrap();
    assert!(left_out.value.contains("0 % read 512B"), "{}", left_out.value);
}

#[test]
fn a_fresh_drive_is_saturated_by_writes_until_it_is_steady() {
    let run = run("snia-pts-e", &["write-saturation"], "tiny?capacity=20GB", 1);
    let test = &run.tests[0];
    let steady = test.headline.value.unwrap();
    let fresh = test.points[0].seconds().next().unwrap().iops();
    assert!(fresh > 1.5 * steady, "from {fresh} to {steady}");
    let verdicts = found(test, FindingKind::SteadyState).len();
    assert_eq!(verdicts + found(test, FindingKind::NotSteady).len(), 1, "{:?}", test.findings);
}
