//! Files next to a run file, which SQLite would take for a part of it by their names.

use crate::format::support::{folder, read, write};
use ssdgauge_runfile::{RunFile, RunFileError, Writer};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first bytes of a journal (SQLite file format, section 3).
const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

fn next_to(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

/// What a test changes of a journal.
#[derive(Clone, Copy)]
struct Change {
    /// The pages of the database, as the header states them.
    pages: u32,
    page_size: u32,
    /// Added to the counter of transactions in the first page.
    counter: u32,
    /// The number of the recorded page.
    page: u32,
    super_journal: bool,
}

/// Returns a journal that restores the present first page of the run file `database`.
fn journal(database: &[u8], change: Change) -> Vec<u8> {
    let number = |at: usize| u32::from_be_bytes(database[at..at + 4].try_into().unwrap());
    let mut page = database[..4_096].to_vec();
    let counter = number(24).wrapping_add(change.counter);
    page[24..28].copy_from_slice(&counter.to_be_bytes());
    let sum = |page: &[u8]| (1..4_096 - 199).rev().step_by(200).map(|at| u32::from(page[at])).sum();
    let checksum: u32 = sum(&page);
    let mut bytes = MAGIC.to_vec();
    for field in [1, 0, change.pages, 512, change.page_size] {
        bytes.extend(u32::to_be_bytes(field));
    }
    bytes.resize(512, 0);
    bytes.extend(change.page.to_be_bytes());
    bytes.extend(&page);
    bytes.extend(checksum.to_be_bytes());
    if change.super_journal {
        bytes.extend(b"/tmp/other");
        bytes.extend(MAGIC);
    }
    bytes
}

/// Checks that neither a reader nor a writer accepts or changes the file or what is next to it.
fn check_refused(path: &Path, expected: &str) {
    let files = || -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let entries = path.parent().unwrap().read_dir().unwrap().map(|one| one.unwrap().path());
        let mut files: Vec<_> = entries
            .map(|one| (one.clone(), one.is_file().then(|| std::fs::read(one).unwrap())))
            .collect();
        files.sort();
        files
    };
    let before = files();
    for error in [RunFile::open(path).unwrap_err(), Writer::resume(path).unwrap_err()] {
        assert!(matches!(error, RunFileError::Neighbour { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert!(files() == before, "{expected}: a file was changed");
}

#[test]
fn a_journal_of_another_file_is_refused_and_nothing_is_changed() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let database = std::fs::read(&path).unwrap();
    let pages = (database.len() / 4_096) as u32;
    let sound = Change { pages, page_size: 4_096, counter: 0, page: 1, super_journal: false };
    for (change, expected) in [
        (Change { pages: 3, ..sound }, "another state"),
        (Change { pages: 0, ..sound }, "a file of 0 pages"),
        (Change { pages: u32::MAX - 1, ..sound }, "a file of 4294967294 pages"),
        (Change { page_size: 1_024, ..sound }, "its pages have 1024 bytes"),
        (Change { counter: 7, ..sound }, "another state"),
        (Change { page: 2, ..sound }, "no record of the first page"),
        (Change { super_journal: true, ..sound }, "names other files"),
    ] {
        std::fs::write(next_to(&path, "-journal"), journal(&database, change)).unwrap();
        check_refused(&path, expected);
    }
    let mut huge = journal(&database, sound);
    huge.resize(database.len() + (2 << 20), 0);
    std::fs::write(next_to(&path, "-journal"), huge).unwrap();
    check_refused(&path, "too many for a run file");
    std::fs::write(next_to(&path, "-journal"), "mine\n").unwrap();
    check_refused(&path, "not a rollback journal");
    // The journal of the file itself is used, and removed.
    std::fs::write(next_to(&path, "-journal"), journal(&database, sound)).unwrap();
    read(&path).unwrap();
    assert!(!next_to(&path, "-journal").exists());
    assert!(std::fs::read(&path).unwrap() == database);
}

#[test]
fn an_error_after_a_rollback_says_that_the_file_has_changed() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let mut database = std::fs::read(&path).unwrap();
    let pages = (database.len() / 4_096) as u32;
    let sound = Change { pages, page_size: 4_096, counter: 0, page: 1, super_journal: false };
    let bytes = journal(&database, sound);
    database[4_096..].fill(0x55);
    std::fs::write(&path, database).unwrap();
    std::fs::write(next_to(&path, "-journal"), bytes).unwrap();
    let error = RunFile::open(&path).unwrap_err();
    assert!(matches!(error, RunFileError::AfterRollback(_)), "{error:?}");
}

#[test]
fn a_write_ahead_log_next_to_a_run_file_is_refused_and_no_file_is_left() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    write(&path);
    for content in ["garbage", ""] {
        std::fs::write(next_to(&path, "-wal"), content).unwrap();
        check_refused(&path, "have no write-ahead log");
    }
}

#[test]
fn a_fifo_is_refused_without_waiting() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let make = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    for suffix in ["-journal", "-wal"] {
        let fifo = next_to(&path, suffix);
        make(&fifo);
        check_refused(
            &path,
            if suffix == "-wal" { "write-ahead log" } else { "not a regular file" },
        );
        std::fs::remove_file(fifo).unwrap();
    }
    let fifo = folder.path().join("fifo.ssdg");
    make(&fifo);
    for error in [RunFile::open(&fifo).unwrap_err(), Writer::resume(&fifo).unwrap_err()] {
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }
}

#[test]
fn a_new_run_file_never_takes_the_name_of_a_file_of_sqlite() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    for suffix in ["-journal", "-wal", "-shm"] {
        let taken = next_to(&path, suffix);
        std::fs::write(&taken, "mine").unwrap();
        let error = ssdgauge_runfile::check_new(&path).unwrap_err();
        assert!(matches!(&error, RunFileError::NextTo(file) if *file == taken), "{error}");
        std::fs::remove_file(taken).unwrap();
    }
    ssdgauge_runfile::check_new(&path).unwrap();
}
