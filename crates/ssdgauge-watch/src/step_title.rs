//! Names and numbers of steps, as the progress of a run and its observers show them.

use ssdgauge_core::{Action, Phase, Plan, Prepared, Step, Test, rounded};
use ssdgauge_runfile::StepPlace;

/// Returns the name of a step with that of its test, or of its phase where it prepares one, for people.
pub fn title(test: &Test, phase: &Phase, step: &Step) -> String {
    match step.action {
        Action::Run { .. } | Action::Replay(_) => {
            format!("{} {}", test.id, rounded::step_label(&step.label))
        }
        Action::Prepare(_) | Action::Rest(_) | Action::Idle(_) => {
            let kind = phase.kind.name();
            match step.label.starts_with(kind) {
                true => rounded::step_label(&step.label),
                false => format!("{kind} {}", rounded::step_label(&step.label)),
            }
        }
    }
}

/// Returns that the preparation `step` changed nothing, in words; `None` where it did.
pub fn without_effect(step: &Step, prepared: &Prepared) -> Option<&'static str> {
    let preparation = step.action.preparation().filter(|_| !prepared.had_effect())?;
    Some(if preparation.is_purge() { "nothing was purged" } else { "without effect" })
}

/// Returns every step of `plan` with its place, in order.
pub fn places(plan: &Plan) -> impl Iterator<Item = (StepPlace, &Step)> {
    let tests = plan.tests.iter().enumerate();
    let phases = tests.flat_map(|(test, of_plan)| {
        of_plan.phases.iter().enumerate().map(move |(phase, of_test)| (test, phase, of_test))
    });
    phases.flat_map(|(test, phase, of_test)| {
        let steps = of_test.steps.iter().enumerate();
        steps.map(move |(step, found)| (StepPlace { test, phase, step }, found))
    })
}

/// Returns the number of steps of `plan`; `None` where results decide which of them are carried out.
pub fn count(plan: &Plan) -> Option<usize> {
    let has_search = plan.tests.iter().any(|test| test.search.is_some());
    // What an X-ray carries out follows from the answers of the drive.
    let is_open = has_search || plan.suite.id == ssdgauge_runfile::XRAY_SUITE;
    (!is_open).then(|| plan.steps().count())
}
