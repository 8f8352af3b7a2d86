//! `ssdgauge prove`: how much of its stated capacity a drive stores, with the evidence.

mod card;
#[cfg(target_os = "linux")]
mod read;
#[cfg(target_os = "linux")]
mod start;

use crate::failure::Failure;
use ssdgauge_lab::Recorded;
use ssdgauge_runfile::RunFile;
use std::path::Path;

#[cfg(target_os = "linux")]
pub(crate) use start::{conclude, execute};

/// Prints the result of the proof in `file`; returns false where it is the run file of another kind.
///
/// # Errors
///
/// Fails where the file cannot be read, or its records are damaged.
pub(crate) fn print_recorded(file: &Path, json: bool) -> Result<bool, Failure> {
    let run = RunFile::open(file)?;
    let Some(recorded) = Recorded::read(&run)? else { return Ok(false) };
    run.check_chain()?;
    card::print(&ssdgauge_lab::review(&recorded), &run.head().drive, file, json);
    Ok(true)
}
