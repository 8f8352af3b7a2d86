//! Records of the tables that format 3 added.

use super::Writer;
use super::statements::{ANSWER, LOG_PAGE, PERCENTILE};
use crate::error::RunFileError;
use crate::packed;
use crate::record::{Answer, ImportedPercentile, StepId, integer, text};
use rusqlite::types::Value;
use ssdgauge_core::LogPage;

impl Writer {
    /// Adds what the drive answered to a call within `step`. It becomes durable with the next commit.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Sqlite`] where SQLite refuses the record.
    ///
    /// # Panics
    ///
    /// Where `step` does not run: a mistake of the caller.
    pub fn answer(&mut self, step: StepId, answer: &Answer) -> Result<(), RunFileError> {
        let is_open = self.open_step.as_ref().is_some_and(|open| open.id == step);
        assert!(is_open, "answers are added to a step while it runs");
        let values = vec![
            integer(step.0),
            integer(answer.unix_ms),
            text(&answer.kind),
            text(&answer.asked),
            Value::Blob(packed::pack(&answer.answer)),
        ];
        self.insert(ANSWER, values)
    }

    /// Adds a percentile that another program stated for `step`. It becomes durable with the next commit.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Sqlite`] where SQLite refuses the record.
    pub fn percentile(
        &mut self,
        step: StepId,
        stated: &ImportedPercentile,
    ) -> Result<(), RunFileError> {
        let values = vec![
            integer(step.0),
            integer(stated.stream),
            text(stated.direction.name()),
            // SQLite stores a negative zero as 0, which the checksum would not be that of.
            Value::Real(stated.percent + 0.0),
            integer(stated.latency.0),
        ];
        self.insert(PERCENTILE, values)
    }

    /// Adds a log page of the drive as it was read. It becomes durable with the next commit.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Sqlite`] where SQLite refuses the record.
    pub fn log_page(&mut self, step: StepId, page: &LogPage) -> Result<(), RunFileError> {
        let content = Value::Blob(page.content.clone());
        self.insert(LOG_PAGE, vec![integer(step.0), integer(page.at.0), text(&page.page), content])
    }
}
