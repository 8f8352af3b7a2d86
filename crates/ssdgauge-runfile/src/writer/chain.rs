//! The links of the chain of hashes that a writer adds.

use super::Writer;
use super::statements::{LINK, OUTCOME};
use crate::error::RunFileError;
use crate::record::reader::links;
use crate::record::{Outcome, StepId, integer, text};

impl Writer {
    /// Records how and why the run ended, and the link over everything that was recorded since the last
    /// step. Both become durable with the next commit.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Sqlite`] where SQLite refuses a record.
    pub fn end_run(&mut self, outcome: &Outcome) -> Result<(), RunFileError> {
        let kind = text(outcome.kind.name());
        self.insert(OUTCOME, vec![integer(outcome.unix_ms), kind, text(&outcome.reason)])?;
        self.seal()
    }

    /// Adds the link over everything that was recorded since the last one. It becomes durable with the next
    /// commit.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Sqlite`] where SQLite refuses the record.
    pub fn seal(&mut self) -> Result<(), RunFileError> {
        self.link(None)
    }

    /// Adds the link over everything that was recorded since the last one, at the end of `step`.
    pub(super) fn link(&mut self, step: Option<StepId>) -> Result<(), RunFileError> {
        let last = links::last(&self.connection, &self.path)?;
        let next = last
            .next(&self.connection, step)
            .map_err(|cause| RunFileError::from_sqlite(&self.path, cause))?;
        self.insert(LINK, next.values())
    }
}
