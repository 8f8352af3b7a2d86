//! The chain of hashes: what is changed, added or removed later contradicts the link that covers it.

use crate::format::support::{begin_step, folder, read, write};
use rusqlite::Connection;
use rusqlite::types::Value;
use sha2::{Digest, Sha256};
use ssdgauge_core::{FindingKind, Nanos};
use ssdgauge_runfile::{RunFile, RunFileError, StepEnd, StepId, StepState, Writer};
use std::path::Path;

/// The tables in the order of their hashes.
const TABLES: [&str; 13] = [
    "run",
    "drive",
    "environment",
    "step",
    "interval",
    "reading",
    "finding",
    "property",
    "answer",
    "percentile",
    "log_page",
    "digest",
    "outcome",
];

fn broken(path: &Path) -> Option<Option<StepId>> {
    RunFile::open(path).unwrap().broken_link().unwrap()
}

/// Returns the bytes of the first `columns` values of `row` as the documentation describes them.
fn bytes_of(row: &rusqlite::Row<'_>, columns: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for at in 0..columns {
        let (kind, value) = match row.get(at).unwrap() {
            Value::Null => (0, Vec::new()),
            Value::Integer(number) => (1, number.to_le_bytes().to_vec()),
            Value::Real(number) => (2, number.to_le_bytes().to_vec()),
            Value::Text(text) => (3, text.into_bytes()),
            Value::Blob(blob) => (4, blob),
        };
        bytes.push(kind);
        bytes.extend((value.len() as u64).to_le_bytes());
        bytes.extend(value);
    }
    bytes
}

#[test]
fn a_link_is_the_hash_that_the_documentation_describes() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let connection = Connection::open(&path).unwrap();
    let links: Vec<(String, Vec<u8>)> = connection
        .prepare("SELECT covers, hash FROM link ORDER BY rowid")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    // Three steps, and the end of the run.
    assert_eq!(links.len(), 4);
    let (mut hash, mut from) = (vec![0; 32], serde_json::json!({}));
    for (covers, expected) in links {
        let to: serde_json::Value = serde_json::from_str(&covers).unwrap();
        hash = hash_of(&connection, hash, &from, &to);
        assert_eq!(hash, expected, "{covers}");
        from = to;
    }
    // What was recorded after the end of a step is covered by the next link.
    assert_eq!((from["step"].as_i64(), from["finding"].as_i64()), (Some(3), Some(3)));
    assert_eq!((from["property"].as_i64(), from["outcome"].as_i64()), (Some(5), Some(1)));
}

#[test]
fn every_change_of_a_covered_record_breaks_its_link_and_no_other_before_it() {
    let first = Some(StepId(1));
    let second = Some(StepId(2));
    for (sql, expected) in [
        ("UPDATE environment SET value = 'other'", first),
        ("UPDATE reading SET value = value + 1 WHERE step_id = 2", second),
        ("UPDATE finding SET severity = 'warning' WHERE step_id = 1", second),
        ("UPDATE answer SET kind = 'lanes' WHERE step_id = 1", first),
        ("UPDATE percentile SET lat_ns = 5 WHERE step_id = 2", second),
        ("UPDATE log_page SET content = x'00' WHERE step_id = 1", first),
        ("UPDATE digest SET samples_crc = 5 WHERE step_id = 2", second),
        ("UPDATE outcome SET outcome = 'complete'", None),
        ("UPDATE step SET label = 'other' WHERE id = 2", second),
        (
            "DELETE FROM property WHERE rowid = 3; INSERT INTO property VALUES (1, 'golden', 'x', 0)",
            second,
        ),
    ] {
        let folder = folder();
        let path = folder.path().join("run.ssdg");
        write(&path);
        assert_eq!(broken(&path), None);
        alter(&path, sql, true);
        assert_eq!(broken(&path), Some(expected), "{sql}");
        let error = Writer::resume(&path).map(drop).unwrap_err();
        assert!(matches!(error, RunFileError::Damaged { .. }), "{sql}: {error}");
    }
}

/// Executes `sql` without the triggers that refuse changes. Where `mends` is true, every record then has the
/// checksum of its values, as somebody would leave it who knows the format.
pub(crate) fn alter(path: &Path, sql: &str, mends: bool) {
    without_triggers(path, |connection| {
        connection.execute_batch(sql).unwrap();
        if mends {
            TABLES.into_iter().for_each(|table| mend_checksums(connection, table));
        }
    });
}

/// Calls `change` with the file `path` while it has no triggers that refuse changes.
fn without_triggers(path: &Path, change: impl FnOnce(&Connection)) {
    let connection = Connection::open(path).unwrap();
    let mut triggers =
        connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").unwrap();
    let triggers: Vec<(String, String)> = triggers
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for (name, _) in &triggers {
        connection.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    change(&connection);
    triggers.iter().for_each(|(_, sql)| connection.execute_batch(sql).unwrap());
}

/// Gives every link the hash of what it covers.
pub(crate) fn relink(path: &Path) {
    without_triggers(path, relink_all);
}

fn relink_all(connection: &Connection) {
    let links: Vec<String> = connection
        .prepare("SELECT covers FROM link ORDER BY rowid")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let (mut hash, mut from) = (vec![0; 32], serde_json::json!({}));
    for (place, covers) in (1..).zip(links) {
        let to = serde_json::from_str(&covers).unwrap();
        hash = hash_of(connection, hash, &from, &to);
        let sql = "UPDATE link SET hash = ?1 WHERE rowid = ?2";
        connection.execute(sql, rusqlite::params![hash, place]).unwrap();
        from = to;
    }
    mend_checksums(connection, "link");
}

/// Returns the hash of the link after one with `hash`, over the records after those that `from` counts, up to
/// those that `to` counts.
fn hash_of(
    connection: &Connection,
    hash: Vec<u8>,
    from: &serde_json::Value,
    to: &serde_json::Value,
) -> Vec<u8> {
    let mut bytes = hash;
    for table in TABLES {
        let sql = format!("SELECT * FROM {table} WHERE rowid > ?1 AND rowid <= ?2 ORDER BY rowid");
        let mut statement = connection.prepare(&sql).unwrap();
        let columns = statement.column_count() - 1;
        let range = [from[table].as_i64().unwrap_or(0), to[table].as_i64().unwrap()];
        let mut rows = statement.query(range).unwrap();
        let mut of_table = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            of_table.extend(bytes_of(row, columns));
        }
        bytes.extend(Sha256::digest(of_table));
    }
    Sha256::digest(bytes).to_vec()
}

/// Gives every record of `table` the checksum of its values.
fn mend_checksums(connection: &Connection, table: &str) {
    let mut statement = connection.prepare(&format!("SELECT *, rowid FROM {table}")).unwrap();
    let columns = statement.column_count() - 2;
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let crc = crc32fast::hash(&bytes_of(row, columns));
        let place: i64 = row.get(columns + 1).unwrap();
        let sql = format!("UPDATE {table} SET crc = ?1 WHERE rowid = ?2");
        connection.execute(&sql, [i64::from(crc), place]).unwrap();
    }
}

#[test]
fn a_link_or_a_record_that_is_missing_is_damage() {
    for sql in [
        "DELETE FROM link WHERE rowid > 2",
        "DELETE FROM link",
        "DELETE FROM answer WHERE step_id = 3",
        "DELETE FROM outcome",
        "UPDATE link SET crc = 0 WHERE rowid = 1",
    ] {
        let folder = folder();
        let path = folder.path().join("run.ssdg");
        write(&path);
        alter(&path, sql, false);
        let error = RunFile::open(&path).map(drop).unwrap_err();
        assert!(matches!(error, RunFileError::Damaged { .. }), "{sql}: {error}");
    }
}

#[test]
fn a_continued_run_continues_its_chain_over_what_a_killed_process_left() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    write(&path);
    // A process that is killed within a step leaves its record and no link.
    let (mut writer, _) = Writer::resume(&path).unwrap();
    begin_step(&mut writer, 0, 2);
    writer.commit().unwrap();
    drop(writer);
    assert_eq!(broken(&path), None);
    let (mut writer, run) = Writer::resume(&path).unwrap();
    assert_eq!(run.outcome().unwrap().unwrap().reason, "stopped");
    let id = begin_step(&mut writer, 0, 3);
    let end = StepEnd {
        state: StepState::Finished,
        unix_ms: 1_795_000_009_000,
        elapsed: Nanos::SECOND,
        ended_by: "time".into(),
        report: "{}".into(),
    };
    writer.finish_step(id, &end).unwrap();
    writer.commit().unwrap();
    drop((writer, run));
    assert_eq!(broken(&path), None);
    assert_eq!(read(&path).unwrap().findings[0].finding.kind, FindingKind::Punted);
    alter(&path, "UPDATE finding SET text = 'other' WHERE step_id = 3", false);
    // The finding was recorded after the end of step 3, and before the end of the run.
    assert_eq!(broken(&path), Some(None));
}
