//! Tables of a steady-state test by the SNIA Performance Test Specification: the measurement window
//! with its limits and results, and every cell of a sweep over mixes and block sizes.

use crate::page::kit::stack;
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::groups::group::{Group, Member};
use ssdgauge_analysis::model::PointRun;
use ssdgauge_analysis::model::Tracked;
use ssdgauge_analysis::model::metrics;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::{Bytes, Metric, Scope};
use ssdgauge_statistics::steady::{RANGE, SLOPE, WINDOW};
use std::collections::BTreeSet;

/// Returns the tables of `group`; nothing where its test tracked nothing.
pub(super) fn tables(group: &Group<'_>, drives: &ReportDrives) -> Markup {
    let members = || group.members.iter().filter(|member| !member.test.tracked.is_empty());
    html! {
        @if members().next().is_some() {
            p.cap { b { "Steady state" } }
            div.scroll tabindex="0" role="group" aria-label="Steady state" {
            table.num.stack style=(stack::names(&HEADS)) {
                thead { tr {
                    @for (place, head) in HEADS.iter().enumerate() {
                        th.n[(3..9).contains(&place)] scope="col" { (head) }
                    }
                } }
                tbody {
                    @for member in members() {
                        @for tracked in &member.test.tracked { (row(member, tracked, drives)) }
                    }
                }
            } }
            p.small {
                "Steady state over " (WINDOW) " rounds: the range (maximum minus minimum) is at most "
                (share(RANGE)) " of the average, and the linear fit changes by at most "
                (share(SLOPE)) " of it."
            }
            @for member in members() { (cells(member, drives)) }
        }
    }
}

const HEADS: [&str; 10] = [
    "Tracked",
    "Rounds",
    "Window",
    "Average",
    "Data excursion, allowed",
    "Data excursion, measured",
    "Slope excursion, allowed",
    "Slope excursion, measured",
    "Correlation",
    "Steady",
];

fn share(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn row(member: &Member<'_>, tracked: &Tracked, drives: &ReportDrives) -> Markup {
    let unit = tracked.metric.unit();
    let what = format!("{}, {unit}", tracked.metric.title());
    html! {
        tr {
            th scope="row" {
                (sanitize::step(&tracked.step)) ": " (what.trim_end_matches([',', ' ']))
                @if drives.count() > 1 {
                    " · " (drives.short(drives.drive_of(member.index)))
                }
            }
            td { (tracked.values.len()) " of " (sanitize::prose(&tracked.round)) }
            @match tracked.window() {
                Some((start, verdict)) => {
                    td { (start + 1) " to " (start + WINDOW) }
                    td.n { (number::text(verdict.mean)) }
                    td.n { (number::text(verdict.mean * RANGE)) }
                    td.n { (number::text(verdict.mean * verdict.range)) }
                    td.n { (number::text(verdict.mean * SLOPE)) }
                    td.n { (number::text(verdict.mean * verdict.slope)) }
                    td.n { (format!("{:.2}", verdict.correlation)) }
                    td { @if verdict.steady { "yes" } @else { b { "not steady" } } }
                }
                None => {
                    td { (number::NOTHING) }
                    @for _ in 0..6 { td.n { (number::NOTHING) } }
                    td { b { "not steady: too few rounds" } }
                }
            }
        }
    }
}

/// Returns a matrix of block sizes and mixes for each figure that the test is about, where it
/// swept both.
fn cells(member: &Member<'_>, drives: &ReportDrives) -> Markup {
    let points = &member.test.points;
    let stream = |point: &PointRun| {
        let [stream] = point.workload.streams.as_slice() else { return None };
        let is_cell = stream.operation.is_transfer() && !stream.has_sizes();
        is_cell.then_some((stream.block_size, stream.read_percent))
    };
    let places: Option<Vec<(Bytes, u8)>> = points.iter().map(stream).collect();
    let places = places.unwrap_or_default();
    let sizes: BTreeSet<Bytes> = places.iter().map(|(size, _)| *size).collect();
    let mixes: BTreeSet<u8> = places.iter().map(|(_, mix)| *mix).collect();
    let value = |size: Bytes, mix: u8, metric: Metric| {
        let place = places.iter().position(|place| *place == (size, mix))?;
        metrics::value(&points[place], metric, Scope::All)
    };
    let tracked = member.test.tracked.last().map(|tracked| tracked.metric);
    let of_mix = |mix: &u8| format!("{mix}/{}", 100 - mix.min(&100));
    let heads: Vec<String> =
        ["Block size".to_owned()].into_iter().chain(mixes.iter().rev().map(of_mix)).collect();
    html! {
        @if sizes.len() > 1 && mixes.len() > 1 {
            @for metric in metrics(tracked) {
                p.cap {
                    (metric.title()) " in each cell, " (metric.unit())
                    @if drives.count() > 1 {
                    " · " (drives.short(drives.drive_of(member.index)))
                }
                }
                div.scroll tabindex="0" role="group" aria-label="Steady state" {
                table.num.stack style=(stack::names(&heads)) {
                    thead { tr {
                        @for (place, head) in heads.iter().enumerate() {
                            th.n[place > 0] scope="col" { (head) }
                        }
                    } }
                    tbody {
                        @for size in &sizes {
                            tr {
                                th scope="row" { (size.as_block()) }
                                @for mix in mixes.iter().rev() {
                                    td.n { (number::optional(value(*size, *mix, *metric))) }
                                }
                            }
                        }
                    }
                } }
            }
        }
    }
}

/// Returns the figures of a cell: mean, 99.999th percentile and maximum where latency is tracked.
fn metrics(tracked: Option<Metric>) -> &'static [Metric] {
    if tracked == Some(Metric::LatMeanUs) {
        &[Metric::LatMeanUs, Metric::LatP99999Us, Metric::LatMaxUs]
    } else if tracked == Some(Metric::ThroughputMbS) {
        &[Metric::ThroughputMbS]
    } else {
        &[Metric::Iops]
    }
}
