//! Rankings on a page: a list of HTML, so that a hidden drive closes up.

use crate::chart::bars::{Ranking, Row, ratio};
use crate::chart::coordinate::percent;
use crate::page::kit::fold;
use crate::page::kit::mark::{class, name, name_column};
use crate::page::kit::pieces::pieces;
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;

/// More drives than this have no ratios to each other in their rows.
const MAX_RATIOS: usize = 8;

/// Returns the ranking.
pub(crate) fn bars(ranking: &Ranking, drives: &ReportDrives) -> Markup {
    let scale = ranking.scale();
    let names: Vec<&str> = ranking.rows.iter().map(|row| drives.label(row.drive)).collect();
    html! {
        p.cap { (ranking.head()) }
        ol.bars.fold-rows[fold::is_folded(names.len())] style=(name_column(&names)) {
            @for row in &ranking.rows {
                li class=(class(row.drive)) {
                    (name(drives, row.drive))
                    @match &row.value {
                        Ok(_) => {
                            @let (drawn, end) = row.pieces(drives.slot(row.drive), &scale);
                            svg width="100%" height="22" {
                                title { (row.title) }
                                (pieces(&drawn))
                                svg x=(percent(end)) overflow="visible" {
                                    text.bv x=(if scale.is_log() { "11" } else { "8" }) y="15.5" {
                                        (row.words)
                                        @if !row.extra.is_empty() {
                                            tspan.bx dx="7" { (row.extra) }
                                        }
                                        (ratios(&ranking.rows, row))
                                    }
                                }
                            }
                        }
                        Err(reason) => { span.no { "– " (reason) } }
                    }
                }
            }
        }
        (fold::remark(names.len()))
    }
}

/// Returns the value of `row` against each other drive, of which the style sheet shows the highlighted
/// one.
fn ratios(rows: &[Row], row: &Row) -> Markup {
    let Ok(value) = row.value else { return html! {} };
    let others = rows.iter().filter(|other| other.drive != row.drive);
    html! {
        @if rows.len() <= MAX_RATIOS {
            @for other in others {
                @if let Some(ratio) = ratio(value, other.value.as_ref().ok().copied()) {
                    tspan class={ "r r-" (other.drive) } dx="7" { (ratio) }
                }
            }
        }
    }
}
