//! Writing a run: append, commit, never rewrite.

use crate::error::RunFileError;
use crate::histogram;
use crate::record::reader::RunFile;
use crate::record::{
    FindingRecord, StepId, StepPlace, StepState, checksum, integer, optional, text,
};
use crate::schema;
use crate::temp_files::abandoned;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::Errno;
use ssdgauge_core::{DriveInfo, Interval, Nanos, Plan, Reading};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What a run begins with.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The id of the run, unique among all runs.
    pub id: &'a str,
    /// The program and its version.
    pub program: &'a str,
    /// The time of day in milliseconds since 1970 (UTC).
    pub unix_ms: i64,
    /// What shall happen.
    pub plan: &'a Plan,
    /// The drive.
    pub drive: &'a DriveInfo,
    /// The host: pairs of key and value.
    pub environment: &'a [(String, String)],
}

/// How a step ended.
#[derive(Clone, Debug)]
pub struct StepEnd {
    /// Finished or broken.
    pub state: StepState,
    /// The time of day in milliseconds since 1970 (UTC).
    pub unix_ms: i64,
    /// How long it ran.
    pub elapsed: Nanos,
    /// The limit that ended it.
    pub ended_by: String,
    /// What the engine or the preparation says of itself, as JSON.
    pub report: String,
}

/// A run file that is being written.
///
/// Records are appended in a transaction; [`Writer::commit`] makes them durable. The file is
/// locked against a second writer, and may be read meanwhile.
#[derive(Debug)]
pub struct Writer {
    connection: Connection,
    path: PathBuf,
    // Held for its lock, and closed after the connection: closing any descriptor of a file drops
    // the locks that SQLite holds on it.
    lock: File,
}

impl Writer {
    /// Creates `path`, which must not exist, with the opening record.
    ///
    /// The file takes its name when the record is durable: whenever the program is killed, there
    /// is either a readable run file or none.
    pub fn create(path: &Path, opening: &Opening<'_>) -> Result<Writer, RunFileError> {
        if path.symlink_metadata().is_ok() {
            return Err(RunFileError::Exists(path.to_owned()));
        }
        remove_openings(path);
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}{OPENING}", std::process::id()));
        let unnamed = PathBuf::from(name);
        let created = Writer::write_opening(&unnamed, path, opening).and_then(|lock| {
            give_name(&unnamed, path)?;
            Ok(lock)
        });
        // The journal is of no use any more, and what failed would only puzzle.
        remove_with_journal(&unnamed);
        let mut writer = Writer::over(path, created?)?;
        // The first write under this name: it makes the journal, whose room is reserved then.
        writer.batch(&format!("BEGIN IMMEDIATE; PRAGMA user_version = {}", schema::FORMAT))?;
        writer.commit()?;
        writer.reserve_journal();
        Ok(writer)
    }

    /// Writes the opening record into `unnamed`, which shall be `path`, and returns its lock.
    fn write_opening(
        unnamed: &Path,
        path: &Path,
        opening: &Opening<'_>,
    ) -> Result<File, RunFileError> {
        let system = |cause| RunFileError::System { path: path.to_owned(), cause };
        let file = OpenOptions::new()
            .write(true)
            .read(true)
            .create_new(true)
            .mode(0o600)
            .open(unnamed)
            .map_err(system)?;
        let mut writer = Writer::over(unnamed, file)?;
        schema::create(&writer.connection).map_err(|cause| RunFileError::of(path, cause))?;
        writer.open_record(opening)?;
        writer.batch("COMMIT")?;
        // The same lock: it outlives the writer under the old name.
        writer.lock.try_clone().map_err(system)
    }

    /// Opens `path` to go on with its run, and returns what it holds.
    pub fn resume(path: &Path) -> Result<(Writer, RunFile), RunFileError> {
        schema::recognise(path)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(|cause| RunFileError::System { path: path.to_owned(), cause })?;
        let mut writer = Writer::over(path, file)?;
        remove_openings(path);
        let run = RunFile::open(path)?;
        writer.begin()?;
        writer.reserve_journal();
        Ok((writer, run))
    }

    fn over(path: &Path, lock: File) -> Result<Writer, RunFileError> {
        lock.try_lock().map_err(|_| RunFileError::Busy(path.to_owned()))?;
        let connection = schema::open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // A rollback journal keeps the run in one file; FULL makes each commit durable. The
        // journal keeps its room between commits, and nothing else is written there: a full file
        // system is met at commits alone.
        connection
            .execute_batch(
                "PRAGMA journal_mode = PERSIST; PRAGMA synchronous = FULL; PRAGMA cache_spill = OFF;",
            )
            .map_err(|cause| RunFileError::of(path, cause))?;
        Ok(Writer { connection, path: path.to_owned(), lock })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Records that a step begins, durably.
    pub fn begin_step(
        &mut self,
        place: StepPlace,
        attempt: u32,
        plan: &Plan,
        unix_ms: i64,
    ) -> Result<StepId, RunFileError> {
        let test = &plan.tests[place.test];
        let phase = &test.phases[place.phase];
        let next = "SELECT coalesce(max(id), 0) + 1 FROM step";
        let id: i64 = self
            .connection
            .query_row(next, [], |row| row.get(0))
            .map_err(|cause| RunFileError::of(&self.path, cause))?;
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
        self.commit()?;
        Ok(StepId(id))
    }

    /// Adds one second of one stream and direction.
    pub fn interval(&mut self, step: StepId, interval: &Interval) -> Result<(), RunFileError> {
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

    /// Adds one reading.
    pub fn reading(&mut self, step: StepId, reading: &Reading) -> Result<(), RunFileError> {
        let values = vec![
            integer(step.0),
            integer(reading.at.0),
            text(&reading.instrument),
            text(&reading.quantity),
            Value::Real(reading.value),
        ];
        self.insert(READING, values)
    }

    /// Adds a finding.
    pub fn finding(&mut self, record: &FindingRecord) -> Result<(), RunFileError> {
        let finding = &record.finding;
        let values = vec![
            optional(record.step.map(|step| integer(step.0))),
            integer(record.unix_ms),
            text(finding.kind.key()),
            text(match finding.severity {
                ssdgauge_core::Severity::Note => "note",
                ssdgauge_core::Severity::Warning => "warning",
                ssdgauge_core::Severity::Invalid => "invalid",
            }),
            text(&finding.text),
            text(&finding.advice),
        ];
        self.insert(FINDING, values)
    }

    /// Records how a step ended, durably; its record is final from now on.
    pub fn finish_step(&mut self, step: StepId, end: &StepEnd) -> Result<(), RunFileError> {
        let read = "SELECT id, test, phase, step, attempt, test_id, phase_kind, label, \
                    started_unix_ms FROM step WHERE id = ?1";
        let sqlite = |cause| RunFileError::of(&self.path, cause);
        let mut values = self
            .connection
            .query_row(read, [step.0], |row| (0..KEPT).map(|at| row.get(at)).collect())
            .map_err(sqlite)
            .map(|values: Vec<Value>| values)?;
        values.extend([
            text(end.state.name()),
            integer(end.unix_ms),
            integer(end.elapsed.0),
            text(&end.ended_by),
            text(&end.report),
        ]);
        let crc = checksum(&values);
        let changed = values.split_off(KEPT);
        self.connection
            .prepare_cached(
                "UPDATE step SET state = ?1, ended_unix_ms = ?2, elapsed_ns = ?3, ended_by = ?4, \
                 report = ?5, crc = ?6 WHERE id = ?7",
            )
            .and_then(|mut statement| {
                let tail = [Value::Integer(crc), Value::Integer(step.0)];
                statement.execute(params_from_iter(changed.into_iter().chain(tail)))
            })
            .map_err(sqlite)?;
        self.commit()
    }

    /// Takes the room that a commit of everything added so far would need, and returns whether
    /// there was so much. A commit that finds none loses what it holds.
    pub fn has_room(&self) -> Result<bool, RunFileError> {
        let pragma = |name: &str| -> Result<u64, RunFileError> {
            self.connection
                .query_row(name, [], |row| row.get(0))
                .map(|number: i64| number.unsigned_abs())
                .map_err(|cause| RunFileError::of(&self.path, cause))
        };
        let wanted = pragma("PRAGMA page_count")? * pragma("PRAGMA page_size")?;
        match take(&self.lock, wanted + RESERVE) {
            Ok(()) => Ok(true),
            Err(Errno::NOSPC | Errno::DQUOT) => Ok(false),
            // Not every file system can promise room: then a commit has to find out.
            Err(_) => Ok(true),
        }
    }

    /// Takes the room that the journal needs, so that adding a record never fails for want of it.
    fn reserve_journal(&self) {
        let mut journal = self.path.clone().into_os_string();
        journal.push("-journal");
        let flags = OFlags::NOFOLLOW.bits() as i32;
        if let Ok(file) = OpenOptions::new().write(true).custom_flags(flags).open(journal) {
            // Where it cannot be had now, a commit has to find out.
            let _ = take(&file, RESERVE);
        }
    }

    /// Makes everything durable that was added so far.
    pub fn commit(&mut self) -> Result<(), RunFileError> {
        self.batch("COMMIT")?;
        self.begin()
    }

    fn begin(&mut self) -> Result<(), RunFileError> {
        self.batch("BEGIN IMMEDIATE")
    }

    fn batch(&mut self, sql: &str) -> Result<(), RunFileError> {
        self.connection.execute_batch(sql).map_err(|cause| RunFileError::of(&self.path, cause))
    }

    fn open_record(&mut self, opening: &Opening<'_>) -> Result<(), RunFileError> {
        let json = "plans and drives always serialise";
        let plan = opening.plan;
        let drive = opening.drive;
        self.insert(
            RUN,
            vec![
                text(opening.id),
                text(opening.program),
                integer(opening.unix_ms),
                text(&plan.suite.id),
                integer(plan.suite.revision),
                text(&plan.suite.title),
                integer(plan.shortened),
                text(plan.seed.to_string()),
                text(serde_json::to_string(plan).expect(json)),
            ],
        )?;
        self.insert(
            DRIVE,
            vec![
                text(drive.kind.name()),
                text(&drive.target),
                optional(drive.model.as_ref().map(text)),
                optional(drive.serial.as_ref().map(text)),
                optional(drive.firmware.as_ref().map(text)),
                integer(drive.capacity.0),
                integer(drive.logical_block.0),
                integer(drive.physical_block.0),
                text(drive.fingerprint()),
                text(serde_json::to_string(drive).expect(json)),
            ],
        )?;
        for (key, value) in opening.environment {
            self.insert(ENVIRONMENT, vec![text(key), text(value)])?;
        }
        Ok(())
    }

    /// Appends a record, sealed with its checksum.
    fn insert(&mut self, statement: &str, values: Vec<Value>) -> Result<(), RunFileError> {
        let crc = Value::Integer(checksum(&values));
        self.connection
            .prepare_cached(statement)
            .and_then(|mut statement| {
                statement.execute(params_from_iter(values.into_iter().chain([crc])))
            })
            .map(|_| ())
            .map_err(|cause| RunFileError::of(&self.path, cause))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // What was added and not committed is kept where that is possible, and the journal beside
        // the file goes. An error here has no reader; the next opening rolls back.
        let _ = self.connection.execute_batch("COMMIT; PRAGMA journal_mode = DELETE;");
        // Gives back the room that was not needed.
        if let Ok(metadata) = self.lock.metadata() {
            let _ = self.lock.set_len(metadata.len());
        }
    }
}

/// Room beyond what is needed. The journal holds the pages that a transaction changes, which are
/// a few of each table and index, of 4 KiB each.
const RESERVE: u64 = 256 << 10;

/// Makes the file system keep room for the first `length` bytes of `file`, whose size stays.
fn take(file: &File, length: u64) -> Result<(), Errno> {
    rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, 0, length)
}

const RUN: &str = "INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
const DRIVE: &str = "INSERT INTO drive VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
const ENVIRONMENT: &str = "INSERT INTO environment VALUES (?1, ?2, ?3)";
const STEP: &str = "INSERT INTO step VALUES \
    (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
/// The columns of a step that its end does not change.
const KEPT: usize = 9;
const INTERVAL: &str = "INSERT INTO interval VALUES \
    (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
const READING: &str = "INSERT INTO reading VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const FINDING: &str = "INSERT INTO finding VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

/// Ends the name of a file that has no opening record yet, after the number of its process.
const OPENING: &str = ".opening";

/// Removes what killed processes have left of their starts for `path`: a file without an opening
/// record, or a second name of the run file.
fn remove_openings(path: &Path) {
    abandoned(path, OPENING).iter().for_each(|left| remove_with_journal(left));
}

/// Removes a file and its journal. What cannot be removed is in nobody's way.
fn remove_with_journal(path: &Path) {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    let _ = std::fs::remove_file(journal);
    let _ = std::fs::remove_file(path);
}

/// Gives the file `unnamed` the name `path`, durably, and never takes it from another file.
fn give_name(unnamed: &Path, path: &Path) -> Result<(), RunFileError> {
    let system = |cause| RunFileError::System { path: path.to_owned(), cause };
    match std::fs::hard_link(unnamed, path) {
        Ok(()) => {}
        Err(cause) if cause.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(RunFileError::Exists(path.to_owned()));
        }
        // A file system without links, such as FAT.
        Err(_) if path.symlink_metadata().is_ok() => {
            return Err(RunFileError::Exists(path.to_owned()));
        }
        Err(_) => std::fs::rename(unnamed, path).map_err(system)?,
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        // Some file systems cannot sync a folder: they name files in their own order.
        let _ = folder.sync_all();
    }
    Ok(())
}
