//! The check for interference on one target: what it does, and the process that carries it out.
//!
//! The process is told on stdin when a phase begins, one line for each with the number of the load and whether
//! it is one alone, and prints its figures on stdout. It has its own rig, so that the run after the check
//! begins as without one. A virtual drive has a rig for each kind of phase: both see the same loads, so that
//! the figures differ by what other targets do, and not by the state that a phase has left.

use crate::arguments::{PlanOptions, RunOptions};
use crate::failure::{Failure, FailureKind};
use crate::process::{self, StopFlag};
use crate::protocol::Protocol;
use crate::suite_options::rates_from;
use crate::target::{RunContext, RunExtras, SizeRequest, Target};
use serde::{Deserialize, Serialize};
use ssdgauge_core::{Bytes, DriveInfo, Nanos, Plan, Rig, TargetKind};
use ssdgauge_lab::{
    InterferenceError, InterferenceLoad, interference_plan, prepare_interference, run_interference,
};
use ssdgauge_statistics::interference::PhaseFigures;
use ssdgauge_watch::terminal;
use std::io::BufRead;
use std::path::Path;

/// The maximum number of phases of a check; more lines on stdin are not read.
const MOST_PHASES: usize = 10_000;

/// The first line of the process: what it is about to run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ready {
    /// The name of the target.
    pub(crate) target: String,
    /// Whether it is a virtual drive.
    pub(crate) is_model: bool,
    /// The loads.
    pub(crate) loads: Vec<ReadyLoad>,
}

/// What a phase is, in the lines on stdin.
pub(crate) const ALONE: &str = "alone";
pub(crate) const TOGETHER: &str = "together";

/// One load of the process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReadyLoad {
    pub(crate) title: String,
    pub(crate) workload: String,
    pub(crate) pairs: usize,
    pub(crate) phase_s: f64,
}

/// The line after each phase.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) figures: PhaseFigures,
    /// Whether the processor was a limit.
    pub(crate) is_limited_by_processor: bool,
}

/// Returns the plan of the check on the drive of `run`: of reads alone where the run only reads a drive.
///
/// # Errors
///
/// The drive is too small for one request.
pub(super) fn plan(drive: &DriveInfo, run: &Plan, options: &PlanOptions) -> Result<Plan, Failure> {
    let writes = drive.kind != TargetKind::Block || run.is_destructive();
    Ok(interference_plan(drive, writes, options.shorten, options.seed)?)
}

/// Returns what the check of `plan` is expected to take next to `others` further drives, and to write, as one
/// line.
pub(super) fn expectation(
    plan: &Plan,
    drive: &DriveInfo,
    options: &PlanOptions,
    others: usize,
) -> String {
    let cost = ssdgauge_lab::estimate(plan, drive.capacity, &rates_from(options, drive));
    let loads = InterferenceLoad::all(plan);
    let alone = loads.iter().map(|load| load.phase_time().0 * load.pairs() as u64).sum::<u64>();
    let time = Nanos(cost.time.expected.0 + alone * others as u64).about();
    let phases = match loads.first() {
        Some(load) => format!("{} pairs of {}", load.pairs(), load.phase_time().about()),
        None => "nothing".to_owned(),
    };
    let titles: Vec<&str> = loads.iter().map(|load| load.title.as_str()).collect();
    let titles = titles.join(" and ");
    let written = match cost.written.expected {
        _ if drive.kind == TargetKind::Null => "no drive is written".to_owned(),
        Bytes(0) => "reads alone".to_owned(),
        written => format!("writes {}, at most {}", written.about(), cost.written.at_most.about()),
    };
    format!("before: check for interference, {time}: {phases} with {titles}; {written}")
}

/// Carries out the phases of the check that stdin asks for.
///
/// # Errors
///
/// Fails where the target is refused or a phase fails.
pub(super) fn serve(
    protocol: &Protocol,
    name: &str,
    size: SizeRequest,
    options: &RunOptions,
    out: &Path,
) -> Result<(), Failure> {
    let target = Target::find(name, size, options.plan.seed)?;
    let run = protocol.plan(target.info(), &options.plan)?;
    let plan = plan(target.info(), &run, &options.plan)?;
    let id = process::run_id(process::unix_ms())?;
    let context = RunContext { run_id: &id, results: out, continues: None };
    let stop = StopFlag::new();
    let extras = RunExtras { stop: &stop, log_ios: None, meters: &[], health_every_s: Some(0) };
    let is_model = target.info().is_model();
    let opened = target.open(&plan, &options.consent, context, options.plan.seed, extras)?;
    let mut rigs: Vec<Box<dyn Rig>> = vec![opened.rig];
    if is_model {
        let twin = Target::find(name, size, options.plan.seed)?;
        rigs.push(twin.open(&plan, &options.consent, context, options.plan.seed, extras)?.rig);
    }
    stop.listen()?;
    for rig in &mut rigs {
        prepare_interference(&plan, rig.as_mut()).map_err(|error| failure(&error))?;
    }
    if stop.is_set() {
        return Err(failure(&InterferenceError::Stopped));
    }
    let loads = InterferenceLoad::all(&plan);
    print_line(&Ready {
        target: rigs[0].drive().target.clone(),
        is_model,
        loads: loads.iter().map(ready).collect(),
    });
    run_phases(&mut rigs, &loads)
}

/// Runs each phase that stdin asks for, and prints its figures.
fn run_phases(rigs: &mut [Box<dyn Rig>], loads: &[InterferenceLoad]) -> Result<(), Failure> {
    // The next phase of each load on each rig.
    let mut next = vec![vec![0; loads.len()]; rigs.len()];
    for line in std::io::stdin().lock().lines().take(MOST_PHASES) {
        // The other end is closed after the last phase, or because the check was given up.
        let line = line.unwrap_or_default();
        let Some((number, kind)) = line.trim().split_once(' ') else { break };
        let number = number.parse::<usize>().unwrap_or(usize::MAX);
        let which = if kind == TOGETHER { rigs.len() - 1 } else { 0 };
        let (rig, next) = (&mut rigs[which], &mut next[which]);
        let Some((load, phase)) = loads.get(number).zip(next.get_mut(number)) else { break };
        let result =
            run_interference(load, *phase, rig.as_mut()).map_err(|error| failure(&error))?;
        *phase += 1;
        print_line(&Reply {
            figures: result.figures,
            is_limited_by_processor: result.is_limited_by_processor,
        });
    }
    Ok(())
}

fn ready(load: &InterferenceLoad) -> ReadyLoad {
    ReadyLoad {
        title: load.title.clone(),
        workload: load.describe(),
        pairs: load.pairs(),
        phase_s: load.phase_time().as_secs_f64(),
    }
}

fn print_line(value: &impl Serialize) {
    let text = serde_json::to_string(value).expect("plain structs always serialise");
    terminal::print(&format!("{text}\n"));
}

fn failure(error: &InterferenceError) -> Failure {
    let (kind, hint) = match error {
        InterferenceError::Stopped => (FailureKind::Interrupted, "no run has begun"),
        InterferenceError::Rig(_) | InterferenceError::Faults(_) | InterferenceError::NoPhase => {
            (FailureKind::Failed, "no run has begun; check the kernel log (dmesg)")
        }
    };
    Failure::new(kind, format!("check for interference: {error}"), hint)
}
