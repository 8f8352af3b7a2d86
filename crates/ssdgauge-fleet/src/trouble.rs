//! Runs to look at before any speed: the drive failed requests, stood still or disappeared, or the run does not show
//! how fast it is.

use ssdgauge_analysis::findings::drive_faults::{self, DriveFault};
use ssdgauge_analysis::findings::run_outcome::account;
use ssdgauge_analysis::findings::trust::invalidating;
use ssdgauge_analysis::{Run, RunOutcome, run_outcome, sanitize_device, sanitize_prose};

/// A run to look at before any speed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What it is.
    pub kind: TroubleKind,
    /// The serial of the drive; the id of the run where it has none.
    pub drive: String,
    /// The label of the run.
    pub label: Option<String>,
    /// The model of the drive.
    pub model: String,
    /// Whether the drive is a virtual one.
    pub is_model: bool,
    /// The id of the run.
    pub run_id: String,
    /// Its start, in milliseconds since 1970.
    pub started_unix_ms: i64,
    /// What it observed of the drive, the gravest first.
    pub faults: Vec<DriveFault>,
    /// The same and the end of the run in words, at least one.
    pub words: Vec<String>,
}

/// What is wrong with a run or its drive, in the order in which drives are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TroubleKind {
    /// The run failed.
    Failed,
    /// The run ended, and observed faults of the drive.
    Faults,
    /// Results must not be used.
    Invalid,
    /// Something outside of the drive changed most of the results.
    Disturbed,
}

impl TroubleKind {
    /// Returns the word used in JSON and lists.
    pub fn name(self) -> &'static str {
        match self {
            TroubleKind::Failed => "failed",
            TroubleKind::Faults => "faults",
            TroubleKind::Invalid => "invalid",
            TroubleKind::Disturbed => "disturbed",
        }
    }
}

/// Returns what has to be said of `run` before any speed; `None` where there is nothing.
pub fn trouble(run: &Run) -> Option<Trouble> {
    let faults = drive_faults::of(run);
    let outcome = run_outcome(run);
    let invalid = invalidating(run);
    let kind = match (outcome, faults.is_empty()) {
        (RunOutcome::Failed, _) => TroubleKind::Failed,
        (_, false) => TroubleKind::Faults,
        (RunOutcome::Disturbed, true) => TroubleKind::Disturbed,
        (RunOutcome::Complete | RunOutcome::Unfinished, true) => {
            invalid.map(|_| TroubleKind::Invalid)?
        }
    };
    let mut words: Vec<String> = faults.iter().map(|fault| fault.text.clone()).collect();
    words.extend(match outcome {
        RunOutcome::Failed if faults.is_empty() => Some(failure(run)),
        RunOutcome::Disturbed => account(run, None).map(|account| account.title),
        RunOutcome::Unfinished if !faults.is_empty() => Some("the run is not finished".to_owned()),
        RunOutcome::Failed | RunOutcome::Unfinished | RunOutcome::Complete => None,
    });
    if kind == TroubleKind::Invalid {
        let text = invalid.map(|finding| sanitize_prose(&finding.text)).unwrap_or_default();
        words.push(format!("results must not be used: {text}"));
    }
    let (head, id) = (&run.head, sanitize_prose(&run.head.id));
    Some(Trouble {
        kind,
        drive: crate::serial(run).unwrap_or_else(|| id.clone()),
        label: head.environment.get("label").map(|label| sanitize_prose(label)),
        model: sanitize_device(head.drive.name()),
        is_model: run.is_model(),
        run_id: id,
        started_unix_ms: head.started_unix_ms,
        faults,
        words,
    })
}

/// Returns how the run failed, with the recorded error.
fn failure(run: &Run) -> String {
    let reason = run.recorded_outcome.as_ref().map(|one| sanitize_prose(&one.reason));
    match reason.filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("the run failed: {reason}"),
        None => "the run failed".to_owned(),
    }
}
