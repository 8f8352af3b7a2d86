//! Tables of the format, and the settings of each connection.

use crate::error::RunFileError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// The format that this program writes, kept in SQLite's `user_version`.
pub const FORMAT: u32 = 3;

/// A table has at most so many columns.
pub(crate) const MOST_COLUMNS: usize = 16;

/// `SSDG` in SQLite's `application_id`.
pub(crate) const APPLICATION: u32 = 0x5353_4447;

/// The tables of format 1. A published format is never changed: a new one gets a new number.
const TABLES_OF_FORMAT_1: &str = "
CREATE TABLE run (
    id TEXT NOT NULL, program TEXT NOT NULL, started_unix_ms INTEGER NOT NULL,
    suite_id TEXT NOT NULL, suite_revision INTEGER NOT NULL, suite_title TEXT NOT NULL,
    shortened INTEGER NOT NULL, seed TEXT NOT NULL, plan TEXT NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE drive (
    kind TEXT NOT NULL, target TEXT NOT NULL, model TEXT, serial TEXT, firmware TEXT,
    capacity_bytes INTEGER NOT NULL, logical_block_bytes INTEGER NOT NULL,
    physical_block_bytes INTEGER NOT NULL, fingerprint TEXT NOT NULL, details TEXT NOT NULL,
    crc INTEGER NOT NULL);
CREATE TABLE environment (key TEXT NOT NULL, value TEXT NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE step (
    id INTEGER PRIMARY KEY, test INTEGER NOT NULL, phase INTEGER NOT NULL,
    step INTEGER NOT NULL, attempt INTEGER NOT NULL, test_id TEXT NOT NULL,
    phase_kind TEXT NOT NULL, label TEXT NOT NULL, started_unix_ms INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'broken')),
    ended_unix_ms INTEGER, elapsed_ns INTEGER, ended_by TEXT, report TEXT,
    crc INTEGER NOT NULL);
CREATE TABLE interval (
    step_id INTEGER NOT NULL REFERENCES step (id), second INTEGER NOT NULL,
    stream INTEGER NOT NULL, direction TEXT NOT NULL, length_ns INTEGER NOT NULL,
    ios INTEGER NOT NULL, bytes INTEGER NOT NULL, errors INTEGER NOT NULL,
    lat_sum_ns INTEGER NOT NULL, lat_min_ns INTEGER, lat_max_ns INTEGER,
    lat_overflow INTEGER NOT NULL, lat_histogram BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE INDEX interval_of_step ON interval (step_id);
CREATE TABLE reading (
    step_id INTEGER NOT NULL REFERENCES step (id), at_ns INTEGER NOT NULL,
    instrument TEXT NOT NULL, quantity TEXT NOT NULL, value REAL NOT NULL,
    crc INTEGER NOT NULL);
CREATE INDEX reading_of_step ON reading (step_id);
CREATE TABLE finding (
    step_id INTEGER REFERENCES step (id), unix_ms INTEGER NOT NULL, kind TEXT NOT NULL,
    severity TEXT NOT NULL, text TEXT NOT NULL, advice TEXT NOT NULL, crc INTEGER NOT NULL);
CREATE VIEW step_result AS
    SELECT step.id AS step_id, test_id, label, elapsed_ns,
        sum(ios) * 1e9 / elapsed_ns AS iops,
        sum(bytes) * 1e3 / elapsed_ns AS throughput_mb_s,
        sum(lat_sum_ns) / 1e3 / sum(ios) AS lat_mean_us,
        max(lat_max_ns) / 1e3 AS lat_max_us,
        sum(errors) AS errors
    FROM step JOIN interval ON interval.step_id = step.id
    WHERE state = 'finished' GROUP BY step.id;
CREATE TRIGGER finished_steps_stay BEFORE UPDATE ON step WHEN old.state <> 'running'
    BEGIN SELECT raise(ABORT, 'a finished step is never rewritten'); END;
CREATE TRIGGER intervals_stay BEFORE UPDATE ON interval
    BEGIN SELECT raise(ABORT, 'an interval is never rewritten'); END;
";

/// The tables that format 2 adds: a property of a run or of a step, as pairs of key and value, so
/// that a new property needs no new format.
const TABLES_SINCE_FORMAT_2: &str = "
CREATE TABLE property (
    step_id INTEGER REFERENCES step (id), key TEXT NOT NULL, value TEXT NOT NULL,
    crc INTEGER NOT NULL);
CREATE INDEX property_of_step ON property (step_id);
";

/// The tables that format 3 adds: answers of a drive to a protocol, percentiles of imported results, log
/// pages as they were read, the numbers of each step, the outcome, and the chain of hashes over all records.
const TABLES_SINCE_FORMAT_3: &str = "
CREATE TABLE answer (
    step_id INTEGER NOT NULL REFERENCES step (id), unix_ms INTEGER NOT NULL,
    kind TEXT NOT NULL, asked TEXT NOT NULL, answer BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE percentile (
    step_id INTEGER NOT NULL REFERENCES step (id), stream INTEGER NOT NULL,
    direction TEXT NOT NULL, percent REAL NOT NULL, lat_ns INTEGER NOT NULL,
    crc INTEGER NOT NULL);
CREATE TABLE log_page (
    step_id INTEGER NOT NULL REFERENCES step (id), at_ns INTEGER NOT NULL,
    page TEXT NOT NULL, content BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE digest (
    step_id INTEGER NOT NULL REFERENCES step (id), arithmetic INTEGER NOT NULL,
    samples_crc INTEGER NOT NULL, content BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE outcome (
    unix_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('complete', 'unfinished', 'failed')),
    reason TEXT NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE link (
    step_id INTEGER REFERENCES step (id), covers TEXT NOT NULL, hash BLOB NOT NULL,
    crc INTEGER NOT NULL);
CREATE TRIGGER links_stay BEFORE UPDATE ON link
    BEGIN SELECT raise(ABORT, 'a link is never rewritten'); END;
";

/// Begins the first transaction of a new file: creates the tables and sets the application id.
///
/// The caller adds the opening record and commits, so tables and opening record become durable in
/// one transaction: no run file exists without its opening record.
pub(crate) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "BEGIN; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; {}",
        tables(FORMAT)
    ))
}

/// Returns the definitions of all tables of `format`.
pub(crate) fn tables(format: u32) -> String {
    match format {
        0 => String::new(),
        1 => TABLES_OF_FORMAT_1.to_owned(),
        2 => format!("{TABLES_OF_FORMAT_1} {TABLES_SINCE_FORMAT_2}"),
        _ => format!("{TABLES_OF_FORMAT_1} {TABLES_SINCE_FORMAT_2} {TABLES_SINCE_FORMAT_3}"),
    }
}

/// Adds the tables of the newest format to a file of format `found`, within the open transaction.
///
/// Records and tables that exist are not changed, so the file is valid in both formats until the
/// commit.
pub(crate) fn extend(connection: &Connection, found: u32) -> rusqlite::Result<()> {
    let missing = match found {
        1 => format!("{TABLES_SINCE_FORMAT_2} {TABLES_SINCE_FORMAT_3}"),
        2 => TABLES_SINCE_FORMAT_3.to_owned(),
        _ => return Ok(()),
    };
    connection.execute_batch(&format!("{missing} PRAGMA user_version = {FORMAT}"))
}

/// Opens `path` with the settings for untrusted files.
///
/// Defensive mode and an untrusted schema keep a prepared file from running functions or writing
/// to internal tables through its views and triggers; `cell_size_check` finds damaged pages early.
/// Foreign keys are not enforced: the writer is the only source of records, and a reader checks
/// steps against the plan.
pub(crate) fn open(path: &Path, flags: OpenFlags) -> Result<Connection, RunFileError> {
    // The path is resolved once; NOFOLLOW then refuses a link that replaces the file meanwhile.
    let real = path
        .canonicalize()
        .map_err(|cause| RunFileError::System { path: path.to_owned(), cause })?;
    connect(path, &real, flags)
}

/// Opens `path` with the same settings for reads that take no lock and look at no journal. What they
/// return is valid where nothing was written to the file meanwhile.
#[cfg(target_os = "linux")]
pub(crate) fn open_immutable(path: &Path) -> Result<Connection, RunFileError> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let real = path
        .canonicalize()
        .map_err(|cause| RunFileError::System { path: path.to_owned(), cause })?;
    // In a URI, these characters would end the path or stand for others.
    let mut uri = b"file:".to_vec();
    for byte in real.as_os_str().as_bytes() {
        match byte {
            b'%' | b'?' | b'#' => uri.extend(format!("%{byte:02x}").into_bytes()),
            other => uri.push(*other),
        }
    }
    uri.extend(b"?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    connect(path, Path::new(OsStr::from_bytes(&uri)), flags)
}

/// Opens `name`, the resolved name of `path`.
fn connect(path: &Path, name: &Path, flags: OpenFlags) -> Result<Connection, RunFileError> {
    let sqlite = |cause| RunFileError::from_sqlite(path, cause);
    // Without mutexes of SQLite: the type of a connection keeps it from being shared among threads.
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(name, flags).map_err(sqlite)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(sqlite)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(sqlite)?;
    connection
        .execute_batch("PRAGMA cell_size_check = ON; PRAGMA foreign_keys = OFF;")
        .map_err(sqlite)?;
    // A commit holds the exclusive lock for milliseconds; a reader waits for it instead of failing.
    connection.busy_timeout(std::time::Duration::from_secs(5)).map_err(sqlite)?;
    Ok(connection)
}

/// Refuses a file whose pages or indices are damaged. A file that is continued is checked as a whole.
///
/// Checksums cover the values of each record; this check covers the b-trees, which decide whether a
/// record is found at all.
pub(crate) fn check_all(connection: &Connection, path: &Path) -> Result<(), RunFileError> {
    quick_check(connection, path, "1")?;
    LARGE_TABLES.iter().try_for_each(|table| check_index(connection, path, table))
}

/// Refuses a file of `format` whose small tables are damaged. A record of a large table is checked
/// when it is read: to look at all of them first takes as long as a fifth of a report.
pub(crate) fn check_small(
    connection: &Connection,
    path: &Path,
    format: u32,
) -> Result<(), RunFileError> {
    let number = match format {
        1 => TABLES_IN_FORMAT_1,
        2 => TABLES_IN_FORMAT_1 + 1,
        _ => SMALL_TABLES.len(),
    };
    SMALL_TABLES[..number].iter().try_for_each(|table| quick_check(connection, path, table))
}

/// The tables with records of each second.
pub(crate) const LARGE_TABLES: [&str; 2] = ["interval", "reading"];

/// The other tables, in the order of the formats that added them.
const SMALL_TABLES: [&str; 12] = [
    "run",
    "drive",
    "environment",
    "step",
    "finding",
    "property",
    "answer",
    "percentile",
    "log_page",
    "digest",
    "outcome",
    "link",
];
/// The tables with records of each run that format 1 has.
const TABLES_IN_FORMAT_1: usize = 5;

/// Has SQLite check the pages and records of a table, or of all where `what` is a number: the most
/// defects that it names.
fn quick_check(connection: &Connection, path: &Path, what: &str) -> Result<(), RunFileError> {
    let sql = format!("PRAGMA quick_check({what})");
    let answer: String = connection
        .query_row(&sql, [], |row| row.get(0))
        .map_err(|cause| RunFileError::from_sqlite(path, cause))?;
    match answer.as_str() {
        "ok" => Ok(()),
        _ => Err(RunFileError::Damaged { path: path.to_owned(), what: answer }),
    }
}

/// Refuses a file where the index of `table` contradicts its records, by a sum over all entries:
/// `integrity_check`, which searches for each, takes as long as reading them.
pub(crate) fn check_index(
    connection: &Connection,
    path: &Path,
    table: &str,
) -> Result<(), RunFileError> {
    // The modulus is prime, so that no flipped bit leaves the sum; the sum of integers is exact.
    // One statement has one state of the file, also where a run adds records meanwhile.
    let sum = "coalesce(sum((step_id * 1000033 + rowid) % 2147483647), 0)";
    let sql = format!(
        "SELECT (SELECT {sum} FROM {table} INDEXED BY {table}_of_step) \
         = (SELECT {sum} FROM {table} NOT INDEXED)"
    );
    let is_equal: bool = connection
        .query_row(&sql, [], |row| row.get(0))
        .map_err(|cause| RunFileError::from_sqlite(path, cause))?;
    match is_equal {
        true => Ok(()),
        false => Err(contradicted(path, table)),
    }
}

/// Returns the error of a file where the index of `table` contradicts its records.
pub(crate) fn contradicted(path: &Path, table: &str) -> RunFileError {
    let what = format!("the index of table {table} contradicts its records");
    RunFileError::Damaged { path: path.to_owned(), what }
}
