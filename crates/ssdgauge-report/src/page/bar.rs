//! The bar that stays in view: contents by use, and the drives with filter, highlight and reset.

use crate::analysis::report_drives::ReportDrives;
use crate::analysis::sections::Sections;
use crate::page::kit::mark::icon;
use maud::{Markup, html};

/// More drives than this are not filtered one by one; each can still be highlighted.
const MAX_CHIPS: usize = 14;

/// Names of so many letters are never shortened in the bar.
const SHORT: usize = 11;

/// Returns the bar; a single drive has contents only.
/// `further` are anchor and name of what follows the sections, such as the conclusion of an editor.
pub(super) fn bar(
    sections: &Sections,
    order: &[usize],
    drives: &ReportDrives,
    further: &[(&str, &str)],
) -> Markup {
    html! {
        div.bar.edited[!further.is_empty()] { div.wrap {
            nav aria-label="Contents" {
                a href="#answer" { (if drives.count() > 1 { "Answer" } else { "Results" }) }
                @for section in &sections.uses {
                    a href={ "#" (section.of.anchor()) } { (section.of.name()) }
                }
                @for (anchor, name) in further { a href={ "#" (anchor) } { (name) } }
                a href="#method" { "Method" }
            }
            @if order.len() > 1 { (form(order, drives)) }
        } }
    }
}

fn form(order: &[usize], drives: &ReportDrives) -> Markup {
    html! {
        form aria-label="Drives shown" autocomplete="off" {
            @if order.len() <= MAX_CHIPS {
                div.chips {
                    @for drive in order {
                        label.chip.long[drives.short(*drive).chars().count() > SHORT].{ "d-" (drive) } {
                            input type="checkbox" id={ "s-" (drive) } checked;
                            (icon(drives, *drive))
                            span.tx title=(drives.short(*drive)) { (drives.short(*drive)) }
                        }
                    }
                }
            }
            select #hl aria-label="Highlight one drive" {
                option value="" selected[drives.highlighted.is_none()] { "Highlight" }
                @for drive in order {
                    option value=(drive) selected[drives.highlighted == Some(*drive)] {
                        (drives.short(*drive))
                    }
                }
            }
            input type="reset" value="All";
        }
    }
}
