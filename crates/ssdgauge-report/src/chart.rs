//! Charts: axes, lines, bands, marks and their words, for the page and for files.

pub(crate) mod axis;
pub(crate) mod band;
pub(crate) mod coordinate;
pub(crate) mod events;
pub(crate) mod labels;
pub(crate) mod mark;
pub(crate) mod palette;
pub(crate) mod plot;
pub(crate) mod shapes;
pub(crate) mod xray;
