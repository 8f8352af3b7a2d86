//! The drive and the host of each run.

use crate::page::findings;
use crate::page::kit::mark::icon;
use crate::page::kit::stack;
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::text::labels;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::{Bytes, Detail};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the drives and runs, and the hosts: what is equal in all runs once, then the differences.
pub(super) fn tables(runs: &[Run], drives: &ReportDrives) -> Markup {
    html! {
        details.fold open[runs.len() == 1] {
            summary { "Drives and runs" }
            @for drive in 0..drives.count() {
                @for run in drives.runs_of(drive).map(|run| &runs[run]) {
                    @if drives.count() > 1 { p.cap { (icon(drives, drive)) " " b { (drives.name(drive)) } } }
                    (findings::run_findings(run))
                    div.scroll tabindex="0" role="group" aria-label="Facts of drive and machine" { table.num.left { tbody { (facts(run)) } } }
                }
            }
        }
        @if runs.iter().any(|run| !run.head.environment.is_empty()) {
            details.fold {
                summary { "Machine, once for all runs" }
                (machine(runs, drives))
            }
        }
    }
}

/// Returns what is equal in the environments of all runs, and a table of what differs.
fn machine(runs: &[Run], drives: &ReportDrives) -> Markup {
    let mut keys: BTreeSet<&String> =
        runs.iter().flat_map(|run| run.head.environment.keys()).collect();
    // The label is not a property of the machine, and is shown with the name of the drive.
    keys.retain(|key| *key != labels::LABEL);
    let value = |run: &Run, key: &String| run.head.environment.get(key).cloned();
    let is_common = |key: &&&String| runs.iter().all(|run| value(run, key) == value(&runs[0], key));
    let (common, differing): (Vec<&String>, Vec<&String>) =
        keys.iter().copied().partition(|key| is_common(&key));
    let words = |key: &String| sanitize::prose(key).replace('_', " ");
    let shown = |run: &Run, key: &String| {
        value(run, key).map_or_else(|| number::NOTHING.to_owned(), |text| sanitize::prose(&text))
    };
    html! {
        div.scroll tabindex="0" role="group" aria-label="Facts of drive and machine" { table.num.left { tbody {
            @for key in &common {
                tr { th scope="row" { (words(key)) } td { (shown(&runs[0], key)) } }
            }
        } } }
        @if differing.is_empty() {
            p.small { "Differences between runs: none." }
        } @else {
            p.cap { b { "Differences between runs" } }
            div.scroll tabindex="0" role="group" aria-label="Facts of drive and machine" {
            @let heads: Vec<String> =
                ["Run".to_owned()].into_iter().chain(differing.iter().map(|key| words(key))).collect();
            table.num.left.stack style=(stack::names(&heads)) {
                thead { tr { @for head in &heads { th scope="col" { (head) } } } }
                tbody {
                    @for (index, run) in runs.iter().enumerate() {
                        tr {
                            th scope="row" { (drives.short(drives.drive_of(index))) }
                            @for key in &differing { td { (shown(run, key)) } }
                        }
                    }
                }
            } }
        }
    }
}

/// What a page says about the completions of a run with `--polled`.
const POLLED: &str = "polled (IOPOLL) in measured loads: a latency contains no interrupt, and a processor is busy \
                      while requests are in flight";

/// The same about the requests of a run with `--pass-through`.
const PASSED_THROUGH: &str = "NVMe commands (io_uring pass-through) in measured loads: a latency contains no block \
                              layer, and a request is not divided, merged, retried or counted by the kernel";

fn facts(run: &Run) -> Markup {
    let drive = &run.head.drive;
    let plan = &run.head.plan;
    let unknown = || "unknown".to_owned();
    let in_bytes =
        |size: Bytes| format!("{} ({} bytes)", number::capacity(size.0), number::count(size.0));
    let device = |text: &Option<String>| text.as_deref().map_or_else(unknown, sanitize::device);
    let rows = [
        ("Target", format!("{} ({})", sanitize::prose(&drive.target), drive.kind.name())),
        ("Model", device(&drive.model)),
        ("Serial", device(&drive.serial)),
        ("Firmware", device(&drive.firmware)),
        (labels::size_name(drive), drive.known_capacity().map_or_else(unknown, in_bytes)),
        ("Capacity of the drive", drive.whole_capacity().map_or_else(unknown, in_bytes)),
        (
            "Block sizes",
            format!(
                "{} logical, {} physical",
                number::block(drive.logical_block),
                number::block(drive.physical_block)
            ),
        ),
        ("Suite", format!("{} ({})", sanitize::prose(&plan.suite.title), labels::suite(&run.head))),
        ("Seed", plan.seed.to_string()),
        ("Label", labels::label(&run.head).unwrap_or_else(|| number::NOTHING.to_owned())),
        ("Run", sanitize::prose(&run.head.id)),
        ("Started", number::date(run.head.started_unix_ms)),
        ("Program", sanitize::prose(&run.head.program)),
    ];
    html! {
        @let polled = plan.polled.then(|| ("Completions", POLLED.to_owned()));
        @let passed = plan.pass_through.then(|| ("Requests", PASSED_THROUGH.to_owned()));
        @let proof = run.proof.map(|proof| ("Proof of the capacity", proof.describe()));
        @for (key, value) in rows.into_iter().chain(polled).chain(passed).chain(durability(run)).chain(proof) {
            tr { th scope="row" { (key) } td { (value) } }
        }
        (pairs(&drive.details))
    }
}

/// Returns the rows on flushes and blocks that were read back, where the run has any.
fn durability(run: &Run) -> impl Iterator<Item = (&'static str, String)> {
    let rows = run.durability.map(|of_run| {
        let counted = match of_run.counted {
            Some(counted) => format!(", {} counted by the device", number::count(counted)),
            None => String::new(),
        };
        let sent = number::count(of_run.flushes);
        let (read, lost) = (number::count(of_run.read_back), number::count(of_run.lost));
        let flushes = format!("{sent} sent{counted}; the longest took {}", of_run.longest.about());
        let blocks = format!("{read}, {lost} of them without the data written last");
        let verified =
            of_run.verified.map(|verified| ("Verified", verified.describe(run.is_model())));
        [("Flushes", flushes), ("Blocks read back", blocks)].into_iter().chain(verified)
    });
    rows.into_iter().flatten()
}

fn pairs(pairs: &BTreeMap<String, String>) -> Markup {
    html! {
        @for (key, value) in pairs.iter().filter(|(key, _)| *key != Detail::WholeCapacity.key()) {
            tr {
                th scope="row" { (sanitize::prose(key).replace('_', " ")) }
                td { (sanitize::prose(value)) }
            }
        }
    }
}
