//! The purposes of a phase.

use serde::{Deserialize, Serialize};

/// The purpose of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PhaseKind {
    /// Make the drive as if fresh.
    Purge,
    /// Tell the drive what holds nothing.
    Trim,
    /// Write data that the test will read or overwrite.
    Fill,
    /// Write until the drive behaves as after long use.
    Precondition,
    /// Try a load for a short time, in a search.
    Search,
    /// Measure.
    Measure,
    /// Leave the drive alone.
    Rest,
    /// Choose how much power the drive may save.
    Power,
    /// Choose whether the drive may acknowledge writes from its volatile cache.
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
            PhaseKind::Rest => "rest",
            PhaseKind::Power => "power",
            PhaseKind::WriteCache => "cache",
        }
    }
}
