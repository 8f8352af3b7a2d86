//! Resume of a run that was interrupted in each of its calls.

use crate::conductor::carrying_out::ALL;
use crate::conductor::support::{Bystander, Log, Script, create, scripted_plan};
use ssdgauge_core::{Finding, FindingKind, TargetKind};
use ssdgauge_lab::{Completion, ConductError, conduct, resume};
use ssdgauge_runfile::{OutcomeKind, Writer};

/// Stops a run in its call number `stop`, resumes it, and returns the calls of the second rig.
fn second_half(kind: TargetKind, stop: usize) -> Log {
    resumed_on(kind, stop, false)
}

/// The same, on a drive that was changed meanwhile where `is_changed`.
fn resumed_on(kind: TargetKind, stop: usize, is_changed: bool) -> Log {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ssdg");
    let mut rig = Script::new(kind);
    rig.stops_at = Some(stop);
    let plan = scripted_plan(&rig);
    let mut writer = create(&path, &plan, &rig);
    let mut watcher = Bystander::default();
    let completion = conduct(&plan, &mut rig, &mut writer, &mut watcher).unwrap();
    assert_eq!(completion, Completion::Interrupted);
    drop(writer);
    let mut rig = Script::new(kind);
    rig.is_changed = is_changed;
    let (mut writer, run) = Writer::resume(&path).unwrap();
    assert_eq!(run.outcome().unwrap().unwrap().kind, OutcomeKind::Unfinished);
    let completion = resume(&run, &mut rig, &mut writer, &mut watcher, "ssdgauge, again").unwrap();
    assert_eq!(completion, Completion::Finished);
    let resumed = |finding: &&Finding| finding.kind == FindingKind::Resumed;
    let resumed = &watcher.findings.iter().find(resumed).unwrap().text;
    let says_so = resumed.contains("1 of 64 sampled blocks no longer hold what the run had filled");
    // Without a fill, nothing can be lost.
    assert_eq!(says_so, is_changed && stop > 2, "{resumed}");
    drop((writer, run));
    let (mut writer, run) = Writer::resume(&path).unwrap();
    assert_eq!(run.outcome().unwrap().unwrap().kind, OutcomeKind::Complete);
    let mut idle = Script::new(kind);
    let again = resume(&run, &mut idle, &mut writer, &mut watcher, "ssdgauge, again").unwrap();
    assert_eq!(
        (again, idle.log.len()),
        (Completion::Finished, 0),
        "a complete run has no remaining steps"
    );
    rig.log
}

#[test]
fn a_block_device_resumes_at_the_first_unfinished_step() {
    for (stop, from) in [(1, 0), (2, 1), (3, 2), (4, 4), (5, 6)] {
        assert_eq!(second_half(TargetKind::Block, stop), ALL[from..], "stopped in call {stop}");
    }
}

#[test]
fn a_test_with_restart_test_resumes_at_its_preparation() {
    for stop in [6, 7, 8] {
        assert_eq!(second_half(TargetKind::Block, stop), ALL[8..], "stopped in call {stop}");
    }
}

#[test]
fn a_drive_that_was_changed_is_prepared_again_before_anything_is_read() {
    let first = ["purge", "fill Sequential 512MiB"];
    // Before the fill has finished, its rest is all that is left anyway.
    assert_eq!(resumed_on(TargetKind::Block, 2, true), ALL[1..]);
    for stop in [3, 4, 5] {
        assert_eq!(resumed_on(TargetKind::Block, stop, true), ALL, "stopped in call {stop}");
    }
    let expected = [&first, &ALL[8..]].concat();
    assert_eq!(resumed_on(TargetKind::Block, 7, true), expected, "a later test");
}

#[test]
fn a_time_of_day_that_was_set_back_leaves_the_pause_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ssdg");
    let mut rig = Script::new(TargetKind::Block);
    rig.stops_at = Some(4);
    let plan = scripted_plan(&rig);
    let mut writer = create(&path, &plan, &rig);
    conduct(&plan, &mut rig, &mut writer, &mut Bystander::default()).unwrap();
    drop(writer);
    let (mut writer, run) = Writer::resume(&path).unwrap();
    // Another watcher begins at the start of its time again.
    let mut watcher = Bystander::default();
    resume(&run, &mut Script::new(TargetKind::Block), &mut writer, &mut watcher, "again").unwrap();
    let text = |kind| {
        let found = watcher.findings.iter().find(|finding| finding.kind == kind);
        found.map(|finding| finding.text.as_str()).unwrap_or_default()
    };
    assert_eq!(text(FindingKind::Resumed), "the run was resumed after an unknown pause");
    let jumped = text(FindingKind::ClockJumped);
    assert!(jumped.starts_with("the time of day was set back by "), "{jumped}");
    assert!(jumped.ends_with(" or more before the run was resumed"), "{jumped}");
}

#[test]
fn the_content_of_a_scratch_file_is_written_again() {
    let first = ["purge", "fill Sequential 512MiB"];
    for (stop, from) in [(3, 2), (4, 4), (5, 6)] {
        let expected = [&first, &ALL[from..]].concat();
        assert_eq!(second_half(TargetKind::File, stop), expected, "stopped in call {stop}");
    }
    let expected = [&first, &ALL[8..]].concat();
    assert_eq!(second_half(TargetKind::File, 7), expected);
}

/// Stops a run on `first` in its third call, and checks that it is not resumed on `other`.
fn is_refused(mut first: Script, mut other: Script) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ssdg");
    first.stops_at = Some(3);
    let plan = scripted_plan(&first);
    let mut writer = create(&path, &plan, &first);
    conduct(&plan, &mut first, &mut writer, &mut Bystander::default()).unwrap();
    drop(writer);
    let (mut writer, run) = Writer::resume(&path).unwrap();
    let error =
        resume(&run, &mut other, &mut writer, &mut Bystander::default(), "again").unwrap_err();
    assert!(matches!(error, ConductError::OtherDrive { .. }), "{error}");
    assert!(other.log.is_empty(), "the other drive received no call");
}

#[test]
fn another_drive_is_refused() {
    let drive = || Script::new(TargetKind::Block);
    is_refused(drive(), drive().with_serial("S2"));
}

#[test]
fn a_virtual_drive_of_another_model_revision_is_refused() {
    let model = || Script::new(TargetKind::Virtual);
    is_refused(model().with_model_revision(2), model().with_model_revision(3));
    is_refused(model(), model().with_model_revision(2));
}

/// Never fails, but is counted.
const NEVER: usize = usize::MAX;

#[test]
fn a_run_that_was_killed_before_its_last_flush_is_flushed_when_it_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let block = |fails: usize| {
        let mut rig = Script::new(TargetKind::Block);
        rig.flush_that_fails = Some(fails);
        rig
    };
    let mut whole = block(NEVER);
    let plan = scripted_plan(&whole);
    let mut watcher = Bystander::default();
    let mut writer = create(&folder.path().join("whole.ssdg"), &plan, &whole);
    conduct(&plan, &mut whole, &mut writer, &mut watcher).unwrap();
    let flushes = whole.log.iter().filter(|call| *call == "flush").count();
    assert_eq!(whole.log.last().unwrap(), "flush");
    drop(writer);

    let path = folder.path().join("cut-off.ssdg");
    let mut cut_off = block(flushes);
    let mut writer = create(&path, &plan, &cut_off);
    conduct(&plan, &mut cut_off, &mut writer, &mut watcher).unwrap_err();
    assert_eq!(cut_off.log, whole.log, "everything but the flush was carried out");
    drop(writer);
    let mut resumed = |rig: &mut Script| {
        let (mut writer, run) = Writer::resume(&path).unwrap();
        let steps = run.steps().unwrap().len();
        let end = resume(&run, rig, &mut writer, &mut watcher, "script").unwrap();
        assert_eq!(end, Completion::Finished);
        steps
    };
    let mut rig = block(NEVER);
    let steps = resumed(&mut rig);
    assert_eq!((rig.log.as_slice(), rig.earlier), (["flush".to_owned()].as_slice(), steps));
    let mut rig = block(NEVER);
    resumed(&mut rig);
    assert!(rig.log.is_empty(), "it is flushed once");
}
