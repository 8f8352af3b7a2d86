//! The image that a link shows: large letters, few rows.

use crate::chart::look::{self, Look};
use crate::chart::row::fitting;
use crate::chart::shape::{Anchor, Drawing, Shape};

/// The size that the places for shared links ask for, in pixels.
const WIDTH: f64 = 1_200.0;
const HEIGHT: f64 = 630.0;

const LEFT: f64 = 56.0;
const LARGEST_ROW: f64 = 120.0;
/// Lines of a headline and of doubts; the second number with a sentence below the headline.
const TITLE_LINES: (usize, usize) = (3, 2);
const LEAD_LINES: usize = 2;
const DOUBT_LINES: (usize, usize) = (2, 1);
/// A line below this leaves too little room for the numbers.
const FULL_BELOW: f64 = 330.0;

/// Numbers with settings side by side.
const COLUMNS: usize = 3;

/// How much wider the estimate of a title is than its letters in the font of an image, with a reserve.
const SLACK: f64 = 1.1;

/// What the image shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Card {
    /// The headline.
    pub(crate) title: String,
    /// What was measured, where the headline is the title of an editor.
    pub(crate) lead: Option<String>,
    /// The marks of the runs, such as `MODEL`.
    pub(crate) marks: Vec<String>,
    /// Why the numbers are in doubt; before them.
    pub(crate) doubt: Option<String>,
    /// Author and price; left out where the numbers need the room.
    pub(crate) by: Option<String>,
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
    let (titles, doubts) = match card.lead {
        Some(_) => (TITLE_LINES.1, DOUBT_LINES.1),
        None => (TITLE_LINES.0, DOUBT_LINES.0),
    };
    for line in look::CARD_TITLE.wrapped(&card.title, SLACK * room, titles) {
        y += 54.0;
        drawing.words((LEFT, y), &line, &look::CARD_TITLE);
    }
    if let Some(lead) = &card.lead {
        y += 10.0;
        for line in look::CARD_LEAD.wrapped(lead, SLACK * room, LEAD_LINES) {
            y += 34.0;
            drawing.words((LEFT, y), &line, &look::CARD_LEAD);
        }
    }
    y += 40.0;
    let caption = with(&card.caption, card.by.as_deref(), room);
    let by = card.by.as_ref().filter(|_| caption == card.caption && y < FULL_BELOW);
    for words in by.into_iter().chain([&caption]).filter(|words| !words.is_empty()) {
        drawing.words((LEFT, y), &look::CARD_WORDS.cut(words, room), &look::CARD_WORDS);
        y += 34.0;
    }
    y -= 34.0;
    let doubt = card.doubt.as_deref();
    let doubt =
        doubt.map(|doubt| whole_parts(doubt, "; ", &look::CARD_DOUBT, (SLACK * room, doubts)));
    for line in doubt.into_iter().flatten() {
        y += 30.0;
        drawing.words((LEFT, y), &line, &look::CARD_DOUBT);
    }
    match card.rows.iter().any(|row| !row.note.is_empty()) {
        true => tiles(&mut drawing, &card.rows, y + 22.0),
        false => rows(&mut drawing, &card.rows, y + 22.0),
    }
    drawing
}

/// Returns the caption with author and price, where both fit.
fn with(caption: &str, by: Option<&str>, room: f64) -> String {
    let both = by.map(|by| [caption, by].join(if caption.is_empty() { "" } else { " · " }));
    let fits = both.filter(|both| look::CARD_WORDS.width_of(both) <= room);
    fits.unwrap_or_else(|| caption.to_owned())
}

/// Returns at most `most` lines of `words` without their last parts where they do not fit: half of a condition would be
/// another one.
fn whole_parts(
    words: &str,
    between: &str,
    look: &Look,
    (width, most): (f64, usize),
) -> Vec<String> {
    let parts: Vec<&str> = words.split(between).collect();
    let shown = (1..=parts.len()).rev().map(|count| parts[..count].join(between));
    let lines = |words: String| look.wrapped(&words, width, usize::MAX);
    let fits = shown.map(lines).find(|lines| lines.len() <= most);
    fits.unwrap_or_else(|| look.wrapped(words, width, most))
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
        let most = (((height - 96.0) / 24.0) as usize).clamp(1, 3);
        let lines = whole_parts(&row.note, ", ", &look::CARD_NOTE, (width - 24.0, most));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_cut_between_its_parts() {
        let note = "drops to 146 MB/s, 128 KiB, QD32, bursts of 30.0 to 30.4 GB after a rest";
        let lines = whole_parts(note, ", ", &look::CARD_NOTE, (240.0, 2)).join(" ");
        assert!(note.starts_with(&lines) && !lines.contains('…'), "{lines}");
        assert!(["MB/s", "KiB", "QD32", "rest"].iter().any(|end| lines.ends_with(end)), "{lines}");
        assert_eq!(whole_parts("QD1", ", ", &look::CARD_NOTE, (240.0, 2)), ["QD1"]);
    }

    #[test]
    fn what_was_measured_stands_below_the_title_of_an_editor_and_doubts_before_the_numbers() {
        let row = |number: usize| Row {
            slot: 0,
            name: format!("number {number}"),
            note: "128 KiB, 8 at once".to_owned(),
            share: None,
            words: format!("{number} MB/s"),
        };
        let sentence = |word: &str| vec![word; 40].join(" ");
        let card = Card {
            title: sentence("Title"),
            lead: Some(sentence("Lead")),
            marks: vec!["MODEL".to_owned()],
            doubt: Some(sentence("Doubt")),
            by: Some("Anna, 100 EUR".to_owned()),
            caption: "drive · suite".to_owned(),
            rows: (1..=6).map(row).collect(),
        };
        let lowest = |words: &str| {
            let drawing = drawn(&card);
            let of = |shape: &Shape| match shape {
                Shape::Words { at, parts, .. } if parts[0].0.contains(words) => Some(at.1),
                _ => None,
            };
            drawing.shapes.iter().filter_map(of).fold(f64::NAN, f64::max)
        };
        let order = ["Title", "Lead", "Anna", "Doubt", "number 1", "6 MB/s"];
        let places = order.map(lowest);
        assert!(places.is_sorted_by(|above, below| above < below), "{places:?}");
        assert!(lowest("128 KiB") < HEIGHT - 8.0, "{}", lowest("128 KiB"));
        // The second row of numbers leaves room for the settings of the first.
        let between = lowest("number 6") - lowest("3 MB/s");
        assert!(between > 56.0, "{between}");
    }

    #[test]
    fn author_and_price_are_added_only_where_both_fit() {
        assert_eq!(with("drive", Some("Anna, 100 EUR"), 900.0), "drive · Anna, 100 EUR");
        assert_eq!(with("", Some("Anna"), 900.0), "Anna");
        assert_eq!(with("drive", Some(&"x".repeat(200)), 900.0), "drive");
    }
}
