//! Where the records of each step stand in a table, by its index, and whether the index is complete.

use super::RunFile;
use crate::error::RunFileError;
use crate::record::StepId;
use crate::{schema, untrusted};
use std::collections::{BTreeMap, BTreeSet};

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
    state: i64,
    of_step: BTreeMap<i64, Range>,
}

impl RunFile {
    /// Returns where the rows of `step` stand in `table`.
    ///
    /// The first call for a table goes once through its index. It refuses an index that is out of
    /// order, has more or fewer entries than the table has records, or has those of unknown steps.
    /// With the number of records that a step has, nothing is missing then.
    pub(super) fn range(&self, table: &'static str, step: StepId) -> Result<Range, RunFileError> {
        self.budget.renew();
        let state = self
            .connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut pragma| pragma.query_row([], |row| row.get(0)))
            .map_err(|cause| untrusted::error_of(&self.path, cause))?;
        let mut known = self.ranges.borrow_mut();
        if known.get(table).is_none_or(|ranges| ranges.state != state) {
            known.insert(table, Ranges { state, of_step: self.ranges_of(table)? });
        }
        let found = known[table].of_step.get(&step.0).copied();
        Ok(found.unwrap_or(Range { step, first: 0, last: -1, rows: 0 }))
    }

    /// Returns the ranges of all steps in `table`, in one state of the file.
    fn ranges_of(&self, table: &'static str) -> Result<BTreeMap<i64, Range>, RunFileError> {
        let sqlite = |cause| untrusted::error_of(&self.path, cause);
        let contradicted = || schema::contradicted(&self.path, table);
        let transaction = self.connection.unchecked_transaction().map_err(sqlite)?;
        let steps: BTreeSet<i64> =
            self.read_steps(false)?.iter().map(|record| record.id.0).collect();
        self.budget.renew();
        let sql = format!(
            "SELECT step_id, min(rowid), max(rowid), count(*) \
             FROM {table} INDEXED BY {table}_of_step GROUP BY step_id"
        );
        let mut statement = transaction.prepare_cached(&sql).map_err(sqlite)?;
        let mut groups = statement.query([]).map_err(sqlite)?;
        let mut of_step = BTreeMap::new();
        let mut entries = 0;
        while let Some(row) = groups.next().map_err(sqlite)? {
            let number = |at| row.get(at).map_err(|_| contradicted());
            let [step, first, last, rows] = [number(0)?, number(1)?, number(2)?, number(3)?];
            let range = Range { step: StepId(step), first, last, rows };
            entries += rows;
            // The entries of a step stand side by side in a sound index.
            if !steps.contains(&step) || of_step.insert(step, range).is_some() {
                return Err(contradicted());
            }
        }
        drop(groups);
        let sql = format!("SELECT count(*) FROM {table} NOT INDEXED");
        let records: i64 = transaction.query_row(&sql, [], |row| row.get(0)).map_err(sqlite)?;
        match records == entries {
            true => Ok(of_step),
            false => Err(contradicted()),
        }
    }
}
