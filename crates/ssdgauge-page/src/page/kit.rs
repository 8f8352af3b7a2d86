//! Charts of the page as inline SVG: coloured by the style sheet, with a value at every mark.
//!
//! Whatever belongs to a drive has the classes `d` and `d-NUMBER` and is painted in `var(--c)`, so that
//! the style sheet alone filters and highlights drives. Each chart is drawn for wide windows, for
//! tablets and paper, and for phones, so that its letters are readable everywhere.

pub(super) mod bars;
pub(super) mod drawn;
pub(super) mod fold;
pub(super) mod mark;
pub(super) mod names;
pub(super) mod pieces;
pub(super) mod plot;
pub(super) mod rows;
pub(super) mod stack;
pub(super) mod values;
