//! Lines over two axes, with direct labels at their ends, as shapes.

use crate::chart::axis::AcrossScale;
use crate::chart::band::Band;
use crate::chart::events;
use crate::chart::labels::pushed_apart;
use crate::chart::look;
use crate::chart::mark::mark;
use crate::chart::plot::{Cut, LETTER, Plot, Published, Room, Series, TOP, width_of};
use crate::chart::shape::{Anchor, Drawing, Shape, line, words};
use ssdgauge_analysis::drives::drive_slots::number_of_grey;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::text::fitted::fitted;
use ssdgauge_analysis::text::short_names::without_capacities;

/// More drives than this have no label at the end of their line, unless they have a colour.
const MAX_LABELS: usize = 14;

/// The maximum width of labels next to a narrow plot: half of the width stays for the lines.
const NARROW_LABELS: f64 = 128.0;

/// Returns the cut of `plot` in this room, with a margin for its labels.
pub(crate) fn cut(
    plot: &Plot,
    band: Option<&Band>,
    drives: &ReportDrives,
    room: Room,
    (width, height): (f64, f64),
) -> Cut {
    let is_labelled =
        |line: &&Series| has_label(plot, band, drives, line.drive) && !line.points.is_empty();
    let length = |line: &Series| label_width(drives.short(line.drive), end(line, room));
    let labels = plot.lines.iter().filter(is_labelled).map(length).fold(0.0, f64::max);
    let (left, most) = match room {
        Room::Wide => (50.0, 0.32 * width),
        Room::Middle | Room::File => (50.0, 0.4 * width),
        Room::Narrow => (46.0, NARROW_LABELS),
    };
    Cut { width, height, left, right: (labels + 26.0).clamp(18.0, most), room }
}

/// Returns `plot` in the size of `cut`.
pub(crate) fn drawn(plot: &Plot, band: Option<&Band>, drives: &ReportDrives, cut: &Cut) -> Drawing {
    let mut shapes = ground(plot, cut);
    shapes.extend(axes(plot, cut));
    shapes.extend(band.map(|band| band.drawn(plot, cut)).unwrap_or_default());
    shapes.extend(background(plot, cut));
    shapes.extend(plot.lines.iter().map(|line| series(plot, band, line, drives, cut)));
    shapes.extend(published(plot, drives, cut));
    shapes.extend(events::drawn(plot, cut, drives));
    shapes.extend(ends(plot, band, drives, cut));
    // Above the leaders of the labels, so that the words stay readable.
    shapes.extend(rays(plot, cut));
    Drawing { width: cut.width, height: cut.height, shapes }
}

/// Returns whether the line of `drive` has its name at its end.
pub(crate) fn has_label(
    plot: &Plot,
    band: Option<&Band>,
    drives: &ReportDrives,
    drive: usize,
) -> bool {
    match band {
        Some(band) => band.names(drive),
        None => {
            plot.lines.len() > 1
                && (plot.lines.len() <= MAX_LABELS || number_of_grey(drives.slot(drive)).is_none())
        }
    }
}

/// Returns the words after the name at the end of `line`: all of them, their first part, or none.
fn end(line: &Series, room: Room) -> &str {
    match room {
        Room::Wide | Room::File => &line.end,
        Room::Middle => line.end.split(" · ").next().unwrap_or(""),
        Room::Narrow => "",
    }
}

/// Returns the approximate width of a name with the words after it.
fn label_width(name: &str, end: &str) -> f64 {
    let gap = if end.is_empty() { 0.0 } else { 6.0 };
    width_of(name) + gap + width_of(end)
}

/// Returns the tinted parts: what is enlarged, and what the score counts.
fn ground(plot: &Plot, cut: &Cut) -> Vec<Shape> {
    let x = |value: f64| cut.x(plot.across.share(value));
    let zone = |low: f64, high: f64| Shape::Rectangle {
        place: [x(low), TOP, x(high) - x(low), cut.bottom() - TOP],
        round: 0.0,
        look: &look::ZONE,
    };
    let note = |at, text: &str, anchor| words(at, text, &look::NOTE, anchor);
    let mut shapes = Vec::new();
    if let Some((low, high, text)) = &plot.scored {
        shapes.push(zone(*low, *high));
        if !cut.is_narrow() {
            let (middle, edge) = ((x(*low) + x(*high)) / 2.0, cut.width - cut.right);
            // Words that are wider than a part at the end would stand out of the chart.
            let (at, anchor) = match middle + width_of(text) / 2.0 > edge {
                true => (edge - 4.0, Anchor::End),
                false => (middle, Anchor::Middle),
            };
            shapes.push(note((at, cut.bottom() - 8.0), text, anchor));
        }
    }
    if let AcrossScale::TwoSpeeds { cut: first, .. } = plot.across.scale {
        shapes.extend(plot.scored.is_none().then(|| zone(0.0, first)));
        let border = [(x(first), TOP - 6.0), (x(first), cut.bottom())];
        shapes.push(line(&border, &look::BORDER));
        if let (Some((near, far)), false) = (&plot.across.parts, cut.is_narrow()) {
            let unit = 16.0 + LETTER * plot.up.unit.chars().count() as f64;
            let room = x(first) - 10.0 - (LETTER - 0.8) * near.chars().count() as f64;
            shapes.push(note((cut.left.max(unit.min(room)), TOP - 9.0), near, Anchor::Start));
            shapes.push(note((x(first) + 8.0, TOP - 9.0), far, Anchor::Start));
        } else if plot.across.parts.is_some() {
            shapes.push(note((x(first) - 6.0, TOP - 9.0), "enlarged", Anchor::End));
        }
    }
    shapes
}

/// Returns the lines of equal ratio, each from zero to the edge that it meets first.
fn rays(plot: &Plot, cut: &Cut) -> Vec<Shape> {
    let AcrossScale::To(most) = plot.across.scale else { return Vec::new() };
    let high = plot.up.high();
    let edge = cut.width - cut.right;
    let ray = |(slope, text): &(f64, String)| {
        let (x, y) = if slope * most > high { (high / slope, high) } else { (most, slope * most) };
        let (x, y) = (cut.x(plot.across.share(x)), cut.y(plot.up.share(y)));
        // At the right edge the words are left of the end, at the top next to it.
        let (at, anchor) = match x > edge - 60.0 {
            true => (x - 4.0, Anchor::End),
            false => (x + 4.0, Anchor::Start),
        };
        [
            line(&[(cut.left, cut.bottom()), (x, y)], &look::BORDER),
            words((at, y - 4.0), text, &look::NOTE, anchor),
        ]
    };
    plot.rays.iter().flat_map(ray).collect()
}

/// Returns the axes of `plot`, without its lines.
pub(crate) fn axes(plot: &Plot, cut: &Cut) -> Vec<Shape> {
    let bottom = cut.bottom();
    let end = cut.width - cut.right;
    // A narrow chart has room for half of the words.
    let every = if cut.is_narrow() { plot.across.ticks.len().div_ceil(6).max(1) } else { 1 };
    let letters: usize = plot.across.ticks.iter().map(|(_, words)| words.chars().count() + 2).sum();
    let room = (end - cut.left) / 7.0;
    let every = every.max((letters as f64 / room).ceil() as usize);
    let mut shapes = Vec::new();
    for (place, (value, text)) in plot.up.ticks.iter().enumerate() {
        let y = cut.y(plot.up.share(*value));
        let look = if place == 0 { &look::AXIS } else { &look::GRID };
        shapes.push(line(&[(cut.left, y), (end, y)], look));
        shapes.push(words((cut.left - 7.0, y + 4.0), text, &look::TICK, Anchor::End));
    }
    shapes.push(words((2.0, TOP - 12.0), &plot.up.unit, &look::UNIT, Anchor::Start));
    shapes.push(line(&[(cut.left, bottom), (end, bottom)], &look::AXIS));
    for (place, (value, text)) in plot.across.ticks.iter().enumerate() {
        let x = cut.x(plot.across.share(*value));
        shapes.push(line(&[(x, bottom), (x, bottom + 4.0)], &look::AXIS));
        if place % every == 0 {
            shapes.push(words((x, bottom + 17.0), text, &look::TICK, Anchor::Middle));
        }
    }
    let middle = ((cut.left + end) / 2.0, cut.height - 4.0);
    shapes.push(words(middle, &plot.across.label, &look::UNIT, Anchor::Middle));
    shapes
}

/// Returns the lines of other drives.
fn background(plot: &Plot, cut: &Cut) -> Vec<Shape> {
    let place = |(x, y): &(f64, f64)| (cut.x(plot.across.share(*x)), cut.y(plot.up.share(*y)));
    let lines = plot.background.iter().filter(|line| line.len() > 1);
    lines.map(|points| line(&points.iter().map(place).collect::<Vec<_>>(), &look::PEER)).collect()
}

fn series(
    plot: &Plot,
    band: Option<&Band>,
    line: &Series,
    drives: &ReportDrives,
    cut: &Cut,
) -> Shape {
    let place = |x: f64, y: f64| (cut.x(plot.across.share(x)), cut.y(plot.up.share(y)));
    let path = |points: &[(f64, f64)], look| {
        let stretch = |points: &[(f64, f64)]| points.iter().map(|(x, y)| place(*x, *y)).collect();
        // A value that is not a number separates two stretches.
        let stretches = points.split(|(_, y)| y.is_nan()).filter(|points| !points.is_empty());
        Shape::Line { stretches: stretches.map(stretch).collect(), look }
    };
    let slot = drives.slot(line.drive);
    let has_thin = !line.thin.is_empty() && matches!(cut.room, Room::Wide | Room::File);
    let mut shapes = Vec::new();
    shapes.extend(has_thin.then(|| path(&line.thin, &look::THIN)));
    shapes.extend((line.points.len() > 1).then(|| path(&line.points, &look::LINE)));
    for (x, y, text) in &line.values {
        let at = place(*x, *y);
        let own = line.marked.then(|| mark(slot, at, 4.0));
        // A phone has no pointer, and paper no reader who points: the table has the values.
        match cut.room {
            Room::Wide => {
                shapes.push(Shape::Value { at, words: text.clone(), mark: own.map(Box::new) });
            }
            Room::Middle if line.marked => {
                shapes.push(Shape::Value { at, words: text.clone(), mark: own.map(Box::new) });
            }
            Room::Middle | Room::Narrow | Room::File => shapes.extend(own),
        }
    }
    let is_within = band.is_some_and(|band| !band.names(line.drive));
    Shape::Group { drive: line.drive, slot, is_within, shapes }
}

/// Returns the bands of published numbers.
fn published(plot: &Plot, drives: &ReportDrives, cut: &Cut) -> Vec<Shape> {
    let band = |one: &Published| {
        let x = cut.x(plot.across.share(one.at));
        let ends = [one.low, one.high].map(|value| (x, cut.y(plot.up.share(value))));
        let shapes = vec![line(&ends, &look::RANGE)];
        Shape::Group { drive: one.drive, slot: drives.slot(one.drive), is_within: false, shapes }
    };
    plot.published.iter().map(band).collect()
}

fn ends(plot: &Plot, band: Option<&Band>, drives: &ReportDrives, cut: &Cut) -> Vec<Shape> {
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
    let label = |(((x, y, series), label), name): ((&(f64, f64, &Series), f64), &String)| {
        let (drive, slot) = (series.drive, drives.slot(series.drive));
        let mut shapes = Vec::new();
        if (label - y).abs() > 3.0 || edge - x > 8.0 {
            shapes.push(line(&[(x + 5.0, *y), (edge + 8.0, label)], &look::LEADER));
        }
        shapes.push(mark(slot, (edge + 14.0, label), 4.2));
        let end = fitting_end(name, end(series, cut.room), cut.right - 23.0);
        let mut parts = vec![(name.clone(), &look::END)];
        parts.extend((!end.is_empty()).then(|| (format!(" {end}"), &look::END_VALUE)));
        shapes.push(Shape::Words { at: (edge + 23.0, label + 4.0), anchor: Anchor::Start, parts });
        Shape::Group { drive, slot, is_within: false, shapes }
    };
    ends.iter().zip(places).zip(&names).map(label).collect()
}

/// Returns the names of `drives` that fit next to the plot, each different from the others.
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

/// Returns the words after `name` that fit into `room`: all of them, their first part, or none.
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
