//! A picture for a file: the cut through the drive with its name and marks, and below it the charts that the
//! values were read from.

use super::chart::chart;
use super::cut;
use super::fact::View;
use super::words;
use crate::chart::look;
use crate::chart::shape::{Anchor, Drawing};
use ssdgauge_analysis::text::{number, sanitize};
use ssdgauge_xray::{CheckedCard, Structure, read_from};

/// The margin of a picture.
const MARGIN: f64 = 28.0;
/// The charts of a row.
const COLUMNS: usize = 4;
/// The distance between two charts.
const GAP: f64 = 18.0;
/// The height of a chart.
const CHART: f64 = 136.0;

/// Returns the picture of `card`.
pub(crate) fn picture(card: &CheckedCard) -> Drawing {
    let mut all = head(card);
    let mut y = all.height;
    let view = View { card, different: &[] };
    for part in [cut::wide(view), charts(card)] {
        let height = part.height;
        all.put(part, (0.0, y));
        y += height + 16.0;
    }
    let origin =
        "ssdgauge xray; docs/reference/xray.md has the method of each value and its limits";
    all.words((0.0, y + 4.0), origin, &look::SMALL);
    let mut drawing = Drawing::new(cut::WIDE + 2.0 * MARGIN, (y + 2.0 * MARGIN).ceil());
    drawing.put(all, (MARGIN, MARGIN));
    drawing
}

/// Returns the name of the drive, the marks of the card and what it cost.
fn head(card: &CheckedCard) -> Drawing {
    let mut drawing = Drawing::new(cut::WIDE, 78.0);
    let mut x = cut::WIDE;
    for mark in marks(card) {
        let width = look::FLAG.width_of(mark) + 18.0;
        x -= width;
        drawing.rectangle([x, 0.0, width, 24.0], 4.0, &look::FLAG_AREA);
        let middle = (x + 0.5 * width, 16.5);
        drawing.words_at(middle, mark, &look::FLAG, Anchor::Middle);
        x -= 8.0;
    }
    let name = format!("X-ray of {}", sanitize::prose(&card.card.drive));
    drawing.words((0.0, 20.0), &look::TITLE.cut(&name, x - 8.0), &look::TITLE);
    drawing.words((0.0, 44.0), &summary(card), &look::NAME);
    drawing
}

/// Returns the marks of `card`, without which its values must not be quoted.
pub(crate) fn marks(card: &CheckedCard) -> Vec<&'static str> {
    let marks = [(card.card.is_model, "MODEL"), (!card.card.is_complete, "UNFINISHED")];
    marks.into_iter().filter(|mark| mark.0).map(|mark| mark.1).collect()
}

/// Returns how much was identified, and what it cost.
pub(crate) fn summary(card: &CheckedCard) -> String {
    let found = card.answers.iter().filter(|answer| answer.outcome.is_ok()).count();
    let of = card.answers.len();
    let bytes = number::capacity;
    let card = &card.card;
    format!(
        "{}; {found} of {of} structures identified; {} written, {} read",
        number::plain_capacity(card.capacity_bytes),
        bytes(card.written_bytes),
        bytes(card.read_bytes)
    )
}

/// Returns the headline: units, fast cache and spare area, as far as they are identified.
pub(crate) fn headline(card: &CheckedCard) -> String {
    let words = |structure| {
        let value = words::value_of(card, structure)?;
        Some(words::value(structure, &value))
    };
    let parts: Vec<String> = [
        words(Structure::Units).map(|units| format!("{units} parallel units")),
        words(Structure::Cache).map(|bytes| format!("a fast cache of {bytes}")),
        words(Structure::NativeRate).map(|rate| format!("{rate} after it")),
        words(Structure::Spare).map(|bytes| format!("{bytes} of spare area")),
    ]
    .into_iter()
    .flatten()
    .collect();
    match parts.as_slice() {
        [] => "No structure of the flash is identified".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns the charts of the structures that have a series, each once.
fn charts(card: &CheckedCard) -> Drawing {
    let mut drawing = Drawing::new(cut::WIDE, 0.0);
    let width = (cut::WIDE - GAP * (COLUMNS - 1) as f64) / COLUMNS as f64;
    // The cut has the chart of the units.
    let own = Structure::ALL
        .into_iter()
        .filter(|one| read_from(*one) == *one && *one != Structure::Units);
    let drawn: Vec<(Structure, Drawing)> =
        own.filter_map(|one| Some((one, chart(&[card], one, (width, CHART))?))).collect();
    if drawn.is_empty() {
        return drawing;
    }
    drawing.line(&[(0.0, 4.0), (cut::WIDE, 4.0)], &look::GRID);
    drawing.words((0.0, 26.0), "READ FROM", &look::PART);
    let mut bottom = 0.0;
    for (number, (structure, chart)) in drawn.into_iter().enumerate() {
        let x = (number % COLUMNS) as f64 * (width + GAP);
        let y = 38.0 + (number / COLUMNS) as f64 * (CHART + 34.0);
        drawing.words((x, y + 12.0), &words::title(structure), &look::REFUSAL);
        drawing.put(chart, (x, y + 18.0));
        bottom = y + 18.0 + CHART;
    }
    drawing.height = bottom;
    drawing
}
