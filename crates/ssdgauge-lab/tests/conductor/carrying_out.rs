//! Execution of a whole plan, in order, with the pauses between steps.

use crate::conductor::support::{Bystander, Script, create, scripted_plan};
use ssdgauge_core::TargetKind;
use ssdgauge_lab::{Completion, ConductError, conduct};
use ssdgauge_runfile::{OutcomeKind, RunFile, StepState};

pub(crate) const ALL: [&str; 11] = [
    "purge",
    "fill Sequential 512MiB",
    "run 100 % QD4",
    "rest 1s",
    "run 50 % QD4",
    "rest 1s",
    "run 0 % QD4",
    "rest 1s",
    "fill Random 1GiB",
    "run 0 % QD1",
    "run 0 % QD2",
];

#[test]
fn a_plan_is_executed_in_order_with_its_pauses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ssdg");
    let mut rig = Script::new(TargetKind::Block);
    let plan = scripted_plan(&rig);
    let mut writer = create(&path, &plan, &rig);
    let completion = conduct(&plan, &mut rig, &mut writer, &mut Bystander::default()).unwrap();
    assert_eq!(completion, Completion::Finished);
    assert_eq!(rig.log, ALL);
    drop(writer);
    let run = RunFile::open(&path).unwrap();
    let steps = run.steps().unwrap();
    assert_eq!(steps.len(), 8);
    assert!(steps.iter().all(|step| step.state == StepState::Finished && step.attempt == 1));
    let mut readings = Vec::new();
    run.readings(steps[2].id, |reading| readings.push(reading.clone())).unwrap();
    assert!(readings.iter().all(|reading| reading.at >= steps[2].elapsed.unwrap()));
    assert_eq!(readings.len(), 1, "the reading of the pause lies behind the step");
    let outcome = run.outcome().unwrap().unwrap();
    assert_eq!((outcome.kind, outcome.reason.as_str()), (OutcomeKind::Complete, ""));
    assert_eq!(run.broken_link().unwrap(), None);
    let numbered: Vec<i64> = run.digests().unwrap().iter().map(|(step, _)| step.0).collect();
    assert_eq!(numbered, [3, 4, 5, 7, 8], "the measured steps");
}

#[test]
fn a_failing_drive_ends_the_run_and_the_recorded_seconds_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ssdg");
    let mut rig = Script::new(TargetKind::Block);
    rig.fails_at = Some(4);
    let plan = scripted_plan(&rig);
    let mut writer = create(&path, &plan, &rig);
    let error = conduct(&plan, &mut rig, &mut writer, &mut Bystander::default()).unwrap_err();
    assert!(matches!(error, ConductError::Rig(_)), "{error}");
    drop(writer);
    let run = RunFile::open(&path).unwrap();
    let steps = run.steps().unwrap();
    let states: Vec<StepState> = steps.iter().map(|step| step.state).collect();
    use StepState::{Broken, Finished};
    assert_eq!(states, [Finished, Finished, Finished, Broken]);
    let mut seen = 0;
    run.intervals(steps[3].id, |_| seen += 1).unwrap();
    assert_eq!(seen, 2, "the seconds before the failure are kept");
    let outcome = run.outcome().unwrap().unwrap();
    assert_eq!((outcome.kind, outcome.reason), (OutcomeKind::Failed, error.to_string()));
    assert_eq!(run.broken_link().unwrap(), None);
}
