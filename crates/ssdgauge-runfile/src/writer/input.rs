//! What a writer is given at the beginning of a run and at the end of a step.

use crate::record::StepState;
use ssdgauge_core::{DriveInfo, Nanos, Plan};

/// The opening record of a new run.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The id of the run, unique among all runs.
    pub id: &'a str,
    /// The program and its version.
    pub program: &'a str,
    /// Start in milliseconds since 1970 (UTC).
    pub unix_ms: i64,
    /// The plan.
    pub plan: &'a Plan,
    /// The drive.
    pub drive: &'a DriveInfo,
    /// The host, as pairs of key and value.
    pub environment: &'a [(String, String)],
    /// Properties of the run, as pairs of key and value.
    pub properties: &'a [(String, String)],
}

/// End of a step.
#[derive(Clone, Debug)]
pub struct StepEnd {
    /// Finished or broken; never running.
    pub state: StepState,
    /// End in milliseconds since 1970 (UTC). May lie before the start where the time of day was set
    /// meanwhile.
    pub unix_ms: i64,
    /// Duration by the clock of the rig.
    pub elapsed: Nanos,
    /// The limit that ended it.
    pub ended_by: String,
    /// Report of the engine or of the preparation, as JSON.
    pub report: String,
}
