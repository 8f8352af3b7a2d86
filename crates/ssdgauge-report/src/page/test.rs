//! The section of one test: protocol, workload, result, findings, figures and all metrics.

use crate::analysis::group::{Group, Member};
use crate::analysis::headline_notes;
use crate::analysis::headline_reasons::missing_reason;
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::sent_late;
use crate::analysis::workload_text;
use crate::figure as charts;
use crate::figure::chart::Chart;
use crate::model::metrics;
use crate::model::{PointRun, Run};
use crate::page::swatch::swatch;
use crate::page::{figure, findings, steady, tried_loads};
use crate::text::interval;
use crate::text::number;
use crate::text::sanitize;
use maud::{Markup, html};
use ssdgauge_core::{Metric, Scope};

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

/// The definition of the columns of the kernel.
const KERNEL: &str = "By the kernel: from the queue of the device to the completion in the kernel, \
                      by its own counters. The latencies also contain the time in the system call \
                      before, and the time until the program reaps the completion.";

/// Returns the section of one test.
pub(super) fn section(
    number: usize,
    group: &Group<'_>,
    runs: &[Run],
    drives: &ReportDrives,
) -> Markup {
    let test = &group.first().test.test;
    let charts = charts::charts(group, drives);
    html! {
        section.test aria-labelledby={ "test-" (number) } {
            h2 id={ "test-" (number) } { (group.title()) }
            p.protocol {
                @if !test.source.is_empty() {
                    "After the protocol of " (sanitize::prose(&test.source)) ". "
                }
                "Test " code { (sanitize::prose(&test.id)) } ", revision " (test.revision) "."
            }
            @if !test.chosen.is_empty() {
                p.chosen {
                    "Chosen by this suite, not specified by the source: "
                    @for (place, chosen) in test.chosen.iter().enumerate() {
                        @if place > 0 { "; " }
                        b { (sanitize::prose(&chosen.key)) } " = " (sanitize::prose(&chosen.value))
                    }
                    "."
                }
            }
            @if !test.deviations.is_empty() {
                p.chosen {
                    "Differs from the source: "
                    @for (place, deviation) in test.deviations.iter().enumerate() {
                        @if place > 0 { "; " }
                        b { (sanitize::prose(&deviation.key)) } " = "
                        (sanitize::prose(&deviation.value)) " ("
                        (sanitize::prose(&deviation.reason)) ")"
                    }
                    "."
                }
            }
            p.settings { (workload_text::line(&group.first().test.test)) }
            @if group.members.len() > 1 {
                details.more { summary { "Results with notes" } (result(group, drives)) }
            } @else {
                (result(group, drives))
            }
            (untested(group, runs, drives))
            (findings::group_findings(group, drives))
            (figures(&charts, number))
            (steady::tables(group, drives))
            (tried_loads::table(group, drives))
            (numbers(group, drives))
        }
    }
}

/// Returns the headline with its interval and notes, for each run.
fn result(group: &Group<'_>, drives: &ReportDrives) -> Markup {
    html! {
        @for member in &group.members {
            @let headline = &member.test.headline;
            p.result {
                @if drives.count() > 1 {
                    (swatch(drives.drive_of(member.index)))
                    (drives.names[member.index]) ": "
                }
                @match headline.value {
                    Some(value) => {
                        b { (number::with_unit(value, headline.metric)) }
                        @if let Some(words) = interval::words(&headline.interval) {
                            " (" (words) ")"
                        }
                    }
                    None => { "no result: " (missing_reason(member)) }
                }
                @for remark in headline_notes::notes(member.test) { "; " (remark) }
            }
            @if let Some(line) = sent_late::latest(member.test) { p.small { (line) "." } }
        }
    }
}

/// Returns the drives of the report that are not in `group`, so that no drive is omitted silently.
fn untested(group: &Group<'_>, runs: &[Run], drives: &ReportDrives) -> Markup {
    let present: Vec<usize> =
        group.members.iter().map(|member| drives.drive_of(member.index)).collect();
    let names: Vec<&str> = (0..runs.len())
        .filter(|index| !present.contains(&drives.drive_of(*index)))
        .map(|index| drives.names[index].as_str())
        .collect();
    html! {
        @if !names.is_empty() {
            p.small {
                "Not tested with equal revision, duration and span: "
                (once(&names).join(", ")) "."
            }
        }
    }
}

/// Returns the figures of a test: the main ones, and the others folded.
fn figures(charts: &[Chart], number: usize) -> Markup {
    let of_row = |folded: bool| {
        let charts = charts.iter().enumerate();
        charts.filter(move |(_, chart)| chart.folded == folded)
    };
    let folded: Vec<&str> = of_row(true).map(|(_, chart)| words(chart.kind)).collect();
    html! {
        @for (place, chart) in of_row(false) { (figure::figure(chart, &format!("t{number}f{place}"))) }
        @if !folded.is_empty() {
            details.more {
                summary { (folded.len()) " more figures of this test: " (once(&folded).join(", ")) }
                @for (place, chart) in of_row(true) {
                    (figure::figure(chart, &format!("t{number}f{place}")))
                }
            }
        }
    }
}

/// Returns what the figures of a kind show, for the line of the fold.
fn words(kind: &str) -> &str {
    match kind {
        "curve" => "further curves",
        "curve-with-power" => "each drive with its power",
        "timeline" => "over time",
        "timeline-log" | "timeline-last-log" => "over time on a logarithmic axis",
        "power-timeline" => "power over time",
        "distribution" => "latency of other steps",
        other => other,
    }
}

/// Returns each of `words` once, in order.
fn once<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for word in words {
        if !seen.contains(word) {
            seen.push(*word);
        }
    }
    seen
}

/// Returns every metric of every step, folded.
fn numbers(group: &Group<'_>, drives: &ReportDrives) -> Markup {
    let shown: Vec<Metric> = COLUMNS
        .into_iter()
        .filter(|metric| {
            let mut points = group.members.iter().flat_map(|member| &member.test.points);
            let known = |point| metrics::value(point, *metric, Scope::All).is_some();
            let anyway = !metric.is_optional() && !metric.needs_power();
            anyway || points.any(known)
        })
        .collect();
    if group.members.iter().all(|member| member.test.points.is_empty()) {
        return html! {};
    }
    let mut points = group.members.iter().flat_map(|member| &member.test.points);
    let kernel = points.any(|point| point.kernel.is_some());
    html! {
        details.numbers {
            summary { "All metrics of this test" }
            div.scroll { table {
                thead { tr {
                    th scope="col" { "Step" }
                    th.n scope="col" { "Active time, s" }
                    th scope="col" { "Ended by" }
                    @for metric in &shown {
                        th.n scope="col" {
                            (metric.title())
                            @if !metric.unit().is_empty() && metric.unit() != metric.title() {
                                ", " (metric.unit())
                            }
                        }
                    }
                    @if kernel {
                        th.n scope="col" { "In the device, by the kernel" }
                        th.n scope="col" { "Mean time in the device, by the kernel, µs" }
                    }
                } }
                tbody {
                    @for member in &group.members {
                        @for point in &member.test.points {
                            (rows(member, point, &shown, kernel, drives))
                        }
                    }
                }
            } }
            @if kernel { p.small { (KERNEL) } }
        }
    }
}

/// Returns the rows of a step: all requests, each direction, and the lateness of an open loop.
/// `kernel` says whether the table has the columns of the kernel.
fn rows(
    member: &Member<'_>,
    point: &PointRun,
    shown: &[Metric],
    kernel: bool,
    drives: &ReportDrives,
) -> Markup {
    let scopes = metrics::scopes(point);
    // Where there is one direction, it is the whole.
    let scopes = if scopes.len() == 2 { &scopes[..1] } else { &scopes[..] };
    let label = sanitize::prose(&point.point.label);
    let marks = member.run_marks();
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
                    @if drives.count() > 1 { " · " (drives.names[member.index]) }
                    @if !marks.is_empty() { " " span.marks { (marks.join(", ")) } }
                }
                td.n { (number::text(point.point.totals.elapsed.as_secs_f64())) }
                td { (sanitize::prose(&point.ended_by)) }
                @for metric in shown {
                    td.n {
                        @if *scope == Scope::All || metric.is_split() {
                            (number::optional(metrics::value(point, *metric, *scope)))
                        }
                    }
                }
                @if kernel { (kernel_cells(point, *scope)) }
            }
        }
        @for line in sent_late::lines(point) {
            tr.small {
                th scope="row" { (label) ", load generator" }
                td colspan=(shown.len() + if kernel { 4 } else { 2 }) { (line) }
            }
        }
    }
}

/// Returns the cells of the counters of the kernel, which do not distinguish directions.
fn kernel_cells(point: &PointRun, scope: Scope) -> Markup {
    let used = point.kernel.as_ref().filter(|_| scope == Scope::All);
    html! {
        td.n { @if scope == Scope::All { (number::optional(used.map(|used| used.in_flight))) } }
        td.n { @if scope == Scope::All { (number::optional(used.map(|used| used.time_mean_us))) } }
    }
}
