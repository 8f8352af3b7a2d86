//! Everything behind a figure, folded: settings, results with notes, findings and all metrics.

use crate::page::kit::mark::icon;
use crate::page::kit::stack;
use crate::page::{findings, steady, tried_loads};
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::groups::group::{Group, Member};
use ssdgauge_analysis::groups::headline_reasons::missing_reason;
use ssdgauge_analysis::groups::workload_text;
use ssdgauge_analysis::headlines::headline_notes;
use ssdgauge_analysis::model::metrics;
use ssdgauge_analysis::model::{PointRun, Run};
use ssdgauge_analysis::steps::media_writes;
use ssdgauge_analysis::steps::sent_late;
use ssdgauge_analysis::text::interval;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::{Flush, LatencyOf, Metric, Scope};

/// The metrics of the table of all numbers.
const COLUMNS: [Metric; 25] = [
    Metric::Iops,
    Metric::ThroughputMbS,
    Metric::LatMeanUs,
    Metric::LatP50Us,
    Metric::LatP99Us,
    Metric::LatP999Us,
    Metric::LatP9999Us,
    Metric::LatP99999Us,
    Metric::LatMaxUs,
    Metric::CommitMeanUs,
    Metric::LatTimeP50Us,
    Metric::LatTimeP99Us,
    Metric::TimeOver1MsPercent,
    Metric::TimeOver10MsPercent,
    Metric::TimeOver100MsPercent,
    Metric::WorstSecondIops,
    Metric::LongestStallS,
    Metric::InFlightMean,
    Metric::PowerW,
    Metric::PowerCoveredPercent,
    Metric::EfficiencyMbSW,
    Metric::EfficiencyKiopsW,
    Metric::WriteAmplification,
    Metric::MediaWrittenGb,
    Metric::EffectiveOverProvisioning,
];

/// The definition of the columns of the kernel.
const KERNEL: &str = "By the kernel: from the queue of the device to the completion in the kernel, \
                      by its own counters. The latencies also contain the time in the system call \
                      before, and the time until the program reaps the completion.";

/// Returns the fold of one test.
pub(super) fn fold(group: &Group<'_>, runs: &[Run], drives: &ReportDrives) -> Markup {
    html! {
        details.fold {
            summary { "Numbers, settings and notes" }
            (protocol(group))
            (result(group, drives))
            (untested(group, runs, drives))
            (findings::group_findings(group, drives))
            (steady::tables(group, drives))
            (tried_loads::table(group, drives))
            (numbers(group, drives))
        }
    }
}

/// Returns the source of the test, its settings, and what the suite chose or changed.
fn protocol(group: &Group<'_>) -> Markup {
    let test = &group.first().test.test;
    html! {
        p.small {
            @if !test.source.is_empty() {
                "After the protocol of " (sanitize::prose(&test.source)) ". "
            }
            "Test " code { (sanitize::prose(&test.id)) } ", revision " (test.revision) ". "
            (workload_text::line(test)) "."
        }
        @if !test.chosen.is_empty() {
            p.small {
                "Chosen by this suite, not specified by the source: "
                @for (place, chosen) in test.chosen.iter().enumerate() {
                    @if place > 0 { "; " }
                    b { (sanitize::prose(&chosen.key)) } " = " (sanitize::prose(&chosen.value))
                }
                "."
            }
        }
        @if !test.deviations.is_empty() {
            p.small {
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
    }
}

/// Returns the headline with its interval and notes, for each run.
fn result(group: &Group<'_>, drives: &ReportDrives) -> Markup {
    html! {
        @for member in &group.members {
            @let headline = &member.test.headline;
            p.result {
                @if drives.count() > 1 {
                    (icon(drives, drives.drive_of(member.index)))
                    " " (drives.short(drives.drive_of(member.index))) ": "
                }
                @match interval::headline_measured(headline) {
                    Some(value) => {
                        b { (value) }
                        @if let Some(words) = interval::words(&headline.interval, headline.metric) {
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
        .map(|index| drives.short(drives.drive_of(index)))
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
            // A meter that covers the whole time is the rule.
            let is_said = |value: f64| *metric != Metric::PowerCoveredPercent || value < 99.5;
            let known = |point| metrics::value(point, *metric, Scope::All).is_some_and(is_said);
            let anyway = !metric.is_optional() && !metric.needs_power();
            anyway || points.any(known)
        })
        .collect();
    if group.members.iter().all(|member| member.test.points.is_empty()) {
        return html! {};
    }
    let mut points = group.members.iter().flat_map(|member| &member.test.points);
    let kernel = points.any(|point| point.kernel.is_some());
    let heads = heads(&shown, kernel);
    html! {
        div.numbers {
            div.scroll tabindex="0" role="group" aria-label="All metrics of every step" {
            table.num.stack style=(stack::names(&heads)) {
                thead { tr {
                    @for (place, head) in heads.iter().enumerate() {
                        th.n[place == 1 || place > 2] scope="col" { (head) }
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

/// Returns the heads of the table of all metrics.
fn heads(shown: &[Metric], kernel: bool) -> Vec<String> {
    let named = |metric: &Metric| match metric.unit() {
        unit if unit.is_empty() || unit == metric.title() => metric.title().to_string(),
        unit => format!("{}, {unit}", metric.title()),
    };
    let mut heads: Vec<String> = ["Step", "Active time, s", "Ended by"].map(str::to_owned).into();
    heads.extend(shown.iter().map(named));
    if kernel {
        heads.push("In the device, by the kernel".to_owned());
        heads.push("Mean time in the device, by the kernel, µs".to_owned());
    }
    heads
}

/// Returns the cell of a metric; one without a value is left out on phones.
fn cell(value: Option<f64>) -> Markup {
    html! { td.n.void[value.is_none()] { (number::optional(value)) } }
}

/// Returns the rows of a step: all requests, each direction, each of several streams, and the lateness of
/// an open loop.
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
    let label = sanitize::step(&point.point.label);
    html! {
        @for scope in scopes {
            tr {
                th scope="row" {
                    (label)
                    @if let Some(requests) = scope.requests() { ", " (requests) }
                    @if *scope == Scope::All { (latency_of(point.workload.latency_of())) }
                    @if drives.count() > 1 { " · " (drives.short(drives.drive_of(member.index))) }
                }
                td.n { (number::text(point.point.totals.elapsed.as_secs_f64())) }
                td { (sanitize::prose(&point.ended_by)) }
                @for metric in shown {
                    @if *scope == Scope::All || metric.is_split() {
                        (cell(metrics::value(point, *metric, *scope)))
                    } @else {
                        td.n {}
                    }
                }
                @if kernel { (kernel_cells(point, *scope)) }
            }
        }
        @for (stream, totals) in point.workload.streams.iter().zip(&point.point.streams) {
            tr {
                th scope="row" {
                    (label) ", " (sanitize::prose(&stream.name)) (latency_of(stream.latency_of()))
                }
                td.n { (number::text(totals.elapsed.as_secs_f64())) }
                td {}
                @for metric in shown {
                    @if metric.is_split() {
                        (cell(totals.value(*metric, Scope::All).filter(|value| value.is_finite())))
                    } @else {
                        td.n {}
                    }
                }
                @if kernel { td {} td {} }
            }
        }
        @if let Some(flush) = &point.flush {
            tr.small {
                th scope="row" { (label) ", flush after it" }
                td colspan=(shown.len() + if kernel { 4 } else { 2 }) { (flush_text(flush)) }
            }
        }
        @if let Some(line) = media_writes::line(point) {
            tr.small {
                th scope="row" { (label) ", media writes" }
                td colspan=(shown.len() + if kernel { 4 } else { 2 }) { (line) }
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

/// Returns what the latencies of a row are, where they are not those of its requests.
fn latency_of(of: LatencyOf) -> &'static str {
    if of.is_of_flushes() { ", latency of flushes" } else { "" }
}

/// Returns a flush in words.
fn flush_text(flush: &Flush) -> String {
    let counted = match (&flush.device, flush.counted) {
        (Some(device), Some(counted)) => format!(", {counted} counted by {device}"),
        _ => String::new(),
    };
    format!("{} sent{counted}, {}", flush.sent, flush.elapsed.about())
}

/// Returns the cells of the counters of the kernel, which do not distinguish directions.
fn kernel_cells(point: &PointRun, scope: Scope) -> Markup {
    let used = point.kernel.as_ref().filter(|_| scope == Scope::All);
    html! {
        @if scope == Scope::All {
            (cell(used.map(|used| used.in_flight)))
            (cell(used.map(|used| used.time_mean_us)))
        } @else {
            td.n {} td.n {}
        }
    }
}
