//! Files of every published format stay readable, with every value unchanged.

use crate::format::support;
use ssdgauge_runfile::{FORMAT, RunFile, Writer};
use std::path::Path;

/// One file of each format, written once by `support::write` and never again.
const FORMAT_1: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format/format-1.ssdg");
const FORMAT_2: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format/format-2.ssdg");

#[test]
fn files_of_every_format_read_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let again = folder.path().join("again.ssdg");
    support::write(&again);
    let written = support::read(&again).unwrap();
    assert_eq!(written.steps.len(), 3);
    assert_eq!(written.intervals.iter().map(Vec::len).sum::<usize>(), 18);
    assert_eq!(written.properties.len(), 4);
    assert_eq!(written.head.plan, support::plan());
    assert_eq!(written.head.drive, support::drive());
    let newest = support::read(Path::new(FORMAT_2)).unwrap();
    assert_eq!(newest, written);
    // Format 1 has no properties.
    let first = support::read(Path::new(FORMAT_1)).unwrap();
    assert_eq!(first, support::Content { properties: Vec::new(), ..written });
}

#[test]
fn a_resumed_file_of_format_1_has_the_newest_format_with_its_first_new_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ssdg");
    std::fs::copy(FORMAT_1, &path).unwrap();
    let before = support::read(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(Writer::resume(&path).unwrap().1.format(), 1);
    assert!(std::fs::read(&path).unwrap() == bytes, "a file without a new record is not changed");
    let (mut writer, _) = Writer::resume(&path).unwrap();
    writer.property(None, "label", "resumed").unwrap();
    writer.commit().unwrap();
    drop(writer);
    let after = support::read(&path).unwrap();
    assert_eq!(after.properties.len(), 1);
    assert_eq!(support::Content { properties: Vec::new(), ..after }, before);
    // The tables of an extended file are those of a new one, to the letter.
    let schema = |path: &Path| -> Vec<String> {
        let connection = rusqlite::Connection::open(path).unwrap();
        let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(schema(&path), schema(Path::new(FORMAT_2)));
    assert_eq!(RunFile::open(&path).unwrap().format(), FORMAT);
}

#[test]
fn the_documentation_describes_every_table_and_column() {
    let document = include_str!("../../../../docs/format.md");
    let connection = rusqlite::Connection::open(FORMAT_2).unwrap();
    let mut statement = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
        .unwrap();
    let names: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(names.len(), 9);
    for table in names {
        assert!(document.contains(&format!("### `{table}`")), "{table} is not documented");
        let columns = format!("SELECT name FROM pragma_table_info('{table}')");
        let mut statement = connection.prepare(&columns).unwrap();
        for column in statement.query_map([], |row| row.get::<_, String>(0)).unwrap() {
            let column = column.unwrap();
            assert!(document.contains(&format!("`{column}`")), "{table}.{column}");
        }
    }
}
