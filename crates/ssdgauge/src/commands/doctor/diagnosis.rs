//! What `doctor` finds: checks, each with its state and what mends it.

use crate::commands::drives;
use crate::failure::Failure;
use serde::Serialize;
use ssdgauge_core::{DriveInfo, Finding, Severity};
use ssdgauge_guard::{Refusal, TargetError};
use ssdgauge_host::{CheckState, HostCheck};

/// What a check says about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// As it should be.
    Fine,
    /// Worth knowing, or needed for one option.
    Note,
    /// Not known.
    Unknown,
    /// It would spoil a run, or prevent it.
    Mend,
}

/// A check, and what it found.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) state: State,
    pub(super) text: String,
    /// What mends it, or what a run needs.
    pub(super) remedy: Option<String>,
}

/// What was found.
#[derive(Debug, Serialize)]
pub(super) struct Diagnosis {
    pub(super) schema_version: u32,
    pub(super) target: Option<TargetLine>,
    pub(super) checks: Vec<Check>,
    pub(super) drives: Option<Vec<DriveLine>>,
    pub(super) to_mend: usize,
    pub(super) unknown: usize,
}

/// The target of a run.
#[derive(Debug, Serialize)]
pub(super) struct TargetLine {
    pub(super) name: String,
    pub(super) model: Option<String>,
    pub(super) serial: Option<String>,
}

/// A drive of this machine.
#[derive(Debug, Serialize)]
pub(super) struct DriveLine {
    pub(super) path: String,
    pub(super) model: Option<String>,
    pub(super) serial: Option<String>,
    /// Whether it can be tested as a whole, with a confirmation where it needs one.
    pub(super) testable: bool,
    pub(super) checks: Vec<Check>,
}

impl Diagnosis {
    pub(super) fn new(
        target: Option<TargetLine>,
        checks: Vec<Check>,
        drives: Option<Vec<DriveLine>>,
    ) -> Diagnosis {
        // A drive that cannot be tested is not to be mended for it: this machine works on it.
        let of_drives = drives.iter().flatten().filter(|drive| drive.testable);
        let all = || checks.iter().chain(of_drives.clone().flat_map(|drive| &drive.checks));
        let count = |state| all().filter(|check| check.state == state).count();
        let (to_mend, unknown) = (count(State::Mend), count(State::Unknown));
        Diagnosis { schema_version: 1, target, checks, drives, to_mend, unknown }
    }
}

impl TargetLine {
    pub(super) fn new(info: &DriveInfo) -> TargetLine {
        let DriveInfo { target, model, serial, .. } = info.clone();
        TargetLine { name: target, model, serial }
    }

    pub(super) fn title(&self) -> String {
        let parts = [Some(&self.name), self.model.as_ref(), self.serial.as_ref()];
        parts.into_iter().flatten().cloned().collect::<Vec<_>>().join("  ")
    }
}

impl DriveLine {
    /// Returns the state of the drive in one line: the first reason against a test of it, or what to mend.
    pub(super) fn summary(&self) -> String {
        let of = |state| self.checks.iter().filter(move |check| check.state == state);
        let mut parts = Vec::new();
        match of(State::Mend).next() {
            Some(first) if !self.testable => parts.push(format!("not testable: {}", first.text)),
            Some(_) => parts.extend(of(State::Mend).map(|check| check.text.clone())),
            None => parts.push("nothing to fix".to_owned()),
        }
        let unknown: Vec<String> =
            of(State::Unknown).map(|check| check.name.replace('-', " ")).collect();
        if self.testable && !unknown.is_empty() {
            parts.push(format!("unknown: {}", unknown.join(", ")));
        }
        parts.join("; ")
    }
}

impl Check {
    pub(super) fn fine(name: &'static str, text: impl Into<String>) -> Check {
        Check { name, state: State::Fine, text: text.into(), remedy: None }
    }

    pub(super) fn unknown(name: &'static str, text: impl Into<String>) -> Check {
        Check { name, state: State::Unknown, text: text.into(), remedy: None }
    }

    pub(super) fn note(
        name: &'static str,
        text: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Check {
        Check { name, state: State::Note, text: text.into(), remedy: Some(remedy.into()) }
    }

    pub(super) fn mend(
        name: &'static str,
        text: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Check {
        Check { name, state: State::Mend, text: text.into(), remedy: Some(remedy.into()) }
    }

    /// Returns the check that a run would record as `finding`.
    pub(super) fn of_finding(name: &'static str, finding: Finding) -> Check {
        let Finding { severity, text, advice, kind: _ } = finding;
        match severity {
            Severity::Note => Check::note(name, text, advice),
            Severity::Warning | Severity::Invalid => Check::mend(name, text, advice),
        }
    }

    /// Returns a check of the host.
    pub(super) fn of_host(check: HostCheck) -> Check {
        match check.state {
            CheckState::Fine(text) => Check::fine(check.name, text),
            CheckState::Found(finding) => Check::of_finding(check.name, finding),
            CheckState::Unknown(reason) => Check::unknown(check.name, reason),
        }
    }

    /// Returns what would end a run as `failure`.
    pub(super) fn of_failure(name: &'static str, failure: &Failure) -> Check {
        Check::mend(name, failure.error.clone(), remedy(failure))
    }

    /// Returns the reason of the guard against a test of the drive that `confirm` names.
    pub(super) fn of_refusal(refusal: Refusal, confirm: Option<&str>) -> Check {
        let (name, text) = (refusal.key(), refusal.reason());
        match (drives::consent(&refusal, confirm), &refusal) {
            (Some((option, effect)), Refusal::UsesUnknown { .. }) => {
                Check { remedy: Some(format!("{option} {effect}")), ..Check::unknown(name, text) }
            }
            (Some((option, effect)), _) => Check::note(name, text, format!("{option} {effect}")),
            (None, _) => {
                let failure = Failure::from(TargetError::Refused(refusal));
                Check::mend(name, text, remedy(&failure))
            }
        }
    }
}

/// Returns the hint of a failure; that nothing was written goes without saying here.
pub(super) fn remedy(failure: &Failure) -> String {
    let hint = &failure.hint;
    hint.strip_prefix("nothing was written; ").unwrap_or(hint).to_owned()
}
