//! Rows of a list: a name, and pieces at shares of the width, so that a page draws them in any width.

use crate::chart::look::{self, Look};
use crate::chart::mark::mark;
use crate::chart::shape::{Anchor, Shape, line, words};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::text::fitted::fitted;

/// A piece of a row. Places across are shares of its width, places down are units.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// A line between two places.
    Line { from: (f64, f64), to: (f64, f64), look: &'static Look },
    /// A bar from the start to a share, with its upper edge and its height.
    Bar { to: f64, top: f64, height: f64 },
    /// Shapes around a share, and what they are, for a reader of a page who points at them.
    At { share: f64, title: Option<String>, shapes: Vec<Shape> },
}

/// The radius of the corners of a bar.
pub(crate) const ROUND: f64 = 2.0;

/// The minimum room for names in a file, and the maximum share of its width.
const LEAST_NAMES: f64 = 60.0;
const MOST_NAMES: f64 = 0.45;

/// Returns `names`, cut to about `width` each so that those which differ still do.
pub(crate) fn fitting(names: &[&str], width: f64, look: &Look) -> Vec<String> {
    fitted(names, &|name: &str| look.width_of(name) <= width)
}

/// The place of the names and of the pieces in a file.
pub(crate) struct Columns {
    names: Vec<String>,
    /// Where the pieces begin, and their width.
    pub(crate) left: f64,
    pub(crate) width: f64,
}

impl Columns {
    /// Returns the columns of rows with these names within `width`; `after` is the room that the words after the
    /// last piece need.
    pub(crate) fn new(names: &[&str], width: f64, after: f64) -> Columns {
        const BEFORE: f64 = 22.0;
        let wide = names.iter().map(|name| look::BAR_VALUE.width_of(name));
        let room = wide.fold(LEAST_NAMES, f64::max).min(MOST_NAMES * width);
        let names = fitting(names, room, &look::BAR_VALUE);
        let left = BEFORE + room + 10.0;
        Columns { names, left, width: width - left - after }
    }

    /// Returns the row with this number, whose middle is at `middle` and whose pieces begin at `top`.
    pub(crate) fn row(
        &self,
        number: usize,
        (drive, drives): (usize, &ReportDrives),
        (top, middle): (f64, f64),
        pieces: Vec<Piece>,
    ) -> Shape {
        let slot = drives.slot(drive);
        let is_highlighted = drives.highlighted == Some(drive);
        let look = if is_highlighted { &look::BAR_VALUE } else { &look::ROW_NAME };
        let mut shapes = vec![
            mark(slot, (7.0, middle), 5.0),
            words((22.0, middle + 4.5), &self.names[number], look, Anchor::Start),
        ];
        shapes.extend(pieces.into_iter().flat_map(|piece| self.placed(piece, top)));
        Shape::Group { drive, slot, is_within: false, shapes }
    }

    /// Returns the shapes of `piece` in a row that begins at `top`.
    pub(crate) fn placed(&self, piece: Piece, top: f64) -> Vec<Shape> {
        let x = |share: f64| self.left + self.width * share;
        match piece {
            Piece::Line { from, to, look } => {
                vec![line(&[from, to].map(|(share, y)| (x(share), top + y)), look)]
            }
            Piece::Bar { to, top: own, height } => {
                let place = [self.left, top + own, (self.width * to).max(1.0), height];
                vec![Shape::Rectangle { place, round: ROUND, look: &look::BAR }]
            }
            Piece::At { share, shapes, .. } => {
                shapes.into_iter().map(|shape| shape.moved((x(share), top))).collect()
            }
        }
    }
}
