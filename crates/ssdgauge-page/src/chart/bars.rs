//! Rankings: one row for each drive, with a bar from zero or a mark on a logarithmic scale.

use crate::chart::axis::RowScale;
use crate::chart::look::{self, BAR_EXTRA, BAR_VALUE};
use crate::chart::mark::mark;
use crate::chart::row::{Columns, Piece};
use crate::chart::shape::{Anchor, Drawing, Shape, words};
use ssdgauge_analysis::drives::report_drives::ReportDrives;

/// A logarithmic scale is used where the maximum value is this many times the minimum.
const WIDE: f64 = 20.0;

/// The width of bars with their words next to a chart, in pixels; in narrower windows what follows a value is left out.
const COLUMN: f64 = 270.0;

/// The minimum share of that width for the longest bar.
const MINIMUM: f64 = 0.25;

/// The height of a row in a file.
const ROW: f64 = 30.0;

/// A ranking.
#[derive(Clone, Debug)]
pub(crate) struct Ranking {
    /// Unit, direction and rule, above it.
    pub(crate) caption: String,
    /// The rows, the best first.
    pub(crate) rows: Vec<Row>,
    /// Whether values that spread widely may have a logarithmic scale: those without a meaning of
    /// twice as long.
    pub(crate) may_be_log: bool,
}

/// One row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The number of the drive.
    pub(crate) drive: usize,
    /// The name of the row where it is not that of the drive, such as that of a claim.
    pub(crate) name: Option<String>,
    /// The value, or the reason why there is none.
    pub(crate) value: Result<f64, String>,
    /// The value in words.
    pub(crate) words: String,
    /// What follows it, such as `95 % at QD128`; empty for nothing.
    pub(crate) extra: String,
    /// The 95 % interval.
    pub(crate) interval: Option<(f64, f64)>,
    /// All of it, for a reader who points at it.
    pub(crate) title: String,
}

/// The scale of a ranking.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankingScale {
    /// The logarithmic scale where there is one.
    log: Option<RowScale>,
    most: f64,
    /// The share of the width that the longest bar has; the rest is for the words of its value.
    room: f64,
}

impl RankingScale {
    /// Returns whether it is logarithmic.
    pub(crate) fn is_log(&self) -> bool {
        self.log.is_some()
    }

    fn share(&self, value: f64) -> f64 {
        match self.log {
            Some(scale) => self.room * scale.share(value),
            None if self.most > 0.0 => self.room * value / self.most,
            None => 0.0,
        }
    }
}

impl Ranking {
    /// Returns its scale.
    pub(crate) fn scale(&self) -> RankingScale {
        let values = || self.rows.iter().filter_map(|row| row.value.as_ref().ok().copied());
        let ends = self.rows.iter().filter_map(|row| {
            Some(row.interval.map_or(0.0, |interval| interval.1).max(*row.value.as_ref().ok()?))
        });
        let most = ends.fold(0.0, f64::max);
        let least = values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        let log = RowScale::new(values()).filter(|_| self.may_be_log && most > WIDE * least);
        let extra = self.rows.iter().filter(|row| !row.extra.is_empty());
        let room = extra.map(|row| 1.0 - row.width() / COLUMN).fold(0.72, f64::min);
        RankingScale { log, most, room: room.max(MINIMUM) }
    }

    /// Returns what is above it.
    pub(crate) fn head(&self) -> String {
        let log = if self.scale().is_log() { "; logarithmic" } else { "" };
        format!("{}{log}", self.caption.trim_end_matches('.'))
    }
}

impl Row {
    /// Returns about how wide its words are, in pixels.
    fn width(&self) -> f64 {
        let letters = |words: &str| words.chars().count() as f64;
        16.0 + 8.4 * letters(&self.words) + 7.0 * letters(&self.extra)
    }

    /// Returns the pieces of a row of 22 units for a drive of `slot`, and the share at which its words begin;
    /// nothing for a row without a value.
    pub(crate) fn pieces(&self, slot: usize, scale: &RankingScale) -> (Vec<Piece>, f64) {
        let Ok(value) = self.value else { return (Vec::new(), 0.0) };
        let mut end = scale.share(value);
        let mut pieces = match scale.is_log() {
            true => vec![
                Piece::Line { from: (0.0, 11.0), to: (end, 11.0), look: &look::STEM },
                Piece::At { share: end, title: None, shapes: vec![mark(slot, (0.0, 11.0), 5.0)] },
            ],
            false => vec![Piece::Bar { to: end, top: 4.0, height: 14.0 }],
        };
        if let Some((low, high)) = self.interval {
            let [low, high] = [low, high].map(|value| scale.share(value));
            pieces.push(Piece::Line { from: (low, 11.0), to: (high, 11.0), look: &look::WHISKER });
            end = end.max(high);
        }
        (pieces, end)
    }
}

/// Returns `ranking` for a file of this width.
pub(crate) fn drawn(ranking: &Ranking, drives: &ReportDrives, width: f64) -> Drawing {
    let scale = ranking.scale();
    let name =
        |row: &'_ Row| row.name.clone().unwrap_or_else(|| drives.short(row.drive).to_owned());
    let names: Vec<String> = ranking.rows.iter().map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns = Columns::new(&names, width, 0.0);
    let mut drawing = Drawing::new(width, ROW * ranking.rows.len() as f64);
    for (number, row) in ranking.rows.iter().enumerate() {
        let top = ROW * number as f64 + 4.0;
        let (mut pieces, end) = row.pieces(drives.slot(row.drive), &scale);
        let mut parts = vec![(row.words.clone(), &BAR_VALUE)];
        parts.extend((!row.extra.is_empty()).then(|| (format!("  {}", row.extra), &BAR_EXTRA)));
        let after = match &row.value {
            Ok(_) => Shape::Words { at: (8.0, 15.5), anchor: Anchor::Start, parts },
            Err(reason) => {
                let reason = BAR_EXTRA.cut(&format!("– {reason}"), columns.width);
                words((0.0, 15.5), &reason, &BAR_EXTRA, Anchor::Start)
            }
        };
        pieces.push(Piece::At { share: end, title: None, shapes: vec![after] });
        drawing.shapes.push(columns.row(number, (row.drive, drives), (top, top + 11.0), pieces));
    }
    drawing
}

/// Returns a value as a multiple or a share of another one: `3.8×`, `62 %`.
pub(crate) fn ratio(value: f64, of: Option<f64>) -> Option<String> {
    let ratio = value / of.filter(|of| *of > 0.0)?;
    Some(match ratio {
        _ if !ratio.is_finite() => return None,
        _ if ratio >= 9.5 => format!("{ratio:.0}×"),
        _ if ratio >= 1.995 => format!("{ratio:.1}×"),
        _ if ratio >= 0.095 => format!("{:.0}\u{a0}%", 100.0 * ratio),
        _ => format!("{:.1}\u{a0}%", 100.0 * ratio),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_leaves_room_for_its_words_next_to_a_chart() {
        let row = |words: &str, extra: &str| Row {
            drive: 0,
            name: None,
            value: Ok(452_548.0),
            words: words.to_owned(),
            extra: extra.to_owned(),
            interval: None,
            title: String::new(),
        };
        let end = |row: Row| {
            let rows = vec![row.clone()];
            let scale = Ranking { caption: String::new(), rows, may_be_log: false }.scale();
            row.pieces(0, &scale).1
        };
        // 13.5 px letters are about 8 px wide, 12.5 px ones about 7 px.
        let words = 8.0 + 7.0 * 8.0 + 14.0 * 7.0;
        assert!(270.0 * end(row("452,548", "95 % at QD512")) + words <= 270.0);
        assert!(end(row("452,548", "")) > 0.7);
        assert!(end(row("452,548", &"x".repeat(80))) > 0.2);
    }

    #[test]
    fn a_ratio_is_a_share_below_twice_and_a_multiple_from_there() {
        for (value, of, expected) in [
            (62.0, 100.0, "62\u{a0}%"),
            (380.0, 100.0, "3.8×"),
            (2_000.0, 100.0, "20×"),
            (1.0, 100.0, "1.0\u{a0}%"),
        ] {
            assert_eq!(ratio(value, Some(of)).as_deref(), Some(expected));
        }
        assert_eq!(ratio(1.0, None), None);
        assert_eq!(ratio(1.0, Some(0.0)), None);
    }
}
