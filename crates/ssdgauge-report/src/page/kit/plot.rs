//! Lines over two axes, with direct labels at their ends.

use crate::analysis::drive_slots::OTHERS;
use crate::analysis::report_drives::ReportDrives;
use crate::page::kit::axis::AcrossScale;
use crate::page::kit::chart::{Cut, LETTER, Plot, Series, TOP};
use crate::page::kit::coordinate::at;
use crate::page::kit::events;
use crate::page::kit::labels::pushed_apart;
use crate::page::kit::mark::{class, mark};
use crate::page::kit::values::{self, ValueRow};
use maud::{Markup, html};

/// More drives than this have no label at the end of their line, unless they have a colour.
const MAX_LABELS: usize = 14;

/// Returns `plot` over the whole width of the page.
pub(crate) fn wide(plot: &Plot, drives: &ReportDrives) -> Markup {
    both(plot, drives, (1_112.0, 390.0))
}

/// Returns `plot` beside a ranking.
pub(crate) fn beside(plot: &Plot, drives: &ReportDrives) -> Markup {
    both(plot, drives, (660.0, 300.0))
}

fn both(plot: &Plot, drives: &ReportDrives, (width, height): (f64, f64)) -> Markup {
    let labelled = |line: &&Series| has_label(plot, drives, line.drive) && !line.points.is_empty();
    let letters = |with_value: bool| {
        let length = |line: &Series| {
            let value = if with_value { line.end.chars().count() + 1 } else { 0 };
            drives.short(line.drive).chars().count() + value
        };
        plot.lines.iter().filter(labelled).map(length).max().unwrap_or(0) as f64
    };
    let right = |letters: f64, most: f64| (letters * LETTER + 30.0).clamp(18.0, most);
    let wide = Cut {
        width,
        height,
        left: 50.0,
        right: right(letters(true), 0.3 * width),
        is_narrow: false,
    };
    let narrow = Cut {
        width: 358.0,
        height: 290.0,
        left: 46.0,
        right: right(letters(false), 116.0),
        is_narrow: true,
    };
    let rows: Vec<ValueRow<'_>> = plot.lines.iter().map(value_row).collect();
    html! {
        (drawn(plot, drives, &wide))
        (drawn(plot, drives, &narrow))
        (values::fold(&plot.label, &rows, drives))
    }
}

fn value_row(line: &Series) -> ValueRow<'_> {
    let values = line.values.iter().map(|(_, _, words)| words.as_str());
    ValueRow { drive: line.drive, name: None, values: values.collect() }
}

fn has_label(plot: &Plot, drives: &ReportDrives, drive: usize) -> bool {
    plot.lines.len() > 1 && (plot.lines.len() <= MAX_LABELS || drives.slot(drive) != OTHERS)
}

fn drawn(plot: &Plot, drives: &ReportDrives, cut: &Cut) -> Markup {
    let view = format!("0 0 {} {}", at(cut.width), at(cut.height));
    html! {
        svg.ch.wide[!cut.is_narrow].narrow[cut.is_narrow] viewBox=(view) role="img"
            aria-label=(plot.label)
        {
            (ground(plot, cut))
            (axes(plot, cut))
            @for line in &plot.lines { (series(plot, line, drives, cut)) }
            (events::drawn(plot, cut))
            (ends(plot, drives, cut))
            // Above the leaders of the labels, so that the words stay readable.
            (rays(plot, cut))
        }
    }
}

/// Returns the tinted parts: what is enlarged, and what the score counts.
fn ground(plot: &Plot, cut: &Cut) -> Markup {
    let zone = |low: f64, high: f64| {
        let (x, end) = (cut.x(plot.across.share(low)), cut.x(plot.across.share(high)));
        html! {
            rect.zone x=(at(x)) y=(at(TOP)) width=(at(end - x)) height=(at(cut.bottom() - TOP)) {}
        }
    };
    html! {
        @if let Some((low, high, words)) = &plot.scored {
            (zone(*low, *high))
            @if !cut.is_narrow {
                @let x = (cut.x(plot.across.share(*low)) + cut.x(plot.across.share(*high))) / 2.0;
                text.an x=(at(x)) y=(at(cut.bottom() - 8.0)) text-anchor="middle" { (words) }
            }
        }
        @if let AcrossScale::TwoSpeeds { cut: first, .. } = plot.across.scale {
            @if plot.scored.is_none() { (zone(0.0, first)) }
            @let x = cut.x(plot.across.share(first));
            path.bnd d={ "M" (at(x)) " " (at(TOP - 6.0)) "V" (at(cut.bottom())) } {}
            @if let (Some((near, far)), false) = (&plot.across.parts, cut.is_narrow) {
                @let unit = 16.0 + LETTER * plot.up.unit.chars().count() as f64;
                text.an x=(at(cut.left.max(unit))) y=(at(TOP - 9.0)) { (near) }
                text.an x=(at(x + 8.0)) y=(at(TOP - 9.0)) { (far) }
            }
        }
    }
}

/// Returns the lines of equal ratio, each from zero to the edge that it meets first.
fn rays(plot: &Plot, cut: &Cut) -> Markup {
    let AcrossScale::To(most) = plot.across.scale else { return html! {} };
    let high = plot.up.high();
    let edge = cut.width - cut.right;
    html! {
        @for (slope, words) in &plot.rays {
            @let (x, y) = if slope * most > high { (high / slope, high) } else { (most, slope * most) };
            @let (x, y) = (cut.x(plot.across.share(x)), cut.y(plot.up.share(y)));
            path.bnd d={ "M" (at(cut.left)) " " (at(cut.bottom())) "L" (at(x)) " " (at(y)) } {}
            // At the right edge the words stand left of the end, at the top beside it.
            @let end = if x > edge - 60.0 { "end" } else { "start" };
            text.an x=(at(if end == "end" { x - 4.0 } else { x + 4.0 })) y=(at(y - 4.0)) text-anchor=(end) {
                (words)
            }
        }
    }
}

fn axes(plot: &Plot, cut: &Cut) -> Markup {
    let bottom = cut.bottom();
    let end = cut.width - cut.right;
    // A narrow chart has room for half of the words.
    let every = if cut.is_narrow { plot.across.ticks.len().div_ceil(6).max(1) } else { 1 };
    let letters: usize = plot.across.ticks.iter().map(|(_, words)| words.chars().count() + 2).sum();
    let room = (end - cut.left) / 7.0;
    let every = every.max((letters as f64 / room).ceil() as usize);
    html! {
        @for (place, (value, words)) in plot.up.ticks.iter().enumerate() {
            @let y = cut.y(plot.up.share(*value));
            path.ax[place == 0].gr[place > 0] d={ "M" (at(cut.left)) " " (at(y)) "H" (at(end)) } {}
            text.tk x=(at(cut.left - 7.0)) y=(at(y + 4.0)) text-anchor="end" { (words) }
        }
        text.un x="2" y=(at(TOP - 12.0)) { (plot.up.unit) }
        path.ax d={ "M" (at(cut.left)) " " (at(bottom)) "H" (at(end)) } {}
        @for (place, (value, words)) in plot.across.ticks.iter().enumerate() {
            @let x = cut.x(plot.across.share(*value));
            path.ax d={ "M" (at(x)) " " (at(bottom)) "v4" } {}
            @if place % every == 0 {
                text.tk x=(at(x)) y=(at(bottom + 17.0)) text-anchor="middle" { (words) }
            }
        }
        text.un x=(at((cut.left + end) / 2.0)) y=(at(cut.height - 4.0)) text-anchor="middle" {
            (plot.across.label)
        }
    }
}

fn series(plot: &Plot, line: &Series, drives: &ReportDrives, cut: &Cut) -> Markup {
    let place = |x: f64, y: f64| (cut.x(plot.across.share(x)), cut.y(plot.up.share(y)));
    let stretch = |points: &[(f64, f64)]| -> String {
        let corner = |(x, y): &(f64, f64)| {
            let (x, y) = place(*x, *y);
            format!("{} {}", at(x), at(y))
        };
        let corners: Vec<String> = points.iter().map(corner).collect();
        format!("M{}", corners.join("L"))
    };
    let path = |points: &[(f64, f64)]| -> String {
        let stretches = points.split(|(_, y)| y.is_nan()).filter(|part| !part.is_empty());
        stretches.map(stretch).collect()
    };
    let slot = drives.slot(line.drive);
    html! {
        g class=(class(line.drive)) {
            @if !line.thin.is_empty() && !cut.is_narrow { path.ln.thin d=(path(&line.thin)) {} }
            @if line.points.len() > 1 { path.ln d=(path(&line.points)) {} }
            @for (x, y, words) in &line.values {
                @let place = place(*x, *y);
                g.pt {
                    title { (words) }
                    @if line.marked { (mark(slot, place, 4.0)) }
                    circle.hit cx=(at(place.0)) cy=(at(place.1)) r="9" {}
                }
            }
        }
    }
}

fn ends(plot: &Plot, drives: &ReportDrives, cut: &Cut) -> Markup {
    let mut ends: Vec<(f64, f64, &Series)> = plot
        .lines
        .iter()
        .filter(|line| has_label(plot, drives, line.drive))
        .filter_map(|line| {
            let (x, y) = line.points.last()?;
            Some((cut.x(plot.across.share(*x)), cut.y(plot.up.share(*y)), line))
        })
        .collect();
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    let wanted: Vec<f64> = ends.iter().map(|(_, y, _)| *y).collect();
    let places = pushed_apart(&wanted, 15.5, (TOP, cut.bottom() + 4.0));
    let edge = cut.width - cut.right;
    html! {
        @for ((x, y, line), label) in ends.iter().zip(places) {
            g class=(class(line.drive)) {
                @if (label - y).abs() > 3.0 || edge - x > 8.0 {
                    path.ld d={
                        "M" (at(x + 5.0)) " " (at(*y)) "L" (at(edge + 8.0)) " " (at(label))
                    } {}
                }
                (mark(drives.slot(line.drive), (edge + 14.0, label), 4.2))
                text.el x=(at(edge + 23.0)) y=(at(label + 4.0)) {
                    (shortened(drives.short(line.drive), cut))
                    @if !cut.is_narrow && !line.end.is_empty() { tspan.ev { " " (line.end) } }
                }
            }
        }
    }
}

/// Returns a name that fits beside a narrow plot.
fn shortened(name: &str, cut: &Cut) -> String {
    let room = ((cut.right - 26.0) / LETTER).max(4.0) as usize;
    match name.chars().count() > room && cut.is_narrow {
        true => name.chars().take(room - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}
