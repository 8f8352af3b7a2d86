//! The shapes of marks: one for each slot of drives, so that no drive depends on its colour alone.

use crate::analysis::drive_slots::{SLOTS, colour, number_of_grey};

/// The corners of a mark around its middle, in units of its radius.
pub(crate) type Corners = &'static [(f64, f64)];

/// Returns the corners of the mark of `slot`: circle, square, diamond, triangle down, triangle up and
/// plus; `None` for a circle. The grey drives have the same shapes in turn, hollow.
pub(crate) fn corners(slot: usize) -> Option<Corners> {
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

/// Returns whether the mark of `slot` is hollow: that of the grey drives.
pub(crate) fn is_hollow(slot: usize) -> bool {
    number_of_grey(slot).is_some()
}

/// Returns the dashes of the line of `slot`: those of the grey drives differ.
pub(crate) fn dashes(slot: usize) -> Option<&'static str> {
    const DASHES: [Option<&str>; SLOTS] =
        [None, Some("7 3"), Some("2 3"), Some("9 3 2 3"), Some("4 2"), Some("12 4")];
    DASHES[number_of_grey(slot)? % SLOTS]
}
