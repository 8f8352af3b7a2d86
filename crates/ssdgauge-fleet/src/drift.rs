//! Drift and slow drives among the runs of a fleet.
//!
//! Each drive is judged by its own history (the change of its headlines over time) and by the other
//! drives of its model and firmware: a regression of latency on throughput with an upper prediction bound,
//! as in Perseus (Lu et al., FAST 2023). The formulas are in `docs/explanation/slow-drives.md`.

mod drive_run;
mod held_back;
mod peers;
mod trend_over_runs;

pub use drive_run::{DriveModel, DriveRun, TestKey, drive_run, serial};
pub use held_back::HeldBack;
pub use peers::{Group, LEAST_DRIVES, NotJudged, Place, Reason, Strip, Suspect, Unjudged};
pub use trend_over_runs::Drift;

use std::collections::BTreeMap;

/// The results for a fleet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FleetDrift {
    /// The change of each headline of each drive, by serial.
    pub drifts: Vec<Drift>,
    /// The drives that are slower than their peers, the slowest first.
    pub suspects: Vec<Suspect>,
    /// What held drives back, by kind and serial.
    pub held_back: Vec<HeldBack>,
    /// By serial, the steps of the latest run that are beyond their bound, and those that have one.
    pub steps: BTreeMap<String, (usize, usize)>,
    /// The drives that were compared with each other.
    pub groups: Vec<Group>,
    /// The drives that could not be compared, with the reason.
    pub unjudged: Vec<Unjudged>,
    /// Every latency that was compared, with all of its drives.
    pub strips: Vec<Strip>,
}

/// Judges the drives of `runs`.
pub fn drift(runs: &[DriveRun]) -> FleetDrift {
    let drifts = trend_over_runs::drifts(runs);
    let held_back = held_back::held_back(runs);
    let peers::Peers { suspects, steps, groups, unjudged, strips } = peers::judge(runs);
    FleetDrift { drifts, suspects, held_back, steps, groups, unjudged, strips }
}
