//! The width of the terminal, in columns.

use std::io::IsTerminal;

/// The width without a terminal, and the widest help text.
pub const DEFAULT: usize = 100;

/// The limits of the width. Chosen: the widest table is still readable at 60 columns once its cells are
/// shortened, and a line above 200 columns is hard to follow.
const LIMITS: std::ops::RangeInclusive<usize> = 60..=200;

/// Returns the width of stdout: from `COLUMNS`, from its terminal, otherwise [`DEFAULT`].
pub fn columns() -> usize {
    let of_terminal = || terminal_size::terminal_size_of(std::io::stdout());
    limited(named().or_else(|| of_terminal().map(|(width, _)| usize::from(width.0))))
}

/// Returns the width of messages on stderr: from `COLUMNS` or from its terminal. `None` without both:
/// a message in a log stays one line, so that a search finds its text.
pub fn columns_of_messages() -> Option<usize> {
    let of_terminal = || {
        let err = std::io::stderr();
        err.is_terminal().then(|| {
            terminal_size::terminal_size_of(err).map_or(DEFAULT, |(width, _)| width.0.into())
        })
    };
    named().or_else(of_terminal).map(|width| limited(Some(width)))
}

/// Returns the width that `COLUMNS` states.
fn named() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.trim().parse().ok().filter(|width| *width > 0)
}

fn limited(width: Option<usize>) -> usize {
    width.unwrap_or(DEFAULT).clamp(*LIMITS.start(), *LIMITS.end())
}
