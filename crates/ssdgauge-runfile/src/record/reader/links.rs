//! The chain of hashes of a file that is read.

use super::RunFile;
use super::row::Row;
use crate::error::RunFileError;
use crate::record::chain::{COVERED, Covers, Hash, Link, SampleTable, Seen, hashes_by_pages};
use crate::record::pages::Pages;
use crate::record::{StepId, StepState};
use crate::untrusted;
use rusqlite::{Connection, OptionalExtension};
use ssdgauge_core::{Finding, FindingKind, Severity};
use std::collections::BTreeMap;
use std::path::Path;

/// The hashes of the samples for each link, by table.
pub(super) type SampleHashes = BTreeMap<&'static str, Vec<Hash>>;

/// Returns the last link of the file `path` that `connection` writes; the start where it has none.
pub(crate) fn last(connection: &Connection, path: &Path) -> Result<Link, RunFileError> {
    let sql = "SELECT * FROM link ORDER BY rowid DESC LIMIT 1";
    let damaged = |what: &str| RunFileError::Damaged {
        path: path.to_owned(),
        what: format!("the last link has {what}"),
    };
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| {
            let columns = statement.column_count();
            let read = |row: &rusqlite::Row<'_>| Ok(Row::read(row, columns)?.link());
            statement.query_row([], read).optional()
        })
        .map_err(|cause| RunFileError::from_sqlite(path, cause))?
        .map_or(Ok(Link::START), |link| link.map_err(damaged))
}

/// Returns where the hash of a link was recorded, in words.
fn place(step: Option<StepId>) -> String {
    step.map_or("at the end of the run".into(), |step| format!("at the end of step {}", step.0))
}

/// Returns the finding on a link that was made at the end of `step` and does not match.
pub(super) fn finding_of(step: Option<StepId>) -> Finding {
    Finding::new(
        FindingKind::Contradictory,
        Severity::Invalid,
        format!(
            "records of this run were changed later: they do not match the hash {}",
            place(step)
        ),
        "do not use the results: obtain the file as it was recorded",
    )
}

impl RunFile {
    /// Returns the first step whose link does not match the records that it covers: somebody changed, added
    /// or removed one of them. The step is `None` for a link at the end of a run. Returns `None` where every
    /// link matches, and where the file has an earlier format.
    ///
    /// It reads the whole file.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a link fails its check.
    pub fn broken_link(&self) -> Result<Option<Option<StepId>>, RunFileError> {
        Ok(self.walk_chain(&self.links()?, &BTreeMap::new(), &mut |_, _, _| {})?.0)
    }

    /// Returns what [`RunFile::broken_link`] returns of `links`, and what the last one covers that matches.
    /// The hashes of the tables in `known` are not computed; `see` gets each other record.
    pub(super) fn walk_chain(
        &self,
        links: &[Link],
        known: &SampleHashes,
        see: &mut Seen<'_>,
    ) -> Result<(Option<Option<StepId>>, Covers), RunFileError> {
        let mut before = &Link::START;
        for (place, link) in links.iter().enumerate() {
            self.budget.renew();
            let known = |table: &str| known.get(table).map(|hashes| hashes[place]);
            let hash = before
                .hash_to(&self.connection, &link.covers, &known, see)
                .map_err(|cause| untrusted::error_of(&self.path, cause))?;
            if hash != link.hash {
                return Ok((Some(link.step), before.covers));
            }
            before = link;
        }
        Ok((None, before.covers))
    }

    /// Returns the hashes of the samples for each of `links`, from the pages of the file, and calls `see` with each
    /// sample; `None` where SQLite has to read them.
    pub(super) fn sample_hashes(&self, links: &[Link], see: &mut Seen<'_>) -> Option<SampleHashes> {
        // Closed after the transaction: POSIX drops the locks of a process with any descriptor of the file.
        let mut pages = Pages::open(&self.path)?;
        let transaction = self.connection.unchecked_transaction().ok()?;
        let mut hashes = SampleHashes::new();
        for (name, columns, real) in [("interval", 14, None), ("reading", 6, Some(4))] {
            self.budget.renew();
            let sql = "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?1";
            let root = transaction.query_row(sql, [name], |row| row.get(0)).ok()?;
            let at = COVERED.iter().position(|one| *one == name)?;
            let ends: Vec<i64> = links.iter().map(|link| link.covers[at]).collect();
            let table = SampleTable { name, root, columns, real };
            hashes.insert(name, hashes_by_pages(&mut pages, table, &ends, see)?);
        }
        Some(hashes)
    }

    /// Refuses a file whose records were changed after they had been recorded. For results that are computed
    /// from records alone, without a page that could show the finding.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a link does not match, and those of [`RunFile::broken_link`].
    pub fn check_chain(&self) -> Result<(), RunFileError> {
        self.broken_link()?.map_or(Ok(()), |link| {
            let what = format!("its records do not match the hash {}", place(link));
            Err(RunFileError::Damaged { path: self.path.clone(), what })
        })
    }

    /// Returns the finding on records that were changed after they had been recorded, as
    /// [`RunFile::broken_link`] finds them.
    ///
    /// # Errors
    ///
    /// Those of [`RunFile::broken_link`].
    pub fn chain_finding(&self) -> Result<Option<Finding>, RunFileError> {
        Ok(self.broken_link()?.map(finding_of))
    }

    /// Returns the links.
    pub(super) fn links(&self) -> Result<Vec<Link>, RunFileError> {
        if self.format < 3 {
            return Ok(Vec::new());
        }
        let sql = "SELECT * FROM link ORDER BY rowid";
        self.rows().collect("link", sql, 3, |row| row.link())
    }

    /// Refuses a file that lacks records which its chain covers, or links of steps that have ended: whole
    /// pages can be lost without a trace in the others. The hashes are not computed.
    pub(super) fn check_links(&self) -> Result<(), RunFileError> {
        if self.format < 3 {
            return Ok(());
        }
        let damaged = |what: String| Err(RunFileError::Damaged { path: self.path.clone(), what });
        let links = self.links()?;
        let is_ascending = |two: &[Link]| {
            let counts = two[0].covers.iter().zip(&two[1].covers);
            two[0].covers != two[1].covers && counts.clone().all(|(one, next)| one <= next)
        };
        if !links.windows(2).all(is_ascending) {
            return damaged("its links are out of order".into());
        }
        let last = links.last().unwrap_or(&Link::START);
        let ended = |state| state != StepState::Running;
        let steps = self.read_steps(false)?;
        let ended = steps.iter().filter(|step| ended(step.state)).map(|step| step.id.0).max();
        let at = COVERED.iter().position(|table| *table == "step").expect("steps are covered");
        if ended.is_some_and(|ended| ended > last.covers[at]) {
            return damaged("the link of a step that has ended is missing".into());
        }
        let recorded = self.recorded()?;
        match (0..COVERED.len()).find(|at| recorded[*at] < last.covers[*at]) {
            Some(at) => damaged(format!("records of table {} are missing", COVERED[at])),
            None => Ok(()),
        }
    }

    /// Returns how many records each table has.
    fn recorded(&self) -> Result<Covers, RunFileError> {
        let mut counts = [0; COVERED.len()];
        for (count, table) in counts.iter_mut().zip(COVERED) {
            self.budget.renew();
            // The records of large tables are counted when they are read.
            let what = match crate::schema::LARGE_TABLES.contains(&table) {
                true => "coalesce(max(rowid), 0)",
                false => "count(*)",
            };
            let sql = format!("SELECT {what} FROM {table}");
            *count = self
                .connection
                .query_row(&sql, [], |row| row.get(0))
                .map_err(|cause| untrusted::error_of(&self.path, cause))?;
        }
        Ok(counts)
    }
}

impl Row<'_> {
    /// Returns a row of the table `link`.
    fn link(&self) -> Result<Link, &'static str> {
        let step = self.maybe(0, |row, at| row.number(at).map(StepId))?;
        Link::from_values(step, self.text(1)?, self.blob(2)?)
            .ok_or("values that are not those of a link")
    }
}
