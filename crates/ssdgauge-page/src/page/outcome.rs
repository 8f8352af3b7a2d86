//! A run that is not simply complete: what happened, what to do now, and what it measured, for the record.

use crate::page::results;
use maud::{Markup, html};
use ssdgauge_analysis::findings::run_outcome::{Account, NextStep, RunOutcome};
use ssdgauge_analysis::groups::group::Group;
use ssdgauge_analysis::model::{Run, TestRun};
use ssdgauge_analysis::text::{number, sanitize};

/// Returns the framed word for `outcome`, with a mark whose shape alone tells them apart: a triangle for a disturbed run,
/// two bars (a pause) for one that is not finished, a cross for one that failed.
pub(super) fn word(outcome: RunOutcome) -> Markup {
    html! {
        span.oc.{ "oc-" (outcome.name()) } {
            svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true" {
                path d=(shape(outcome)) {}
            }
            (outcome.words())
        }
    }
}

fn shape(outcome: RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::Complete => "M2 7.5 5.5 11 12 3",
        RunOutcome::Disturbed => "M7 2 12.6 12H1.4ZM7 5.8V8.6M7 10.3V10.5",
        RunOutcome::Unfinished => "M4.5 2.5V11.5M9.5 2.5V11.5",
        RunOutcome::Failed => "M3 3 11 11M11 3 3 11",
    }
}

/// Returns the list of what to do now.
pub(super) fn next(account: &Account) -> Markup {
    html! {
        @if !account.next.is_empty() {
            section.todo aria-labelledby="todo" {
                h2 #todo { "What to do now" }
                ol { @for step in &account.next { (item(step)) } }
            }
        }
    }
}

fn item(step: &NextStep) -> Markup {
    html! {
        li {
            div { (step.what) @if !step.why.is_empty() { small { (step.why) } } }
            @if let Some((command, effect)) = &step.command {
                div { code { (command) } small { (effect) } }
            }
        }
    }
}

/// Returns the tests that have not begun; nothing where all have.
pub(super) fn to_come(run: &Run) -> Markup {
    let others: Vec<&TestRun> =
        run.tests.iter().filter(|test| !test.complete && test.points.is_empty()).collect();
    html! {
        @if !others.is_empty() {
            p.to-come {
                b { "Not run yet: " }
                (others.iter().map(|test| sanitize::prose(&test.test.title)).collect::<Vec<_>>().join("; "))
            }
        }
    }
}

/// Returns what ran: each test with its steps.
pub(super) fn steps(run: &Run) -> Markup {
    let (begun, others): (Vec<&TestRun>, Vec<&TestRun>) =
        run.tests.iter().partition(|test| test.complete || !test.points.is_empty());
    html! {
        table.num.left {
            thead { tr { th scope="col" { "Test" } th scope="col" { "Steps" } } }
            tbody {
                @for test in &begun {
                    tr {
                        th scope="row" { (sanitize::prose(&test.test.title)) }
                        td { (steps_of(test)) }
                    }
                }
                @if !others.is_empty() {
                    tr {
                        th scope="row" { (others_in_words(&others, begun.is_empty())) }
                        td { "not run" }
                    }
                }
            }
        }
    }
}

fn steps_of(test: &TestRun) -> String {
    match test.complete {
        true => "all done".to_owned(),
        false => format!("{} of {} done", test.points.len(), test.planned),
    }
}

/// Returns the tests that did not run: by name where there are few.
fn others_in_words(others: &[&TestRun], are_all: bool) -> String {
    const NAMED: usize = 3;
    let titles = others.iter().map(|test| sanitize::prose(&test.test.title)).collect::<Vec<_>>();
    match (titles.len() <= NAMED, are_all) {
        (true, _) => titles.join(", "),
        (false, true) => format!("All {} tests", number::count(titles.len() as u64)),
        (false, false) => format!("{} more tests", number::count(titles.len() as u64)),
    }
}

/// Returns what a run measured whose results are not those of the drive.
pub(super) fn record(
    run: &Run,
    outcome: RunOutcome,
    (groups, ids): (&[Group<'_>], &[String]),
    charts: &Markup,
) -> Markup {
    let has_results = run.tests.iter().any(|test| test.headline.value.is_some());
    html! {
        @if outcome == RunOutcome::Failed {
            section.use aria-labelledby="ran" { h2 #ran { "What ran" } (steps(run)) }
        }
        @if has_results {
            section.use.grey aria-labelledby="record" {
                h2 #record {
                    @match outcome {
                        RunOutcome::Failed => "Figures from finished steps: do not quote",
                        RunOutcome::Complete | RunOutcome::Disturbed | RunOutcome::Unfinished => {
                            "What it measured, for the record"
                        }
                    }
                }
                p.cond { "These are not results of the drive. Do not compare them with anything." }
                (results::table(std::slice::from_ref(run), groups, ids))
                details.fold { summary { "Charts and numbers of every test" } (charts) }
            }
        }
    }
}
