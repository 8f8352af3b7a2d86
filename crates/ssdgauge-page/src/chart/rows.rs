//! Rows with several marks on one logarithmic scale: percentiles of a drive, or the loads of a search.

use crate::chart::axis::RowScale;
use crate::chart::look;
use crate::chart::mark::mark;
use crate::chart::row::{Columns, Piece};
use crate::chart::shape::{Anchor, Drawing, Shape, words};
use ssdgauge_analysis::drives::report_drives::ReportDrives;

/// Words next to a mark further to the right than this go above it, because a phone has no room for
/// them next to it.
const LATE: f64 = 0.72;

/// The height of a row.
pub(crate) const ROW: f64 = 38.0;

/// The height of the axis below the rows.
pub(crate) const AXIS: f64 = 18.0;

/// Rows on one scale.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// What they show, for the name of their file.
    pub(crate) kind: &'static str,
    /// Quantity, marks and scale, above them.
    pub(crate) caption: String,
    /// The rows.
    pub(crate) rows: Vec<MarkRow>,
    /// How a tick is written.
    pub(crate) words: fn(f64) -> String,
    /// Why each drive has no better result; empty for none.
    pub(crate) reasons: Vec<(usize, String)>,
}

/// One row.
#[derive(Clone, Debug)]
pub(crate) struct MarkRow {
    /// The number of the drive.
    pub(crate) drive: usize,
    /// The name of the row where it is not that of the drive, such as that of a step.
    pub(crate) name: Option<String>,
    /// The marks from left to right.
    pub(crate) marks: Vec<RowMark>,
}

/// One mark.
#[derive(Clone, Debug)]
pub(crate) struct RowMark {
    /// Where.
    pub(crate) at: f64,
    /// What it means.
    pub(crate) kind: RowMarkKind,
    /// All of it, for a reader who points at it.
    pub(crate) title: String,
    /// The words next to it; empty for none.
    pub(crate) words: String,
}

/// The meaning of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowMarkKind {
    /// A value before the result.
    Minor,
    /// The result: large, with its words.
    Result,
    /// A load that failed.
    Failed,
}

impl Rows {
    /// Returns their scale; `None` without a mark.
    pub(crate) fn scale(&self) -> Option<RowScale> {
        RowScale::new(self.rows.iter().flat_map(|row| &row.marks).map(|mark| mark.at))
    }

    /// Returns the pieces of the axis below them.
    pub(crate) fn axis(&self, scale: RowScale) -> Vec<Piece> {
        let tick = |tick: f64| {
            let words = words((0.0, 13.0), &(self.words)(tick), &look::TICK, Anchor::Middle);
            Piece::At { share: scale.share(tick), title: None, shapes: vec![words] }
        };
        scale.ticks().into_iter().map(tick).collect()
    }
}

impl MarkRow {
    /// Returns the name of the row.
    pub(crate) fn label<'a>(&'a self, drives: &'a ReportDrives) -> &'a str {
        self.name.as_deref().unwrap_or_else(|| drives.label(self.drive))
    }

    /// Returns its pieces for a drive of `slot`.
    pub(crate) fn pieces(&self, scale: RowScale, slot: usize) -> Vec<Piece> {
        let passed = self.marks.iter().filter(|mark| mark.kind != RowMarkKind::Failed);
        let ends: Vec<f64> = passed.map(|mark| scale.share(mark.at)).collect();
        // The loads that failed are next to the result, so its words are above it.
        let has_failed = self.marks.iter().any(|mark| mark.kind == RowMarkKind::Failed);
        let grid = |tick: f64| {
            let share = scale.share(tick);
            Piece::Line { from: (share, 0.0), to: (share, ROW), look: &look::GRID }
        };
        let mut pieces: Vec<Piece> = scale.ticks().into_iter().map(grid).collect();
        if let (Some(first), Some(last)) = (ends.first(), ends.last()) {
            pieces.push(Piece::Line {
                from: (*first, 21.0),
                to: (*last, 21.0),
                look: &look::RANGE,
            });
        }
        for one in &self.marks {
            let share = scale.share(one.at);
            let shape = match one.kind {
                RowMarkKind::Minor => mark(slot, (0.0, 21.0), 3.4),
                RowMarkKind::Result => mark(slot, (0.0, 21.0), 6.2),
                RowMarkKind::Failed => cross(),
            };
            pieces.push(Piece::At { share, title: Some(one.title.clone()), shapes: vec![shape] });
            if !one.words.is_empty() {
                let (at, anchor) = match has_failed {
                    true => ((0.0, 10.0), Anchor::Middle),
                    false if share > LATE => ((6.0, 10.0), Anchor::End),
                    false => ((11.0, 26.0), Anchor::Start),
                };
                let value = words(at, &one.words, &look::BAR_VALUE, anchor);
                pieces.push(Piece::At { share, title: None, shapes: vec![value] });
            }
        }
        pieces
    }
}

fn cross() -> Shape {
    let stretches = vec![vec![(-3.5, 17.5), (3.5, 24.5)], vec![(3.5, 17.5), (-3.5, 24.5)]];
    Shape::Line { stretches, look: &look::FAILED }
}

/// Returns `rows` for a file of this width; `None` without a mark.
pub(crate) fn drawn(rows: &Rows, drives: &ReportDrives, width: f64) -> Option<Drawing> {
    let scale = rows.scale()?;
    let names: Vec<&str> = rows.rows.iter().map(|row| row.label(drives)).collect();
    // Next to the last tick, half of its words.
    let columns = Columns::new(&names, width, 40.0);
    let mut drawing = Drawing::new(width, ROW * rows.rows.len() as f64 + AXIS);
    for (number, row) in rows.rows.iter().enumerate() {
        let top = ROW * number as f64;
        let pieces = row.pieces(scale, drives.slot(row.drive));
        drawing.shapes.push(columns.row(number, (row.drive, drives), (top, top + 21.0), pieces));
    }
    let bottom = ROW * rows.rows.len() as f64;
    let ticks = rows.axis(scale).into_iter().flat_map(|piece| columns.placed(piece, bottom));
    drawing.shapes.extend(ticks);
    Some(drawing)
}
