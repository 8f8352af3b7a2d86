//! The loads that show whether drives disturb each other: what one drive runs, phase by phase. When a phase
//! begins, and what the other drives do meanwhile, is decided by the caller.

use crate::planner::{self, Options, PlanError};
use crate::suite::Suite;
use ssdgauge_core::{
    Action, DriveInfo, EndedBy, FindingKind, Histogram, Nanos, Phase, PhaseKind, Plan, Recording,
    Rig, RigError, Step, Test, Until, Workload,
};
use ssdgauge_statistics::interference::{FEWEST_FOR_P99, PhaseFigures};
use thiserror::Error;

/// The loads as a suite.
const SUITE: &str = include_str!("../suites/interference.toml");

/// The tests of the loads on a drive that is written, and on one that is only read.
const WRITTEN: [&str; 2] = ["large", "small"];
const READ: [&str; 2] = ["large-reads", "small-reads"];

/// Returns the plan of the loads on `drive`, of reads alone unless `writes`; all durations are divided by
/// `shorten`, and spans reduced to a small target.
///
/// # Errors
///
/// The drive is too small for one request.
pub fn interference_plan(
    drive: &DriveInfo,
    writes: bool,
    shorten: u32,
    seed: u64,
) -> Result<Plan, PlanError> {
    let suite =
        Suite::parse("interference.toml", SUITE).expect("a test parses the suite of the loads");
    let only = if writes { WRITTEN } else { READ };
    let options = Options {
        only: only.map(str::to_owned).to_vec(),
        shorten,
        scale_spans: true,
        seed,
        ..Options::default()
    };
    planner::plan(&suite, drive, &options)
}

/// One load of such a plan.
#[derive(Clone, Debug)]
pub struct InterferenceLoad {
    /// Its title, equal on all drives.
    pub title: String,
    /// Its phases, each a load with its limits.
    phases: Vec<(Workload, Until)>,
}

impl InterferenceLoad {
    /// Returns the loads of `plan`.
    pub fn all(plan: &Plan) -> Vec<InterferenceLoad> {
        let phase = |step: &Step| match &step.action {
            Action::Run { workload, until, .. } => Some((workload.clone(), *until)),
            Action::Prepare(_) | Action::Replay(_) | Action::Rest(_) | Action::Idle(_) => None,
        };
        let load = |test: &Test| InterferenceLoad {
            title: test.title.clone(),
            phases: test.measured_steps().filter_map(|(_, step)| phase(step)).collect(),
        };
        plan.tests.iter().map(load).collect()
    }

    /// Returns the number of pairs of phases.
    pub fn pairs(&self) -> usize {
        self.phases.len() / 2
    }

    /// Returns the length of a phase.
    pub fn phase_time(&self) -> Nanos {
        let time = self.phases.first().and_then(|(_, until)| until.time);
        time.unwrap_or_default()
    }

    /// Returns the load in words.
    pub fn describe(&self) -> String {
        self.phases.first().map(|(workload, _)| workload.describe()).unwrap_or_default()
    }
}

/// A phase that did not end as it should.
#[derive(Debug, Error)]
pub enum InterferenceError {
    /// The drive or the host failed.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// Requests failed.
    #[error("the drive failed {0} requests")]
    Faults(u64),
    /// A stop was requested.
    #[error("interrupted")]
    Stopped,
    /// There is no such phase.
    #[error("there is no further phase")]
    NoPhase,
}

/// What one phase gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseResult {
    /// Its figures.
    pub figures: PhaseFigures,
    /// Whether the processor was a limit: an I/O thread waited for it, or was busy all the time.
    pub is_limited_by_processor: bool,
}

/// Carries out what `plan` prepares.
///
/// # Errors
///
/// The drive or the host fails.
pub fn prepare_interference(plan: &Plan, rig: &mut dyn Rig) -> Result<(), InterferenceError> {
    let prepares = |phase: &&Phase| phase.kind != PhaseKind::Measure;
    for phase in plan.tests.iter().flat_map(|test| &test.phases).filter(prepares) {
        for step in &phase.steps {
            if let Some(preparation) = step.action.preparation() {
                rig.prepare(preparation, &mut Recording::default())?;
            }
        }
    }
    Ok(())
}

/// Runs phase `number` of `load`, from 0.
///
/// # Errors
///
/// The drive or the host fails, or a stop was requested.
pub fn run_interference(
    load: &InterferenceLoad,
    number: usize,
    rig: &mut dyn Rig,
) -> Result<PhaseResult, InterferenceError> {
    let (workload, until) = load.phases.get(number).ok_or(InterferenceError::NoPhase)?;
    let mut sink = Recording::default();
    let ended = rig.run(workload, until, &mut sink)?;
    match ended.by {
        EndedBy::Time | EndedBy::Bytes if sink.errors() == 0 => {}
        EndedBy::Stop => return Err(InterferenceError::Stopped),
        EndedBy::Time
        | EndedBy::Bytes
        | EndedBy::Faults
        | EndedBy::DeviceLag
        | EndedBy::HostLag => return Err(InterferenceError::Faults(sink.errors())),
    }
    let mut latency = Histogram::default();
    let mut requests = 0u64;
    for interval in &sink.intervals {
        requests = requests.saturating_add(interval.ios);
        latency.merge(&interval.latency);
    }
    let p99 = latency.percentile(0.99).filter(|_| latency.count() >= FEWEST_FOR_P99);
    let is_limit = |kind| matches!(kind, FindingKind::Disturbed | FindingKind::HostCeiling);
    Ok(PhaseResult {
        figures: PhaseFigures {
            iops: requests as f64 / ended.elapsed.as_secs_f64().max(f64::MIN_POSITIVE),
            lat_p99_us: p99.map(|ns| ns as f64 / 1e3),
        },
        is_limited_by_processor: sink.findings.iter().any(|finding| is_limit(finding.kind)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_sim::VirtualRig;

    #[test]
    fn every_load_has_as_many_phases_alone_as_together_and_reads_alone_write_nothing() {
        let mut rig = VirtualRig::open("tlc-client?capacity=4GB", 1).unwrap();
        for (writes, expected) in [(true, true), (false, false)] {
            let plan = interference_plan(rig.drive(), writes, 20, 1).unwrap();
            assert_eq!(plan.is_destructive(), expected);
            let loads = InterferenceLoad::all(&plan);
            assert_eq!(loads.iter().map(InterferenceLoad::pairs).collect::<Vec<_>>(), [10, 10]);
            assert_eq!(loads[0].phase_time(), Nanos(100_000_000));
            prepare_interference(&plan, &mut rig).unwrap();
            let result = run_interference(&loads[1], 19, &mut rig).unwrap();
            assert!(result.figures.iops > 1_000.0 && result.figures.lat_p99_us.is_some());
            let beyond = run_interference(&loads[1], 20, &mut rig);
            assert!(matches!(beyond, Err(InterferenceError::NoPhase)));
        }
    }
}
