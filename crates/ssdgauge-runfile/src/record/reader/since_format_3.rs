//! Records of the tables that format 3 added. Files of earlier formats have none.

use super::row::Row;
use super::{Rows, RunFile};
use crate::error::RunFileError;
use crate::packed;
use crate::record::digest::samples_crc;
use crate::record::since_format_3::{Answer, Digest, ImportedPercentile, Outcome};
use crate::record::{OutcomeKind, StepId, StepRecord};
use crate::untrusted;
use ssdgauge_core::{Direction, LogPage, Nanos};

/// The bytes that all answers of a file may unpack to, whatever its size, and the further ones for each of
/// its bytes. Chosen: bins of equal numbers pack to a fiftieth.
const LEAST_UNPACKED: u64 = 1 << 30;
const UNPACKED_FOR_EACH_BYTE: u64 = 64;

impl RunFile {
    /// Calls `take` with every answer and its step, in the order of recording.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a record fails its check, or unpacks to more than it can hold.
    pub fn answers(&self, mut take: impl FnMut(StepId, Answer)) -> Result<(), RunFileError> {
        let size = std::fs::metadata(&self.path).map_or(0, |file| file.len());
        let mut left = LEAST_UNPACKED.saturating_add(size.saturating_mul(UNPACKED_FOR_EACH_BYTE));
        if self.format < 3 {
            return Ok(());
        }
        let sql = "SELECT * FROM answer ORDER BY rowid";
        self.rows().each("answer", sql, [], 5, |row| {
            let (step, answer) = row.answer(left)?;
            left -= answer.answer.len() as u64;
            take(step, answer);
            Ok(())
        })
    }

    /// Returns every percentile that another program stated, with its step, in the order of recording.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a record fails its check.
    pub fn percentiles(&self) -> Result<Vec<(StepId, ImportedPercentile)>, RunFileError> {
        self.all_of("percentile", 5, |row| row.percentile())
    }

    /// Returns the percentiles that another program stated for `step`.
    pub(super) fn percentiles_of(
        &self,
        step: StepId,
    ) -> Result<Vec<ImportedPercentile>, RunFileError> {
        match self.format >= 3 && self.head.imported_from().is_some() {
            true => self.rows().percentiles_of(step),
            false => Ok(Vec::new()),
        }
    }

    /// Returns every log page with its step, in the order of recording.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a record fails its check.
    pub fn log_pages(&self) -> Result<Vec<(StepId, LogPage)>, RunFileError> {
        self.all_of("log_page", 4, |row| row.log_page())
    }

    /// Returns the recorded numbers of each step.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a record fails its check.
    pub fn digests(&self) -> Result<Vec<(StepId, Digest)>, RunFileError> {
        self.all_of("digest", 4, |row| row.digest())
    }

    /// Returns the checksum of the samples of `record`, as [`Digest::samples_crc`].
    ///
    /// # Errors
    ///
    /// [`RunFileError::Unreadable`] where SQLite cannot read them.
    pub fn samples_crc(&self, record: &StepRecord) -> Result<u32, RunFileError> {
        self.budget.renew();
        samples_crc(&self.connection, record.id, record.elapsed.unwrap_or(Nanos::ZERO))
            .map_err(|cause| untrusted::error_of(&self.path, cause))
    }

    /// Returns how the last process that carried out the run ended it; `None` where it was killed or still
    /// runs, and where the file has an earlier format.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a record fails its check.
    pub fn outcome(&self) -> Result<Option<Outcome>, RunFileError> {
        let mut outcomes = self.all_of("outcome", 3, |row| row.outcome())?;
        Ok(outcomes.pop())
    }

    fn all_of<T>(
        &self,
        table: &str,
        sealed: usize,
        read: impl FnMut(&Row<'_>) -> Result<T, &'static str>,
    ) -> Result<Vec<T>, RunFileError> {
        if self.format < 3 {
            return Ok(Vec::new());
        }
        let sql = format!("SELECT * FROM {table} ORDER BY rowid");
        self.rows().collect(table, &sql, sealed, read)
    }
}

impl Rows<'_> {
    /// Returns the percentiles that another program stated for `step`.
    pub(crate) fn percentiles_of(
        &self,
        step: StepId,
    ) -> Result<Vec<ImportedPercentile>, RunFileError> {
        let mut stated = Vec::new();
        let sql = "SELECT * FROM percentile WHERE step_id = ?1 ORDER BY rowid";
        self.each("percentile", sql, [step.0], 5, |row| {
            stated.push(row.percentile()?.1);
            Ok(())
        })?;
        Ok(stated)
    }
}

impl Row<'_> {
    /// Returns a row of the table `answer`, which unpacks to at most `most` bytes.
    fn answer(&self, most: u64) -> Result<(StepId, Answer), &'static str> {
        let answer = Answer {
            unix_ms: self.number(1)?,
            kind: self.text(2)?.to_owned(),
            asked: self.text(3)?.to_owned(),
            answer: packed::unpack(self.blob(4)?, most)?,
        };
        Ok((StepId(self.number(0)?), answer))
    }

    /// Returns a row of the table `percentile`.
    fn percentile(&self) -> Result<(StepId, ImportedPercentile), &'static str> {
        let stated = ImportedPercentile {
            stream: self.number(1)?,
            direction: Direction::from_name(self.text(2)?).ok_or("an unknown direction")?,
            percent: self.real(3)?,
            latency: Nanos(self.number(4)?),
        };
        match (0.0..=100.0).contains(&stated.percent) {
            true => Ok((StepId(self.number(0)?), stated)),
            false => Err("a percentile outside of its range"),
        }
    }

    /// Returns a row of the table `log_page`.
    fn log_page(&self) -> Result<(StepId, LogPage), &'static str> {
        let page = LogPage {
            at: Nanos(self.number(1)?),
            page: self.text(2)?.to_owned(),
            content: self.blob(3)?.to_vec(),
        };
        Ok((StepId(self.number(0)?), page))
    }

    /// Returns a row of the table `digest`.
    pub(super) fn digest(&self) -> Result<(StepId, Digest), &'static str> {
        let digest = Digest {
            arithmetic: self.number(1)?,
            samples_crc: self.number(2)?,
            content: self.text(3)?.to_owned(),
        };
        Ok((StepId(self.number(0)?), digest))
    }

    /// Returns a row of the table `outcome`.
    fn outcome(&self) -> Result<Outcome, &'static str> {
        Ok(Outcome {
            unix_ms: self.number(0)?,
            kind: OutcomeKind::from_name(self.text(1)?).ok_or("an unknown outcome")?,
            reason: self.text(2)?.to_owned(),
        })
    }
}
