//! The purposes of a phase.

use serde::{Deserialize, Serialize};

/// The purpose of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PhaseKind {
    /// Purge the drive (SNIA): no data that was written before remains.
    Purge,
    /// Deallocate a range: trim, discard.
    Trim,
    /// Write the data that the test reads or overwrites.
    Fill,
    /// Write until the drive is in its sustained state (SNIA: preconditioning).
    Precondition,
    /// Probe a load for a short time, in a search.
    Search,
    /// Measure.
    Measure,
    /// Measure the first point again, to see whether the drive changed; it counts in no score.
    Check,
    /// Send no load.
    Rest,
    /// Set the power saving of the drive.
    Power,
    /// Set the volatile write cache of the drive.
    WriteCache,
}

impl PhaseKind {
    /// Returns the word used in plans, progress and pages.
    pub fn name(self) -> &'static str {
        match self {
            PhaseKind::Purge => "purge",
            PhaseKind::Trim => "trim",
            PhaseKind::Fill => "fill",
            PhaseKind::Precondition => "precondition",
            PhaseKind::Search => "search",
            PhaseKind::Measure => "measure",
            PhaseKind::Check => "check",
            PhaseKind::Rest => "rest",
            PhaseKind::Power => "power",
            PhaseKind::WriteCache => "cache",
        }
    }
}
