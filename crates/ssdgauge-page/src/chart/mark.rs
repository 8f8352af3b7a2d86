//! The marks of drives: a colour and a shape for each slot, so that no drive depends on its colour alone.

use crate::chart::look::{HOLLOW, MARK};
use crate::chart::shape::Shape;
use ssdgauge_analysis::drives::drive_slots::{SLOTS, colour, number_of_grey};

/// Returns the mark of `slot` at a place, with its radius.
pub(crate) fn mark(slot: usize, (x, y): (f64, f64), radius: f64) -> Shape {
    let look = if number_of_grey(slot).is_some() { &HOLLOW } else { &MARK };
    match corners(slot) {
        Some(corners) => {
            let corner = |(dx, dy): &(f64, f64)| (x + dx * radius, y + dy * radius);
            Shape::Area { corners: corners.iter().map(corner).collect(), look }
        }
        None => Shape::Circle { middle: (x, y), radius, look },
    }
}

/// The corners of a mark around its middle, in units of its radius.
type Corners = &'static [(f64, f64)];

/// Returns the corners of the mark of `slot`: circle, square, diamond, triangle down, triangle up and
/// plus; `None` for a circle. The grey drives have the same shapes in turn, hollow.
fn corners(slot: usize) -> Option<Corners> {
    const SQUARE: Corners = &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)];
    const DIAMOND: Corners = &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)];
    const DOWN: Corners = &[(0.0, 1.1), (1.1, -0.85), (-1.1, -0.85)];
    const UP: Corners = &[(0.0, -1.1), (1.1, 0.85), (-1.1, 0.85)];
    const PLUS: Corners = &[
        (-0.4, -1.15),
        (0.4, -1.15),
        (0.4, -0.4),
        (1.15, -0.4),
        (1.15, 0.4),
        (0.4, 0.4),
        (0.4, 1.15),
        (-0.4, 1.15),
        (-0.4, 0.4),
        (-1.15, 0.4),
        (-1.15, -0.4),
        (-0.4, -0.4),
    ];
    let shape = number_of_grey(slot).map_or(colour(slot), |number| number % SLOTS);
    match shape {
        1 => Some(SQUARE),
        2 => Some(DIAMOND),
        3 => Some(DOWN),
        4 => Some(UP),
        5 => Some(PLUS),
        _ => None,
    }
}
