//! What is finished stays, and nobody writes over it.

use crate::support::{drive, plan, read, write};
use ssdgauge_runfile::{Opening, RunFileError, StepState, Writer};

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
    };
    assert!(matches!(Writer::create(&path, &opening), Err(RunFileError::Exists(_))));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn finished_records_cannot_be_changed_even_by_hand() {
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
fn the_results_are_there_for_anyone_with_a_shell() {
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
