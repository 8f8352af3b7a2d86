//! Drives that heat or a link held back, against the others of their kind.

use super::drive_run::{DriveModel, DriveRun};
use super::peers::latest_runs;
use ssdgauge_analysis::findings::drive_faults::DriveFault;
use std::collections::BTreeMap;

/// What held a drive back.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldBack {
    /// The drive.
    pub serial: String,
    /// Its model and firmware.
    pub kind: DriveModel,
    /// Whether it is a virtual drive.
    pub is_model: bool,
    /// The run.
    pub run_id: String,
    /// The observation.
    pub fault: DriveFault,
    /// The drives of its kind with the same observation in the same suite, itself included.
    pub with: usize,
    /// The drives of its kind that ran this suite.
    pub of: usize,
}

impl HeldBack {
    /// Returns whether fewer than half of the drives of its kind were held back so: what most drives show is their
    /// cooling or their slots, and tells none from the others.
    pub fn is_unlike_peers(&self) -> bool {
        2 * self.with < self.of
    }
}

/// Returns what held drives back, from the latest run of each drive and suite.
pub(super) fn held_back(runs: &[DriveRun]) -> Vec<HeldBack> {
    let mut groups: BTreeMap<(&DriveModel, &str), Vec<&DriveRun>> = BTreeMap::new();
    for run in runs {
        groups.entry((&run.kind, run.suite.as_str())).or_default().push(run);
    }
    let mut found = Vec::new();
    for runs in groups.into_values() {
        let latest = latest_runs(runs.into_iter());
        for run in latest.values() {
            for fault in &run.held_back {
                let same = |other: &DriveFault| other.kind == fault.kind;
                let with = latest.values().filter(|other| other.held_back.iter().any(same)).count();
                found.push(HeldBack {
                    serial: run.serial.clone(),
                    kind: run.kind.clone(),
                    is_model: run.is_model,
                    run_id: run.run_id.clone(),
                    fault: fault.clone(),
                    with,
                    of: latest.len(),
                });
            }
        }
    }
    found
}
