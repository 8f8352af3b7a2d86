//! Files that were prepared to harm their reader: refused with words, in bounded time and memory.

use crate::format::following::{create, end};
use crate::format::foreign::refusal;
use crate::format::support::{begin_step, folder, plan, read, write};
use rusqlite::Connection;
use ssdgauge_core::{Action, Nanos};
use ssdgauge_runfile::{Contradictions, RunFile, RunFileError, StepState};

/// Statements that make a run file a hostile one, each with a part of the expected refusal.
const HOSTILE: [(&str, &str); 11] = [
    (
        "DROP TABLE run; CREATE VIEW run AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 \
         FROM c) SELECT x AS id FROM c",
        "its view 'run' is not that of format",
    ),
    (
        "DROP TABLE environment; CREATE VIEW environment AS SELECT 'a' AS key, \
         hex(zeroblob(400000000)) AS value, 0 AS crc",
        "its view 'environment' is not that of format",
    ),
    ("DROP TABLE run; CREATE TABLE run (id)", "its table 'run' is not that of format"),
    ("ALTER TABLE run DROP COLUMN crc", "its table 'run' is not that of format"),
    ("ALTER TABLE step ADD COLUMN more", "its table 'step' is not that of format"),
    ("DROP VIEW step_result", "its view 'step_result' is missing"),
    ("CREATE TABLE notes (text)", "its table 'notes' is not that of format"),
    (
        "CREATE TRIGGER late AFTER INSERT ON step BEGIN DELETE FROM interval; END",
        "its trigger 'late' is not that of format",
    ),
    ("DROP INDEX interval_of_step", "its index 'interval_of_step' is missing"),
    ("UPDATE run SET plan = hex(zeroblob(9000000))", "a value is longer than 16 MiB"),
    ("PRAGMA journal_mode = WAL", "a write-ahead log"),
];

#[test]
fn a_file_with_another_schema_or_endless_values_is_refused_and_not_changed() {
    for (statements, expected) in HOSTILE {
        let folder = folder();
        let path = folder.path().join("run.ssdg");
        write(&path);
        Connection::open(&path).unwrap().execute_batch(statements).unwrap();
        let error = refusal(&path);
        assert!(error.to_string().contains(expected), "{statements}: {error}");
    }
}

#[test]
fn a_schema_of_thousands_of_tables_is_refused_before_it_is_parsed() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("BEGIN").unwrap();
    for number in 0..5_000 {
        connection.execute_batch(&format!("CREATE TABLE t{number} (a, b, c)")).unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
    drop(connection);
    let error = refusal(&path);
    assert!(matches!(error, RunFileError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("more operations than"), "{error}");
}

#[test]
fn the_tables_of_analyze_are_permitted() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let before = read(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("ANALYZE; VACUUM").unwrap();
    assert_eq!(read(&path).unwrap(), before);
}

#[test]
fn durations_whose_sum_exceeds_a_number_are_summed_up_to_its_end() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    let mut writer = create(&path);
    for attempt in 1..=3 {
        let id = begin_step(&mut writer, 0, attempt);
        writer.finish_step(id, &end(StepState::Finished, 9_000_000_000)).unwrap();
    }
    drop(writer);
    let run = RunFile::open(&path).unwrap();
    let steps = run.steps().unwrap();
    let records: Vec<_> = steps.iter().collect();
    let plan = plan();
    let step = &plan.tests[0].phases[0].steps[0];
    let Action::Run { workload, .. } = &step.action else { panic!("a load") };
    let (mut room, mut contradictions) = (run.room(), Contradictions::default());
    let checked = (&mut room, &mut contradictions);
    let samples = run.samples(step, workload, &records, true, checked, |_| 0).unwrap();
    assert_eq!(samples.whole.elapsed, Nanos(u64::MAX));
}
