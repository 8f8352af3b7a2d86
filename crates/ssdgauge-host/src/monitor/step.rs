//! What the monitor has to know of a step.

use ssdgauge_core::{Nanos, TargetKind, Workload};

/// What is known of a step when it has ended.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    pub(crate) kind: TargetKind,
    pub(crate) workload: &'a Workload,
    pub(crate) elapsed: Nanos,
    /// How many requests were in flight on average, as the engine counts.
    pub(crate) in_flight: Option<f64>,
    /// Whether every request completed in full: the kernel's counts of others mean nothing.
    pub(crate) whole: bool,
    /// Whether somebody stopped it.
    pub(crate) stopped: bool,
    /// Whether it is known already that the page cache stood between.
    pub(crate) cached: bool,
}
