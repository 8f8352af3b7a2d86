//! A run file that grows, read without a lock while another program writes it.
//!
//! A commit waits for every reader that holds a lock of SQLite, so no lock is taken here, and nothing is
//! written: the file is opened as an immutable one. What was read counts only where no commit was in
//! progress meanwhile. A writer changes the file in four steps: it completes the journal, writes the
//! pages, counts the transaction in the header of the file, and clears the journal. So the
//! count is read first and last, and within the two the journal, which has to be clear both times.

use super::{Rows, RunFile};
use crate::error::RunFileError;
use crate::header;
use crate::histogram::Decoder;
use crate::neighbours;
use crate::record::{FindingRecord, Head, PropertyRecord, StepId, StepRecord, StepState};
use crate::schema;
use crate::untrusted::{self, Budget, MAX_RECORDS};
use rusqlite::Connection;
use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};
use ssdgauge_core::{Interval, Reading};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The maximum number of intervals of one read. Chosen: some 20 ms of work, shorter than the time between two commits.
const INTERVALS: i64 = 1_000;
/// The maximum number of readings of one read.
const READINGS: i64 = 10_000;
/// The attempts at one read while commits interrupt it, and the pause between them.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);
/// The byte of the file that a writer of SQLite locks for the time of its transaction (`RESERVED_BYTE` in
/// its os.h). A run always has a transaction.
const RESERVED_BYTE: u64 = 0x4000_0001;

/// A reader of a run file that grows. Between two reads it holds no descriptor.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    /// Device and number of the file: another file of the same name is another run.
    identity: (u64, u64),
    format: u32,
    head: Head,
    next: Next,
}

/// The first records that were not read yet.
#[derive(Clone, Copy, Debug, Default)]
struct Next {
    /// The number of the step; of the last one while it runs.
    step: i64,
    /// The records after these have not been read.
    interval: i64,
    reading: i64,
    finding: i64,
    property: i64,
}

/// The records since the last read, in the order of recording.
#[derive(Debug, Default)]
pub struct News {
    /// New steps, and the last one of before with its present state. A step whose intervals are not all
    /// read yet is stated as running.
    pub steps: Vec<StepRecord>,
    /// New intervals with their steps.
    pub intervals: Vec<(StepId, Interval)>,
    /// New readings with their steps.
    pub readings: Vec<(StepId, Reading)>,
    /// New findings; they follow when all intervals are read.
    pub findings: Vec<FindingRecord>,
    /// New properties, as the findings.
    pub properties: Vec<PropertyRecord>,
    /// Whether these are all records of the last commit. Without it the next read has more.
    pub is_all: bool,
    /// Whether a commit was in progress at every attempt, so that nothing was read.
    pub is_unsettled: bool,
}

/// What shows that a commit was in progress between two looks.
#[derive(Debug, PartialEq, Eq)]
struct Mark {
    identity: (u64, u64),
    size: u64,
    /// The number of transactions.
    transactions: [u8; 4],
}

impl Follower {
    /// Opens `path` and reads its opening record. The structure of the file is not checked as a whole: a
    /// damaged page is an error of the read that meets it.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Missing`], [`RunFileError::Foreign`] or [`RunFileError::Newer`] by the header of the
    /// file, [`RunFileError::Damaged`] where the opening record is not sound,
    /// [`RunFileError::Busy`] where commits interrupt every attempt, and [`RunFileError::HalfWritten`] where
    /// a killed writer has left one.
    pub fn open(path: &Path) -> Result<Follower, RunFileError> {
        let format = header::recognise(path)?;
        let opened = settled(path, |connection, budget, mark| {
            let head = Rows { connection, path, budget }.head()?;
            match head.plan_defect() {
                Some(defect) => Err(RunFileError::Damaged {
                    path: path.to_owned(),
                    what: format!("its plan cannot be carried out: {defect}"),
                }),
                None => Ok((head, mark.identity)),
            }
        })?;
        let (head, identity) = match opened {
            Some(opened) => opened,
            None if is_written(path)? => return Err(RunFileError::Busy(path.to_owned())),
            None => return Err(RunFileError::HalfWritten(path.to_owned())),
        };
        Ok(Follower { path: path.to_owned(), identity, format, head, next: Next::default() })
    }

    /// Returns the opening record.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the records since the last call: at most some thousand, and none where commits interrupt
    /// every attempt.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Missing`] where the file has vanished, [`RunFileError::Replaced`] where its name is
    /// that of another file, [`RunFileError::Damaged`] where a record fails its check.
    pub fn read(&mut self) -> Result<News, RunFileError> {
        // Each time: the name can be that of another file by now, and SQLite must not open a
        // foreign one.
        header::recognise(&self.path)?;
        let read = settled(&self.path, |connection, budget, mark| {
            if mark.identity != self.identity {
                return Err(RunFileError::Replaced(self.path.clone()));
            }
            let rows = Rows { connection, path: &self.path, budget };
            self.records(&rows)
        })?;
        let Some((news, next)) = read else {
            return Ok(News { is_unsettled: true, ..News::default() });
        };
        self.next = next;
        Ok(news)
    }

    /// Calls `read` with all of the file as it stands; `None` where commits interrupt every attempt. No lock is taken, so
    /// that the run never waits.
    ///
    /// # Errors
    ///
    /// As [`Follower::read`], and the error of `read`.
    pub fn whole<T, E: From<RunFileError>>(
        &self,
        read: impl Fn(RunFile) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        undisturbed(&self.path, |mark| {
            if mark.identity != self.identity {
                return Err(RunFileError::Replaced(self.path.clone()).into());
            }
            let connection =
                schema::open_immutable(&self.path).map_err(untrusted::while_reading)?;
            read(RunFile::of(connection, &self.path, self.format)?)
        })
    }

    /// Returns whether a program writes the file: it holds the lock of its transaction. Between two
    /// transactions, for less than a millisecond, none is held. The lock is looked at and not taken.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Missing`] and [`RunFileError::Replaced`] as [`Follower::read`], otherwise
    /// [`RunFileError::Unreadable`].
    pub fn has_writer(&self) -> Result<bool, RunFileError> {
        if Mark::look(&self.path)?.identity != self.identity {
            return Err(RunFileError::Replaced(self.path.clone()));
        }
        is_written(&self.path)
    }

    /// Returns whether the journal of a writer is next to the file. A writer removes it at its regular end,
    /// so without a writer it is what a killed one left.
    pub fn has_journal(&self) -> bool {
        let real = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        neighbours::journal_of(&real).symlink_metadata().is_ok()
    }

    /// Reads the next records.
    fn records(&self, rows: &Rows<'_>) -> Result<(News, Next), RunFileError> {
        let mut next = self.next;
        let mut news = News::default();
        rows.each(
            "step",
            "SELECT * FROM step WHERE id >= ?1 ORDER BY id",
            [next.step],
            14,
            |row| {
                if news.steps.len() >= MAX_RECORDS {
                    return Err("too many records before it");
                }
                news.steps.push(row.step(true)?);
                Ok(())
            },
        )?;
        self.refuse_outside_plan(&news.steps)?;
        let mut decoder = Decoder::new(untrusted::unpacked_at_most(&self.path));
        let sql = "SELECT *, rowid FROM interval WHERE rowid > ?1 ORDER BY rowid LIMIT ?2";
        let range = [next.interval, INTERVALS];
        rows.each("interval", sql, range, 13, |row| {
            next.interval = row.number(14)?;
            let interval = row.interval(Some(&mut decoder))?;
            news.intervals.push((StepId(row.number(0)?), interval));
            Ok(())
        })?;
        let is_full = |count: usize, limit: i64| i64::try_from(count).is_ok_and(|n| n >= limit);
        let cut = is_full(news.intervals.len(), INTERVALS);
        let last = news.intervals.last().map(|(step, _)| *step);
        // Where the intervals are cut off, later steps wait for the next read: none is stated as
        // finished before its last second.
        let until = last.filter(|_| cut).map_or(i64::MAX, |step| step.0);
        let sql = "SELECT *, rowid FROM reading WHERE rowid > ?1 AND step_id <= ?2 \
                   ORDER BY rowid LIMIT ?3";
        let range = [next.reading, until, READINGS];
        rows.each("reading", sql, range, 5, |row| {
            next.reading = row.number(6)?;
            news.readings.push((StepId(row.number(0)?), row.reading()?));
            Ok(())
        })?;
        news.is_all = !cut && !is_full(news.readings.len(), READINGS);
        if news.is_all {
            self.remarks(rows, &mut news, &mut next)?;
        }
        news.steps.retain(|step| step.id.0 <= until);
        if let Some(open) = news.steps.last_mut() {
            if open.id.0 == until {
                (open.state, open.elapsed, open.ended_by) = (StepState::Running, None, None);
                open.ended_unix_ms = None;
            }
            // A step that runs is read again next time, since its record changes when it ends.
            let is_open = open.state == StepState::Running;
            next.step = open.id.0.saturating_add(i64::from(!is_open));
        }
        Ok((news, next))
    }

    /// Reads the next findings and properties.
    fn remarks(
        &self,
        rows: &Rows<'_>,
        news: &mut News,
        next: &mut Next,
    ) -> Result<(), RunFileError> {
        let sql = "SELECT *, rowid FROM finding WHERE rowid > ?1 ORDER BY rowid";
        rows.each("finding", sql, [next.finding], 6, |row| {
            if news.findings.len() >= MAX_RECORDS {
                return Err("too many records before it");
            }
            next.finding = row.number(7)?;
            news.findings.push(row.finding()?);
            Ok(())
        })?;
        if self.format < 2 {
            return Ok(());
        }
        let sql = "SELECT *, rowid FROM property WHERE rowid > ?1 ORDER BY rowid";
        rows.each("property", sql, [next.property], 3, |row| {
            if news.properties.len() >= MAX_RECORDS {
                return Err("too many records before it");
            }
            next.property = row.number(4)?;
            news.properties.push(row.property()?);
            Ok(())
        })
    }

    /// Refuses step records outside the plan, so that callers index the plan by them.
    fn refuse_outside_plan(&self, steps: &[StepRecord]) -> Result<(), RunFileError> {
        match steps.iter().find(|step| !step.place.is_in(&self.head.plan)) {
            Some(step) => Err(RunFileError::Damaged {
                path: self.path.clone(),
                what: format!("step {} lies outside the plan", step.id.0),
            }),
            None => Ok(()),
        }
    }
}

/// Calls `read` with the file `path`, again where a commit was in progress meanwhile; `None` where each
/// attempt was interrupted.
fn settled<T>(
    path: &Path,
    mut read: impl FnMut(&Connection, &Budget, &Mark) -> Result<T, RunFileError>,
) -> Result<Option<T>, RunFileError> {
    undisturbed(path, |mark| {
        opened(path).and_then(|(connection, budget)| read(&connection, &budget, mark))
    })
}

/// Calls `read`, again where a commit to the file `path` was in progress meanwhile; `None` where each attempt was
/// interrupted.
fn undisturbed<T, E: From<RunFileError>>(
    path: &Path,
    mut read: impl FnMut(&Mark) -> Result<T, E>,
) -> Result<Option<T>, E> {
    for _ in 0..ATTEMPTS {
        let mark = Mark::look(path)?;
        if is_clear(path)? {
            let result = read(&mark);
            // An error counts only then as well: half of a commit looks like damage.
            if is_clear(path)? && Mark::look(path)? == mark {
                return result.map(Some);
            }
        }
        std::thread::sleep(PAUSE);
    }
    Ok(None)
}

/// Returns whether a program holds the lock of a transaction on `path`.
fn is_written(path: &Path) -> Result<bool, RunFileError> {
    let unreadable = |cause: std::io::Error| RunFileError::of_reading(path, &cause);
    let file = header::open(path).map_err(unreadable)?;
    let asked = Flock {
        start: RESERVED_BYTE,
        length: 1,
        pid: None,
        typ: FlockType::WriteLock,
        offset_type: FlockOffsetType::Set,
    };
    let held = fcntl_getlk(&file, &asked).map_err(|error| unreadable(error.into()))?;
    Ok(held.is_some_and(|lock| lock.typ != FlockType::Unlocked))
}

/// Opens `path` without locks, with the limits for untrusted files.
fn opened(path: &Path) -> Result<(Connection, Budget), RunFileError> {
    let format = header::recognise(path)?;
    let mut connection = schema::open_immutable(path).map_err(untrusted::while_reading)?;
    let budget = untrusted::guard(&mut connection, path, format)?;
    Ok((connection, budget))
}

/// Returns whether no commit is in progress by the journal of `path`.
fn is_clear(path: &Path) -> Result<bool, RunFileError> {
    neighbours::is_journal_clear(path).map_err(|cause| RunFileError::of_reading(path, &cause))
}

impl Mark {
    fn look(path: &Path) -> Result<Mark, RunFileError> {
        let failed = |cause: std::io::Error| RunFileError::of_reading(path, &cause);
        let file = header::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        // A file that is cut within its header counts as one without transactions, which the reads refuse.
        let transactions = header::transactions(&file).map_err(failed)?.unwrap_or_default();
        let identity = (metadata.dev(), metadata.ino());
        Ok(Mark { identity, size: metadata.len(), transactions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_look_at_a_file_that_has_vanished_says_so() {
        let path = Path::new("no-folder/vanished.ssdg");
        let missing = |error| matches!(error, RunFileError::Missing(gone) if gone == path);
        assert!(missing(is_clear(path).unwrap_err()));
        assert!(missing(is_written(path).unwrap_err()));
        assert!(missing(Mark::look(path).unwrap_err()));
        assert!(missing(header::recognise(path).unwrap_err()));
    }
}
