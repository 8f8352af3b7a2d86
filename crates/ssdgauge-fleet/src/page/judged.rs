//! The judgement of the fleet, by run: the state of each drive with its reasons in words.

use crate::drift_words::drift_line;
use crate::{
    DriveRun, FleetDrift, HeldBack, NotJudged, Reason, Strip, Suspect, Trouble, TroubleKind,
    Unjudged,
};
use ssdgauge_analysis::{BatchState, Run, RunOutcome, run_outcome};
use ssdgauge_core::rounded::count_of;
use std::collections::BTreeMap;

/// The reasons that are stated for a drive.
const MOST_REASONS: usize = 3;

/// What the page of a fleet needs of a run: all of a thousand runs would not fit in memory.
pub struct Extract {
    /// The run, or why it says nothing about its drive.
    pub(super) drive_run: Result<DriveRun, &'static str>,
    pub(super) outcome: RunOutcome,
    /// What has to be said of it before any speed.
    pub(super) trouble: Option<Trouble>,
    /// The label, the serial and the model of the drive, and the id of the run.
    pub(super) label: Option<String>,
    pub(super) serial: Option<String>,
    pub(super) model: String,
    pub(super) run_id: String,
    pub(super) started_unix_ms: i64,
    pub(super) is_model: bool,
    /// The titles of the tests by their id.
    pub(super) titles: Vec<(String, String)>,
    /// The suite and the drive, for the command that tests it again.
    pub(super) suite: String,
    pub(super) target: String,
}

impl Extract {
    /// Takes it from `run`.
    pub fn new(run: &Run) -> Extract {
        let (head, drive) = (&run.head, &run.head.drive);
        let prose = ssdgauge_analysis::sanitize_prose;
        let titles = run.tests.iter();
        Extract {
            drive_run: crate::drive_run(run),
            outcome: run_outcome(run),
            trouble: crate::trouble(run),
            label: head.environment.get("label").map(|label| prose(label)),
            serial: crate::serial(run),
            started_unix_ms: head.started_unix_ms,
            model: drive.name().to_owned(),
            run_id: prose(&head.id),
            is_model: run.is_model(),
            titles: titles.map(|one| (prose(&one.test.id), prose(&one.test.title))).collect(),
            suite: prose(&head.plan.suite.id),
            target: prose(&drive.target),
        }
    }

    /// Returns what tells its drive from others: the serial, or the id of the run.
    pub(super) fn identity(&self) -> &str {
        self.serial.as_deref().unwrap_or(&self.run_id)
    }
}

/// What was found about each run.
pub(super) struct Judged<'a> {
    runs: &'a [Extract],
    found: FleetDrift,
    /// The latest run of each drive, by its place.
    latest: BTreeMap<&'a str, usize>,
}

/// What was found about the drive of a run.
pub(super) struct OneRun {
    pub(super) state: BatchState,
    /// What the drive did, as predicates.
    pub(super) did: Vec<&'static str>,
    pub(super) reasons: Vec<String>,
    /// Whether it is slower than its peers.
    pub(super) is_slow: bool,
    /// The steps beyond their bound, and those that have one.
    pub(super) beyond: (usize, usize),
}

impl<'a> Judged<'a> {
    /// Judges the drives of `runs`.
    pub(super) fn new(runs: &'a [Extract]) -> Judged<'a> {
        let usable: Vec<DriveRun> =
            runs.iter().filter_map(|one| one.drive_run.as_ref().ok()).cloned().collect();
        let mut latest: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, one) in runs.iter().enumerate() {
            let known = latest.entry(one.identity()).or_insert(place);
            if runs[*known].started_unix_ms <= one.started_unix_ms {
                *known = place;
            }
        }
        Judged { runs, found: crate::drift(&usable), latest }
    }

    /// Returns whether a later run of the same drive stands for the one at `place`.
    pub(super) fn is_earlier(&self, place: usize) -> bool {
        self.latest.get(self.runs[place].identity()).is_some_and(|latest| *latest != place)
    }

    /// Returns the number of drives that were compared with others.
    pub(super) fn drives(&self) -> usize {
        self.found.groups.iter().map(|group| group.drives).sum()
    }

    /// Returns every latency that was compared.
    pub(super) fn strips(&self) -> &[Strip] {
        &self.found.strips
    }

    /// Returns what was found about the drive of the run at `place`: what its runs observed of it first, then how it
    /// compares with others.
    pub(super) fn of(&self, place: usize) -> OneRun {
        let compared = self.compared(place);
        let own = self.runs[place].trouble.as_ref();
        let earlier: Vec<&Trouble> = self.earlier_faults(place).collect();
        let state = match own.map(|trouble| trouble.kind) {
            Some(TroubleKind::Failed) => BatchState::Failed,
            Some(TroubleKind::Faults) => BatchState::Faults,
            _ if !earlier.is_empty() => BatchState::Faults,
            Some(_) if compared.state == BatchState::Unfinished => BatchState::Unfinished,
            Some(TroubleKind::Invalid) => BatchState::Invalid,
            Some(TroubleKind::Disturbed) => BatchState::Disturbed,
            None => return compared,
        };
        let all = || own.into_iter().chain(earlier.iter().copied());
        let mut did: Vec<&'static str> = Vec::new();
        let faults = all().flat_map(|trouble| &trouble.faults).map(|fault| fault.did);
        for one in faults.chain(compared.did) {
            if !did.contains(&one) {
                did.push(one);
            }
        }
        let mut reasons: Vec<String> = own.map(|one| one.words.clone()).unwrap_or_default();
        let of_earlier = |trouble: &&Trouble| {
            let texts: Vec<&str> = trouble.faults.iter().map(|fault| &*fault.text).collect();
            format!("its earlier run {}: {}", trouble.run_id, texts.join("; "))
        };
        reasons.extend(earlier.iter().map(of_earlier));
        // That it was not compared says nothing more.
        if compared.state < BatchState::Invalid {
            reasons.extend(compared.reasons);
        }
        OneRun { state, did, reasons, ..compared }
    }

    /// Returns the earlier runs of the drive of the run at `place` that observed faults of it.
    fn earlier_faults(&self, place: usize) -> impl Iterator<Item = &Trouble> {
        let drive = self.runs[place].identity();
        let others = self.runs.iter().enumerate().filter(move |(other, _)| *other != place);
        let of_drive = others.filter(move |(_, one)| one.identity() == drive);
        let troubles = of_drive.filter_map(|(_, one)| one.trouble.as_ref());
        troubles.filter(|trouble| !trouble.faults.is_empty())
    }

    /// Returns how the drive of the run at `place` compares with others, and with itself.
    fn compared(&self, place: usize) -> OneRun {
        let one = &self.runs[place];
        let run = match &one.drive_run {
            Ok(run) => run,
            Err(reason) => {
                let (state, reasons) = match one.outcome {
                    RunOutcome::Unfinished => (BatchState::Unfinished, Vec::new()),
                    _ => (BatchState::NotJudged, vec![(*reason).to_owned()]),
                };
                return OneRun { state, did: Vec::new(), reasons, is_slow: false, beyond: (0, 0) };
            }
        };
        let suspect = self.found.suspects.iter().find(|one| one.serial == run.serial);
        let worse =
            self.found.drifts.iter().filter(|one| one.serial == run.serial && one.is_worse());
        let of_drive = self.found.held_back.iter().filter(|one| one.serial == run.serial);
        let (unlike, like): (Vec<&HeldBack>, Vec<&HeldBack>) =
            of_drive.partition(|one| one.is_unlike_peers());
        let mut reasons: Vec<String> = unlike.iter().map(|one| unlike_words(one)).collect();
        reasons.extend(suspect.map(slow_words).unwrap_or_default());
        if suspect.is_some() {
            let also = like.iter().map(|one| format!("its run also found: {}", one.fault.text));
            reasons.extend(also);
        }
        let before = reasons.len();
        reasons.extend(worse.map(drift_line).take(MOST_REASONS));
        let is_judged = self.found.groups.iter().any(|group| group.kind == run.kind);
        let state = match (suspect, unlike.is_empty(), reasons.len() > before) {
            _ if one.outcome != RunOutcome::Complete => BatchState::Unfinished,
            (Some(_), ..) => BatchState::Slow,
            (None, false, _) => BatchState::HeldBack,
            (None, true, true) => BatchState::Worse,
            (None, true, false) if is_judged => BatchState::Unsuspicious,
            (None, true, false) => {
                let of_kind = self.found.unjudged.iter().find(|one| one.kind == run.kind);
                reasons.extend(of_kind.map(|one| one.reason.to_string()));
                BatchState::NotJudged
            }
        };
        let beyond = self.found.steps.get(&run.serial).copied().unwrap_or_default();
        let did = unlike.iter().map(|one| one.fault.did).collect();
        OneRun { state, did, reasons, is_slow: suspect.is_some(), beyond }
    }

    /// Returns which drives were compared with others, and which were not, with the reason.
    pub(super) fn coverage(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for group in &self.found.groups {
            parts.push(format!("{} of {}", count_of(group.drives, "drive"), group.kind.model));
        }
        let mut words = match parts.is_empty() {
            true => "No drives were judged against each other.".to_owned(),
            false => format!("Judged against each other: {}.", parts.join("; ")),
        };
        for Unjudged { kind, reason } in &self.found.unjudged {
            if let NotJudged::FewDrives { .. } = reason {
                words.push_str(&format!(" Not judged: {}, {reason}.", kind.model));
            }
        }
        words
    }
}

/// Returns what held a drive back, and how many of its peers had the same.
fn unlike_words(one: &HeldBack) -> String {
    let (others, all) = (one.with - 1, one.of - 1);
    let others = if others == 0 { "none".to_owned() } else { others.to_string() };
    format!("{}; seen on {others} of its {all} peers", one.fault.text)
}

fn slow_words(suspect: &Suspect) -> Vec<String> {
    suspect.reasons.iter().take(MOST_REASONS).map(Reason::to_string).collect()
}
