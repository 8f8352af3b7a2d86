//! How long copies of known sizes take on a drive whose write speed falls.

use crate::chart::coordinate::percent;
use crate::page::kit::mark::marks;
use maud::{Markup, html};
use ssdgauge_analysis::answers::copies::Copies;
use ssdgauge_analysis::findings::run_outcome;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::text::number;

/// The copies, in gigabytes, with their names. Chosen.
const SIZES: [(f64, &str); 3] =
    [(10.0, "A 10 GB film"), (50.0, "A 50 GB game"), (200.0, "A 200 GB backup")];

/// The share of the width that the longest bar takes: its words follow it.
const LONGEST: f64 = 0.5;

/// Returns `heading` and a bar for each copy that fits into the drive of `run`; nothing where none fits.
pub(super) fn bars(copies: &Copies, run: &Run, heading: &Markup) -> Markup {
    let drive = &run.head.drive;
    let capacity = drive.whole_capacity().unwrap_or(drive.capacity).0 as f64;
    let sizes = || SIZES.into_iter().filter(|(gb, _)| gb * 1e9 <= capacity);
    let total = |gb: f64| copies.seconds(gb).0 + copies.seconds(gb).1;
    let most = sizes().map(|(gb, _)| total(gb)).fold(0.0, f64::max);
    html! {
        @if most > 0.0 {
            (heading)
            p.cond { (marks(&run_outcome::marks(run))) "Computed from the recorded speeds before the fall (solid) and after it (faint)" }
            ol.bars.d-0 style="--nm:104px" {
                @for (gb, name) in sizes() {
                    @let (inside, after) = copies.seconds(gb);
                    @let share = |seconds: f64| percent(LONGEST * seconds / most);
                    li {
                        span.nm { (number::spaced(name)) }
                        svg width="100%" height="22" {
                            @if after > 0.0 {
                                title { (number::duration(inside)) " before the fall, " (number::duration(after)) " after it" }
                            }
                            rect.br y="4" height="14" rx="2" width=(share(inside)) {}
                            rect.br.beh x=(share(inside)) y="4" height="14" rx="2" width=(share(after)) {}
                            svg x=(share(inside + after)) overflow="visible" {
                                text.bv x="9" y="15.5" {
                                    (number::duration(inside + after))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
