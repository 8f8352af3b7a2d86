//! The mark of a drive in the text of a page.

use crate::figure::draw::PALETTE_LIGHT;
use maud::{Markup, html};

/// Returns the mark of the drive with this number, in its colour, and in the shape that its points
/// have: circle, square, triangle, diamond.
pub(super) fn swatch(number: usize) -> Markup {
    let colours = PALETTE_LIGHT.len();
    let (place, turn) = (number % colours, number / colours % 4);
    html! { span.swatch.{ "s" (place) }.{ "turn" (turn) } {} }
}
