//! The outcome of a workload.

use crate::load::ring_flags::RingFlags;
use crate::recorder::Fault;
use ssdgauge_core::{Direction, EndedBy, EngineReport, Nanos};

/// The outcome of a workload.
#[derive(Debug)]
pub struct Outcome {
    /// The limit or event that ended it.
    pub by: EndedBy,
    /// From the first submission to the last completion.
    pub elapsed: Nanos,
    /// How the engine was set up and what it achieved.
    pub report: EngineReport,
    /// How the requests were sent, which the report has in words.
    pub sent_by: SentBy,
    /// Completed requests by direction.
    pub ios: [u64; Direction::COUNT],
    /// The first faults, each with its second.
    pub faults: Vec<(u32, Fault)>,
    /// The time without a completion after which the workload was aborted; `None` where the drive
    /// responded.
    pub silence: Option<Nanos>,
}

/// How the requests of a workload are sent; where its streams differ, those through a ring count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentBy {
    /// By system calls that wait.
    Calls,
    /// Through the block layer, by a ring.
    Ring(RingFlags),
    /// As commands to a namespace, by a ring.
    Commands,
}
