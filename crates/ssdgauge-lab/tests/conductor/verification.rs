//! The verification after a run: recorded once, begun again where it was interrupted.

use crate::conductor::support::{Bystander, Script, create, scripted_plan};
use ssdgauge_core::{FindingKind, LostWrite, Plan, Severity, TargetKind, Verified};
use ssdgauge_lab::{Completion, ConductError, conduct, resume};
use ssdgauge_runfile::{RunFile, VERIFIED, Writer};
use std::path::Path;

fn script(kind: TargetKind, verified: Option<Verified>) -> Script {
    let mut rig = Script::new(kind);
    rig.flush_that_fails = Some(usize::MAX);
    rig.verified = verified;
    rig
}

fn verified_plan(rig: &Script, verify: bool) -> Plan {
    Plan { verify, ..scripted_plan(rig) }
}

fn recorded(path: &Path) -> Vec<Verified> {
    let properties = RunFile::open(path).unwrap().properties().unwrap();
    let verified = properties.iter().filter(|property| property.key == VERIFIED);
    verified.map(|property| serde_json::from_str(&property.value).unwrap()).collect()
}

/// Conducts a run whose verification returns `verified`.
fn run(
    path: &Path,
    verify: bool,
    verified: Option<Verified>,
) -> (Script, Result<Completion, ConductError>, Bystander) {
    let mut rig = script(TargetKind::Block, verified);
    let plan = verified_plan(&rig, verify);
    let (mut writer, mut watcher) = (create(path, &plan, &rig), Bystander::default());
    let result = conduct(&plan, &mut rig, &mut writer, &mut watcher);
    (rig, result, watcher)
}

#[test]
fn a_verification_follows_the_last_flush_where_the_plan_requires_it() {
    let folder = tempfile::tempdir().unwrap();
    let right = Verified { blocks: 5, bytes: 20_480, ..Verified::default() };
    let path = folder.path().join("a.ssdg");
    let (rig, result, _) = run(&path, true, Some(right.clone()));
    assert_eq!(result.unwrap(), Completion::Finished);
    assert_eq!(rig.log[rig.log.len() - 2..], ["flush", "verify"]);
    assert_eq!(recorded(&path), [right]);
    let path = folder.path().join("b.ssdg");
    let (rig, result, _) = run(&path, false, Some(Verified::default()));
    assert_eq!(result.unwrap(), Completion::Finished);
    assert!(!rig.log.contains(&"verify".to_owned()));
    let path = folder.path().join("c.ssdg");
    let (_, result, watcher) = run(&path, true, None);
    assert_eq!(result.unwrap(), Completion::Finished);
    let finding = watcher.findings.last().unwrap();
    assert_eq!((finding.kind, finding.severity), (FindingKind::NotVerified, Severity::Warning));
}

#[test]
fn wrong_blocks_are_recorded_and_fail_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ssdg");
    let first = vec![LostWrite { offset: 4_096, found: "zeros".into() }];
    let wrong = Verified { blocks: 5, wrong: 1, first, ..Verified::default() };
    let (_, result, watcher) = run(&path, true, Some(wrong.clone()));
    let error = result.unwrap_err().to_string();
    assert!(error.contains("1 of 5 blocks that were verified"), "{error}");
    let finding = watcher.findings.last().unwrap();
    assert_eq!((finding.kind, finding.severity), (FindingKind::VerifyFailed, Severity::Invalid));
    assert_eq!(recorded(&path), [wrong]);
}

#[test]
fn a_verification_that_was_stopped_begins_again_when_the_run_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ssdg");
    let stopped = Verified { stopped: true, ..Verified::default() };
    let (_, result, _) = run(&path, true, Some(stopped));
    assert_eq!(result.unwrap(), Completion::Interrupted);
    assert_eq!(recorded(&path), []);
    let again = || {
        let mut rig = script(TargetKind::Block, Some(Verified::default()));
        let (mut writer, file) = Writer::resume(&path).unwrap();
        let watcher = &mut Bystander::default();
        let completion = resume(&file, &mut rig, &mut writer, watcher, "script").unwrap();
        assert_eq!(completion, Completion::Finished);
        (rig.log, rig.earlier, file.steps().unwrap().len())
    };
    let (log, earlier, steps) = again();
    assert_eq!((log.as_slice(), earlier), (&["verify".to_owned()][..], steps));
    assert_eq!(recorded(&path).len(), 1);
    assert_eq!(again().0, [""; 0], "a run that was verified is complete");
    // What another version has written is not known: it is verified as far as this process wrote it.
    let path = folder.path().join("b.ssdg");
    run(&path, true, Some(Verified { stopped: true, ..Verified::default() })).1.unwrap();
    let mut rig = script(TargetKind::Block, None);
    let (mut writer, file) = Writer::resume(&path).unwrap();
    let watcher = &mut Bystander::default();
    resume(&file, &mut rig, &mut writer, watcher, "another").unwrap();
    assert_eq!((rig.log.as_slice(), rig.earlier), (&["verify".to_owned()][..], 0));
    assert_eq!(watcher.findings.last().unwrap().kind, FindingKind::NotVerified);
}
