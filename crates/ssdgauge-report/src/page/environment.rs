//! The end of the page: the drive and the host of each run.

use crate::analysis::report_drives::ReportDrives;
use crate::model::Run;
use crate::page::findings;
use crate::text::labels;
use crate::text::number;
use crate::text::sanitize;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Returns the section with the drive and host of each run.
pub(super) fn section(runs: &[Run], drives: &ReportDrives) -> Markup {
    html! {
        section.environment aria-labelledby="environment" {
            h2 #environment { "Drives and environment" }
            @for (run, name) in runs.iter().zip(&drives.names) {
                h3 { (name) }
                (findings::run_findings(run))
                (facts(run))
            }
        }
    }
}

fn facts(run: &Run) -> Markup {
    let drive = &run.head.drive;
    let plan = &run.head.plan;
    let unknown = || "unknown".to_owned();
    let device = |text: &Option<String>| text.as_deref().map_or_else(unknown, sanitize::device);
    let rows = [
        ("Target", format!("{} ({})", sanitize::prose(&drive.target), drive.kind.name())),
        ("Model", device(&drive.model)),
        ("Serial", device(&drive.serial)),
        ("Firmware", device(&drive.firmware)),
        (
            "Capacity",
            format!(
                "{} ({} bytes)",
                number::capacity(drive.capacity.0),
                number::count(drive.capacity.0)
            ),
        ),
        (
            "Block sizes",
            format!("{} logical, {} physical", drive.logical_block, drive.physical_block),
        ),
        ("Suite", format!("{} ({})", sanitize::prose(&plan.suite.title), labels::suite(&run.head))),
        ("Seed", plan.seed.to_string()),
        ("Run", sanitize::prose(&run.head.id)),
        ("Started", number::date(run.head.started_unix_ms)),
        ("Program", sanitize::prose(&run.head.program)),
    ];
    html! {
        div.columns {
            div.scroll { table {
                caption { "Drive and run" }
                tbody {
                    @for (key, value) in rows { tr { th scope="row" { (key) } td { (value) } } }
                    (pairs(&drive.details))
                }
            } }
            @if !run.head.environment.is_empty() {
                div.scroll { table {
                    caption { "Host" }
                    tbody { (pairs(&run.head.environment)) }
                } }
            }
        }
    }
}

fn pairs(pairs: &BTreeMap<String, String>) -> Markup {
    html! {
        @for (key, value) in pairs {
            tr {
                th scope="row" { (sanitize::prose(key).replace('_', " ")) }
                td { (sanitize::prose(value)) }
            }
        }
    }
}
