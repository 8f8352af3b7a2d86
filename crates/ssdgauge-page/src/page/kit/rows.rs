//! Rows with several marks on a page: a list of HTML, so that a hidden drive closes up.

use crate::chart::coordinate::at;
use crate::chart::rows::{AXIS, ROW, Rows};
use crate::page::kit::fold;
use crate::page::kit::mark::{class, name, name_column};
use crate::page::kit::pieces::pieces;
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;

/// Returns `rows` with their caption.
pub(crate) fn list(rows: &Rows, drives: &ReportDrives) -> Markup {
    let names: Vec<&str> = rows.rows.iter().map(|row| row.label(drives)).collect();
    html! {
        p.cap { (rows.caption) }
        @if let Some(scale) = rows.scale() {
            ol.rows.fold-rows[fold::is_folded(names.len())] style=(name_column(&names)) {
                @for row in &rows.rows {
                    li class=(class(row.drive)) {
                        @match &row.name {
                            Some(name) => { span.nm { span.tx { (name) } } }
                            None => { (name(drives, row.drive)) }
                        }
                        svg width="100%" height=(at(ROW)) {
                            (pieces(&row.pieces(scale, drives.slot(row.drive))))
                        }
                    }
                }
                li aria-hidden="true" {
                    span {}
                    svg width="100%" height=(at(AXIS)) { (pieces(&rows.axis(scale))) }
                }
            }
            (fold::remark(names.len()))
        }
    }
}
