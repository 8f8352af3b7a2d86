//! Writer of run files: append and commit, never rewrite.
//!
//! Durability: SQLite writes the pages that a transaction changes to the rollback journal and syncs
//! it, then writes and syncs the file, then invalidates the journal. A kill at any point leaves
//! either the state before the transaction (the journal is rolled back at the next opening) or
//! the state after it. Room for both files is allocated beforehand, so that a full file system is
//! met before a commit and not in it.

mod chain;
mod creation;
mod digest;
mod input;
mod names;
mod open_step;
mod read_back;
mod room;
mod since_format_3;
mod statements;

pub use input::{Opening, StepEnd};

use crate::error::RunFileError;
use crate::header;
use crate::histogram;
use crate::record::reader::RunFile;
use crate::record::{
    FindingRecord, StepId, StepPlace, StepState, checksum, integer, optional, text,
};
use crate::schema;
use names::{lock, remove_own, remove_stale_files};
use open_step::OpenStep;
pub use room::RESERVE;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags, params_from_iter};
use rustix::io::Errno;
use ssdgauge_core::{Interval, Plan, Reading};
use statements::{FINDING, INTERVAL, PROPERTY, READING, START_COLUMNS, STEP};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A run file that is open for writing.
///
/// Records are appended in a transaction; [`Writer::commit`] makes them durable. The file is
/// locked against a second writer; readers see the last commit.
#[derive(Debug)]
pub struct Writer {
    connection: Connection,
    path: PathBuf,
    // Holds the lock against a second writer. Declared after the connection, so that it is closed
    // later: POSIX drops all of a process's locks on a file when any descriptor of it is closed,
    // including those of SQLite.
    lock: File,
    /// The format of the file. An older one is extended with the first record.
    format: u32,
    /// The step that runs, to check our own calls; `None` before the first and between steps.
    open_step: Option<OpenStep>,
}

impl Writer {
    /// Removes a file that this writer has created and that has no results. It is kept where it has another
    /// name by now.
    pub fn discard(self) {
        let own = self.lock.metadata();
        let path = self.path.clone();
        // SQLite closes its files first: it would find them gone.
        drop(self);
        if let Ok(own) = own {
            remove_own(&path, &own);
        }
    }

    /// Opens `path` to continue its run, and returns its writer and its records.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Busy`] where another writer holds the file; otherwise those of
    /// [`RunFile::open`]. An interrupted transaction is rolled back; otherwise the file is not
    /// changed before its first new record, which brings it to the newest format.
    pub fn resume(path: &Path) -> Result<(Writer, RunFile), RunFileError> {
        let format = header::recognise(path)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(|cause| RunFileError::System { path: path.to_owned(), cause })?;
        lock(path, &file)?;
        remove_stale_files(path);
        // Before the settings of the writer: a file that is refused is not changed.
        let run = RunFile::open_as_writer(path, format)?;
        let mut writer = Writer::over(path, file)?;
        writer.begin()?;
        writer.format = run.format();
        room::reserve_journal(path);
        Ok((writer, run))
    }

    /// Returns the writer of `path`, which the caller has locked through `lock`.
    fn over(path: &Path, lock: File) -> Result<Writer, RunFileError> {
        let connection = schema::open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // A rollback journal, unlike a write-ahead log, leaves the run in one file that can be
        // copied at any time. FULL syncs the journal before the file and the file before the
        // commit returns. PERSIST keeps the allocated room of the journal between commits, and
        // without cache spill nothing is written outside a commit, so a full file system can fail
        // a commit only.
        connection
            .execute_batch(
                "PRAGMA journal_mode = PERSIST; PRAGMA synchronous = FULL; PRAGMA cache_spill = OFF;",
            )
            .map_err(|cause| RunFileError::from_sqlite(path, cause))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection
            .busy_timeout(COMMIT_TIMEOUT)
            .map_err(|cause| RunFileError::from_sqlite(path, cause))?;
        Ok(Writer {
            connection,
            path: path.to_owned(),
            lock,
            format: schema::FORMAT,
            open_step: None,
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Records the start of a step and returns its number. It becomes durable with the next commit.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Sqlite`] where SQLite refuses the record.
    ///
    /// # Panics
    ///
    /// Where `place` lies outside `plan` or `attempt` is 0: a mistake of the caller.
    pub fn begin_step(
        &mut self,
        place: StepPlace,
        attempt: u32,
        plan: &Plan,
        unix_ms: i64,
    ) -> Result<StepId, RunFileError> {
        assert!(attempt >= 1, "attempts are numbered from 1");
        let test = &plan.tests[place.test];
        let phase = &test.phases[place.phase];
        let next = "SELECT coalesce(max(id), 0) + 1 FROM step";
        let id: i64 = self
            .connection
            .query_row(next, [], |row| row.get(0))
            .map_err(|cause| RunFileError::from_sqlite(&self.path, cause))?;
        let values = vec![
            integer(id),
            integer(place.test),
            integer(place.phase),
            integer(place.step),
            integer(attempt),
            text(&test.id),
            text(phase.kind.name()),
            text(&phase.steps[place.step].label),
            integer(unix_ms),
            text(StepState::Running.name()),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
        ];
        self.insert(STEP, values)?;
        let id = StepId(id);
        self.open_step = Some(OpenStep::new(id, phase.steps[place.step].clone(), phase.kind));
        Ok(id)
    }

    /// Adds one second of one stream and direction. It becomes durable with the next commit.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Sqlite`] where SQLite refuses the record.
    ///
    /// # Panics
    ///
    /// Where `step` does not run, or the second does not lie after the last one of its stream and
    /// direction: a mistake of the rig, which would count requests twice.
    pub fn interval(&mut self, step: StepId, interval: &Interval) -> Result<(), RunFileError> {
        let open = self.open_step.as_mut().filter(|open| open.id == step);
        open.expect("intervals are added to a step while it runs").check_order(interval);
        let latency = &interval.latency;
        let values = vec![
            integer(step.0),
            integer(interval.second),
            integer(interval.stream),
            text(interval.direction.name()),
            integer(interval.length.0),
            integer(interval.ios),
            integer(interval.bytes),
            integer(interval.errors),
            integer(latency.sum()),
            optional(latency.min().map(integer)),
            optional(latency.max().map(integer)),
            integer(latency.overflow()),
            Value::Blob(histogram::encode(latency)),
        ];
        self.insert(INTERVAL, values)
    }

    /// Adds one reading. It becomes durable with the next commit.
    ///
    /// Readings of the pause after a step belong to the step, so they may follow its end.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Sqlite`] where SQLite refuses the record, such as a value that is NaN.
    pub fn reading(&mut self, step: StepId, reading: &Reading) -> Result<(), RunFileError> {
        let values = vec![
            integer(step.0),
            integer(reading.at.0),
            text(&reading.instrument),
            text(&reading.quantity),
            // SQLite stores a negative zero as 0, which the checksum would not be that of.
            Value::Real(reading.value + 0.0),
        ];
        self.insert(READING, values)
    }

    /// Adds a finding. It becomes durable with the next commit.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Sqlite`] where SQLite refuses the record.
    pub fn finding(&mut self, record: &FindingRecord) -> Result<(), RunFileError> {
        let finding = &record.finding;
        let values = vec![
            optional(record.step.map(|step| integer(step.0))),
            integer(record.unix_ms),
            text(finding.kind.key()),
            text(finding.severity.name()),
            text(&finding.text),
            text(&finding.advice),
        ];
        self.insert(FINDING, values)
    }

    /// Adds a property of `step`, or of the whole run where it is `None`. It becomes durable with
    /// the next commit.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Sqlite`] where SQLite refuses the record.
    pub fn property(
        &mut self,
        step: Option<StepId>,
        key: &str,
        value: &str,
    ) -> Result<(), RunFileError> {
        let step = optional(step.map(|step| integer(step.0)));
        self.insert(PROPERTY, vec![step, text(key), text(value)])
    }

    /// Records the end of a step, the numbers of a measured one, and the link over everything that was
    /// recorded since the one before. All become durable with the next commit. The record is final: a
    /// trigger of the file refuses any further change.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Sqlite`] where SQLite refuses the record.
    ///
    /// # Panics
    ///
    /// Where `step` does not run or `end` leaves it running: a mistake of the caller.
    pub fn finish_step(&mut self, step: StepId, end: &StepEnd) -> Result<(), RunFileError> {
        // Not `end.unix_ms >= started_unix_ms`: the time of day is not monotonic.
        assert!(end.state != StepState::Running, "an end is final");
        let open = self.open_step.take().filter(|open| open.id == step);
        let open = open.expect("a step ends once, and after it has begun");
        let read = "SELECT id, test, phase, step, attempt, test_id, phase_kind, label, \
                    started_unix_ms FROM step WHERE id = ?1";
        let sqlite = |cause| RunFileError::from_sqlite(&self.path, cause);
        // The checksum covers the whole record, so the columns of the start are read again.
        let mut values = self
            .connection
            .query_row(read, [step.0], |row| (0..START_COLUMNS).map(|at| row.get(at)).collect())
            .map_err(sqlite)
            .map(|values: Vec<Value>| values)?;
        values.extend([
            text(end.state.name()),
            integer(end.unix_ms),
            integer(end.elapsed.0),
            text(&end.ended_by),
            text(&end.report),
        ]);
        let crc = checksum(values.iter().map(ValueRef::from));
        let changed = values.split_off(START_COLUMNS);
        let updated = self
            .connection
            .prepare_cached(
                "UPDATE step SET state = ?1, ended_unix_ms = ?2, elapsed_ns = ?3, ended_by = ?4, \
                 report = ?5, crc = ?6 WHERE id = ?7",
            )
            .and_then(|mut statement| {
                let tail = [Value::Integer(crc), Value::Integer(step.0)];
                statement.execute(params_from_iter(changed.into_iter().chain(tail)))
            })
            .map_err(sqlite)?;
        assert!(updated == 1, "{updated} records have the number of one step");
        if open.is_measured && end.state == StepState::Finished {
            self.digest(step, &open.planned, end.elapsed)?;
        }
        self.link(Some(step))
    }

    /// Allocates the room that a commit of everything added so far needs; returns false where the
    /// file system is full. A commit that fails for want of room loses its transaction.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Sqlite`] where SQLite does not report the size of the file.
    pub fn has_room(&self) -> Result<bool, RunFileError> {
        match room::allocate(&self.lock, self.room()?) {
            Ok(()) => Ok(true),
            Err(Errno::NOSPC | Errno::DQUOT) => Ok(false),
            // Some file systems cannot allocate room beforehand; there the commit itself fails.
            Err(_) => Ok(true),
        }
    }

    /// Returns the error that [`Writer::has_room`] found no room, with the bytes that are missing.
    pub fn shortage(&self) -> RunFileError {
        let path = self.path.clone();
        match self.room() {
            Ok(room) => {
                let (needed, free) = room::missing(&self.lock, room);
                RunFileError::NoReserve { path, reserve: RESERVE.0, needed, free }
            }
            Err(error) => error,
        }
    }

    /// Returns the length of the file after a commit of everything added so far, with the reserve.
    fn room(&self) -> Result<u64, RunFileError> {
        let pragma = |name: &str| -> Result<u64, RunFileError> {
            self.connection
                .query_row(name, [], |row| row.get(0))
                .map(|number: i64| number.unsigned_abs())
                .map_err(|cause| RunFileError::from_sqlite(&self.path, cause))
        };
        // `page_count` includes the pages that the open transaction has added in memory.
        Ok(pragma("PRAGMA page_count")? * pragma("PRAGMA page_size")? + RESERVE.0)
    }

    /// Makes all added records durable.
    ///
    /// # Errors
    ///
    /// [`RunFileError::BeingRead`] where a reader holds the file: the records stay in the
    /// transaction, and a later commit makes them durable. [`RunFileError::Full`] where the file
    /// system is full, [`RunFileError::NameLost`] where the file was moved, removed or replaced,
    /// [`RunFileError::Sqlite`] otherwise; records since the last commit are then lost.
    pub fn commit(&mut self) -> Result<(), RunFileError> {
        self.check_name()?;
        match self.batch("COMMIT") {
            Err(RunFileError::Busy(path)) => Err(RunFileError::BeingRead(path)),
            Err(error) => Err(error),
            Ok(()) => self.begin(),
        }
    }

    /// Refuses a name that is not that of the file any more: the journal has the name of the file, so that a commit
    /// that is interrupted could only be undone in the file that has the name now.
    fn check_name(&self) -> Result<(), RunFileError> {
        let system = |cause| RunFileError::System { path: self.path.clone(), cause };
        let own = self.lock.metadata().map_err(system)?;
        match std::fs::metadata(&self.path) {
            Ok(named) if (named.dev(), named.ino()) == (own.dev(), own.ino()) => Ok(()),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(system(error)),
            Ok(_) | Err(_) => Err(RunFileError::name_lost(&self.path)),
        }
    }

    fn begin(&mut self) -> Result<(), RunFileError> {
        self.batch("BEGIN IMMEDIATE")
    }

    fn batch(&mut self, sql: &str) -> Result<(), RunFileError> {
        self.connection
            .execute_batch(sql)
            .map_err(|cause| RunFileError::from_sqlite(&self.path, cause))
    }

    /// Brings a file of an older format to the newest one, within the open transaction: its chain begins
    /// with a link over everything that it holds.
    fn extend(&mut self) -> Result<(), RunFileError> {
        if self.format == schema::FORMAT {
            return Ok(());
        }
        schema::extend(&self.connection, self.format)
            .map_err(|cause| RunFileError::from_sqlite(&self.path, cause))?;
        self.format = schema::FORMAT;
        self.seal()
    }

    /// Appends a record with its checksum as the last column.
    fn insert(&mut self, statement: &str, values: Vec<Value>) -> Result<(), RunFileError> {
        let crc = Value::Integer(checksum(values.iter().map(ValueRef::from)));
        self.extend()?;
        self.connection
            .prepare_cached(statement)
            .and_then(|mut statement| {
                statement.execute(params_from_iter(values.into_iter().chain([crc])))
            })
            .map(|_| ())
            .map_err(|cause| RunFileError::from_sqlite(&self.path, cause))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Commits the open transaction and deletes the journal, so that the run is one file. `drop`
        // cannot return an error; after a failure the next opening rolls back.
        let end = if self.check_name().is_ok() { "COMMIT" } else { "ROLLBACK" };
        let _ = self.connection.execute_batch(&format!("{end}; PRAGMA journal_mode = DELETE;"));
        // Frees the allocated room beyond the end of the file.
        if let Ok(metadata) = self.lock.metadata() {
            let _ = self.lock.set_len(metadata.len());
        }
    }
}

/// How long a commit waits for readers before it returns, to be tried again later.
const COMMIT_TIMEOUT: Duration = Duration::from_millis(100);
/// Statements that are kept prepared: each end of a step goes through all tables.
const STATEMENTS: usize = 64;
