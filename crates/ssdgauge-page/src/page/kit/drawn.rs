//! Drawings of X-rays in a page.

use crate::chart::coordinate::at;
use crate::chart::shape::Drawing;
use crate::chart::svg::markup;
use maud::{Markup, html};

/// The room for strokes at the edges.
const EDGE: f64 = 1.0;

/// Returns `drawing` with the classes `class`; `label` is its text for those who do not see it.
pub(crate) fn svg(drawing: &Drawing, class: &str, label: &str) -> Markup {
    let (width, height) = (at(drawing.width + 2.0 * EDGE), at(drawing.height + 2.0 * EDGE));
    let view = format!("{} {} {width} {height}", at(-EDGE), at(-EDGE));
    html! {
        svg class=(class) viewBox=(view) role="img" aria-label=(label) {
            title { (label) }
            (markup(&drawing.shapes))
        }
    }
}
