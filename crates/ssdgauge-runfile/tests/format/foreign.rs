//! Foreign and newer files are refused and not changed.

use ssdgauge_runfile::{RunFile, RunFileError, Writer};
use std::path::Path;

/// Opens `path` for reading and for writing; neither may succeed or change a byte.
pub(crate) fn refusal(path: &Path) -> RunFileError {
    let before = std::fs::read(path).unwrap();
    let modified = std::fs::metadata(path).unwrap().modified().unwrap();
    assert!(Writer::resume(path).is_err());
    let error = RunFile::open(path).unwrap_err();
    assert_eq!(std::fs::read(path).unwrap(), before);
    assert_eq!(std::fs::metadata(path).unwrap().modified().unwrap(), modified);
    let files = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(files, 1, "a temporary file is left beside the file");
    error
}

#[test]
fn foreign_files_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for content in ["", "a note", &"x".repeat(5_000), "SQLite format 3\0 but not really"] {
        std::fs::write(&path, content).unwrap();
        assert!(matches!(refusal(&path), RunFileError::Foreign { .. }));
    }
    std::fs::remove_file(&path).unwrap();
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA user_version = 1; CREATE TABLE run (id);")
        .unwrap();
    let error = refusal(&path);
    assert!(error.to_string().contains("another program"), "{error}");
}

#[test]
fn a_newer_format_is_refused_with_both_format_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("newer.ssdg");
    crate::format::support::write(&path);
    rusqlite::Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    match refusal(&path) {
        RunFileError::Newer { found: 99, known: ssdgauge_runfile::FORMAT, .. } => {}
        other => panic!("{other}"),
    }
}

#[test]
fn a_missing_file_and_a_folder_give_different_errors() {
    let folder = tempfile::tempdir().unwrap();
    let missing = RunFile::open(&folder.path().join("none")).unwrap_err();
    assert!(matches!(missing, RunFileError::Missing(_)));
    let is_folder = RunFile::open(folder.path()).unwrap_err();
    assert!(is_folder.to_string().contains("not a regular file"), "{is_folder}");
}
