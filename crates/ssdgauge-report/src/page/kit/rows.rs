//! Rows with several marks on one logarithmic scale: percentiles of a drive, or the loads of a search.

use crate::analysis::report_drives::ReportDrives;
use crate::chart::axis::RowScale;
use crate::chart::coordinate::percent;
use crate::chart::mark::{class, mark, name, name_column};
use crate::page::kit::fold;
use maud::{Markup, html};

/// Words beside a mark further to the right than this stand above it, because a phone has no room for
/// them beside it.
const LATE: f64 = 0.72;

/// One row.
#[derive(Clone, Debug)]
pub(crate) struct MarkRow {
    /// The number of the drive.
    pub(crate) drive: usize,
    /// The name of the row where it is not that of the drive, such as that of a step.
    pub(crate) name: Option<String>,
    /// The marks from left to right.
    pub(crate) marks: Vec<RowMark>,
}

/// One mark.
#[derive(Clone, Debug)]
pub(crate) struct RowMark {
    /// Where.
    pub(crate) at: f64,
    /// What it means.
    pub(crate) kind: RowMarkKind,
    /// All of it, for a reader who points at it.
    pub(crate) title: String,
    /// The words beside it; empty for none.
    pub(crate) words: String,
}

/// The meaning of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowMarkKind {
    /// A value before the result.
    Minor,
    /// The result: large, with its words.
    Result,
    /// A load that failed.
    Failed,
}

/// Returns `rows` on one scale, whose ticks `words` writes.
pub(crate) fn rows(rows: &[MarkRow], drives: &ReportDrives, words: fn(f64) -> String) -> Markup {
    let places = || rows.iter().flat_map(|row| &row.marks).map(|mark| mark.at);
    let Some(scale) = RowScale::new(places()) else { return html! {} };
    let names: Vec<&str> = rows
        .iter()
        .map(|row| row.name.as_deref().unwrap_or_else(|| drives.label(row.drive)))
        .collect();
    html! {
        ol.rows.fold-rows[fold::is_folded(names.len())] style=(name_column(&names)) {
            @for row in rows {
                li class=(class(row.drive)) {
                    @match &row.name {
                        Some(name) => { span.nm { span.tx { (name) } } }
                        None => { (name(drives, row.drive)) }
                    }
                    svg width="100%" height="38" { (marks(row, scale, drives)) }
                }
            }
            li aria-hidden="true" {
                span {}
                svg width="100%" height="18" {
                    @for tick in scale.ticks() {
                        svg x=(percent(scale.share(tick))) overflow="visible" {
                            text.tk x="0" y="13" text-anchor="middle" { (words(tick)) }
                        }
                    }
                }
            }
        }
        (fold::remark(names.len()))
    }
}

fn marks(row: &MarkRow, scale: RowScale, drives: &ReportDrives) -> Markup {
    let slot = drives.slot(row.drive);
    let passed = row.marks.iter().filter(|mark| mark.kind != RowMarkKind::Failed);
    let ends: Vec<f64> = passed.map(|mark| scale.share(mark.at)).collect();
    // Beside the result stand the loads that failed, so its words stand above it.
    let has_failed = row.marks.iter().any(|mark| mark.kind == RowMarkKind::Failed);
    html! {
        @for tick in scale.ticks() {
            line.gr x1=(percent(scale.share(tick))) x2=(percent(scale.share(tick))) y1="0" y2="38" {}
        }
        @if let (Some(first), Some(last)) = (ends.first(), ends.last()) {
            line.rn x1=(percent(*first)) x2=(percent(*last)) y1="21" y2="21" {}
        }
        @for one in &row.marks {
            svg x=(percent(scale.share(one.at))) overflow="visible" {
                g.pt {
                    title { (one.title) }
                    @match one.kind {
                        RowMarkKind::Minor => { (mark(slot, (0.0, 21.0), 3.4)) }
                        RowMarkKind::Result => { (mark(slot, (0.0, 21.0), 6.2)) }
                        RowMarkKind::Failed => { path.fl d="M-3.5 17.5l7 7m0-7l-7 7" {} }
                    }
                    circle.hit cx="0" cy="21" r="9" {}
                }
                @if !one.words.is_empty() {
                    @if has_failed {
                        text.bv x="0" y="10" text-anchor="middle" { (one.words) }
                    } @else if scale.share(one.at) > LATE {
                        text.bv x="6" y="10" text-anchor="end" { (one.words) }
                    } @else {
                        text.bv x="11" y="26" { (one.words) }
                    }
                }
            }
        }
    }
}
