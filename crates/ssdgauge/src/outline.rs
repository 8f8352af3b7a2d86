//! What has to be known of a run file before a drive is opened: it is read by a restricted process.

#[cfg(target_os = "linux")]
mod interrupted;

use crate::failure::Failure;
use crate::reader::{self, Input};
use serde::{Deserialize, Serialize};
use ssdgauge_runfile::{Head, RunFile, StepRecord};
use std::path::Path;

#[cfg(target_os = "linux")]
pub(crate) use interrupted::{Outline, continued, read};

/// Returns how the interrupted run in `file` goes on, as a clause.
pub(crate) fn way_on(head: &Head, file: &Path) -> String {
    match head.has_lost_its_target() {
        false => format!("continue with `ssdgauge resume {}`", file.display()),
        true => format!(
            "its scratch file ended with it; begin again with `ssdgauge {} {}`",
            head.plan.suite.id, head.drive.target
        ),
    }
}

/// The records of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Records {
    /// Plan, drive and host.
    pub(crate) head: Head,
    /// The attempts at its steps.
    pub(crate) steps: Vec<StepRecord>,
    /// Whether the run is complete, where that was asked for.
    pub(crate) is_complete: Option<bool>,
    /// The identity of the file in which it was begun, as it states it.
    pub(crate) origin: Option<String>,
}

/// Returns the records of the run in `file`; where `is_judged`, with whether it is complete.
///
/// # Errors
///
/// Fails where the file cannot be read or is not a run file.
pub(crate) fn records(file: &Path, is_judged: bool) -> Result<Records, Failure> {
    let words: &[&str] = if is_judged { &["records", "--judged"] } else { &["records"] };
    reader::ask(|| read_records(file, is_judged), words, &[file.into()], Input::None)
}

fn read_records(file: &Path, is_judged: bool) -> Result<Records, Failure> {
    let run = RunFile::open(file)?;
    let is_complete = match is_judged {
        true => Some(ssdgauge_analysis::read(file)?.complete),
        false => None,
    };
    let (head, steps, origin) = (run.head().clone(), run.steps()?, run.origin()?);
    Ok(Records { head, steps, is_complete, origin })
}
