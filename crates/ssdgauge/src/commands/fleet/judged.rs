//! The judgement of the fleet, by run: the state of each drive with its reasons in words.

use super::drift;
use ssdgauge_core::rounded::count_of;
use ssdgauge_fleet::{DriveRun, FleetDrift, NotJudged, Reason, Suspect, Unjudged};
use ssdgauge_report::{BatchState, Run};
use std::collections::BTreeMap;

/// The reasons that are stated for a drive.
const MOST_REASONS: usize = 3;

/// What was found about each run.
pub(super) struct Judged {
    found: FleetDrift,
    /// Each run, or why it says nothing.
    runs: Vec<Result<DriveRun, &'static str>>,
    /// Whether each run is complete.
    complete: Vec<bool>,
    /// The latest run of each serial, by its place.
    latest: BTreeMap<String, usize>,
}

/// What was found about the drive of a run.
pub(super) struct OneRun {
    pub(super) state: BatchState,
    pub(super) reasons: Vec<String>,
}

impl Judged {
    /// Judges the drives of `runs`.
    pub(super) fn new(runs: &[Run]) -> Judged {
        let complete = runs.iter().map(|run| run.complete).collect();
        let runs: Vec<_> = runs.iter().map(ssdgauge_fleet::drive_run).collect();
        let usable: Vec<DriveRun> = runs.iter().flatten().cloned().collect();
        let mut latest: BTreeMap<String, usize> = BTreeMap::new();
        for (place, run) in runs.iter().enumerate() {
            let Ok(run) = run else { continue };
            let known = latest.entry(run.serial.clone()).or_insert(place);
            let is_later = |other: &DriveRun| other.started_unix_ms <= run.started_unix_ms;
            if runs[*known].as_ref().is_ok_and(is_later) {
                *known = place;
            }
        }
        Judged { found: ssdgauge_fleet::drift(&usable), runs, complete, latest }
    }

    /// Returns whether a later run of the same drive stands for the one at `place`.
    pub(super) fn is_earlier(&self, place: usize) -> bool {
        match &self.runs[place] {
            Ok(run) => self.latest.get(&run.serial).is_some_and(|latest| *latest != place),
            Err(_) => false,
        }
    }

    /// Returns the number of drives that were judged beside others.
    pub(super) fn drives(&self) -> usize {
        self.found.groups.iter().map(|group| group.drives).sum()
    }

    /// Returns what was found about the drive of the run at `place`.
    pub(super) fn of(&self, place: usize) -> OneRun {
        let run = match &self.runs[place] {
            Ok(run) => run,
            Err(reason) if self.complete[place] => {
                return OneRun {
                    state: BatchState::NotJudged,
                    reasons: vec![(*reason).to_owned()],
                };
            }
            Err(_) => return OneRun { state: BatchState::Unfinished, reasons: Vec::new() },
        };
        let suspect = self.found.suspects.iter().find(|one| one.serial == run.serial);
        let worse =
            self.found.drifts.iter().filter(|one| one.serial == run.serial && one.is_worse());
        let mut reasons: Vec<String> = suspect.map(slow_words).unwrap_or_default();
        let was_slow = !reasons.is_empty();
        reasons.extend(worse.map(drift::drift_line).take(MOST_REASONS));
        let is_judged = self.found.groups.iter().any(|group| group.kind == run.kind);
        let state = match (self.complete[place], was_slow, reasons.is_empty(), is_judged) {
            (false, ..) => BatchState::Unfinished,
            (true, true, ..) => BatchState::Slow,
            (true, false, false, _) => BatchState::Worse,
            (true, false, true, true) => BatchState::Unsuspicious,
            (true, false, true, false) => {
                let of_kind = self.found.unjudged.iter().find(|one| one.kind == run.kind);
                reasons.extend(of_kind.map(|one| one.reason.to_string()));
                BatchState::NotJudged
            }
        };
        OneRun { state, reasons }
    }

    /// Returns which drives were judged beside others, and which were not, with the reason.
    pub(super) fn coverage(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for group in &self.found.groups {
            parts.push(format!("{} of {}", count_of(group.drives, "drive"), group.kind.model));
        }
        let mut words = match parts.is_empty() {
            true => "No drives were judged beside each other.".to_owned(),
            false => format!("Judged beside each other: {}.", parts.join("; ")),
        };
        for Unjudged { kind, reason } in &self.found.unjudged {
            if let NotJudged::FewDrives { .. } = reason {
                words.push_str(&format!(" Not judged: {}, {reason}.", kind.model));
            }
        }
        words
    }
}

fn slow_words(suspect: &Suspect) -> Vec<String> {
    let mut words: Vec<String> =
        suspect.reasons.iter().take(MOST_REASONS).map(Reason::to_string).collect();
    if let Some(first) = words.first_mut() {
        first.push_str(&format!(" ({} of {} steps are beyond it)", suspect.slow, suspect.judged));
    }
    words
}
