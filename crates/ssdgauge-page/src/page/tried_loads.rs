//! The table of the loads that a search tried: shares of slow requests, as Aerospike ACT prints them.

use crate::page::kit::stack;
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::groups::group::{Group, Member};
use ssdgauge_analysis::steps::tried_loads::{TriedLoad, tried_loads};
use ssdgauge_analysis::text::case::capital;
use ssdgauge_analysis::text::{number, sanitize};
use ssdgauge_core::{Metric, Nanos};

/// Returns the table of `group`; nothing where its test has no search.
pub(super) fn table(group: &Group<'_>, drives: &ReportDrives) -> Markup {
    let tried = |member: &Member<'_>| tried_loads(member.test);
    let any = group.members.iter().map(tried).find_map(|loads| loads.first().cloned());
    let Some(TriedLoad { requests, above: limits, .. }) = any else { return html! {} };
    let requests = capital(&sanitize::prose(&requests));
    let above = |(latency, _, allowed): &(Nanos, Option<f64>, f64)| {
        format!("{requests} above {} (limit {} %)", latency.about(), number::text(*allowed))
    };
    let mut heads = vec!["Drive".to_owned(), "Load".to_owned()];
    heads.extend(limits.iter().map(above));
    heads.extend(["Duration".to_owned(), "Passed".to_owned()]);
    html! {
        p.cap { b { "Loads tried in full length" } }
        div.scroll tabindex="0" role="group" aria-label="Loads that were tried" {
        table.num.stack style=(stack::names(&heads)) {
            thead { tr {
                @for (place, head) in heads.iter().enumerate() {
                    th.n[(1..heads.len() - 2).contains(&place)] scope="col" { (head) }
                }
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
            td.n { (Metric::LoadMultiple.about(load.load)) }
            @for (_, above, _) in &load.above { td.n { (share(*above)) } }
            td { (load.elapsed.about()) }
            td { (match (load.passed, load.disagrees) {
                (None, _) => "not known".to_owned(),
                (Some(true), _) => "yes".to_owned(),
                (Some(false), true) => "one of two trials".to_owned(),
                (Some(false), false) => match load.failed_slice {
                    Some(slice) => format!("no, from slice {} on", number::text(slice)),
                    None => "no".to_owned(),
                },
            }) }
        }
    }
}
