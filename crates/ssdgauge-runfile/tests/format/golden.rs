//! Files of every published format stay readable, with every value unchanged.

use crate::support;
use std::path::Path;

/// Written once by `support::write`; never regenerated.
const FORMAT_1: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format/format-1.ssdg");

#[test]
fn a_file_of_format_1_reads_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let again = folder.path().join("again.ssdg");
    support::write(&again);
    let golden = support::read(Path::new(FORMAT_1)).unwrap();
    assert_eq!(golden, support::read(&again).unwrap());
    assert_eq!(golden.steps.len(), 3);
    assert_eq!(golden.intervals.iter().map(Vec::len).sum::<usize>(), 18);
    assert_eq!(golden.head.plan, support::plan());
    assert_eq!(golden.head.drive, support::drive());
}

#[test]
fn the_documentation_describes_every_table_and_column() {
    let document = include_str!("../../../../docs/format.md");
    let connection = rusqlite::Connection::open(FORMAT_1).unwrap();
    let mut statement = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
        .unwrap();
    let names: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(names.len(), 8);
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
