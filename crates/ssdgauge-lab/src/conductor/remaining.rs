//! Remaining steps of an interrupted run: a pure function of the plan and the finished steps.

use ssdgauge_core::search::{Attempt, Next};
use ssdgauge_core::{Action, DriveInfo, PhaseKind, Plan, Preparation, Restart, Rig, Step};
use ssdgauge_runfile::{RunFile, RunFileError, StepPlace, StepRecord, StepState};
use std::collections::BTreeMap;

/// Attempts of the searches of a run, by test and phase.
pub(super) type TriedLoads = BTreeMap<(usize, usize), Vec<Attempt>>;

/// Returns the attempts of the searches of `run`, and the first test whose search or whose rounds
/// are unfinished.
pub(super) fn searches(run: &RunFile) -> Result<(TriedLoads, Option<usize>), RunFileError> {
    let mut tried = TriedLoads::new();
    let mut unfinished = None;
    for (number, test) in run.head().plan.tests.iter().enumerate() {
        if let Some(rounds) = test.rounds
            && !run.has_steadiness_verdict(number, rounds.phase)?
        {
            unfinished = unfinished.or(Some(number));
        }
        let Some(search) = &test.search else { continue };
        let probes = run.search_attempts(number, search.probes)?;
        let attempts = run.search_attempts(number, search.attempts)?;
        let loads = test.phases[search.attempts].steps.len();
        if !matches!(search.next(loads, &probes, &attempts), Next::Done(_)) {
            unfinished = unfinished.or(Some(number));
        }
        tried.insert((number, search.probes), probes);
        tried.insert((number, search.attempts), attempts);
    }
    Ok((tried, unfinished))
}

/// Returns every step of `plan` that is executed in order: all but those of searches and rounds.
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

pub(super) fn step_at(plan: &Plan, place: StepPlace) -> &Step {
    &plan.tests[place.test].phases[place.phase].steps[place.step]
}

/// Returns the test to continue with and the remaining steps in order, including steps that have to
/// be executed again; `None` where the run is complete. `searching` is the first test whose search
/// or whose rounds are unfinished. `is_lost` says that the drive does not hold what the run had filled.
///
/// The rules, in order:
/// 1. The run continues with the first test that has an unfinished step, search or rounds.
/// 2. With [`Restart::Test`], or where a drive lost its content, that test starts again from its
///    preparation, with [`Restart::Step`] at its first unfinished step.
/// 3. Where the drive lost its content, and on a scratch file, earlier preparations that the test reads are
///    executed again before that, with the rests after them. A virtual drive repeats all finished
///    steps instead (`replay`).
pub(super) fn remaining(
    plan: &Plan,
    finished: &[StepPlace],
    searching: Option<usize>,
    drive: &DriveInfo,
    is_lost: bool,
) -> Option<(usize, Vec<StepPlace>)> {
    let all = places(plan);
    let after = |test: usize| all.iter().position(|place| place.test > test);
    // A search runs after the last ordered step of its test, so its place is that of the next
    // test.
    let searched = searching.map(|test| after(test).unwrap_or(all.len()));
    let unfinished = all.iter().position(|place| !finished.contains(place));
    let first = unfinished.into_iter().chain(searched).min()?;
    let current = match searching {
        Some(test) if searched == Some(first) && unfinished != Some(first) => test,
        Some(_) | None => all.get(first).map_or(plan.tests.len(), |place| place.test),
    };
    let current = searching.map_or(current, |test| test.min(current));
    let again = match plan.tests[current].restart {
        Restart::Step if !is_lost => first,
        Restart::Test | Restart::Step => {
            all.iter().position(|place| place.test == current).unwrap_or(first)
        }
    };
    let mut todo = Vec::new();
    // A scratch file and a virtual drive end with the program, so the data that later steps read is
    // written again. Of the earlier tests only preparations matter, each distinct one once: a
    // second equal purge or fill gives the same content. Their measured steps are not repeated,
    // although they may have changed the drive: a test whose result depends on that has
    // Restart::Test.
    if is_lost || drive.kind.loses_content_with_process() {
        let mut done: Vec<&Preparation> = Vec::new();
        for (order, place) in all[..again].iter().enumerate() {
            let kind = plan.tests[place.test].phases[place.phase].kind;
            let action = &step_at(plan, *place).action;
            let is_setting = action.preparation().is_some_and(Preparation::is_setting);
            if kind == PhaseKind::Measure {
                // A measured trim of an earlier test is a result like its other steps.
            } else if is_setting {
                // Settings end with their test, and a test with settings starts again (rule 2), so
                // a setting before `again` has no effect on the remaining steps.
            } else if let Action::Prepare(preparation) = action {
                if place.test == current || !done.contains(&preparation) {
                    done.push(preparation);
                    todo.push(*place);
                }
            } else if place.test == current && kind == PhaseKind::Precondition {
                todo.push(*place);
            } else if matches!(action, Action::Rest(_)) && kind != PhaseKind::Measure {
                // The drive settles again after a preparation that is carried out again.
                let before = order.checked_sub(1).and_then(|order| all.get(order));
                if before.is_some() && before == todo.last() {
                    todo.push(*place);
                }
            }
        }
    }
    todo.extend_from_slice(&all[again..]);
    Some((current, todo))
}

/// Counts the steps that earlier parts of the run have carried out on `rig`, so that its numbers of
/// steps continue: a later repetition does not repeat the requests of an earlier one. Steps of `todo`
/// are carried out again, with the requests that they had.
pub(super) fn count_earlier(
    plan: &Plan,
    records: &[StepRecord],
    todo: &[StepPlace],
    rig: &mut dyn Rig,
) {
    let finished = records.iter().filter(|record| record.state == StepState::Finished);
    for record in finished.filter(|record| !todo.contains(&record.place)) {
        let action = &step_at(plan, record.place).action;
        if let Some((workload, until)) = action.workload().zip(action.until()) {
            rig.count_earlier(workload, until);
        }
    }
}
