//! Lines over two axes, with direct labels at their ends.

use crate::analysis::drive_slots::number_of_grey;
use crate::analysis::report_drives::ReportDrives;
use crate::chart::axis::AcrossScale;
use crate::chart::band::Band;
use crate::chart::coordinate::at;
use crate::chart::events;
use crate::chart::labels::pushed_apart;
use crate::chart::mark::{class, mark};
use crate::chart::plot::{Cut, LETTER, Plot, Room, Series, TOP, width_of};
use crate::page::kit::values::{self, ValueRow};
use crate::text::fitted::fitted;
use crate::text::short_names::without_capacities;
use maud::{Markup, html};

/// More drives than this have no label at the end of their line, unless they have a colour.
const MAX_LABELS: usize = 14;

/// Returns `plot` over the whole width of the page.
pub(crate) fn wide(plot: &Plot, drives: &ReportDrives) -> Markup {
    cuts(plot, drives, (1_112.0, 390.0), (780.0, 280.0))
}

/// Returns `plot` beside a ranking.
pub(crate) fn beside(plot: &Plot, drives: &ReportDrives) -> Markup {
    cuts(plot, drives, (660.0, 300.0), (440.0, 240.0))
}

/// Returns the words behind the name at the end of `line`: all of them, their first part, or none.
fn end(line: &Series, room: Room) -> &str {
    match room {
        Room::Wide => &line.end,
        Room::Middle => line.end.split(" · ").next().unwrap_or(""),
        Room::Narrow => "",
    }
}

/// Returns about how wide a name is with the words behind it.
fn label_width(name: &str, end: &str) -> f64 {
    let gap = if end.is_empty() { 0.0 } else { 6.0 };
    width_of(name) + gap + width_of(end)
}

/// The greatest room for labels beside a narrow plot: half of its width stays for the lines.
const NARROW_LABELS: f64 = 128.0;

fn cuts(plot: &Plot, drives: &ReportDrives, wide: (f64, f64), middle: (f64, f64)) -> Markup {
    let band = Band::new(plot, drives);
    let band = band.as_ref();
    let labelled =
        |line: &&Series| has_label(plot, band, drives, line.drive) && !line.points.is_empty();
    let labels = |room: Room| {
        let length = |line: &Series| label_width(drives.short(line.drive), end(line, room));
        plot.lines.iter().filter(labelled).map(length).fold(0.0, f64::max)
    };
    let cut = |room: Room, (width, height): (f64, f64), labels: f64, most: f64| Cut {
        width,
        height,
        left: if room == Room::Narrow { 46.0 } else { 50.0 },
        right: (labels + 26.0).clamp(18.0, most),
        room,
    };
    let narrow = (358.0, 290.0);
    let cuts = [
        cut(Room::Wide, wide, labels(Room::Wide), 0.32 * wide.0),
        cut(Room::Middle, middle, labels(Room::Middle), 0.4 * middle.0),
        cut(Room::Narrow, narrow, labels(Room::Narrow), NARROW_LABELS),
    ];
    let rows: Vec<ValueRow<'_>> = plot.lines.iter().map(value_row).collect();
    html! {
        @for cut in &cuts { (drawn(plot, band, drives, cut)) }
        @if let Some(band) = band { (band.words()) }
        (values::fold(&plot.label, &rows, drives))
    }
}

fn value_row(line: &Series) -> ValueRow<'_> {
    let values = line.values.iter().map(|(_, _, words)| words.as_str());
    ValueRow { drive: line.drive, name: None, values: values.collect() }
}

fn has_label(plot: &Plot, band: Option<&Band>, drives: &ReportDrives, drive: usize) -> bool {
    match band {
        Some(band) => band.names(drive),
        None => {
            plot.lines.len() > 1
                && (plot.lines.len() <= MAX_LABELS || number_of_grey(drives.slot(drive)).is_none())
        }
    }
}

fn drawn(plot: &Plot, band: Option<&Band>, drives: &ReportDrives, cut: &Cut) -> Markup {
    let view = format!("0 0 {} {}", at(cut.width), at(cut.height));
    html! {
        svg class=(cut.room.classes()) viewBox=(view) role="img" aria-label=(plot.label)
            data-zoom=[zoom(plot, cut)]
        {
            (ground(plot, cut))
            (axes(plot, cut))
            @if let Some(band) = band { (band.drawn(plot, cut)) }
            @for line in &plot.lines { (series(plot, band, line, drives, cut)) }
            (events::drawn(plot, cut))
            (ends(plot, band, drives, cut))
            // Above the leaders of the labels, so that the words stay readable.
            (rays(plot, cut))
        }
    }
}

/// Returns what the script needs to enlarge a part of the chart: the edges of the plot, the end of its
/// axis, and the end of its first part, 0 without one; `None` for a chart without time or amount across,
/// and for phones, where a finger scrolls.
fn zoom(plot: &Plot, cut: &Cut) -> Option<String> {
    let (end, first) = match plot.across.scale {
        AcrossScale::Places(_) => return None,
        AcrossScale::To(end) => (end, 0.0),
        AcrossScale::TwoSpeeds { cut, end } => (end, cut),
    };
    let edges = [cut.left, cut.width - cut.right, TOP, cut.bottom()].map(at).join(" ");
    (plot.rays.is_empty() && !cut.is_narrow()).then(|| format!("{edges} {end} {first}"))
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
            @if !cut.is_narrow() {
                @let x = (cut.x(plot.across.share(*low)) + cut.x(plot.across.share(*high))) / 2.0;
                text.an x=(at(x)) y=(at(cut.bottom() - 8.0)) text-anchor="middle" { (words) }
            }
        }
        @if let AcrossScale::TwoSpeeds { cut: first, .. } = plot.across.scale {
            @if plot.scored.is_none() { (zone(0.0, first)) }
            @let x = cut.x(plot.across.share(first));
            path.bnd d={ "M" (at(x)) " " (at(TOP - 6.0)) "V" (at(cut.bottom())) } {}
            @if let (Some((near, far)), false) = (&plot.across.parts, cut.is_narrow()) {
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
    let every = if cut.is_narrow() { plot.across.ticks.len().div_ceil(6).max(1) } else { 1 };
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

fn series(
    plot: &Plot,
    band: Option<&Band>,
    line: &Series,
    drives: &ReportDrives,
    cut: &Cut,
) -> Markup {
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
    let within = band.map_or("", |band| band.class(line.drive));
    html! {
        g class={ (class(line.drive)) (within) } {
            @if !line.thin.is_empty() && cut.room == Room::Wide { path.ln.thin d=(path(&line.thin)) {} }
            @if line.points.len() > 1 { path.ln d=(path(&line.points)) {} }
            @for (x, y, words) in &line.values {
                @let place = place(*x, *y);
                // A phone has no pointer, and paper no reader who points: the table has the values.
                @if cut.room == Room::Wide || (cut.room == Room::Middle && line.marked) {
                    g.pt {
                        title { (words) }
                        @if line.marked { (mark(slot, place, 4.0)) }
                        circle.hit cx=(at(place.0)) cy=(at(place.1)) r="9" {}
                    }
                } @else if line.marked {
                    (mark(slot, place, 4.0))
                }
            }
        }
    }
}

fn ends(plot: &Plot, band: Option<&Band>, drives: &ReportDrives, cut: &Cut) -> Markup {
    let mut ends: Vec<(f64, f64, &Series)> = plot
        .lines
        .iter()
        .filter(|line| has_label(plot, band, drives, line.drive))
        .filter_map(|line| {
            let (x, y) = line.points.last()?;
            Some((cut.x(plot.across.share(*x)), cut.y(plot.up.share(*y)), line))
        })
        .collect();
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    let wanted: Vec<f64> = ends.iter().map(|(_, y, _)| *y).collect();
    let places = pushed_apart(&wanted, 15.5, (TOP, cut.bottom() - 3.0));
    let edge = cut.width - cut.right;
    let names = names(ends.iter().map(|(_, _, line)| line.drive), drives, cut);
    html! {
        @for (((x, y, line), label), name) in ends.iter().zip(places).zip(names) {
            g class=(class(line.drive)) {
                @if (label - y).abs() > 3.0 || edge - x > 8.0 {
                    path.ld d={
                        "M" (at(x + 5.0)) " " (at(*y)) "L" (at(edge + 8.0)) " " (at(label))
                    } {}
                }
                (mark(drives.slot(line.drive), (edge + 14.0, label), 4.2))
                @let end = fitting_end(&name, end(line, cut.room), cut.right - 23.0);
                text.el x=(at(edge + 23.0)) y=(at(label + 4.0)) {
                    (name) @if !end.is_empty() { tspan.ev { " " (end) } }
                }
            }
        }
    }
}

/// Returns the names of `drives` that fit beside the plot, each different from the others.
fn names<'a>(of: impl Iterator<Item = usize>, drives: &'a ReportDrives, cut: &Cut) -> Vec<String> {
    let whole: Vec<&'a str> = of.map(|drive| drives.short(drive)).collect();
    let fits = |name: &str| width_of(name) <= cut.right - 23.0;
    let short = match whole.iter().all(|name| fits(name)) {
        true => Vec::new(),
        false => without_capacities(&whole),
    };
    let short: Vec<&str> = short.iter().map(String::as_str).collect();
    fitted(if short.is_empty() { &whole } else { &short }, &fits)
}

/// Returns the words behind `name` that fit into `room`: all of them, their first part, or none.
fn fitting_end<'a>(name: &str, end: &'a str, room: f64) -> &'a str {
    let first = end.split(" · ").next().unwrap_or("");
    let fits = |words: &&str| label_width(name, words) <= room;
    [end, first].into_iter().find(fits).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_as_many_words_as_its_room_allows() {
        let room = label_width("Disk", "707 · 64 GB in 88 s");
        assert_eq!(fitting_end("Disk", "707 · 64 GB in 88 s", room), "707 · 64 GB in 88 s");
        assert_eq!(fitting_end("Disk", "707 · 64 GB in 88 s", room - 1.0), "707");
        assert_eq!(fitting_end("Disk", "707 · 64 GB in 88 s", 20.0), "");
        let line = Series { end: "707 · 64 GB in 88 s".to_owned(), ..Series::default() };
        assert_eq!(end(&line, Room::Wide), "707 · 64 GB in 88 s");
        assert_eq!((end(&line, Room::Middle), end(&line, Room::Narrow)), ("707", ""));
    }
}
