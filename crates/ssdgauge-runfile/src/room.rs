//! The memory that what is kept of a run file may take.

use crate::error::RunFileError;
use crate::record::reader::RunFile;
use crate::record::{FindingRecord, StepRecord};
use std::path::{Path, PathBuf};

/// The memory that what is kept of a run file may take, in bytes. Chosen: a step of a week (604,800
/// seconds) takes 150 MB, and with the program a file of up to 100 MB stays below 256 MiB.
const LEAST_ROOM: u64 = 192 << 20;

/// Bytes of memory for each byte of a larger file: a second with its histogram and readings takes some
/// 200 bytes of the file or more, and some 300 of memory.
const FOR_EACH_BYTE: u64 = 2;

/// Bytes of memory for each finding besides its text.
const FOR_EACH_FINDING: usize = 2_048;

/// The memory that is left for what is kept of a run file.
///
/// A prepared file can have millions of empty seconds or of instruments, each in a few bytes.
#[derive(Clone, Debug)]
pub struct Room {
    path: PathBuf,
    left: u64,
    whole: u64,
}

impl Room {
    /// Returns room for everything: of a file that this program writes itself.
    pub(crate) fn unlimited(path: &Path) -> Room {
        Room { path: path.to_owned(), left: u64::MAX, whole: u64::MAX }
    }

    /// Takes `bytes`.
    ///
    /// # Errors
    ///
    /// [`RunFileError::TooLarge`] where less is left.
    pub fn take(&mut self, bytes: usize) -> Result<(), RunFileError> {
        self.check(bytes)?;
        self.left -= bytes as u64;
        Ok(())
    }

    /// Takes the memory of `steps`.
    ///
    /// # Errors
    ///
    /// As [`Room::take`].
    pub fn take_steps(&mut self, steps: &[StepRecord]) -> Result<(), RunFileError> {
        let reports = steps.iter().filter_map(|step| step.report.as_ref());
        let reports: usize = reports.map(String::len).sum();
        self.take(reports + size_of_val(steps))
    }

    /// Takes the memory of `findings`, which reports keep in several forms: as JSON each takes some
    /// 2 KiB.
    ///
    /// # Errors
    ///
    /// As [`Room::take`].
    pub fn take_findings(&mut self, findings: &[FindingRecord]) -> Result<(), RunFileError> {
        let texts = findings.iter().map(|one| one.finding.text.len() + one.finding.advice.len());
        self.take(3 * texts.sum::<usize>() + FOR_EACH_FINDING * findings.len())
    }

    /// Returns the bytes that are left.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Returns an error where less than `bytes` is left.
    pub(crate) fn check(&self, bytes: usize) -> Result<(), RunFileError> {
        let path = || self.path.clone();
        match bytes as u64 > self.left {
            true => Err(RunFileError::TooLarge { path: path(), most: self.whole >> 20 }),
            false => Ok(()),
        }
    }
}

impl RunFile {
    /// Returns the memory that what is kept of this file may take.
    pub fn room(&self) -> Room {
        let path = self.path().to_owned();
        let size = std::fs::metadata(&path).map_or(0, |file| file.len());
        let whole = size.saturating_mul(FOR_EACH_BYTE).max(LEAST_ROOM);
        Room { path, left: whole, whole }
    }
}
