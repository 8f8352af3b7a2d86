//! The picture of an X-ray: a cut through the drive, and the charts that its values were read from.
//!
//! Everything is made of plain shapes, which the page, SVG and PNG files draw alike. It shows what a card holds,
//! and computes nothing.

pub(crate) mod chart;
pub(crate) mod cut;
pub(crate) mod fact;
pub(crate) mod picture;
pub(crate) mod words;
