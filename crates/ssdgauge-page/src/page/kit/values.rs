//! The values of the marks of a chart as a table, for readers who do not point at marks.
//!
//! One stop of the keyboard for each chart: a stop at every mark would be hundreds, and screen readers
//! read tables cell by cell.

use crate::page::kit::mark::{class, icon};
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;

/// The values of one line.
#[derive(Clone, Debug)]
pub(crate) struct ValueRow<'a> {
    /// The number of the drive.
    pub(crate) drive: usize,
    /// The name of the row where it is not that of the drive, such as that of a step.
    pub(crate) name: Option<String>,
    /// The values from left to right, as a reader who points at them sees them.
    pub(crate) values: Vec<&'a str>,
}

/// Returns the folded table of the chart with this `label`.
pub(crate) fn fold(label: &str, rows: &[ValueRow<'_>], drives: &ReportDrives) -> Markup {
    html! {
        @if rows.iter().any(|row| !row.values.is_empty()) {
            details.fold.vals {
                summary { "Values of this chart" }
                div.scroll tabindex="0" role="group" aria-label={ "Values: " (label) } {
                    table.num.left.stack {
                        thead { tr {
                            th scope="col" { "Line" }
                            th scope="col" { "Values from left to right" }
                        } }
                        tbody { @for row in rows { (written(row, drives)) } }
                    }
                }
            }
        }
    }
}

fn written(row: &ValueRow<'_>, drives: &ReportDrives) -> Markup {
    let short = drives.short(row.drive);
    let name = row.name.as_deref().unwrap_or(short);
    // The name is in the head of the row already.
    let own = |value: &&str| {
        let rest = value.strip_prefix(short)?;
        rest.strip_prefix(": ").or_else(|| rest.strip_prefix(", ")).map(str::to_owned)
    };
    let values = row.values.iter().map(|value| own(value).unwrap_or_else(|| (*value).to_owned()));
    html! {
        tr class=(class(row.drive)) {
            th scope="row" { (icon(drives, row.drive)) " " (name) }
            td.full { (values.collect::<Vec<_>>().join(" · ")) }
        }
    }
}
