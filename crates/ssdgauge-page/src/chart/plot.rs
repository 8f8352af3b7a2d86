//! A chart over two axes as plain data, and the size of its picture.

use crate::chart::axis::{Across, Up};

/// One chart.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    /// What it shows, for the name of its file.
    pub(crate) kind: &'static str,
    /// What is above it on the page where no ranking does; empty for nothing.
    pub(crate) caption: String,
    /// The chart in words, for readers who do not see it.
    pub(crate) label: String,
    /// The horizontal axis.
    pub(crate) across: Across,
    /// The vertical axis.
    pub(crate) up: Up,
    /// The lines.
    pub(crate) lines: Vec<Series>,
    /// The part of the horizontal axis that the score counts.
    pub(crate) scored: Option<(f64, f64, String)>,
    /// Lines from zero that show a ratio of the two axes, each with its slope and its words.
    pub(crate) rays: Vec<(f64, String)>,
    /// Events, such as the end of a cache.
    pub(crate) events: Vec<Event>,
    /// Bands of published numbers.
    pub(crate) published: Vec<Published>,
    /// Lines of other drives, in grey behind the only one of the page.
    pub(crate) background: Vec<Vec<(f64, f64)>>,
}

/// The band in which a measured number agrees with a published one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Published {
    /// The number of the drive.
    pub(crate) drive: usize,
    /// The place on the horizontal axis.
    pub(crate) at: f64,
    /// The lower end of the band.
    pub(crate) low: f64,
    /// The upper end of the band.
    pub(crate) high: f64,
}

/// The line of one drive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    /// The number of the drive.
    pub(crate) drive: usize,
    /// The line; a value that is not a number separates two stretches of it.
    pub(crate) points: Vec<(f64, f64)>,
    /// A second line of every value, drawn behind it, where the first one is smoothed.
    pub(crate) thin: Vec<(f64, f64)>,
    /// Places with a value to read: a mark where the line is `marked`, an invisible circle otherwise.
    pub(crate) values: Vec<(f64, f64, String)>,
    /// Whether values have marks.
    pub(crate) marked: bool,
    /// The words after the name at its end, where there is room.
    pub(crate) end: String,
}

/// A place in the plot where something happened to a drive.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// The drive.
    pub(crate) drive: usize,
    /// Where.
    pub(crate) at: (f64, f64),
    /// What happened, in at most three lines: the first is bold.
    pub(crate) words: Vec<String>,
}

/// The size of a chart, and its margins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) room: Room,
}

/// The room for a chart. Letters keep their size, so each has a cut of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// A window of a desktop.
    Wide,
    /// A tablet, and paper.
    Middle,
    /// A phone.
    Narrow,
    /// A file, which no script and no pointer reaches.
    File,
}

/// The mean width of a letter at 13 px in the widest of the fonts.
pub(crate) const LETTER: f64 = 7.8;

/// Returns at least about how wide `name` is at 13 px and bold, in the widest of the fonts: DejaVu Sans Bold,
/// which Linux without other fonts shows (its advance widths in shares of the size, grouped).
pub(crate) fn width_of(name: &str) -> f64 {
    let share = |letter: char| match letter {
        'i' | 'j' | 'l' | 'I' | 'J' | ' ' | '\'' | '/' | '|' => 0.37,
        'f' | 't' | 'r' | '-' | '.' | ',' | ':' | ';' | '!' | '(' | ')' | '[' | ']' => 0.48,
        'm' | 'w' | 'M' | 'W' | '…' | '%' | '@' => 1.04,
        letter if letter.is_lowercase() || letter.is_ascii_digit() => 0.7,
        letter if letter.is_ascii() => 0.84,
        _ => 1.0,
    };
    13.0 * name.chars().map(share).sum::<f64>()
}

/// The room above a plot.
pub(crate) const TOP: f64 = 26.0;
/// The room below a plot.
const BOTTOM: f64 = 40.0;

impl Cut {
    /// Returns the place of a share of the width.
    pub(crate) fn x(&self, share: f64) -> f64 {
        self.left + (self.width - self.left - self.right) * share
    }

    /// Returns the place of a share of the height.
    pub(crate) fn y(&self, share: f64) -> f64 {
        TOP + (self.height - TOP - BOTTOM) * (1.0 - share)
    }

    /// Returns whether this is the cut of a phone.
    pub(crate) fn is_narrow(&self) -> bool {
        self.room == Room::Narrow
    }

    /// Returns the place of the horizontal axis.
    pub(crate) fn bottom(&self) -> f64 {
        self.height - BOTTOM
    }
}
