//! Specification against measurement: met, not met, or not comparable with the reason.

use crate::clean;
use crate::figure::{Bar, Cast, Chart, Drawing, Table};
use crate::names;
use crate::number;
use crate::page::test;
use crate::run::Run;
use crate::specification::{Judged, Specification, Verdict, judge};
use maud::{Markup, html};

/// Returns the judged claims of each drive that a spec file is about.
pub(super) fn section(runs: &[Run], cast: &Cast, specifications: &[Specification]) -> Markup {
    html! {
        @if !specifications.is_empty() {
            section.specification aria-labelledby="specification" {
                h2 #specification { "Specification against measurement" }
                @for (number, specification) in specifications.iter().enumerate() {
                    @let subjects = specification.subjects(runs, cast);
                    @if subjects.is_empty() {
                        p { "No run is of a drive called " (clean::prose(&specification.model)) "." }
                    }
                    @for (drive, of_drive) in subjects {
                        @let judged = judge(specification, &of_drive);
                        @let name = cast.name(drive);
                        h3 { (super::swatch(drive)) (name) }
                        (table(&judged, specification))
                        @if let Some(chart) = chart(&judged, name, drive, &of_drive) {
                            (test::figure(&chart, &format!("spec{number}d{drive}")))
                        }
                    }
                }
            }
        }
    }
}

fn table(judged: &[Judged<'_>], specification: &Specification) -> Markup {
    html! {
        p.small {
            "A claim counts as met within "
            (number::text(specification.tolerance * 100.0).trim_end_matches('0').trim_end_matches('.'))
            " %. Claims are those of the file that was given; nothing here was typed by this program."
        }
        div.scroll { table {
            thead { tr {
                th scope="col" { "Claim" }
                th.n scope="col" { "Claimed" }
                th.n scope="col" { "Measured" }
                th scope="col" { "Verdict" }
                th scope="col" { "Where, or why not" }
                th scope="col" { "Source" }
            } }
            tbody {
                @for row in judged {
                    tr {
                        th scope="row" { (row.claim.conditions()) }
                        td.n { (number::with_unit(row.claim.value, row.claim.metric)) }
                        td.n {
                            (row.measured.map_or_else(
                                || number::NOTHING.to_owned(),
                                |value| number::with_unit(value, row.claim.metric),
                            ))
                        }
                        td { span.verdict.(row.verdict.key()) { (row.verdict.words()) } }
                        td { (row.reason) }
                        td { (clean::prose(row.source)) }
                    }
                }
            }
        } }
    }
}

/// Returns the chart of each drive that a spec file is about, with the numbers of its runs.
pub(crate) fn charts(
    runs: &[Run],
    cast: &Cast,
    specifications: &[Specification],
) -> Vec<(Chart, Vec<usize>)> {
    let mut charts = Vec::new();
    for specification in specifications {
        for (drive, of_drive) in specification.subjects(runs, cast) {
            let judged = judge(specification, &of_drive);
            if let Some(chart) = chart(&judged, cast.name(drive), drive, &of_drive) {
                charts.push((chart, cast.runs_of(drive).collect()));
            }
        }
    }
    charts
}

/// Returns what was measured as a share of each claim.
fn chart(judged: &[Judged<'_>], name: &str, drive: usize, runs: &[&Run]) -> Option<Chart> {
    if judged.iter().all(|row| row.measured.is_none()) {
        return None;
    }
    let share = |row: &Judged<'_>| row.measured.map(|value| 100.0 * value / row.claim.value);
    let bar = |row: &Judged<'_>| Bar {
        label: format!("{}, {}", row.claim.conditions(), row.claim.metric.title()),
        part: "",
        colour: drive,
        value: share(row).ok_or_else(|| row.reason.clone()),
        interval: None,
        highlighted: row.verdict == Verdict::NotMet,
    };
    let cells = |row: &Judged<'_>| {
        vec![row.claim.conditions(), number::optional(share(row)), row.verdict.words().to_owned()]
    };
    let marks = runs.first().map(|run| names::marks(run)).unwrap_or_default();
    let marks = if marks.is_empty() { String::new() } else { format!(" [{}]", marks.join(", ")) };
    Some(Chart {
        title: format!("{name}: measured as a share of the claim{marks}"),
        notes: vec![
            "% of the claimed value; n = one run each; what was not met stands out. Of a \
                     latency or power less is better."
                .to_owned(),
        ],
        drawing: Drawing::Bars { unit: "%".to_owned(), bars: judged.iter().map(bar).collect() },
        table: Table {
            head: ["Claim", "Share, %", "Verdict"].map(str::to_owned).to_vec(),
            rows: judged.iter().map(cells).collect(),
        },
        kind: "specification",
        folded: false,
    })
}
