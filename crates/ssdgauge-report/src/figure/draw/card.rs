//! The image that a link shows: large letters, few rows.

use super::label::{cut, cut_names, text, width_of};
use super::theme;
use super::wrapped;
use kuva::render::color::Color;
use kuva::render::render::{Primitive, Scene, TextAnchor};

/// The size that the places for shared links ask for, in pixels.
const WIDTH: f64 = 1_200.0;
const HEIGHT: f64 = 630.0;

const LEFT: f64 = 56.0;
const LARGEST_ROW: f64 = 120.0;
const TITLE: u32 = 46;
const WORDS: u32 = 32;

/// The letters of a line of the title, and its lines.
const TITLE_LETTERS: usize = 42;
const TITLE_LINES: usize = 3;

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
    /// The length of its bar as a share of the longest; `None` without a bar.
    pub(crate) share: Option<f64>,
    /// Its value with unit.
    pub(crate) words: String,
}

/// Returns the image.
pub(crate) fn scene(card: &Card) -> Scene {
    let mut scene = Scene::new(WIDTH, HEIGHT);
    scene.background_color = Some(theme::GROUND.to_owned());
    scene.text_color = Some(theme::TEXT.to_owned());
    let ink = || theme::TEXT.to_owned();
    let mut y = 62.0;
    let mut x = LEFT;
    for mark in &card.marks {
        let wide = width_of_mark(mark) + 28.0;
        scene.add(rect((x, y - 32.0), (wide, 44.0), &ink()));
        let paper = theme::GROUND.to_owned();
        bold(&mut scene, (x + 14.0, y), mark, 28, &paper);
        x += wide + 14.0;
    }
    let end = text(WIDTH - LEFT, y, "ssdgauge", 28, TextAnchor::End, theme::MUTED.to_owned());
    scene.add(end.plain());
    let mut lines = wrapped(&card.title, TITLE_LETTERS);
    if lines.len() > TITLE_LINES {
        lines.truncate(TITLE_LINES);
        lines[TITLE_LINES - 1].push('…');
    }
    y += 24.0;
    for line in &lines {
        y += 54.0;
        bold(&mut scene, (LEFT, y), line, TITLE, &ink());
    }
    y += 48.0;
    let caption = cut(&card.caption, WIDTH - 2.0 * LEFT, 28);
    scene.add(text(LEFT, y, &caption, 28, TextAnchor::Start, theme::MUTED.to_owned()).plain());
    rows(&mut scene, &card.rows, y + 22.0);
    scene
}

/// Returns the width of a mark in bold letters. Most are capitals, which are wider than the mean letter.
fn width_of_mark(mark: &str) -> f64 {
    let of = |letter: char| match letter {
        ' ' => 0.32,
        letter if letter.is_uppercase() => 0.72,
        _ => 0.6,
    };
    mark.chars().map(of).sum::<f64>() * 28.0
}

fn rows(scene: &mut Scene, rows: &[Row], top: f64) {
    let widest = |words: fn(&Row) -> &str, most: f64| {
        rows.iter().map(|row| width_of(words(row), WORDS)).fold(0.0, f64::max).min(most)
    };
    let has_bars = rows.iter().any(|row| row.share.is_some());
    let names = widest(|row| &row.name, if has_bars { 460.0 } else { 720.0 });
    let values = widest(|row| &row.words, 320.0);
    let room = (WIDTH - 2.0 * LEFT - names - values - 40.0).max(120.0);
    // Few rows take the room of many.
    let step = LARGEST_ROW.min((HEIGHT - 24.0 - top) / rows.len().max(1) as f64);
    let bar = step * 0.56;
    let ink = || theme::TEXT.to_owned();
    let whole: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let fitted = cut_names(&whole, names + 8.0, WORDS);
    for (number, (row, name)) in rows.iter().zip(&fitted).enumerate() {
        let y = top + step * (number as f64 + 0.5);
        scene.add(text(LEFT, y + 11.0, name, WORDS, TextAnchor::Start, ink()).plain());
        let from = LEFT + names + 20.0;
        let length = row.share.map_or(0.0, |share| (room * share).max(3.0));
        if row.share.is_some() {
            let colour = theme::series(row.slot);
            scene.add(rect((from, y - bar / 2.0), (length, bar), &colour));
        }
        let at = from + length + if has_bars { 14.0 } else { 0.0 };
        bold(scene, (at, y + 11.0), &row.words, WORDS, &ink());
    }
}

/// Adds `words` in bold. The font of the pictures has one weight, so the letters are drawn three times,
/// each a fortieth of their size further to the right.
fn bold(scene: &mut Scene, (x, y): (f64, f64), words: &str, size: u32, colour: &str) {
    for pass in 0..3 {
        let x = x + f64::from(pass) * f64::from(size) / 40.0;
        scene.add(text(x, y, words, size, TextAnchor::Start, colour.to_owned()).plain());
    }
}

fn rect((x, y): (f64, f64), (width, height): (f64, f64), colour: &str) -> Primitive {
    Primitive::Rect {
        x,
        y,
        width,
        height,
        fill: Color::from(colour.to_owned()),
        stroke: None,
        stroke_width: None,
        opacity: None,
    }
}
