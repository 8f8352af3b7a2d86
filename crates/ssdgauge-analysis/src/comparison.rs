//! Differences between runs: two, repeated ones, or one and the earlier runs of its drive.

pub mod compare;
pub(crate) mod history;
pub(crate) mod label_comparison;
pub mod outcome;
pub(crate) mod repeated_runs;
