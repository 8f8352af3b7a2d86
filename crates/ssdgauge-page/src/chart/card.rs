//! The image that a link shows: large letters, few rows.

use crate::chart::look;
use crate::chart::row::fitting;
use crate::chart::shape::{Anchor, Drawing, Shape};

/// The size that the places for shared links ask for, in pixels.
const WIDTH: f64 = 1_200.0;
const HEIGHT: f64 = 630.0;

const LEFT: f64 = 56.0;
const LARGEST_ROW: f64 = 120.0;
const TITLE_LINES: usize = 3;

/// Numbers with settings side by side.
const COLUMNS: usize = 3;

/// How much wider the estimate of a title is than its letters in the font of an image, with a reserve.
const SLACK: f64 = 1.1;

/// What the image shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Card {
    /// The headline.
    pub(crate) title: String,
    /// The marks of the runs, such as `MODEL`.
    pub(crate) marks: Vec<String>,
    /// What the rows show, with its unit; empty for none.
    pub(crate) caption: String,
    /// The rows, the best first.
    pub(crate) rows: Vec<Row>,
}

/// One drive or test.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// The slot of its colour.
    pub(crate) slot: usize,
    /// Its name.
    pub(crate) name: String,
    /// Its setting, in small letters below the value; empty for none.
    pub(crate) note: String,
    /// The length of its bar as a share of the longest; `None` without a bar.
    pub(crate) share: Option<f64>,
    /// Its value with unit.
    pub(crate) words: String,
}

/// Returns the image.
pub(crate) fn drawn(card: &Card) -> Drawing {
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    let room = WIDTH - 2.0 * LEFT;
    let mut y = 62.0;
    let mut x = LEFT;
    for mark in &card.marks {
        let wide = look::CARD_FLAG.width_of(mark) + 28.0;
        drawing.area([x, y - 32.0, wide, 44.0], &look::FLAG_AREA);
        drawing.words_at((x + wide / 2.0, y), mark, &look::CARD_FLAG, Anchor::Middle);
        x += wide + 14.0;
    }
    drawing.words_at((WIDTH - LEFT, y), "ssdgauge", &look::CARD_WORDS, Anchor::End);
    y += 24.0;
    for line in look::CARD_TITLE.wrapped(&card.title, SLACK * room, TITLE_LINES) {
        y += 54.0;
        drawing.words((LEFT, y), &line, &look::CARD_TITLE);
    }
    y += 48.0;
    drawing.words((LEFT, y), &look::CARD_WORDS.cut(&card.caption, room), &look::CARD_WORDS);
    match card.rows.iter().any(|row| !row.note.is_empty()) {
        true => tiles(&mut drawing, &card.rows, y + 22.0),
        false => rows(&mut drawing, &card.rows, y + 22.0),
    }
    drawing
}

/// Draws numbers with their settings side by side: a row has no room for both.
fn tiles(drawing: &mut Drawing, rows: &[Row], top: f64) {
    let width = (WIDTH - 2.0 * LEFT) / COLUMNS as f64;
    let height = (HEIGHT - 24.0 - top) / rows.len().div_ceil(COLUMNS).max(1) as f64;
    for (number, row) in rows.iter().enumerate() {
        let x = LEFT + width * (number % COLUMNS) as f64;
        let y = top + height * (number / COLUMNS) as f64;
        let name = look::CARD_TILE.cut(&row.name, SLACK * (width - 10.0));
        drawing.words((x, y + 36.0), &name, &look::CARD_TILE);
        drawing.words((x, y + 76.0), &row.words, &look::CARD_VALUE);
        let lines = look::CARD_NOTE.wrapped(&row.note, width - 24.0, 2);
        for (line, words) in lines.iter().enumerate() {
            drawing.words((x, y + 104.0 + 24.0 * line as f64), words, &look::CARD_NOTE);
        }
    }
}

fn rows(drawing: &mut Drawing, rows: &[Row], top: f64) {
    let has_bars = rows.iter().any(|row| row.share.is_some());
    let most = if has_bars { 460.0 } else { 720.0 };
    let names = rows.iter().map(|row| look::CARD_NAME.width_of(&row.name)).fold(0.0, f64::max);
    let names = names.min(most);
    let values = rows.iter().map(|row| look::CARD_VALUE.width_of(&row.words));
    let values = values.fold(0.0, f64::max).min(320.0);
    let room = (WIDTH - 2.0 * LEFT - names - values - 40.0).max(120.0);
    // Few rows take the room of many.
    let step = LARGEST_ROW.min((HEIGHT - 24.0 - top) / rows.len().max(1) as f64);
    let bar = step * 0.56;
    let whole: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let fitted = fitting(&whole, names + 8.0, &look::CARD_NAME);
    for (number, (row, name)) in rows.iter().zip(&fitted).enumerate() {
        let y = top + step * (number as f64 + 0.5);
        drawing.words((LEFT, y + 11.0), name, &look::CARD_NAME);
        let from = LEFT + names + 20.0;
        let length = row.share.map_or(0.0, |share| (room * share).max(3.0));
        if row.share.is_some() {
            let place = [from, y - bar / 2.0, length, bar];
            let bar = Shape::Rectangle { place, round: 0.0, look: &look::BAR };
            drawing.painted(row.slot, vec![bar]);
        }
        let at = from + length + if has_bars { 14.0 } else { 0.0 };
        drawing.words((at, y + 11.0), &row.words, &look::CARD_VALUE);
    }
}
