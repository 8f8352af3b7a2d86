//! Limits for run files, which are untrusted input: the schema of their format literally, and bounds
//! on the length of a value, the number of records and the operations of a statement.
//!
//! A prepared file can otherwise replace a table by a view that never ends, or by one that computes
//! gigabytes. With these limits reading takes time and memory in proportion to the size of the file.

use crate::error::RunFileError;
use crate::schema;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode};
use ssdgauge_core::{DriveInfo, Plan};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

/// The longest text or blob in bytes. The plan is the longest value; `client-2021` repeated 100
/// times has 1.5 MB. Chosen: ten times that.
const LONGEST_VALUE: i32 = 16 << 20;

/// The maximum number of records of a table that is read into memory as a whole. Chosen: a step a minute for half
/// a year.
pub(crate) const MAX_RECORDS: usize = 1 << 18;

/// The maximum number of facts about the host, and about the drive. Chosen: fifty times those of a run with
/// many meters.
pub(crate) const MAX_FACTS: usize = 1_000;

/// The maximum number of tests of a plan, repetitions counted. Chosen: a suite of 40 tests, repeated 100 times.
const MAX_TESTS: usize = 4_000;

/// The most further scores, choices and deviations of a plan. Chosen: ten for each test of the same.
const MAX_REMARKS: usize = 40_000;

/// The bytes that all histograms of a file may unpack to, whatever its size. Chosen: 4,000 seconds with
/// every bucket occupied; a recorded second occupies up to some 3,000 of the 33,792.
const LEAST_UNPACKED: u64 = 128 << 20;

/// Further bytes that the histograms may unpack to, for each byte of the file. Recorded histograms
/// unpack to at most 1.9 times their size, and a report of repetitions reads them twice.
const UNPACKED_FOR_EACH_BYTE: u64 = 4;

/// Returns the bytes that the histograms of the file `path` may unpack to.
pub(crate) fn unpacked_at_most(path: &Path) -> u64 {
    let size = std::fs::metadata(path).map_or(0, |file| file.len());
    LEAST_UNPACKED.saturating_add(size.saturating_mul(UNPACKED_FOR_EACH_BYTE))
}

/// Returns the error of a file whose histograms unpack to more.
pub(crate) fn too_many_latencies(path: &Path) -> RunFileError {
    RunFileError::TooManyLatencies { path: path.to_owned(), most: unpacked_at_most(path) >> 20 }
}

/// Returns what of `plan` and `drive` exceeds the limits: a report takes some 10 KiB for each test, and
/// some 2 KiB for each remark.
pub(crate) fn excess(plan: &Plan, drive: &DriveInfo) -> Option<&'static str> {
    let remarks = plan.tests.iter().map(|test| {
        test.also.len() + test.chosen.len() + test.deviations.len() + test.figures.len()
    });
    match () {
        () if plan.tests.len() > MAX_TESTS => Some("a plan with too many tests"),
        () if remarks.sum::<usize>() > MAX_REMARKS => {
            Some("a plan with too many scores or remarks")
        }
        () if drive.details.len() > MAX_FACTS => Some("a drive with too many details"),
        () => None,
    }
}

/// Operations of SQLite's virtual machine between two looks at the budget.
const OPERATIONS_PER_LOOK: i32 = 1_000;

/// The maximum number of operations of the first statement, which parses the schema: some 20 for each of its 13
/// entries. Chosen: for a thousand entries.
const OPERATIONS_FOR_SCHEMA: u64 = 20_000;

/// The tables that ANALYZE makes, as SQLite creates them.
const OF_ANALYZE: [(&str, &str); 2] = [
    ("sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    ("sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
];

/// An entry of the schema: type, name, table, and the text of its definition.
type Entry = (String, String, String, Option<String>);

/// The operations that the next statement may still take.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    looks_left: Arc<AtomicI64>,
    for_statement: u64,
}

impl Budget {
    /// Returns the budget of a connection without a limit: of a file that this program writes itself.
    pub(crate) fn unlimited() -> Budget {
        Budget { looks_left: Arc::default(), for_statement: 0 }
    }

    /// Allows a whole statement again. Chosen: 20 million operations, and two for each byte of the
    /// file; the check of the structure takes some 0.2 for each byte.
    pub(crate) fn renew(&self) {
        self.set(self.for_statement);
    }

    fn set(&self, operations: u64) {
        let looks = operations / OPERATIONS_PER_LOOK as u64;
        self.looks_left.store(looks as i64, Ordering::Relaxed);
    }
}

/// Sets the limits of `connection` to the file `path`, and checks its schema against that of
/// `format`. Returns the budget of its statements.
pub(crate) fn guard(
    connection: &mut Connection,
    path: &Path,
    format: u32,
) -> Result<Budget, RunFileError> {
    let sqlite = |cause| error_of(path, cause);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE).map_err(sqlite)?;
    let size = std::fs::metadata(path).map_or(0, |file| file.len());
    // Atomic because the handler has to be `Send`; it runs in the thread of the statement.
    let looks_left = Arc::new(AtomicI64::new(0));
    let budget = Budget {
        looks_left: Arc::clone(&looks_left),
        for_statement: 20_000_000 + size.saturating_mul(2),
    };
    budget.set(OPERATIONS_FOR_SCHEMA);
    let is_spent = move || looks_left.fetch_sub(1, Ordering::Relaxed) <= 0;
    // Before the schema is read, which is the first text of the file that SQLite parses.
    connection.progress_handler(OPERATIONS_PER_LOOK, Some(is_spent)).map_err(sqlite)?;
    check_schema(connection, path, format)?;
    budget.renew();
    Ok(budget)
}

/// Refuses a file whose schema is not that of `format` to the letter.
fn check_schema(connection: &Connection, path: &Path, format: u32) -> Result<(), RunFileError> {
    let foreign = |why: String| Err(RunFileError::Foreign { path: path.to_owned(), why });
    let found = entries(connection).map_err(|cause| error_of(path, cause))?;
    let expected = match expected(format) {
        Some(expected) => expected,
        None => return foreign(format!("the tables of format {format} are not known")),
    };
    // Before what is missing: of a view in place of a table, the view is named.
    if let Some((kind, name, _, _)) = found.iter().find(|entry| !expected.contains(*entry)) {
        let name: String = name.chars().take(40).collect();
        return foreign(format!("its {kind} '{name}' is not that of format {format}"));
    }
    match expected.iter().find(|entry| !is_of_analyze(entry) && !found.contains(*entry)) {
        Some((kind, name, _, _)) => foreign(format!("its {kind} '{name}' is missing")),
        None => Ok(()),
    }
}

fn is_of_analyze(entry: &Entry) -> bool {
    OF_ANALYZE.iter().any(|(name, _)| entry.1 == *name)
}

fn entries(connection: &Connection) -> rusqlite::Result<BTreeSet<Entry>> {
    let mut statement =
        connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")?;
    let rows =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    rows.collect()
}

/// Returns the schema of `format`, with the tables that ANALYZE may add: SQLite keeps the text of a
/// definition as it was given, so a database in memory has the same.
fn expected(format: u32) -> Option<&'static BTreeSet<Entry>> {
    static EXPECTED: OnceLock<Vec<BTreeSet<Entry>>> = OnceLock::new();
    let all = EXPECTED.get_or_init(|| {
        (1..=schema::FORMAT)
            .map(|format| {
                let connection = Connection::open_in_memory().expect("a database in memory");
                connection
                    .execute_batch(&schema::tables(format))
                    .expect("the schema of this program is valid");
                let mut expected = entries(&connection).expect("the schema can be read");
                expected.extend(OF_ANALYZE.map(|(name, sql)| {
                    ("table".to_owned(), name.to_owned(), name.to_owned(), Some(sql.to_owned()))
                }));
                expected
            })
            .collect()
    });
    all.get(usize::try_from(format).ok()?.checked_sub(1)?)
}

/// Classifies an error of SQLite, those of the limits as damage with the limit.
pub(crate) fn error_of(path: &Path, cause: rusqlite::Error) -> RunFileError {
    let damaged = |what: String| RunFileError::Damaged { path: path.to_owned(), what };
    match cause.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => {
            damaged("reading it takes more operations than a run file of its size needs".into())
        }
        Some(ErrorCode::TooBig) => {
            damaged(format!("a value is longer than {} MiB", LONGEST_VALUE >> 20))
        }
        _ => while_reading(RunFileError::from_sqlite(path, cause)),
    }
}

/// Returns `error` as one of reading, where it does not say what it is of.
pub(crate) fn while_reading(error: RunFileError) -> RunFileError {
    match error {
        RunFileError::Sqlite { path, cause } => {
            RunFileError::Unreadable { path, cause: cause.to_string() }
        }
        RunFileError::System { path, cause } => {
            RunFileError::Unreadable { path, cause: cause.to_string() }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_never_ends_is_interrupted_and_the_next_one_has_its_own_budget() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut connection = Connection::open(&path).unwrap();
        connection.execute_batch(&schema::tables(schema::FORMAT)).unwrap();
        let budget = guard(&mut connection, &path, schema::FORMAT).unwrap();
        let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) \
                       SELECT count(*) FROM c";
        let cause = connection.query_row(endless, [], |_| Ok(())).unwrap_err();
        let error = error_of(&path, cause);
        assert!(matches!(error, RunFileError::Damaged { .. }), "{error}");
        budget.renew();
        let count: i64 =
            connection.query_row("SELECT count(*) FROM run", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 0);
    }
}
