//! Lines of a screen by the meaning of their parts.

use crate::terminal::colour::{Paint, Role};
use crate::terminal::fold;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use textwrap::core::display_width;

/// What the terminal shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) paint: Paint,
    /// Whether it draws block characters.
    pub(super) unicode: bool,
}

/// Returns a line of one meaning.
pub(super) fn line(look: Look, role: Role, text: &str) -> Line<'static> {
    Line::from(span(look, role, text))
}

/// Returns a line with `left` at its left and `right` at its right edge. The left one is cut.
pub(super) fn pair(
    look: Look,
    (left_role, left): (Role, &str),
    (right_role, right): (Role, &str),
    width: usize,
) -> Line<'static> {
    let right = fold::cut(right, width);
    let room = width.saturating_sub(display_width(&right) + 2);
    let left = fold::cut(left, room);
    let gap = width.saturating_sub(display_width(&left) + display_width(&right));
    Line::from(vec![
        span(look, left_role, &left),
        Span::raw(" ".repeat(gap)),
        span(look, right_role, &right),
    ])
}

/// Returns a part of a line.
pub(super) fn span(look: Look, role: Role, text: &str) -> Span<'static> {
    let text = match look.unicode {
        true => text.to_owned(),
        false => plain(text),
    };
    Span::styled(text, style(look.paint, role))
}

fn style(paint: Paint, role: Role) -> Style {
    let plain = Style::new();
    match (paint, role) {
        (Paint::None, _) | (Paint::Weights, Role::Good | Role::Warn | Role::Command) => plain,
        (Paint::Weights | Paint::Colours, Role::Value) | (Paint::Weights, Role::Bad) => {
            plain.add_modifier(Modifier::BOLD)
        }
        (Paint::Weights | Paint::Colours, Role::Second) => plain.add_modifier(Modifier::DIM),
        (Paint::Colours, Role::Good) => plain.fg(Color::Green),
        (Paint::Colours, Role::Warn) => plain.fg(Color::Yellow),
        (Paint::Colours, Role::Bad) => plain.fg(Color::Red).add_modifier(Modifier::BOLD),
        (Paint::Colours, Role::Command) => plain.fg(Color::Cyan),
    }
}

/// Returns `text` in the letters of the locale `C`.
fn plain(text: &str) -> String {
    text.replace('µ', "u").replace('°', " ").replace('…', "~").replace(['–', '·'], "-")
}
