//! The top of the page: who was tested, and every headline at a glance.

use crate::clean;
use crate::figure::Cast;
use crate::group::Group;
use crate::names;
use crate::number;
use crate::page::findings;
use crate::run::Run;
use crate::settings;
use crate::verdict;
use maud::{Markup, html};

/// Returns the facts of each run: drive, firmware, capacity, suite, date, run, program.
pub(super) fn origins(runs: &[Run], cast: &Cast) -> Markup {
    match runs {
        [run] => html! {
            dl.origin {
                @for (name, value) in FACTS.iter().zip(facts(run)) {
                    div { dt { (name) } dd { (value) } }
                }
                @let marks = names::marks(run);
                @if !marks.is_empty() {
                    div.mark { dt.hidden { "Marks" } dd { (marks.join(" · ")) } }
                }
            }
        },
        _ => html! {
            div.scroll { table {
                thead { tr {
                    th scope="col" { "Drive" }
                    @for name in FACTS { th scope="col" { (name) } }
                } }
                tbody {
                    @for (number, run) in runs.iter().enumerate() {
                        tr {
                            th scope="row" {
                                (super::swatch(number))
                                (cast.names[number])
                                @for mark in names::marks(run) { " " span.marks { (mark) } }
                            }
                            @for value in facts(run) { td { (value) } }
                        }
                    }
                }
            } }
        },
    }
}

const FACTS: [&str; 6] = ["Capacity", "Firmware", "Suite", "Measured", "Run", "Program"];

fn facts(run: &Run) -> [String; 6] {
    let drive = &run.head.drive;
    [
        number::capacity(drive.capacity.0),
        drive.firmware.as_deref().map_or("unknown".into(), clean::device),
        names::suite(run),
        number::date(run.head.started_unix_ms),
        clean::prose(&run.head.id),
        clean::prose(&run.head.program),
    ]
}

/// Returns the headlines of all tests: a row for each test, a column or a table for each run.
pub(super) fn section(runs: &[Run], cast: &Cast, groups: &[Group<'_>]) -> Markup {
    html! {
        section.summary aria-labelledby="summary" {
            h2 #summary { "Summary" }
            (verdict(runs, cast, groups))
            @match runs {
                [run] => { (of_one(run)) }
                _ => { (of_many(cast, groups)) }
            }
            (findings::worst(runs, cast))
        }
    }
}

/// Returns the verdict: sentences that follow from the numbers and findings of the runs.
fn verdict(runs: &[Run], cast: &Cast, groups: &[Group<'_>]) -> Markup {
    let sentences = verdict::sentences(runs, cast, groups);
    html! {
        @if !sentences.is_empty() {
            ul.verdict { @for sentence in sentences { li { (sentence) } } }
            @if runs.len() > 1 { p.small { (verdict::rule()) } }
        }
    }
}

fn of_one(run: &Run) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th scope="col" { "Test" }
                th.n scope="col" { "Result" }
                th.n scope="col" { "95 % within this run" }
                th.n scope="col" { "Full seconds" }
                th scope="col" { "Rule" }
                th scope="col" { "State" }
            } }
            tbody {
                @for (number, test) in run.tests.iter().enumerate() {
                    @let headline = &test.headline;
                    tr {
                        th scope="row" {
                            a href={ "#test-" (number) } { (clean::prose(&test.test.title)) }
                        }
                        td.n.value {
                            (headline.value.map_or_else(
                                || number::NOTHING.to_owned(),
                                |value| number::with_unit(value, headline.metric),
                            ))
                        }
                        td.n {
                            @match (headline.low, headline.high) {
                                (Some(low), Some(high)) => {
                                    (number::text(low)) " to " (number::text(high))
                                }
                                (None, _) | (_, None) => { (number::NOTHING) }
                            }
                        }
                        td.n { (number::count(headline.n)) }
                        td.words { (headline.metric.title()) ", " (settings::rule(&test.test, &test.test.score)) }
                        td { (state(test.points.len(), test.planned, test.complete)) }
                    }
                }
            }
        } }
    }
}

fn state(done: usize, planned: usize, complete: bool) -> String {
    match complete {
        true => "complete".to_owned(),
        false => format!("{done} of {planned} steps"),
    }
}

fn of_many(cast: &Cast, groups: &[Group<'_>]) -> Markup {
    html! {
        p.small {
            "In brackets the 95 % interval within each run. Drives stand side by side only where "
            "suite, test, revision, length and span are equal, and models only beside models."
        }
        @for cohort in cohorts(groups) {
            // The longer side goes down the page, which has room there.
            @if cohort.indices.len() > WIDE { (by_drive(&cohort, cast)) }
            @else { (by_test(&cohort, cast)) }
        }
    }
}

/// More drives than this stand in rows.
const WIDE: usize = 5;

/// Returns a row for each test and a column for each drive.
fn by_test(cohort: &Cohort<'_>, cast: &Cast) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th scope="col" { "Test" }
                th scope="col" { "Unit" }
                @for index in &cohort.indices {
                    th.n scope="col" { (super::swatch(*index)) (cast.names[*index]) }
                }
            } }
            tbody {
                @for (number, group) in &cohort.rows {
                    tr {
                        th scope="row" { (link(*number, group)) }
                        td { (group.first().test.headline.metric.unit()) }
                        @for index in &cohort.indices { td.n { (cell(group, *index)) } }
                    }
                }
            }
        } }
    }
}

/// Returns a row for each drive and a column for each test.
fn by_drive(cohort: &Cohort<'_>, cast: &Cast) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th scope="col" { "Drive" }
                @for (number, group) in &cohort.rows {
                    @let unit = group.first().test.headline.metric.unit();
                    th.n scope="col" { (link(*number, group)) @if !unit.is_empty() { ", " (unit) } }
                }
            } }
            tbody {
                @for index in &cohort.indices {
                    tr {
                        th scope="row" { (super::swatch(*index)) (cast.names[*index]) }
                        @for (_, group) in &cohort.rows { td.n { (cell(group, *index)) } }
                    }
                }
            }
        } }
    }
}

fn link(number: usize, group: &Group<'_>) -> Markup {
    html! { a href={ "#test-" (number) } { (super::test::title(group)) } }
}

/// The groups that have the same runs.
struct Cohort<'a> {
    /// The runs, by their places among all runs.
    indices: Vec<usize>,
    /// The groups, each with its number on the page.
    rows: Vec<(usize, &'a Group<'a>)>,
}

/// Returns the groups with their numbers, those of the same runs together.
fn cohorts<'a>(groups: &'a [Group<'a>]) -> Vec<Cohort<'a>> {
    let mut cohorts: Vec<Cohort<'a>> = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        let indices: Vec<usize> = group.members.iter().map(|member| member.index).collect();
        match cohorts.iter_mut().find(|cohort| cohort.indices == indices) {
            Some(cohort) => cohort.rows.push((number, group)),
            None => cohorts.push(Cohort { indices, rows: vec![(number, group)] }),
        }
    }
    cohorts
}

fn cell(group: &Group<'_>, index: usize) -> Markup {
    let member = group.members.iter().find(|member| member.index == index);
    let Some(headline) = member.map(|member| &member.test.headline) else { return html! {} };
    html! {
        span.value { (number::optional(headline.value)) }
        @if let (Some(low), Some(high)) = (headline.low, headline.high) {
            " " span.interval { "(" (number::text(low)) " to " (number::text(high)) ")" }
        }
    }
}
