//! What a workload came to.

use crate::recorder::Fault;
use ssdgauge_core::{EndedBy, EngineReport, Nanos};

/// What a workload came to.
#[derive(Debug)]
pub struct Outcome {
    /// The limit that ended it.
    pub by: EndedBy,
    /// From the first submission to the last completion.
    pub elapsed: Nanos,
    /// How the engine was set up and what it achieved.
    pub report: EngineReport,
    /// Completed reads and writes.
    pub ios: [u64; 2],
    /// The first faults, each with its second.
    pub faults: Vec<(u32, Fault)>,
    /// The drive did not answer for this long and was given up.
    pub silence: Option<Nanos>,
}
