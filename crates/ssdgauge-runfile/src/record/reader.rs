//! Reader of run files. A run file is untrusted input: every record is checked against its checksum
//! and its types.

mod digests;
#[cfg(target_os = "linux")]
pub(crate) mod follow;
pub(crate) mod links;
mod opening;
mod ranges;
pub(crate) mod row;
mod since_format_3;

use crate::error::RunFileError;
use crate::histogram::Decoder;
use crate::record::{
    FindingRecord, Head, PropertyRecord, StepId, StepRecord, StepState, with_percentiles,
};
use crate::schema;
use crate::untrusted::{self, Budget, MAX_FACTS, MAX_RECORDS};
use ranges::{Range, Ranges};
use row::Row;

pub use digests::Digests;
use rusqlite::Connection;
use ssdgauge_core::search::{Attempt, Next};
use ssdgauge_core::{
    Bytes, Direction, DriveInfo, FindingKind, Interval, Nanos, PASSED, Preparation, Reading,
};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A run file that is open for reading.
///
/// Opening checks the opening record and the steps; the other records, and the index that leads to
/// them, are checked as they are read.
#[derive(Debug)]
pub struct RunFile {
    connection: Connection,
    path: PathBuf,
    /// The format at the time of opening.
    format: u32,
    head: Head,
    budget: Budget,
    decoder: RefCell<Decoder>,
    /// Where the records of the steps are, for each table that was read.
    ranges: RefCell<BTreeMap<&'static str, Ranges>>,
}

impl RunFile {
    /// Returns the opening record.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the format of the file.
    pub fn format(&self) -> u32 {
        self.format
    }

    /// Returns inode and time of creation of the file in which the run was begun, as it recorded them; `None`
    /// where it did not.
    ///
    /// # Errors
    ///
    /// Those of [`RunFile::properties`].
    pub fn origin(&self) -> Result<Option<String>, RunFileError> {
        let mut properties = self.properties()?.into_iter();
        let recorded = properties.find(|one| one.step.is_none() && one.key == ORIGIN);
        Ok(recorded.map(|recorded| recorded.value))
    }

    /// Returns every property of the run and of its steps, in the order of recording; none where the
    /// file has format 1.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a record fails its check.
    pub fn properties(&self) -> Result<Vec<PropertyRecord>, RunFileError> {
        if self.format < 2 {
            return Ok(Vec::new());
        }
        self.rows()
            .collect("property", "SELECT * FROM property ORDER BY rowid", 3, |row| row.property())
    }

    /// Returns the number of repetitions after which a run with a rule for them has ended; `None`
    /// while it continues, and without such a rule.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a property fails its check, or the number is not one.
    pub fn repetitions(&self) -> Result<Option<u32>, RunFileError> {
        let properties = self.properties()?;
        let is_verdict = |one: &&PropertyRecord| one.step.is_none() && one.key == REPETITIONS;
        let number = |one: &PropertyRecord| {
            one.value.parse().map_err(|_| RunFileError::Damaged {
                path: self.path.clone(),
                what: format!("the property {REPETITIONS} is not a number"),
            })
        };
        properties.iter().rfind(is_verdict).map(number).transpose()
    }

    /// Returns every attempt at every step, in the order of their start.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a record fails its check.
    pub fn steps(&self) -> Result<Vec<StepRecord>, RunFileError> {
        self.read_steps(true)
    }

    /// Returns every attempt at every step, with its report where `with_reports` is true: reports are
    /// most of their memory.
    fn read_steps(&self, with_reports: bool) -> Result<Vec<StepRecord>, RunFileError> {
        let sql = "SELECT * FROM step ORDER BY id";
        self.rows().collect("step", sql, 14, |row| row.step(with_reports))
    }

    /// Calls `take` with every interval of `step`, in the order of recording.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a record or its histogram fails its check; `take` has then
    /// received the intervals before it.
    pub fn intervals(&self, step: StepId, take: impl FnMut(Interval)) -> Result<(), RunFileError> {
        self.read_intervals(step, true, take)
    }

    /// Calls `take` with every interval of `step` without the buckets of its histogram, which is
    /// many times faster: sums and extremes are present, percentiles are not.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a record fails its check.
    pub fn sums(&self, step: StepId, take: impl FnMut(Interval)) -> Result<(), RunFileError> {
        self.read_intervals(step, false, take)
    }

    /// Returns the bytes that `record` wrote, those of a preparation included.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a record fails its check.
    pub fn written(&self, record: &StepRecord) -> Result<Bytes, RunFileError> {
        let place = record.place;
        let step = &self.head().plan.tests[place.test].phases[place.phase].steps[place.step];
        // The bytes of a fill are in its report and not in intervals.
        let mut written = step.action.preparation().map_or(Bytes(0), Preparation::writes);
        self.sums(record.id, |interval| {
            if interval.direction == Direction::Write {
                written += Bytes(interval.bytes);
            }
        })?;
        Ok(written)
    }

    fn read_intervals(
        &self,
        step: StepId,
        with_buckets: bool,
        mut take: impl FnMut(Interval),
    ) -> Result<(), RunFileError> {
        let stated = match with_buckets {
            true => self.percentiles_of(step)?,
            false => Vec::new(),
        };
        let range = self.range("interval", step)?;
        self.rows()
            .each_of_step("interval", range, 13, |row| {
                let mut decoder = self.decoder.borrow_mut();
                let interval = row.interval(with_buckets.then_some(&mut *decoder))?;
                take(with_percentiles(interval, &stated));
                Ok(())
            })
            .map_err(|error| match self.decoder.borrow().is_spent() {
                true => untrusted::too_many_latencies(&self.path),
                false => error,
            })
    }

    /// Returns whether the rounds in `phase` of `test` ended with a verdict: steady or not steady.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a step or a finding fails its check.
    pub fn has_steadiness_verdict(&self, test: usize, phase: usize) -> Result<bool, RunFileError> {
        let steps = self.read_steps(false)?;
        let judged = |finding: &FindingRecord| {
            let kind = finding.finding.kind;
            let is_verdict = kind == FindingKind::SteadyState || kind == FindingKind::NotSteady;
            let place = |id| steps.iter().find(|step| step.id == id).map(|step| step.place);
            let place = finding.step.and_then(place);
            is_verdict && place.is_some_and(|place| place.test == test && place.phase == phase)
        };
        Ok(self.findings()?.iter().any(judged))
    }

    /// Returns the attempts of a search in `phase` of `test`, in order: load index, and whether the
    /// load passed.
    ///
    /// Only finished steps count, so an attempt that was cut off is made again after a resume.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a step or a reading fails its check.
    pub fn search_attempts(&self, test: usize, phase: usize) -> Result<Vec<Attempt>, RunFileError> {
        let mut attempts = Vec::new();
        for step in self.read_steps(false)? {
            let here = step.place.test == test && step.place.phase == phase;
            if here && step.state == StepState::Finished {
                let load_index = step.place.step;
                self.readings(step.id, |reading| {
                    if reading.quantity == PASSED {
                        attempts.push(Attempt { load: load_index, passed: reading.value > 0.5 });
                    }
                })?;
            }
        }
        Ok(attempts)
    }

    /// Returns whether the search of `test` came to an answer; true where it has none.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a step or a reading fails its check.
    pub fn is_searched(&self, test: usize) -> Result<bool, RunFileError> {
        let planned = &self.head.plan.tests[test];
        let Some(search) = &planned.search else { return Ok(true) };
        // The log of another program has one load, and need not tell whether it passed.
        if self.head.imported_from().is_some() {
            return Ok(true);
        }
        let probes = self.search_attempts(test, search.probes)?;
        let attempts = self.search_attempts(test, search.attempts)?;
        let loads = planned.phases.get(search.attempts).map_or(0, |phase| phase.steps.len());
        Ok(matches!(search.next(loads, &probes, &attempts), Next::Done(_)))
    }

    /// Calls `take` with every reading of `step`, in the order of recording.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a record fails its check; `take` has then received the
    /// readings before it.
    pub fn readings(
        &self,
        step: StepId,
        mut take: impl FnMut(&Reading),
    ) -> Result<(), RunFileError> {
        let (instrument, quantity) = (String::new(), String::new());
        let mut reading = Reading { at: Nanos::ZERO, instrument, quantity, value: 0.0 };
        let range = self.range("reading", step)?;
        self.rows().each_of_step("reading", range, 5, |row| {
            row.read_into(&mut reading)?;
            take(&reading);
            Ok(())
        })
    }

    /// Calls `take` with every reading of one of `quantities` and its step, in the order of recording.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where one of them fails its check; `take` has then received those
    /// before it.
    pub fn readings_of(
        &self,
        quantities: &[&str],
        mut take: impl FnMut(StepId, Reading),
    ) -> Result<(), RunFileError> {
        self.budget.renew();
        // The whole table is read, and only its index shows whether it lacks records.
        schema::check_index(&self.connection, &self.path, "reading")
            .map_err(untrusted::while_reading)?;
        let places = vec!["?"; quantities.len()].join(", ");
        let sql = format!("SELECT * FROM reading WHERE quantity IN ({places}) ORDER BY rowid");
        let named = rusqlite::params_from_iter(quantities);
        self.rows().each("reading", &sql, named, 5, |row| {
            take(StepId(row.number(0)?), row.reading()?);
            Ok(())
        })
    }

    /// Returns every finding, in the order of recording.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a record fails its check or has an unknown severity.
    pub fn findings(&self) -> Result<Vec<FindingRecord>, RunFileError> {
        self.rows()
            .collect("finding", "SELECT * FROM finding ORDER BY rowid", 6, |row| row.finding())
    }

    /// Returns where the rows of `step` are in `table`. The first call for a table goes once through
    /// its index, and so does one after a commit of a writer.
    fn range(&self, table: &'static str, step: StepId) -> Result<Range, RunFileError> {
        let sqlite = |cause| untrusted::error_of(&self.path, cause);
        self.budget.renew();
        let state = self
            .connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut pragma| pragma.query_row([], |row| row.get(0)))
            .map_err(sqlite)?;
        let mut known = self.ranges.borrow_mut();
        if known.get(table).is_none_or(|ranges| ranges.state != state) {
            // Steps and entries are read in one state of the file.
            let transaction = self.connection.unchecked_transaction().map_err(sqlite)?;
            let steps = self.read_steps(false)?.iter().map(|record| record.id.0).collect();
            self.budget.renew();
            let ranges = Ranges::read(&transaction, (&self.path, table), (state, &steps))?;
            known.insert(table, ranges);
        }
        Ok(known[table].of(step))
    }

    fn rows(&self) -> Rows<'_> {
        Rows { connection: &self.connection, path: &self.path, budget: &self.budget }
    }

    /// Refuses step records outside the plan, so that callers index the plan by them.
    fn check_steps(&self) -> Result<(), RunFileError> {
        let plan = &self.head.plan;
        match self.read_steps(false)?.iter().find(|step| !step.place.is_in(plan)) {
            Some(step) => Err(RunFileError::Damaged {
                path: self.path.clone(),
                what: format!("step {} lies outside the plan", step.id.0),
            }),
            None => Ok(()),
        }
    }
}

/// The property of a step with the flushes after it, as JSON: [`ssdgauge_core::Flush`].
pub const FLUSH: &str = "flush";

/// The property of a step with the blocks that were read back after it, as JSON:
/// [`ssdgauge_core::ReadBack`].
pub const READ_BACK: &str = "read_back";

/// The property with the verification of everything that the run wrote, as JSON:
/// [`ssdgauge_core::Verified`]. One for each verification that reached its end.
pub const VERIFIED: &str = "verified";

/// The property with the rated endurance of the drive of a run, in bytes that hosts may write.
pub const RATED_ENDURANCE: &str = "rated_endurance_bytes";

/// The property with the bytes that the user allows a run to write; the last one counts.
pub const MAX_WRITES: &str = "max_writes_bytes";

/// The property with the settings of an X-ray, as JSON.
pub const XRAY: &str = "xray";

/// The property with inode and time of creation of the file in which a run was begun.
pub(crate) const ORIGIN: &str = "file_origin";

/// The property with the number of repetitions after which a run has ended.
pub const REPETITIONS: &str = "repetitions";

/// The tables of an open file; every row is checked against its checksum.
pub(crate) struct Rows<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) path: &'a Path,
    pub(crate) budget: &'a Budget,
}

impl Rows<'_> {
    fn head(&self) -> Result<Head, RunFileError> {
        let damaged =
            |what: &str| RunFileError::Damaged { path: self.path.to_owned(), what: what.into() };
        let mut environment = BTreeMap::new();
        self.each("environment", "SELECT * FROM environment", [], 2, |row| {
            environment.insert(row.text(0)?.to_owned(), row.text(1)?.to_owned());
            match environment.len() > MAX_FACTS {
                true => Err("too many records before it"),
                false => Ok(()),
            }
        })?;
        let mut drive: Option<DriveInfo> = None;
        self.each("drive", "SELECT * FROM drive", [], 10, |row| {
            let json = row.text(9)?;
            drive = Some(
                serde_json::from_str(json)
                    .map_err(|_| "a drive description that does not parse")?,
            );
            Ok(())
        })?;
        let drive = drive.ok_or_else(|| damaged("the drive record is missing"))?;
        // Last, because the limits of a run record apply to plan and drive together.
        let mut head = None;
        self.each("run", "SELECT * FROM run", [], 9, |row| {
            let plan =
                serde_json::from_str(row.text(8)?).map_err(|_| "a plan that does not parse")?;
            if let Some(excess) = untrusted::excess(&plan, &drive) {
                return Err(excess);
            }
            head = Some(Head {
                id: row.text(0)?.to_owned(),
                program: row.text(1)?.to_owned(),
                started_unix_ms: row.number(2)?,
                plan,
                drive: Clone::clone(&drive),
                environment: environment.clone(),
            });
            Ok(())
        })?;
        head.ok_or_else(|| damaged("the run record is missing"))
    }

    /// Returns all rows, which have to fit into memory. The checksum in column `sealed` covers the
    /// columns before it.
    fn collect<T>(
        &self,
        table: &str,
        sql: &str,
        sealed: usize,
        mut read: impl FnMut(&Row<'_>) -> Result<T, &'static str>,
    ) -> Result<Vec<T>, RunFileError> {
        let mut records = Vec::new();
        self.each(table, sql, [], sealed, |row| {
            if records.len() >= MAX_RECORDS {
                return Err("too many records before it");
            }
            records.push(read(row)?);
            Ok(())
        })?;
        Ok(records)
    }

    /// Calls `take` for each row in `range` of `table`, as [`Rows::each`] does.
    ///
    /// The rows of a step are adjacent, so they are read as one range. The index alone would
    /// search the table for each of them.
    fn each_of_step(
        &self,
        table: &str,
        range: Range,
        sealed: usize,
        mut take: impl FnMut(&Row<'_>) -> Result<(), &'static str>,
    ) -> Result<(), RunFileError> {
        let Range { step, first, last, rows } = range;
        // In a file of a stranger the rows of other steps may lie between them.
        let is_range = last.saturating_sub(first) / 2 <= rows;
        let those = if is_range { "rowid BETWEEN ?1 AND ?2" } else { "step_id = ?3" };
        // The unary plus keeps SQLite from choosing the index of `step_id` where a range of rows is
        // read.
        let sql = format!(
            "SELECT *, rowid FROM {table} WHERE {those} AND ?1 <= ?2 AND +step_id = ?3 ORDER BY rowid"
        );
        let mut found = 0;
        let mut before = i64::MIN;
        self.each(table, &sql, [first, last, step.0], sealed, |row| {
            let place: i64 = row.number(sealed + 1)?;
            // A page that is twice in the tree of the table takes the place of another one.
            if place <= before && found > 0 {
                return Err("a place before that of the record before it");
            }
            (found, before) = (found + 1, place);
            take(row)
        })?;
        if found != rows {
            return Err(RunFileError::Damaged {
                path: self.path.to_owned(),
                what: format!("{rows} entries in the index of {found} records of table {table}"),
            });
        }
        Ok(())
    }

    /// Calls `take` for each row. The checksum in column `sealed` covers the columns before it.
    pub(crate) fn each(
        &self,
        table: &str,
        sql: &str,
        parameters: impl rusqlite::Params,
        sealed: usize,
        mut take: impl FnMut(&Row<'_>) -> Result<(), &'static str>,
    ) -> Result<(), RunFileError> {
        let sqlite = |cause| untrusted::error_of(self.path, cause);
        self.budget.renew();
        let mut statement = self.connection.prepare_cached(sql).map_err(sqlite)?;
        let columns = statement.column_count();
        let mut rows = statement.query(parameters).map_err(sqlite)?;
        let mut number = 0u64;
        while let Some(row) = rows.next().map_err(sqlite)? {
            number += 1;
            let row = Row::read(row, columns).map_err(sqlite)?;
            let taken = if row.is_sound(sealed) { take(&row) } else { Err("a wrong checksum") };
            taken.map_err(|why| RunFileError::Damaged {
                path: self.path.to_owned(),
                what: format!("record {number} of table {table} has {why}"),
            })?;
        }
        Ok(())
    }
}
