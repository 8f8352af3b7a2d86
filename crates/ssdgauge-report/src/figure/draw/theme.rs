//! The colours of pictures in files.

use crate::chart::palette::PALETTE_LIGHT;

/// The colour of text.
pub(super) const TEXT: &str = "#1d2329";

/// The colour of secondary text.
pub(super) const MUTED: &str = "#5b6670";

/// The colour of grid lines.
pub(super) const GRID: &str = "#e3e7ea";

/// The colour of axes.
pub(super) const AXIS: &str = "#8a949d";

/// The ground.
pub(super) const GROUND: &str = "#ffffff";

/// Returns the colour of the slot or step with this number.
pub(super) fn series(number: usize) -> String {
    PALETTE_LIGHT[number % PALETTE_LIGHT.len()].to_owned()
}
