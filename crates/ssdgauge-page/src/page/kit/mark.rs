//! The marks and names of drives on a page.

use crate::chart::mark::mark;
use crate::chart::svg::markup;
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;

/// Returns the classes of everything that belongs to `drive`.
pub(crate) fn class(drive: usize) -> String {
    format!("d d-{drive}")
}

/// Returns the mark of `drive` next to its name.
pub(crate) fn icon(drives: &ReportDrives, drive: usize) -> Markup {
    html! {
        svg.ic.{ "d-" (drive) } width="14" height="14" viewBox="0 0 14 14" aria-hidden="true" {
            (markup(&[mark(drives.slot(drive), (7.0, 7.0), 5.0)]))
        }
    }
}

/// Returns the marks of runs, such as `MODEL`, in front of a caption: a figure that leaves its page keeps
/// them.
pub(crate) fn marks(marks: &[String]) -> Markup {
    html! { @for mark in marks { b.own { (mark) } " · " } }
}

/// Returns the mark and the short name of `drive`.
pub(crate) fn name(drives: &ReportDrives, drive: usize) -> Markup {
    html! {
        span.nm title=(drives.short(drive)) { (icon(drives, drive)) span.tx { (drives.label(drive)) } }
    }
}

/// Returns the width of the column of names in pixels, for lists with names on the left.
pub(crate) fn name_column(names: &[&str]) -> String {
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    // 8.2 px is the mean width of a letter at 13.5 px in the widest of the fonts; the mark takes 22.
    format!("--nm:{:.0}px", (longest as f64 * 8.2 + 24.0).clamp(60.0, 190.0))
}
