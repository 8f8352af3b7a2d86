//! What of a plan is left to do: a pure function of the plan and of what was finished.

use ssdgauge_core::search::{self, Next, Tried};
use ssdgauge_core::{Action, DriveInfo, PhaseKind, Plan, Preparation, Restart, Step, TargetKind};
use ssdgauge_runfile::{RunFile, RunFileError, StepPlace};
use std::collections::BTreeMap;

/// What the searches of a run have tried, by test and phase.
pub(super) type TriedLoads = BTreeMap<(usize, usize), Vec<Tried>>;

/// Returns what the searches of `run` have tried, and the first test whose search or whose rounds
/// are not done.
pub(super) fn searches(run: &RunFile) -> Result<(TriedLoads, Option<usize>), RunFileError> {
    let mut tried = TriedLoads::new();
    let mut searching = None;
    for (number, test) in run.head().plan.tests.iter().enumerate() {
        if let Some(rounds) = test.rounds
            && !run.has_judged(number, rounds.phase)?
        {
            searching = searching.or(Some(number));
        }
        let Some(search) = &test.search else { continue };
        let probes = run.tried(number, search.probes)?;
        let trials = run.tried(number, search.trials)?;
        let rungs = test.phases[search.trials].steps.len();
        if !matches!(search::next(rungs, &probes, &trials), Next::Done(_)) {
            searching = searching.or(Some(number));
        }
        tried.insert((number, search.probes), probes);
        tried.insert((number, search.trials), trials);
    }
    Ok((tried, searching))
}

/// Returns every step of `plan` that is carried out in order.
pub(super) fn places(plan: &Plan) -> Vec<StepPlace> {
    let mut places = Vec::new();
    for (test, of_test) in plan.tests.iter().enumerate() {
        for (phase, of_phase) in of_test.phases.iter().enumerate() {
            if !of_test.is_in_order(phase) {
                continue;
            }
            places.extend((0..of_phase.steps.len()).map(|step| StepPlace { test, phase, step }));
        }
    }
    places
}

fn step_at(plan: &Plan, place: StepPlace) -> &Step {
    &plan.tests[place.test].phases[place.phase].steps[place.step]
}

/// Returns the test to go on with and what is left to do, with what has to be done again, in
/// order; `None` where nothing is left. `searching` is the first test whose search or
/// whose rounds are not done.
pub(super) fn remaining(
    plan: &Plan,
    finished: &[StepPlace],
    searching: Option<usize>,
    drive: &DriveInfo,
) -> Option<(usize, Vec<StepPlace>)> {
    let all = places(plan);
    let behind = |test: usize| all.iter().position(|place| place.test > test);
    let searched = searching.map(|test| behind(test).unwrap_or(all.len()));
    let unfinished = all.iter().position(|place| !finished.contains(place));
    let first = unfinished.into_iter().chain(searched).min()?;
    let current = match searching {
        Some(test) if searched == Some(first) && unfinished != Some(first) => test,
        Some(_) | None => all.get(first).map_or(plan.tests.len(), |place| place.test),
    };
    let current = searching.map_or(current, |test| test.min(current));
    let anew = match plan.tests[current].restart {
        Restart::Test => all.iter().position(|place| place.test == current).unwrap_or(first),
        Restart::Step => first,
    };
    let mut todo = Vec::new();
    // A scratch file and a virtual drive are gone with the program: what later steps read has to
    // be written again. Equal preparations need no second time.
    let is_lost = match drive.kind {
        TargetKind::File | TargetKind::Virtual => true,
        TargetKind::Block | TargetKind::Null => false,
    };
    if is_lost {
        let mut done: Vec<&Preparation> = Vec::new();
        for place in &all[..anew] {
            let kind = plan.tests[place.test].phases[place.phase].kind;
            let action = &step_at(plan, *place).action;
            let is_setting = matches!(
                action,
                Action::Prepare(Preparation::Power(_) | Preparation::WriteCache(_))
            );
            if is_setting {
                // A test that chooses a setting begins anew, and the drive is as it was found.
            } else if let Action::Prepare(preparation) = action {
                if place.test == current || !done.contains(&preparation) {
                    done.push(preparation);
                    todo.push(*place);
                }
            } else if place.test == current && kind == PhaseKind::Precondition {
                todo.push(*place);
            }
        }
    }
    todo.extend_from_slice(&all[anew..]);
    Some((current, todo))
}
