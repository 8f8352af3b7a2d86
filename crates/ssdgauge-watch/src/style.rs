//! Lines of a screen by the meaning of their parts.

use crate::terminal::colour::{Paint, Role};
use crate::terminal::fold;
use textwrap::core::display_width;

/// What the terminal shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) paint: Paint,
    /// Whether it draws block characters.
    pub(super) unicode: bool,
}

/// A line of the screen.
#[derive(Clone, Debug, Default)]
pub(super) struct Line(Vec<Span>);

/// A part of a line that has one meaning, or none.
#[derive(Clone, Debug)]
pub(super) struct Span {
    role: Option<Role>,
    text: String,
}

impl Line {
    /// Returns a line of these parts.
    pub(super) fn new(spans: impl Into<Vec<Span>>) -> Line {
        Line(spans.into())
    }

    /// Returns the line with its styles.
    pub(super) fn painted(&self, paint: Paint) -> String {
        let part = |span: &Span| match span.role {
            Some(role) if !span.text.is_empty() => paint.text(role, &span.text),
            _ => span.text.clone(),
        };
        self.0.iter().map(part).collect()
    }
}

/// Returns a line of one meaning.
pub(super) fn line(look: Look, role: Role, text: &str) -> Line {
    Line::new([span(look, role, text)])
}

/// Returns a line with `left` at its left and `right` at its right edge. The left one is cut.
pub(super) fn pair(
    look: Look,
    (left_role, left): (Role, &str),
    (right_role, right): (Role, &str),
    width: usize,
) -> Line {
    let right = fold::cut(right, width);
    let room = width.saturating_sub(display_width(&right) + 2);
    let left = fold::cut(left, room);
    let room = width.saturating_sub(display_width(&left) + display_width(&right));
    Line::new([span(look, left_role, &left), gap(room), span(look, right_role, &right)])
}

/// Returns a part of a line.
pub(super) fn span(look: Look, role: Role, text: &str) -> Span {
    let text = match look.unicode {
        true => text.to_owned(),
        false => plain(text),
    };
    Span { role: Some(role), text }
}

/// Returns a part of a line without a meaning.
pub(super) fn gap(width: usize) -> Span {
    Span { role: None, text: " ".repeat(width) }
}

/// Returns `text` in the letters of the locale `C`.
pub fn plain(text: &str) -> String {
    text.replace('µ', "u").replace('°', " ").replace('…', "~").replace(['–', '·'], "-")
}
