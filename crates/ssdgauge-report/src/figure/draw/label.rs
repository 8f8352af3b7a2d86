//! Text in a picture, and about how wide it is.

use crate::text::fitted::fitted;
use crate::text::sanitize;
use kuva::render::color::Color;
use kuva::render::render::{Primitive, TextAnchor};

/// The mean width of a letter of DejaVu Sans, as a share of its size, on the wide side.
const LETTER: f64 = 0.58;

/// A piece of text before it is decided whether it is bold.
pub(super) struct Text(Primitive);

impl Text {
    pub(super) fn plain(self) -> Primitive {
        self.0
    }

    /// Returns the text reading upwards.
    pub(super) fn turned(self) -> Primitive {
        match self.0 {
            Primitive::Text { x, y, content, size, anchor, bold, color, .. } => {
                Primitive::Text { x, y, content, size, anchor, rotate: Some(-90.0), bold, color }
            }
            other => other,
        }
    }

    pub(super) fn bold(self) -> Primitive {
        match self.0 {
            Primitive::Text { x, y, content, size, anchor, rotate, color, .. } => {
                Primitive::Text { x, y, content, size, anchor, rotate, bold: true, color }
            }
            other => other,
        }
    }
}

pub(super) fn text(
    x: f64,
    y: f64,
    words: &str,
    size: u32,
    anchor: TextAnchor,
    colour: String,
) -> Text {
    Text(Primitive::Text {
        x,
        y,
        content: sanitize::chart(words),
        size,
        anchor,
        rotate: None,
        bold: false,
        color: Some(Color::from(colour)),
    })
}

/// Returns about how wide `words` are.
pub(super) fn width_of(words: &str, size: u32) -> f64 {
    words.chars().count() as f64 * f64::from(size) * LETTER
}

/// Returns `words`, cut to about `width`.
pub(super) fn cut(words: &str, width: f64, size: u32) -> String {
    let room = (width / (f64::from(size) * LETTER)).max(4.0) as usize;
    match words.chars().count() > room {
        true => words.chars().take(room - 1).chain(['…']).collect(),
        false => words.to_owned(),
    }
}

/// Returns `names`, cut to about `width` each so that those which differ still do.
pub(super) fn cut_names(names: &[&str], width: f64, size: u32) -> Vec<String> {
    let room = (width / (f64::from(size) * LETTER)).max(4.0) as usize;
    fitted(names, &|name: &str| name.chars().count() <= room)
}
