//! The bar that stays in view: contents by use, and the drives with filter, highlight and reset.

use crate::chart::plot::width_of;
use crate::page::kit::mark::icon;
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::drives::sections::Sections;
use ssdgauge_analysis::text::fitted::fitted;
use ssdgauge_analysis::text::short_names::without_capacities;

/// More drives than this are not filtered one by one; each can still be highlighted.
const MAX_CHIPS: usize = 14;

/// The room for the names of all drives in the bar, in pixels: what contents, highlight and reset leave.
const ROOM: f64 = 560.0;

/// The minimum and the maximum room for one name. Where the minimum has no room, the names scroll, and
/// each has the maximum.
const NAME: (f64, f64) = (64.0, 150.0);

/// What a mark and the edges of a chip take, in pixels.
const EDGES: f64 = 32.0;

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
    let share = ROOM / order.len() as f64 - EDGES;
    let scrolls = share < NAME.0;
    let room = if scrolls { NAME.1 } else { share.min(NAME.1) };
    let names: Vec<&str> = order.iter().map(|drive| drives.short(*drive)).collect();
    let names = without_capacities(&names);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let names = fitted(&names, &|name: &str| width_of(name) <= room);
    html! {
        form aria-label="Drives shown" autocomplete="off" {
            @if order.len() <= MAX_CHIPS {
                div.chips.scrolls[scrolls] {
                    @for (drive, name) in order.iter().zip(&names) {
                        label.chip.{ "d-" (drive) } {
                            input type="checkbox" id={ "s-" (drive) } checked;
                            (icon(drives, *drive))
                            span.tx title=(drives.short(*drive)) { (name) }
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
