//! The facts about a step that its monitors need.

use ssdgauge_core::{Nanos, TargetKind, Workload};

/// A step that has ended.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    pub(crate) kind: TargetKind,
    pub(crate) workload: &'a Workload,
    pub(crate) elapsed: Nanos,
    /// Requests that completed in full.
    pub(crate) ios: u64,
    /// The mean number of requests in flight, by the count of the engine.
    pub(crate) in_flight: Option<f64>,
    /// Whether every request completed in full. If not, the counters of the kernel cannot be
    /// compared.
    pub(crate) whole: bool,
    /// Whether it was stopped by the user.
    pub(crate) stopped: bool,
    /// Where completions are polled, the requests for each system call: such a thread is always busy, and
    /// one whose calls find few completions waits for the drive.
    pub(crate) polled: Option<f64>,
    /// Whether requests went through the page cache, which is a finding already.
    pub(crate) page_cached: bool,
    /// Which of its requests the counters of the block device count.
    pub(crate) counted: Counted,
}

/// Which requests of a step the counters of the block device count: commands that are passed through are not
/// among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Every request.
    #[default]
    All,
    /// Those of some streams.
    Some,
    /// None.
    None,
}
