//! Specification against measurement: met, not met, or not comparable with the reason.

use crate::page::kit::mark::icon;
use crate::page::kit::stack;
use maud::{Markup, html};
use ssdgauge_analysis::answers::stated::{Judged, judge};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::inputs::specification::Specification;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;

/// Returns the judged claims of each drive that a spec file is about.
pub(super) fn section(
    runs: &[Run],
    drives: &ReportDrives,
    specifications: &[Specification],
) -> Markup {
    html! {
        @if !specifications.is_empty() {
            section.use #specification aria-labelledby="specification-title" {
                h2 #specification-title { "Specification against measurement" }
                @for specification in specifications {
                    @let subjects = specification.subjects(runs, drives);
                    @if subjects.is_empty() {
                        p { "No run is of a drive named " (sanitize::prose(&specification.model)) "." }
                    }
                    @for (drive, of_drive) in subjects {
                        @let judged = judge(specification, &of_drive);
                        @let name = drives.short(drive);
                        h3 { (icon(drives, drive)) " " (name) }
                        (table(&judged, specification))
                    }
                }
            }
        }
    }
}

const HEADS: [&str; 7] =
    ["Claim", "Claimed", "Measured", "Share", "Verdict", "Test, or reason", "Source"];

fn table(judged: &[Judged<'_>], specification: &Specification) -> Markup {
    html! {
        p.small {
            "A claim is met if the whole 95 % interval of the measured value is at least as good, not met if \
             none of it is, and otherwise not decided, within a tolerance of "
            (number::text(specification.tolerance * 100.0).trim_end_matches('0').trim_end_matches('.'))
            " %. The claims are those of the spec file."
        }
        div.scroll tabindex="0" role="group" aria-label="Claims and measurements" {
        table.num.left.stack style=(stack::names(&HEADS)) {
            thead { tr {
                @for (place, head) in HEADS.iter().enumerate() {
                    th.n[(1..4).contains(&place)] scope="col" { (head) }
                }
            } }
            tbody {
                @for row in judged {
                    tr {
                        th scope="row" { (row.claim.conditions()) }
                        td.n { (row.claim.metric.about(row.claim.value)) }
                        td.n {
                            (row.measured.map_or_else(
                                || number::NOTHING.to_owned(),
                                |value| row.claim.metric.about(value),
                            ))
                        }
                        td.n {
                            (row.measured.map_or_else(
                                || number::NOTHING.to_owned(),
                                |value| format!("{:.0}\u{a0}%", 100.0 * value / row.claim.value),
                            ))
                        }
                        td { span.verdict.(row.key()) { (row.words()) } }
                        td.full { (row.reason) }
                        td.full { (sanitize::prose(row.source)) }
                    }
                }
            }
        } }
    }
}
