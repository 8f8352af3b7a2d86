//! The picture of an X-ray as SVG and PNG files.

use crate::chart::xray::picture::picture;
use crate::figure::draw::{drawing, svg_of};
use crate::model::ReportError;
use crate::output::figure_files::{marked_png, marked_svg};
use ssdgauge_xray::CheckedCard;

/// Pixels of a PNG for each unit of its SVG.
const DENSITY: f32 = 2.0;

/// Returns the cut through the drive of `card`, with its charts, as a whole SVG file. It has the marks of the
/// card, such as `MODEL`.
pub fn xray_svg(card: &CheckedCard) -> String {
    marked_svg(&svg_of(&picture(card), "x"))
}

/// Returns the same picture as a PNG file, twice as many pixels wide as its SVG has units.
///
/// # Errors
///
/// Returns [`ReportError::Picture`] where the drawing library cannot rasterise the picture.
pub fn xray_png(card: &CheckedCard) -> Result<Vec<u8>, ReportError> {
    kuva::RasterBackend::new()
        .with_scale(DENSITY)
        .render_scene(&drawing::scene(&picture(card)))
        .map(|png| marked_png(&png))
        .map_err(|cause| ReportError::Picture { name: "X-ray".to_owned(), cause })
}
