//! The cut through the drive: link, controller, buffer, channels, units of flash with their fast cache, and spare
//! area, each with its value.
//!
//! It is schematic: where data lies on the flash is not measured.

use super::chart::chart;
use super::fact::{Fact, View};
use super::words;
use crate::chart::look;
use crate::chart::shape::{Anchor, Drawing};
use ssdgauge_xray::Structure;

/// The width of the page, and of a picture.
pub(crate) const WIDE: f64 = 1_112.0;
/// The width of a tablet and of paper.
const MIDDLE: f64 = 760.0;
/// The width of a phone.
const NARROW: f64 = 358.0;
/// The distance of words from the edge of a part.
const PAD: f64 = 14.0;
/// The distance between two facts.
const GAP: f64 = 14.0;
/// The height of the chart next to the units.
const CHART: f64 = 130.0;
/// The rows of blocks of a unit: the fast cache, the other flash, and the spare area.
const ROWS: usize = 12;
/// How many of them are those of the fast cache.
const CACHE_ROWS: usize = 3;
/// What the controller shows.
const CONTROLLER: [Fact; 4] = [
    Fact::Of(Structure::Command),
    Fact::Of(Structure::WriteBuffer),
    Fact::Of(Structure::Throttle),
    Fact::Of(Structure::Resume),
];
/// What is shown with the blocks, with the row that it is about.
const BLOCKS: [(Structure, Option<usize>); 8] = [
    (Structure::Cache, Some(CACHE_ROWS / 2)),
    (Structure::NativeRate, Some(CACHE_ROWS + 1)),
    (Structure::Folding, None),
    (Structure::Overflow, None),
    (Structure::Flush, None),
    (Structure::Spare, Some(ROWS - 1)),
    (Structure::EffectiveSpare, Some(ROWS - 1)),
    (Structure::Separation, None),
];
/// What is shown with the units.
const UNITS: [Fact; 10] = [
    Fact::Of(Structure::Units),
    Fact::Of(Structure::Chunk),
    Fact::Of(Structure::PageRead),
    Fact::Of(Structure::Suspend),
    Fact::Of(Structure::ProgramTime),
    Fact::Of(Structure::ProgramUnit),
    Fact::Of(Structure::MappingUnit),
    Fact::Of(Structure::Volumes),
    Fact::Of(Structure::MapReach),
    Fact::Channels,
];

/// The places of a cut whose parts lie side by side.
struct Places {
    /// Its width.
    width: f64,
    /// The width of the link.
    link: f64,
    /// The left and right end of the units.
    blocks: (f64, f64),
    /// The left end of what is shown with the units.
    right: f64,
}

/// Returns the cut for a page or a picture.
pub(crate) fn wide(view: View<'_>) -> Drawing {
    let places = Places { width: WIDE, link: 176.0, blocks: (216.0, 800.0), right: 836.0 };
    side_by_side(view, &places)
}

/// Returns the cut for a tablet and for paper.
pub(crate) fn middle(view: View<'_>) -> Drawing {
    let places = Places { width: MIDDLE, link: 150.0, blocks: (204.0, 500.0), right: 522.0 };
    side_by_side(view, &places)
}

fn side_by_side(view: View<'_>, places: &Places) -> Drawing {
    const HOST: f64 = 58.0;
    let Places { width: whole, link: link_width, blocks, right } = *places;
    let mut drawing = Drawing::new(whole, 0.0);
    let left = HOST + link_width;
    let parts = row(view, &CONTROLLER, (whole - left - 2.0 * PAD - 3.0 * GAP) / 4.0);
    let link = Fact::Of(Structure::Link).drawing(view, link_width - 2.0 * PAD);
    let top = 22.0;
    let height = (parts.height + 2.0 * PAD).max(link.height + 56.0);
    for (x, width, name) in [(0.0, HOST, "HOST"), (left, whole - left, "CONTROLLER")] {
        drawing.words((x, 12.0), name, &look::PART);
        drawing.rectangle([x, top, width, height], 8.0, &look::PART_AREA);
    }
    drawing.words_at((HOST / 2.0, top + height / 2.0 + 5.0), "PC", &look::REFUSAL, Anchor::Middle);
    for lane in 0..4 {
        let y = top + 16.0 + 7.0 * f64::from(lane);
        drawing.line(&[(HOST + 4.0, y), (left - 4.0, y)], &look::LANE);
    }
    drawing.put(link, (HOST + PAD, top + 48.0));
    drawing.put(parts, (left + PAD, top + PAD));
    let flash = top + height + 58.0;
    let facts = grid(view, &UNITS, whole - right, 2);
    let chart = chart(&[view.card], Structure::Units, (whole - right, CHART));
    let right = facts.height + if chart.is_some() { CHART + 2.0 * GAP } else { 0.0 };
    let bottom = next_to_blocks(&mut drawing, view, blocks, (flash, right));
    let connection = 0.5 * (blocks.0 + blocks.1);
    drawing.line(&[(connection, top + height + 2.0), (connection, flash - 16.0)], &look::LANE);
    drawing.words((0.0, flash - 20.0), "FLASH", &look::PART);
    drawing.put(facts, (right, flash));
    if let Some(chart) = chart {
        drawing.put(chart, (right, bottom - CHART));
    }
    drawing.height = bottom + GAP;
    legend(&mut drawing, view);
    drawing
}

/// Returns what is shown with the blocks: those of the steady state only where they were looked for.
fn blocks(view: View<'_>) -> impl Iterator<Item = (Structure, Option<usize>)> {
    let is_drawn =
        move |one: Structure| !one.needs_steady_state() || words::outcome(view.card, one).is_some();
    BLOCKS.into_iter().filter(move |block| is_drawn(block.0))
}

/// Draws the blocks of the units between `from` and `to` and what is known of them to their left, from `top` on and
/// at least `least` high; returns where they end.
fn next_to_blocks(
    drawing: &mut Drawing,
    view: View<'_>,
    (from, to): (f64, f64),
    (top, least): (f64, f64),
) -> f64 {
    let mut y = top;
    let mut names = Vec::new();
    for (structure, row) in blocks(view) {
        let fact = Fact::Of(structure).drawing(view, from - 42.0);
        names.push((structure, row, y));
        let height = fact.height;
        drawing.put(fact, (0.0, y));
        y += height + GAP;
    }
    let height = (y - GAP - top).max(least);
    drawing.put(units(view, to - from, height), (from, top));
    let row = |row: usize| top + (row as f64 + 0.5) * height / ROWS as f64;
    for (structure, block, y) in names {
        if let Some(block) = block.filter(|_| words::value_of(view.card, structure).is_some()) {
            let begin = look::NAME.width_of(&words::title(structure)) + 8.0;
            let (y, target) = (y + 7.0, (from - 5.0, row(block)));
            drawing.line(&[(begin, y), (from - 26.0, y), target], &look::LEAD);
        }
    }
    top + height
}

/// Returns the units side by side, each a column of blocks; an empty frame where their number is not known.
pub(crate) fn units(view: View<'_>, width: f64, height: f64) -> Drawing {
    const MOST: usize = 32;
    let mut drawing = Drawing::new(width, height);
    let known = words::value_of(view.card, Structure::Units).map(|value| value.value as usize);
    let Some(count) = known.filter(|count| *count > 0) else {
        drawing.rectangle([0.0, 0.0, width, height], 6.0, &look::UNKNOWN);
        let middle = (width / 2.0, height / 2.0);
        drawing.words_at(middle, "units: see right", &look::SMALL, Anchor::Middle);
        return drawing;
    };
    let shown = count.min(if width < 400.0 { MOST / 2 } else { MOST });
    let pitch = (width / shown as f64).min(64.0);
    let (edge, gap) = ((pitch * 0.12).min(4.0), (pitch * 0.2).min(7.0));
    let begin = 0.5 * (width - pitch * shown as f64 + gap);
    let is_found = |structure| words::value_of(view.card, structure).is_some();
    let has_spare = is_found(Structure::Spare) || is_found(Structure::EffectiveSpare);
    let has_cache = is_found(Structure::Cache);
    let block = (height - 2.0 * edge) / ROWS as f64;
    for unit in 0..shown {
        let x = begin + pitch * unit as f64;
        let middle = x + 0.5 * (pitch - gap);
        drawing.line(&[(middle, -16.0), (middle, -3.0)], &look::UNKNOWN);
        drawing.rectangle([x, 0.0, pitch - gap, height], 3.0, &look::PART_AREA);
        for row in 0..ROWS {
            let paint = match row {
                _ if row < CACHE_ROWS && has_cache => &look::CACHE,
                _ if row + 1 == ROWS && has_spare => &look::SPARE,
                _ => &look::FLASH,
            };
            let y = edge + block * row as f64;
            drawing.rectangle([x + edge, y, pitch - gap - 2.0 * edge, block - 2.0], 1.0, paint);
        }
    }
    let last = begin + pitch * (shown as f64 - 1.0) + 0.5 * (pitch - gap);
    drawing.line(&[(begin + 0.5 * (pitch - gap), -16.0), (last, -16.0)], &look::UNKNOWN);
    if shown < count {
        let words = format!("{shown} of {count} units are drawn");
        drawing.words_at((width, -24.0), &words, &look::SMALL, Anchor::End);
    }
    drawing
}

/// Returns `facts` side by side, each `width` wide.
fn row(view: View<'_>, facts: &[Fact], width: f64) -> Drawing {
    grid(view, facts, (width + GAP) * facts.len() as f64 - GAP, facts.len())
}

/// Returns `facts` in so many columns.
fn grid(view: View<'_>, facts: &[Fact], width: f64, columns: usize) -> Drawing {
    let each = (width - GAP * (columns - 1) as f64) / columns as f64;
    let mut drawing = Drawing::new(width, 0.0);
    for facts in facts.chunks(columns) {
        let is_alone = facts.len() == 1 && columns > 1;
        let room = if is_alone { width } else { each };
        let drawn: Vec<Drawing> = facts.iter().map(|fact| fact.drawing(view, room)).collect();
        let height = drawn.iter().map(|one| one.height).fold(0.0, f64::max);
        let top = if drawing.height > 0.0 { drawing.height + GAP } else { 0.0 };
        for (number, one) in drawn.into_iter().enumerate() {
            drawing.put(one, (number as f64 * (each + GAP), top));
        }
        drawing.height = top + height;
    }
    drawing
}

/// Draws what the paints mean below everything else.
fn legend(drawing: &mut Drawing, view: View<'_>) {
    let is_found = |structure| words::value_of(view.card, structure).is_some();
    let has_units = is_found(Structure::Units);
    let keys = [
        (&look::CACHE, "fast cache", is_found(Structure::Cache)),
        (&look::FLASH, "flash", true),
        (
            &look::SPARE,
            "spare area",
            is_found(Structure::Spare) || is_found(Structure::EffectiveSpare),
        ),
    ];
    let mut place = (0.0, drawing.height + 10.0);
    for (paint, name, _) in keys.iter().filter(|key| key.2 && has_units) {
        drawing.rectangle([place.0, place.1, 20.0, 11.0], 1.0, paint);
        drawing.words((place.0 + 27.0, place.1 + 10.0), name, &look::SMALL);
        place.0 += 27.0 + look::SMALL.width_of(name) + 18.0;
    }
    let note = "Schematic: positions on the flash are not measured; the share of each area is \
                not to scale.";
    if place.0 + look::SMALL.width_of(note) > drawing.width {
        place = (0.0, place.1 + if place.0 > 0.0 { 17.0 } else { 0.0 });
    }
    for line in look::SMALL.wrapped(note, drawing.width - place.0, 3) {
        drawing.words((place.0, place.1 + 10.0), &line, &look::SMALL);
        place.1 += 14.0;
    }
    drawing.height = place.1 + 6.0;
}

/// Returns the cut for a phone: the parts from top to bottom.
pub(crate) fn narrow(view: View<'_>) -> Drawing {
    let mut drawing = Drawing::new(NARROW, 0.0);
    let inner = NARROW - 2.0 * PAD;
    let mut y = 0.0;
    for (name, facts) in
        [("HOST LINK", &[Fact::Of(Structure::Link)][..]), ("CONTROLLER", &CONTROLLER[..])]
    {
        let facts = grid(view, facts, inner, facts.len().min(2));
        drawing.words((0.0, y + 12.0), name, &look::PART);
        let place = [0.0, y + 20.0, NARROW, facts.height + 2.0 * PAD];
        drawing.rectangle(place, 8.0, &look::PART_AREA);
        let bottom = y + 20.0 + facts.height + 2.0 * PAD;
        drawing.put(facts, (PAD, y + 20.0 + PAD));
        drawing.line(&[(NARROW / 2.0, bottom + 2.0), (NARROW / 2.0, bottom + 20.0)], &look::LANE);
        y = bottom + 22.0;
    }
    drawing.words((0.0, y + 2.0), "FLASH", &look::PART);
    y += 28.0;
    drawing.put(units(view, NARROW, 170.0), (0.0, y));
    y += 184.0;
    let facts: Vec<Fact> =
        blocks(view).map(|block| Fact::Of(block.0)).chain(UNITS.into_iter().take(6)).collect();
    let all = [facts, vec![Fact::Channels]].concat();
    let facts = grid(view, &all, NARROW, 2);
    drawing.height = y + facts.height + 8.0;
    drawing.put(facts, (0.0, y));
    legend(&mut drawing, view);
    drawing
}
