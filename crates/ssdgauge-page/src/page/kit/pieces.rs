//! The pieces of a row on a page, at shares of whatever width it has.

use crate::chart::coordinate::{at, percent};
use crate::chart::row::{Piece, ROUND};
use crate::chart::svg::markup;
use maud::{Markup, html};

/// Returns `pieces` for an element of SVG over the whole width.
pub(crate) fn pieces(pieces: &[Piece]) -> Markup {
    html! {
        @for piece in pieces {
            @match piece {
                Piece::Line { from, to, look } => {
                    line class=(look.class) x1=(percent(from.0)) x2=(percent(to.0))
                        y1=(at(from.1)) y2=(at(to.1)) {}
                }
                Piece::Bar { to, top, height } => {
                    rect.br x="0" y=(at(*top)) height=(at(*height)) rx=(at(ROUND)) width=(percent(*to)) {}
                }
                Piece::At { share, title, shapes } => {
                    svg x=(percent(*share)) overflow="visible" {
                        @match title {
                            Some(title) => {
                                g.pt {
                                    title { (title) }
                                    (markup(shapes))
                                    circle.hit cx="0" cy="21" r="9" {}
                                }
                            }
                            None => (markup(shapes)),
                        }
                    }
                }
            }
        }
    }
}
