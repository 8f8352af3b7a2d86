//! The picture of an X-ray as SVG and PNG files.

use crate::chart::file::on_ground;
use crate::chart::palette::Ground;
use crate::chart::xray::picture::picture;
use crate::chart::{raster, svg};
use crate::pictures::figure_files::{DENSITY, PNG_MARK, SVG_MARK};
use ssdgauge_analysis::text::sanitize;
use ssdgauge_xray::CheckedCard;

/// Returns the cross-section of the drive of `card`, with its charts, as a whole SVG file. It has the marks of the
/// card, such as `MODEL`.
pub fn xray_svg(card: &CheckedCard) -> String {
    let title = format!("X-ray of {}", sanitize::prose(&card.card.drive));
    svg::file(&on_ground(picture(card)), Ground::Light, SVG_MARK, (&title, ""))
}

/// Returns the same picture as a PNG file, twice as many pixels wide as its SVG has units.
pub fn xray_png(card: &CheckedCard) -> Vec<u8> {
    raster::png(&on_ground(picture(card)), (Ground::Light, DENSITY), PNG_MARK, "")
}
