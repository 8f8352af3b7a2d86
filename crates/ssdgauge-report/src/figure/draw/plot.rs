//! The parts of a line chart, and the area of its plot in the picture.

use crate::figure::chart::{Axis, Line, Mark};
use crate::figure::draw::dimensions::Dimensions;
use crate::figure::draw::scales::Range;

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plot<'a> {
    pub(super) x: &'a Axis,
    pub(super) y: &'a Axis,
    pub(super) right: Option<&'a Axis>,
    pub(super) lines: &'a [Line],
    pub(super) boundaries: &'a [(f64, String)],
    pub(super) marks: &'a [Mark],
    pub(super) dimensions: &'a Dimensions,
}

impl Plot<'_> {
    /// Returns the room beside the plot on the right.
    pub(super) fn beside(&self) -> f64 {
        if self.right.is_some() { self.dimensions.right_axis } else { self.dimensions.right }
    }
}

/// The area of the plot in its picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) x: Range,
    pub(super) y: Range,
    pub(super) right: Option<Range>,
    pub(super) top: f64,
    pub(super) left: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    pub(super) fn x(&self, at: f64) -> f64 {
        self.left + (at - self.x.low) / (self.x.high - self.x.low) * self.width
    }

    pub(super) fn y(&self, at: f64) -> f64 {
        self.bottom() - (at - self.y.low) / (self.y.high - self.y.low) * self.height
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Returns the value on the left axis at the height of `at` on the right one; both start at zero.
    pub(super) fn on_left(&self, at: f64) -> f64 {
        self.right.map_or(at, |right| at / right.high * self.y.high)
    }
}
