//! Charts: the one kit that draws pages, files, images to share and X-rays.
//!
//! A chart is data (axes, lines, rows) that knows nothing of where it is shown. `lines`, `bars` and `rows` turn it
//! into shapes, `look` says how each of them looks, and `svg` and `raster` write them. Nothing here computes a
//! result.

pub(crate) mod axis;
pub(crate) mod band;
pub(crate) mod bars;
pub(crate) mod card;
pub(crate) mod coordinate;
mod events;
pub(crate) mod file;
pub(crate) mod heat_map;
mod labels;
mod letters;
pub(crate) mod lines;
pub(crate) mod look;
pub(crate) mod mark;
pub(crate) mod palette;
pub(crate) mod panels;
pub(crate) mod plot;
mod png;
pub(crate) mod raster;
pub(crate) mod row;
pub(crate) mod rows;
pub(crate) mod shape;
pub(crate) mod specification;
pub(crate) mod svg;
pub(crate) mod xray;
