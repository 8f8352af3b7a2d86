//! Long lists of drives: the first and the last rows, and one control that shows all of them on the
//! page.
//!
//! The control is a check box; the style sheet hides the rows between, so that paper and readers
//! without `:has()` lose nothing but the control.

use maud::{Markup, html};
use ssdgauge_analysis::answers::many_drives::MANY;
use ssdgauge_analysis::text::number;

/// More drives than this have tight rows in the answer.
pub(crate) const TIGHT: usize = 8;

/// The rows at the start and at the end that are always shown.
pub(crate) const FIRST: usize = 12;
pub(crate) const LAST: usize = 3;

/// Returns whether a list of so many drives is folded.
pub(crate) fn is_folded(rows: usize) -> bool {
    rows > MANY
}

/// Returns the control of the page, which belongs below the answer; nothing for few drives.
pub(crate) fn control(drives: usize) -> Markup {
    html! {
        @if is_folded(drives) {
            p.more {
                (part(drives))
                label {
                    input #all-rows type="checkbox" autocomplete="off";
                    " Show all rows here and in every figure"
                }
            }
        }
    }
}

/// Returns the words below another list of so many rows.
pub(crate) fn remark(rows: usize) -> Markup {
    html! {
        @if is_folded(rows) {
            p.more.rest { (part(rows)) label for="all-rows" { "Show all" } }
        }
    }
}

/// Returns what a folded list shows, which paper states too.
fn part(rows: usize) -> Markup {
    html! {
        span.part {
            "The first " (FIRST) " and the last " (LAST) " of " (number::count(rows as u64)) ". "
        }
    }
}

/// Returns the rules that hide the rows between.
pub(crate) fn rules() -> String {
    let folded = "body:has(#all-rows:not(:checked))";
    let from = FIRST + 1;
    // Rows on one scale end with their axis.
    let (bars, axis) = (LAST, LAST + 1);
    format!(
        "{folded} .ans.fold-rows tbody tr:nth-child(n+{from}):not(:nth-last-child(-n+{LAST})),\
         {folded} ol.bars.fold-rows li:nth-child(n+{from}):not(:nth-last-child(-n+{bars})),\
         {folded} ol.rows.fold-rows li:nth-child(n+{from}):not(:nth-last-child(-n+{axis})),\
         {folded} g.within{{display:none}}\
         {folded} .ans.fold-rows tbody tr:nth-last-child({LAST})>*,\
         {folded} ol.bars.fold-rows li:nth-last-child({bars}),\
         {folded} ol.rows.fold-rows li:nth-last-child({axis}){{border-top:3px double var(--line2)}}\
         @media screen and (max-width:700px){{\
         {folded} .ans.fold-rows tbody tr:nth-last-child({LAST})>*{{border-top:0}}\
         {folded} .ans.fold-rows tbody tr:nth-last-child({LAST}){{border-top:3px double var(--line2)}}}}\
         body:not(:has(#all-rows:not(:checked))) :is(.more.rest,.part){{display:none}}"
    )
}
