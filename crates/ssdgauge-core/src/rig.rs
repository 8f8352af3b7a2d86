//! The seam between the pure lab and the world.

use crate::drive::DriveInfo;
use crate::preparation::{Preparation, Prepared};
use crate::sample::{Finding, Interval, Reading};
use crate::schedule::OpenLoop;
use crate::units::{Bytes, Nanos};
use crate::workload::{Until, Workload};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A drive under test together with its instruments.
///
/// One rig runs in real time on a file or a block device, another in virtual time on a model.
/// The lab cannot tell them apart.
pub trait Rig {
    /// Returns what is known of the drive.
    fn drive(&self) -> &DriveInfo;

    /// Brings the drive into a state, and says what was really done.
    fn prepare(
        &mut self,
        preparation: &Preparation,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError>;

    /// Runs `workload` to the first limit of `until`, handing every second to `sink`.
    fn run(
        &mut self,
        workload: &Workload,
        until: &Until,
        sink: &mut dyn Sink,
    ) -> Result<Ended, RigError>;

    /// Leaves the drive alone for `duration`, while its instruments go on.
    fn rest(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<(), RigError>;

    /// Returns what bears on every number that is measured here, before the first of them.
    fn conditions(&mut self) -> Vec<Finding> {
        Vec::new()
    }

    /// Leaves the drive alone for `duration`, and asks nothing of it either, because a question
    /// would wake it; instruments that do not ask the drive go on.
    fn idle(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<(), RigError> {
        self.rest(duration, sink)
    }
}

/// Where a rig hands what it sees.
pub trait Sink {
    /// Takes one second of one stream and direction.
    fn interval(&mut self, interval: &Interval);

    /// Takes one reading.
    fn reading(&mut self, reading: &Reading);

    /// Takes one finding about the step that runs.
    fn finding(&mut self, finding: Finding);

    /// Takes a finding about something that cannot be undone, before it is done; returns whether it
    /// is recorded durably. Where it is not, the rig must not do it.
    ///
    /// There is no default: a decorator that did not forward the call would answer for a record
    /// that was never made. [`crate::check_forwarding`] tests decorators.
    fn announce(&mut self, finding: Finding) -> bool;

    /// Returns whether the rig shall stop; asked at least ten times a second.
    fn stop(&mut self) -> bool;
}

/// Which limit ended a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndedBy {
    /// The time limit.
    Time,
    /// The byte limit.
    Bytes,
    /// The sink asked for it.
    Stop,
    /// The drive failed requests.
    Faults,
    /// The drive answered an open loop more than [`crate::MOST_LAG`] late.
    DeviceLag,
    /// The host sent an open loop more than [`crate::MOST_LAG`] late.
    HostLag,
}

impl EndedBy {
    /// Returns the word used in run files and pages.
    pub fn name(self) -> &'static str {
        match self {
            EndedBy::Time => "time",
            EndedBy::Bytes => "bytes",
            EndedBy::Stop => "stop",
            EndedBy::Faults => "faults",
            EndedBy::DeviceLag => "device-lag",
            EndedBy::HostLag => "host-lag",
        }
    }
}

/// How a workload ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// The limit that ended it.
    pub by: EndedBy,
    /// From the first submission to the last completion.
    pub elapsed: Nanos,
    /// What the engine says of itself.
    pub engine: EngineReport,
}

/// What an engine says of itself after a workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EngineReport {
    /// The engine that sent the requests.
    pub engine: String,
    /// How it was set up, such as `plain ring, registered file and buffers`.
    pub setup: String,
    /// Requests asked to be in flight.
    pub in_flight_asked: u32,
    /// Requests that were in flight on average: the sum of the latencies over the time (Little).
    #[serde(default)]
    pub in_flight: Option<f64>,
    /// Requests that were sent per system call; 1 for the synchronous engine.
    pub ios_per_enter: Option<f64>,
    /// Processor time of the whole process for each request, user and system.
    pub cpu_per_io: Option<Nanos>,
    /// What clock the latencies were taken with.
    pub clock: String,
    /// The figures of each open-loop stream.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_loop: Vec<OpenLoop>,
}

/// Why a rig could not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RigError {
    /// The request makes no sense on this target; nothing was written.
    #[error("{0}")]
    Refused(String),
    /// The system denied something the rig needs.
    #[error("{what}: {cause}")]
    System {
        /// What was tried.
        what: String,
        /// What the system answered.
        cause: String,
    },
    /// The drive cannot be made fresh in the way that was asked for.
    #[error("{drive} cannot be purged by {method}: {reason}")]
    CannotPurge {
        /// The drive.
        drive: String,
        /// The way.
        method: String,
        /// Why not.
        reason: String,
    },
    /// The drive is not the one that was admitted any more, or not ours alone. The step that was
    /// to write has not begun.
    #[error("{0}")]
    Changed(String),
    /// More was, or would be, written than the plan allows.
    #[error("{drive}: {} written, where the plan allows {}", written.about(), most.about())]
    OverBudget {
        /// The target.
        drive: String,
        /// What was, or would be, written.
        written: Bytes,
        /// The most that the plan allows.
        most: Bytes,
    },
    /// The drive does not keep what is written.
    #[error("{drive}: {what}")]
    NotKept {
        /// The target.
        drive: String,
        /// What was seen.
        what: String,
    },
    /// The drive disappeared.
    #[error("{0} is gone")]
    Gone(String),
    /// The target is smaller than when it was opened.
    #[error("{drive} shrank from {was} to {now}")]
    Shrank {
        /// The target.
        drive: String,
        /// Its size when it was opened.
        was: Bytes,
        /// Its size now.
        now: Bytes,
    },
    /// The drive does not answer.
    #[error("{drive} has not answered for {silence}")]
    Hung {
        /// The target.
        drive: String,
        /// For how long.
        silence: Nanos,
    },
}
