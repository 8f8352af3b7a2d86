//! The top of the page: who was tested, and every headline at a glance.

use crate::clean;
use crate::figure::Cast;
use crate::group::{Group, Member};
use crate::names;
use crate::number;
use crate::page::findings;
use crate::run::Run;
use maud::{Markup, html};

/// Returns the facts of each run: drive, firmware, capacity, suite, date, run, program.
pub(super) fn origins(runs: &[Run], cast: &Cast) -> Markup {
    match runs {
        [run] => html! {
            dl.origin {
                @for (name, value) in FACTS.iter().zip(facts(run)) {
                    div { dt { (name) } dd { (value) } }
                }
                @for mark in names::marks(run) { div.mark { dt.hidden { "Mark" } dd { (mark) } } }
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
                                span class={ "swatch s" (number % 7) } {}
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
            @match runs {
                [run] => { (of_one(run)) }
                _ => { (of_many(runs, cast, groups)) }
            }
            (findings::worst(runs, cast))
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
                        td { (headline.metric.title()) ", " (test.test.score.words()) }
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

fn of_many(runs: &[Run], cast: &Cast, groups: &[Group<'_>]) -> Markup {
    let cell = |group: &Group<'_>, index: usize| -> Option<String> {
        let member: &Member<'_> = group.members.iter().find(|member| member.index == index)?;
        let headline = &member.test.headline;
        let Some(value) = headline.value else { return Some(number::NOTHING.to_owned()) };
        Some(match (headline.low, headline.high) {
            (Some(low), Some(high)) => {
                format!("{} ({}–{})", number::text(value), number::text(low), number::text(high))
            }
            (None, _) | (_, None) => number::text(value),
        })
    };
    html! {
        p.small {
            "In brackets the 95 % interval within each run. Empty: the run does not have this test "
            "in a comparable form. Drives stand side by side only where test, revision, length "
            "and span are equal."
        }
        div.scroll { table {
            thead { tr {
                th scope="col" { "Test" }
                th scope="col" { "Unit" }
                @for (number, name) in cast.names.iter().enumerate() {
                    th.n scope="col" { span class={ "swatch s" (number % 7) } {} (name) }
                }
            } }
            tbody {
                @for (number, group) in groups.iter().enumerate() {
                    tr {
                        th scope="row" {
                            a href={ "#test-" (number) } { (super::test::title(group)) }
                        }
                        td { (group.first().test.headline.metric.unit()) }
                        @for index in 0..runs.len() {
                            td.n { (cell(group, index).unwrap_or_default()) }
                        }
                    }
                }
            }
        } }
    }
}
