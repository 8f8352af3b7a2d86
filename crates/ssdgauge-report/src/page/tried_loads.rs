//! The table of the loads that a search tried: shares of slow reads, as Aerospike ACT prints them.

use crate::analysis::group::{Group, Member};
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::tried_loads::{TriedLoad, tried_loads};
use crate::text::number;
use maud::{Markup, html};

/// Returns the table of `group`; nothing where its test has no search.
pub(super) fn table(group: &Group<'_>, drives: &ReportDrives) -> Markup {
    let tried = |member: &Member<'_>| tried_loads(member.test);
    let limits =
        group.members.iter().map(tried).find_map(|loads| Some(loads.first()?.above.clone()));
    let Some(limits) = limits else { return html! {} };
    html! {
        p.cap { b { "Loads tried in full length" } }
        div.scroll tabindex="0" role="group" aria-label="Loads that were tried" { table.num {
            thead { tr {
                th scope="col" { "Drive" }
                th.n scope="col" { "Load" }
                @for (latency, _, allowed) in &limits {
                    th.n scope="col" {
                        "Reads above " (latency.about())
                        " (limit " (number::text(*allowed)) " %)"
                    }
                }
                th scope="col" { "Duration" }
                th scope="col" { "Passed" }
            } }
            tbody {
                @for member in &group.members {
                    @for load in tried(member) { (row(drives.short(drives.drive_of(member.index)), &load)) }
                }
            }
        } }
        p.small {
            "Each share is that of the worst slice. A load ends early when it can no longer pass."
        }
    }
}

fn row(drive: &str, load: &TriedLoad) -> Markup {
    let share = |share: Option<f64>| match share {
        Some(share) => format!("{} %", number::text(share)),
        None => number::NOTHING.to_owned(),
    };
    html! {
        tr {
            th scope="row" { (drive) }
            td.n { (number::text(load.load)) "x" }
            @for (_, above, _) in &load.above { td.n { (share(*above)) } }
            td { (load.elapsed.about()) }
            td { (if load.passed { "yes" } else { "no" }) }
        }
    }
}
