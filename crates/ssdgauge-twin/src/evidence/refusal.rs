//! Runs that no twin is made from.

use ssdgauge_analysis::Run;
use ssdgauge_core::{Bytes, Detail, TargetKind};
use thiserror::Error;

/// Why no twin is made from runs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EvidenceError {
    /// No run.
    #[error("no run")]
    NoRun,
    /// Runs of two drives.
    #[error("{first} is of {of_first}, {other} is of {of_other}: a twin has one drive")]
    Drives {
        /// A run.
        first: String,
        /// Its drive.
        of_first: String,
        /// A run of another drive.
        other: String,
        /// That drive.
        of_other: String,
    },
    /// Runs of two firmwares.
    #[error("{first} has firmware {of_first}, {other} has {of_other}: a twin has one firmware")]
    Firmwares {
        /// A run.
        first: String,
        /// Its firmware.
        of_first: String,
        /// A run with another one.
        other: String,
        /// That firmware.
        of_other: String,
    },
    /// A run that was shortened.
    #[error("{run} is shortened to 1/{divisor}: its states are not those of the test")]
    Shortened {
        /// The run.
        run: String,
        /// The divisor of its times.
        divisor: u32,
    },
    /// A run that is not one of a whole drive.
    #[error("{run} is of {what}: a twin needs runs of a whole drive")]
    NotADrive {
        /// The run.
        run: String,
        /// What its target is.
        what: &'static str,
    },
    /// Runs on two paths.
    #[error("{first} and {other} sent requests on different paths (polled, pass-through)")]
    Paths {
        /// A run.
        first: String,
        /// A run on another path.
        other: String,
    },
    /// Nobody stated the capacity.
    #[error("no run states the capacity of the drive")]
    Capacity,
    /// No load that a twin predicts.
    #[error("the runs have no load that a twin predicts")]
    Nothing,
}

/// Returns the name of `run` in sentences.
pub(super) fn name(run: &Run) -> String {
    run.file_name.clone().unwrap_or_else(|| format!("the run of {}", run.head.plan.suite.id))
}

/// Returns the run that names the drive, and its capacity.
pub(super) fn check(runs: &[Run]) -> Result<(&Run, Bytes), EvidenceError> {
    if runs.is_empty() {
        return Err(EvidenceError::NoRun);
    }
    runs.iter().try_for_each(check_one)?;
    let named: Vec<&Run> = runs.iter().filter(|run| run.head.drive.model.is_some()).collect();
    let first = named.first().copied().unwrap_or(&runs[0]);
    named.iter().try_for_each(|other| check_pair(first, other))?;
    let plan = &runs[0].head.plan;
    let differs = |other: &&Run| {
        let own = &other.head.plan;
        (own.polled, own.pass_through) != (plan.polled, plan.pass_through)
    };
    if let Some(other) = runs.iter().find(differs) {
        return Err(EvidenceError::Paths { first: name(&runs[0]), other: name(other) });
    }
    let capacity = |run: &Run| {
        let drive = &run.head.drive;
        drive.whole_capacity().or(drive.known_capacity()).filter(|bytes| bytes.0 > 0)
    };
    let capacity = std::iter::once(first).chain(runs).find_map(capacity);
    Ok((first, capacity.ok_or(EvidenceError::Capacity)?))
}

fn check_one(run: &Run) -> Result<(), EvidenceError> {
    if run.is_shortened() {
        return Err(EvidenceError::Shortened { run: name(run), divisor: run.head.plan.shortened });
    }
    let drive = &run.head.drive;
    let is_imported = run.head.imported_from().is_some();
    let what = match drive.kind {
        TargetKind::File if !is_imported => Some("a scratch file"),
        TargetKind::Null => Some("no drive"),
        _ if drive.is_limited() => Some("a part of a drive"),
        _ if drive.detail(Detail::Rotational) == Some("1") => Some("a drive that rotates"),
        TargetKind::File | TargetKind::Block | TargetKind::Virtual => None,
    };
    match what {
        Some(what) => Err(EvidenceError::NotADrive { run: name(run), what }),
        None => Ok(()),
    }
}

fn check_pair(first: &Run, other: &Run) -> Result<(), EvidenceError> {
    let (one, two) = (&first.head.drive, &other.head.drive);
    let both = |one: &Option<String>, two: &Option<String>| match (one, two) {
        (Some(one), Some(two)) if one != two => Some((one.clone(), two.clone())),
        _ => None,
    };
    let is_other = both(&one.model, &two.model).or(both(&one.serial, &two.serial)).is_some();
    if is_other || one.model_revision() != two.model_revision() {
        let words = |drive: &ssdgauge_core::DriveInfo| {
            let serial = drive.serial.as_deref().unwrap_or("no serial number");
            format!("{} ({serial})", drive.name())
        };
        return Err(EvidenceError::Drives {
            first: name(first),
            of_first: words(one),
            other: name(other),
            of_other: words(two),
        });
    }
    if let Some((of_first, of_other)) = both(&one.firmware, &two.firmware) {
        return Err(EvidenceError::Firmwares {
            first: name(first),
            of_first,
            other: name(other),
            of_other,
        });
    }
    Ok(())
}
