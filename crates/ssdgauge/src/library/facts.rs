//! What a list shows of a run file.

use serde::{Deserialize, Serialize};
use ssdgauge_analysis::{Run, RunOutcome, run_grade, run_headline, run_outcome};
#[cfg(target_os = "linux")]
use ssdgauge_runfile::Follower;
use ssdgauge_runfile::RunFileError;
use std::path::Path;

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Content {
    /// A run.
    Run(Facts),
    /// No run that can be read.
    Defective {
        /// What is wrong.
        defect: Defect,
        /// The reason.
        why: String,
    },
}

/// Why a file shows no run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Defect {
    /// Its records contradict themselves or their checksums.
    Damaged,
    /// It is not a run file.
    Foreign,
    /// It has a newer format.
    Newer,
    /// It cannot be read now: another program writes it, or the system refuses.
    Unreadable,
}

/// What a list shows of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) id: String,
    pub(crate) started_unix_ms: i64,
    pub(crate) drive: String,
    pub(crate) serial: Option<String>,
    pub(crate) label: Option<String>,
    pub(crate) suite: String,
    /// Whether the drive is a virtual one.
    pub(crate) model: bool,
    /// The word of JSON for how it ended.
    pub(crate) outcome: String,
    pub(crate) is_complete: bool,
    pub(crate) tests_done: usize,
    pub(crate) grade: Option<String>,
    pub(crate) headline: String,
}

impl Defect {
    /// Returns the word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Defect::Damaged => "damaged",
            Defect::Foreign => "foreign",
            Defect::Newer => "newer",
            Defect::Unreadable => "unreadable",
        }
    }
}

impl Content {
    /// Reads `file`.
    pub(crate) fn read(file: &Path) -> Content {
        match ssdgauge_analysis::read(file) {
            Ok(run) => Content::Run(Facts::of(&run)),
            Err(error) => {
                let ssdgauge_analysis::ReportError::RunFile(cause) = &error;
                Content::defective(defect_of(cause), without_name(&error.to_string(), file))
            }
        }
    }

    pub(crate) fn defective(defect: Defect, why: String) -> Content {
        Content::Defective { defect, why }
    }

    /// Returns the facts of the run, where the file holds one.
    pub(crate) fn facts(&self) -> Option<&Facts> {
        match self {
            Content::Run(facts) => Some(facts),
            Content::Defective { .. } => None,
        }
    }

    /// Returns whether it stays as it is while the file does not change.
    pub(super) fn is_lasting(&self) -> bool {
        !matches!(self, Content::Defective { defect: Defect::Unreadable, .. })
    }

    /// Returns whether a program may be writing the file.
    pub(super) fn may_run(&self) -> bool {
        match self {
            Content::Run(facts) => !facts.is_complete,
            Content::Defective { defect, .. } => *defect == Defect::Unreadable,
        }
    }
}

impl Facts {
    fn of(run: &Run) -> Facts {
        let (head, drive) = (&run.head, &run.head.drive);
        let outcome = run_outcome(run);
        Facts {
            id: head.id.clone(),
            started_unix_ms: head.started_unix_ms,
            drive: drive.name().to_owned(),
            serial: drive.serial.clone(),
            label: head.environment.get("label").cloned(),
            suite: head.plan.suite.id.clone(),
            model: run.is_model(),
            outcome: outcome.name().to_owned(),
            is_complete: matches!(outcome, RunOutcome::Complete | RunOutcome::Disturbed),
            tests_done: run.tests.iter().filter(|test| test.complete).count(),
            grade: run_grade(run).map(str::to_owned),
            headline: run_headline(run),
        }
    }
}

/// Returns whether a program writes `file` now.
#[cfg(target_os = "linux")]
pub(super) fn is_written(file: &Path) -> bool {
    /// Between two transactions a writer holds no lock, for less than a millisecond.
    const LOOKS: u32 = 3;
    match Follower::open(file) {
        Ok(follower) => (0..LOOKS).any(|look| {
            if look > 0 {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            follower.has_writer().unwrap_or(false)
        }),
        Err(error) => matches!(error, RunFileError::Busy(_)),
    }
}

/// Returns whether a program writes `file` now: on other systems than Linux nobody writes one.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_written(_: &Path) -> bool {
    false
}

fn defect_of(cause: &RunFileError) -> Defect {
    match cause {
        RunFileError::Foreign { .. } => Defect::Foreign,
        RunFileError::Newer { .. } => Defect::Newer,
        RunFileError::AfterRollback(cause) => defect_of(cause),
        RunFileError::Damaged { .. }
        | RunFileError::Impossible { .. }
        | RunFileError::TooLarge { .. }
        | RunFileError::TooManyLatencies { .. }
        | RunFileError::Excess { .. } => Defect::Damaged,
        RunFileError::Missing(_)
        | RunFileError::Exists(_)
        | RunFileError::NextTo(_)
        | RunFileError::Neighbour { .. }
        | RunFileError::HalfWritten(_)
        | RunFileError::Replaced(_)
        | RunFileError::NameLost { .. }
        | RunFileError::Busy(_)
        | RunFileError::BeingRead(_)
        | RunFileError::Unreadable { .. }
        | RunFileError::Full(_)
        | RunFileError::NoReserve { .. }
        | RunFileError::System { .. }
        | RunFileError::Sqlite { .. } => Defect::Unreadable,
    }
}

/// Returns `why` without the name of `file`, which the list has already.
fn without_name(why: &str, file: &Path) -> String {
    let rest = why.strip_prefix(&file.display().to_string()).unwrap_or(why);
    rest.trim_start_matches(" is not a run file")
        .trim_start_matches(" is damaged")
        .trim_start_matches(": ")
        .trim()
        .to_owned()
}
