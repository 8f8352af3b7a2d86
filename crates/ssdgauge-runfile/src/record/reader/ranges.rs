//! Where the records of each step are in a table, by its index, and whether the index is complete.

use crate::error::RunFileError;
use crate::record::StepId;
use crate::{schema, untrusted};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The rows of one step: the first, the last, and their number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) step: StepId,
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) rows: i64,
}

/// The ranges of all steps in one table.
#[derive(Debug)]
pub(super) struct Ranges {
    /// The state of the file: a number that changes with each commit of another connection.
    pub(super) state: i64,
    of_step: BTreeMap<i64, Range>,
}

impl Ranges {
    /// Goes once through the index of `table` in the file `path`, in a transaction of `connection` in
    /// which the file has `steps` and is in `state`.
    ///
    /// With the number of records that a step has, nothing is missing then.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where the index is out of order, has more or fewer entries than the
    /// table has records, or has those of unknown steps.
    pub(super) fn read(
        connection: &Connection,
        (path, table): (&Path, &str),
        (state, steps): (i64, &BTreeSet<i64>),
    ) -> Result<Ranges, RunFileError> {
        let sqlite = |cause| untrusted::error_of(path, cause);
        let contradicted = || schema::contradicted(path, table);
        // INDEXED BY, and NOT INDEXED below: left to itself, SQLite may answer both from one of
        // them, and the comparison would show nothing.
        let sql = format!(
            "SELECT step_id, min(rowid), max(rowid), count(*) \
             FROM {table} INDEXED BY {table}_of_step GROUP BY step_id"
        );
        let mut statement = connection.prepare_cached(&sql).map_err(sqlite)?;
        let mut groups = statement.query([]).map_err(sqlite)?;
        let mut of_step = BTreeMap::new();
        let mut entries = 0;
        while let Some(row) = groups.next().map_err(sqlite)? {
            let number = |at| row.get(at).map_err(|_| contradicted());
            let [step, first, last, rows] = [number(0)?, number(1)?, number(2)?, number(3)?];
            let range = Range { step: StepId(step), first, last, rows };
            entries += rows;
            // The entries of a step are adjacent in a sound index.
            if !steps.contains(&step) || of_step.insert(step, range).is_some() {
                return Err(contradicted());
            }
        }
        drop(groups);
        let sql = format!("SELECT count(*) FROM {table} NOT INDEXED");
        let records: i64 = connection.query_row(&sql, [], |row| row.get(0)).map_err(sqlite)?;
        match records == entries {
            true => Ok(Ranges { state, of_step }),
            false => Err(contradicted()),
        }
    }

    /// Returns the range of `step`; an empty one where it has no records.
    pub(super) fn of(&self, step: StepId) -> Range {
        let nothing = Range { step, first: 0, last: -1, rows: 0 };
        self.of_step.get(&step.0).copied().unwrap_or(nothing)
    }
}
