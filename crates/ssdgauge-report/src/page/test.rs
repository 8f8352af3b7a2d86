//! One test: what was done, what was chosen, the figures, the findings and all numbers.

use crate::clean;
use crate::figure::draw::{self, Frame, Ink};
use crate::figure::{self, Cast, Chart, Drawing, Table};
use crate::group::{Group, Member};
use crate::missing;
use crate::names;
use crate::number;
use crate::page::findings;
use crate::remarks;
use crate::run::{PointRun, Run};
use crate::settings;
use maud::{Markup, PreEscaped, html};
use ssdgauge_core::{Metric, Scope};

/// A table with more rows than this is folded.
const FOLDED: usize = 8;

/// The metrics of the table of all numbers.
const COLUMNS: [Metric; 15] = [
    Metric::Iops,
    Metric::ThroughputMbS,
    Metric::LatMeanUs,
    Metric::LatP50Us,
    Metric::LatP99Us,
    Metric::LatP999Us,
    Metric::LatP9999Us,
    Metric::LatP99999Us,
    Metric::LatMaxUs,
    Metric::InFlightMean,
    Metric::PowerW,
    Metric::EfficiencyMbSW,
    Metric::EfficiencyKiopsW,
    Metric::WriteAmplification,
    Metric::EffectiveOverProvisioning,
];

/// Returns the title of `group`, with what sets it apart from others of the same test.
pub(super) fn title(group: &Group<'_>) -> String {
    let title = figure::title(group);
    match group.apart.is_empty() {
        true => title,
        false => format!("{title} ({})", group.apart),
    }
}

/// Returns the section of one test.
pub(super) fn section(number: usize, group: &Group<'_>, runs: &[Run], cast: &Cast) -> Markup {
    let test = &group.first().test.test;
    let charts = figure::of(group, cast);
    html! {
        section.test aria-labelledby={ "test-" (number) } {
            h2 id={ "test-" (number) } { (title(group)) }
            p.protocol {
                @if !test.source.is_empty() {
                    "After the protocol of " (clean::prose(&test.source)) ". "
                }
                "Test " code { (clean::prose(&test.id)) } ", revision " (test.revision) "."
            }
            @if !test.chosen.is_empty() {
                p.chosen {
                    "Chosen by this suite, because the source does not say: "
                    @for (place, chosen) in test.chosen.iter().enumerate() {
                        @if place > 0 { "; " }
                        b { (clean::prose(&chosen.key)) } " = " (clean::prose(&chosen.value))
                    }
                    "."
                }
            }
            p.settings { (settings::line(group)) }
            (result(group, cast))
            (absent(group, runs, cast))
            (findings::of_group(group, cast))
            @for (place, chart) in charts.iter().enumerate() {
                (figure(chart, &format!("t{number}f{place}")))
            }
            (super::steady::tables(group, cast))
            (numbers(group, cast))
        }
    }
}

/// Returns the headline with its interval and what belongs beside it, for each run.
fn result(group: &Group<'_>, cast: &Cast) -> Markup {
    html! {
        @for member in &group.members {
            @let headline = &member.test.headline;
            p.result {
                @if cast.names.len() > 1 {
                    (super::swatch(member.index))
                    (cast.names[member.index]) ": "
                }
                @match headline.value {
                    Some(value) => {
                        b { (number::with_unit(value, headline.metric)) }
                        @if let (Some(low), Some(high)) = (headline.low, headline.high) {
                            " (" (number::text(low)) " to " (number::text(high)) ")"
                        }
                    }
                    None => { "no result: " (figure::reason(member)) }
                }
                @for remark in remarks::of(member.test) { "; " (remark) }
            }
        }
    }
}

/// Returns which runs of the report are not in `group`, so that no drive is silently missing.
fn absent(group: &Group<'_>, runs: &[Run], cast: &Cast) -> Markup {
    let present = |index: usize| group.members.iter().any(|member| member.index == index);
    let names: Vec<&str> = (0..runs.len())
        .filter(|index| !present(*index))
        .map(|index| cast.names[index].as_str())
        .collect();
    html! {
        @if !names.is_empty() {
            p.small {
                "Not here, because the run has no such test of equal revision, length and span: "
                (names.join(", ")) "."
            }
        }
    }
}

fn figure(chart: &Chart, id: &str) -> Markup {
    let svg = draw::svg(chart, Ink::Page, &Frame::default(), id);
    // Bars carry their values already; a table of them is for those who cannot see them.
    let long = match &chart.drawing {
        Drawing::Bars { .. } => true,
        Drawing::Lines { .. } => chart.table.rows.len() > FOLDED,
    };
    html! {
        figure {
            figcaption id={ (id) "-caption" } {
                strong { (chart.title) }
                @for note in &chart.notes { " " span.note { (note) } }
            }
            div.chart role="img" aria-label={ (chart.title) ". The numbers are in the table below." } {
                (PreEscaped(svg))
            }
            @if long {
                details {
                    summary { "Numbers of this figure (" (chart.table.rows.len()) " rows)" }
                    (table(&chart.table))
                }
            } @else {
                (table(&chart.table))
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                @for (place, head) in table.head.iter().enumerate() {
                    th.n[place > 0] scope="col" { (head) }
                }
            } }
            tbody {
                @for row in &table.rows {
                    tr {
                        @for (place, cell) in row.iter().enumerate() {
                            @if place == 0 { th scope="row" { (cell) } }
                            @else { td.n { (cell) } }
                        }
                    }
                }
            }
        } }
    }
}

/// Returns every metric of every step, folded.
fn numbers(group: &Group<'_>, cast: &Cast) -> Markup {
    let shown: Vec<Metric> = COLUMNS
        .into_iter()
        .filter(|metric| {
            let mut points = group.members.iter().flat_map(|member| &member.test.points);
            let known = |point| missing::value(point, *metric, Scope::All).is_some();
            let anyway = missing::is_always_shown(*metric) && !missing::needs_power(*metric);
            anyway || points.any(known)
        })
        .collect();
    if group.members.iter().all(|member| member.test.points.is_empty()) {
        return html! {};
    }
    html! {
        details.numbers {
            summary { "All numbers of this test" }
            div.scroll { table {
                thead { tr {
                    th scope="col" { "Step" }
                    th.n scope="col" { "Busy time, s" }
                    th scope="col" { "Ended by" }
                    @for metric in &shown {
                        th.n scope="col" {
                            (metric.title())
                            @if !metric.unit().is_empty() && metric.unit() != metric.title() {
                                ", " (metric.unit())
                            }
                        }
                    }
                } }
                tbody {
                    @for member in &group.members {
                        @for point in &member.test.points { (rows(member, point, &shown, cast)) }
                    }
                }
            } }
        }
    }
}

fn rows(member: &Member<'_>, point: &PointRun, shown: &[Metric], cast: &Cast) -> Markup {
    let scopes = missing::scopes(point);
    // Where there is one direction, it is the whole.
    let scopes = if scopes.len() == 2 { &scopes[..1] } else { &scopes[..] };
    let label = clean::prose(&point.point.label);
    let marks = names::marks(member.run);
    html! {
        @for scope in scopes {
            tr {
                th scope="row" {
                    (label)
                    @match scope {
                        Scope::All => {}
                        Scope::Read => { ", reads" }
                        Scope::Write => { ", writes" }
                    }
                    @if cast.names.len() > 1 { " · " (cast.names[member.index]) }
                    @if !marks.is_empty() { " " span.marks { (marks.join(", ")) } }
                }
                td.n { (number::text(point.point.totals.elapsed.as_secs_f64())) }
                td { (clean::prose(&point.ended_by)) }
                @for metric in shown {
                    td.n {
                        @if *scope == Scope::All || metric.is_split() {
                            (number::optional(missing::value(point, *metric, *scope)))
                        }
                    }
                }
            }
        }
    }
}
