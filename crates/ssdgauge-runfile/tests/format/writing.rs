//! Finished records are final, and existing files are never replaced.

use crate::format::support::{begin_step, interval};
use crate::format::support::{drive, plan, read, write};
use ssdgauge_core::{Direction, Nanos, Random};
use ssdgauge_runfile::{Opening, RunFileError, StepEnd, StepState, Writer};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn a_file_that_exists_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ssdg");
    std::fs::write(&path, "precious").unwrap();
    let (plan, drive) = (plan(), drive());
    let opening = Opening {
        id: "1",
        program: "test",
        unix_ms: 0,
        plan: &plan,
        drive: &drive,
        environment: &[],
        properties: &[],
    };
    assert!(matches!(Writer::create(&path, &opening), Err(RunFileError::Exists(_))));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn finished_records_cannot_be_changed_in_a_sqlite_shell() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let connection = rusqlite::Connection::open(&path).unwrap();
    for sql in ["UPDATE step SET elapsed_ns = 1", "UPDATE interval SET ios = 1"] {
        let error = connection.execute(sql, []).unwrap_err();
        assert!(error.to_string().contains("never rewritten"), "{error}");
    }
}

#[test]
fn a_second_writer_is_refused_and_a_reader_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let (first, run) = Writer::resume(&path).unwrap();
    assert_eq!(run.steps().unwrap().len(), 3);
    assert!(matches!(Writer::resume(&path), Err(RunFileError::Busy(_))));
    let content = read(&path).unwrap();
    assert_eq!(content.steps[0].state, StepState::Broken);
    drop(first);
    assert!(Writer::resume(&path).is_ok());
}

#[test]
fn the_view_step_result_gives_the_iops_of_a_step() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let content = read(&path).unwrap();
    let ios: u64 = content.intervals[2].iter().map(|interval| interval.ios).sum();
    let iops: f64 = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("SELECT iops FROM step_result WHERE label = 'second'", [], |row| row.get(0))
        .unwrap();
    assert!((iops - ios as f64 / 3.0).abs() < 1e-9);
}

/// Expects `call` to fail an assertion with `words` in its message.
fn refused(words: &str, call: impl FnOnce()) {
    let payload = catch_unwind(AssertUnwindSafe(call)).expect_err(words);
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    assert!(text.as_ref().is_some_and(|text| text.contains(words)), "{text:?}");
}

#[test]
fn calls_that_would_falsify_a_record_fail_an_assertion() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let (mut writer, _) = Writer::resume(&path).unwrap();
    let mut random = Random::new(1, 0);
    let mut second = |second| interval(&mut random, second, Direction::Read);
    let end = |state| StepEnd {
        state,
        unix_ms: 0,
        elapsed: Nanos::SECOND,
        ended_by: "time".into(),
        report: "{}".into(),
    };
    let id = begin_step(&mut writer, 0, 2);
    writer.interval(id, &second(4)).unwrap();
    let again = second(4);
    refused("follows second", || drop(writer.interval(id, &again)));
    refused("an end is final", || drop(writer.finish_step(id, &end(StepState::Running))));
    writer.finish_step(id, &end(StepState::Finished)).unwrap();
    refused("a step ends once", || drop(writer.finish_step(id, &end(StepState::Broken))));
    let late = second(5);
    refused("while it runs", || drop(writer.interval(id, &late)));
}

#[test]
fn a_run_file_that_loses_its_name_gets_no_further_commit_and_neither_does_the_file_that_has_the_name()
 {
    for (how, keeps_old) in [("was removed", false), ("or moved", true), ("was replaced", true)] {
        let folder = tempfile::tempdir().unwrap();
        let [path, old, foreign] =
            ["run.ssdg", "old.ssdg", "foreign"].map(|name| folder.path().join(name));
        write(&path);
        write(&foreign);
        let recorded = read(&path).unwrap();
        let (mut writer, _) = Writer::resume(&path).unwrap();
        let step = begin_step(&mut writer, 0, 2);
        match how {
            "was removed" => std::fs::remove_file(&path).unwrap(),
            _ => std::fs::rename(&path, &old).unwrap(),
        }
        if how == "was replaced" {
            std::fs::copy(&foreign, &path).unwrap();
        }
        writer.interval(step, &interval(&mut Random::new(3, 0), 0, Direction::Write)).unwrap();
        let error = writer.commit().unwrap_err();
        assert!(matches!(error, RunFileError::NameLost { .. }), "{how}: {error:?}");
        assert!(error.to_string().contains(how), "{how}: {error}");
        drop(writer);
        if keeps_old {
            assert!(read(&old).unwrap() == recorded, "{how}: a commit changed the file");
        }
        if path.exists() {
            assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&foreign).unwrap());
        }
    }
}
