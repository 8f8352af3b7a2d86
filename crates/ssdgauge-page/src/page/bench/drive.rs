//! The page of a drive: its place among all others, its runs and its firmware.

use crate::page::bench::document::{BenchSite, Page};
use crate::page::bench::{index, row, runs, standing, test};
use maud::{Markup, html};
use ssdgauge_analysis::bench::board::{Bench, BenchDrive, Board, Entry, slug};
use ssdgauge_analysis::bench::record::Record;
use ssdgauge_analysis::text::labels::short_id;
use ssdgauge_analysis::text::number;
use ssdgauge_core::rounded::count_of;

/// Returns the page of the drive with this number.
pub(super) fn page(site: &BenchSite<'_>, drive: usize) -> String {
    let bench = site.bench;
    let own = &bench.drives[drive];
    let name = own.facts.full_name();
    let columns = index::columns(bench);
    let entry = |board: &'_ Board| board.entries.iter().position(|entry| entry.drive == drive);
    let found: Vec<(&Board, &Entry)> = bench
        .boards
        .iter()
        .filter_map(|board| Some((board, &board.entries[entry(board)?])))
        .collect();
    let main = html! {
        p.kick { (row::facts(own)) }
        h1 { (name) }
        p.dek { (standing::sentence(bench, &columns, drive)) }
        p.next {
            a href={ "../compare.html#d=" (own.slug) } { "Compare with others" } " · "
            @if own.records.iter().any(|place| has_report(&bench.records[*place])) {
                a href={ (own.slug) "-report.html" } { "Report of all runs" } " · "
            }
            a href={ (own.slug) ".json" } { "JSON" }
        }
        (tiles(bench, own))
        (standing::section(bench, &columns, drive))
        section.use aria-labelledby="results" {
            h2 #results { "Results" }
            p { "A rank counts the drives with the same test, revision, state and settings, and is a range where they are too close to call. A result without an interval has none." (row::mark_words(bench).unwrap_or_default()) }
            div.scroll tabindex="0" role="group" aria-label="Results" {
                table.num.left {
                    thead { tr { @for head in ["Test", "Result", "95% interval", "Rank", "All runs", "Run"] { th scope="col" { (head) } } } }
                    tbody { @for (board, entry) in &found {
                        @let (record, result) = bench.result(entry);
                        tr {
                            th scope="row" {
                                a href={ "../tests/" (board.slug) ".html" } { (result.title) }
                                small.block { (result.requests) " · " (result.settings) }
                            }
                            td.n { b { (row::value(bench, entry)) } }
                            td { (row::interval_words(bench, entry)) }
                            td.n title=(row::rank_words(bench, board, entry)) { (row::rank(board, entry)) }
                            td { (test::spread(bench, entry)) }
                            td.run { (row::run(record)) @for doubt in &result.doubts { br; (doubt) } }
                        }
                    } }
                }
            }
        }
        (runs::spread(bench, &found))
        (runs::firmware(bench, &found))
        section.use aria-labelledby="runs" {
            h2 #runs { "Runs and firmware" }
            div.scroll tabindex="0" role="group" aria-label="Runs" { table.num.left {
                thead { tr { @for head in ["Day", "Suite", "Firmware", "Measurement quality", "Health", "Marks", "Run", "Program"] { th scope="col" { (head) } } } }
                tbody { @for place in own.records.iter().rev() {
                    @let record = &bench.records[*place];
                    tr {
                        td.day { (row::day(record)) }
                        td {
                            // An X-ray has no page of its suite.
                            @let path = bench.boards.iter().any(|board| bench.shown(board).0.suite == record.suite)
                                .then(|| format!("../suites/{}.html", slug(&record.suite)));
                            a href=[path] { (record.suite) " r" (record.suite_revision) }
                        }
                        td { (record.firmware.as_deref().unwrap_or("unknown")) }
                        td { (record.grade.as_deref().unwrap_or("none")) }
                        td { (health(record).join("; ")) }
                        td { (record.marks.join(", ")) }
                        td { code { (short_id(&record.id)) } }
                        td { (record.program) }
                    }
                } }
            } }
        }
    };
    let description = format!(
        "{name}: {} with ranks, intervals and runs",
        count_of(found.len(), "measured result")
    );
    let page =
        Page { site, title: name, description, up: "../", place: "Drives", data: Vec::new() };
    page.document(&main)
}

/// Returns whether a run is in the report of all runs of its drive.
fn has_report(record: &Record) -> bool {
    !record.submitted && record.xray.is_none() && !record.is_other_xray
}

/// Returns what the drive reported of its health in a run, the worst first; empty where it reported nothing.
fn health(record: &Record) -> Vec<String> {
    let own = &record.health;
    let used =
        own.used_percent.map(|used| format!("{}% of its endurance used", number::tick(used)));
    let throttled = if own.throttled { ", throttled" } else { "" };
    let peak = own.peak_c.map(|peak| format!("{peak:.0}\u{a0}°C peak{throttled}"));
    own.troubles.iter().cloned().chain(used).chain(peak).collect()
}

/// Returns the facts on the drive side by side: runs, firmware, price, health and X-ray, as far as they are known.
fn tiles(bench: &Bench, own: &BenchDrive) -> Markup {
    let records = || own.records.iter().map(|place| &bench.records[*place]);
    let days = number::days(records().map(|record| record.started_unix_ms.unwrap_or(0)));
    let latest = records().rev().find_map(|record| record.firmware.as_deref());
    let mut others: Vec<&str> = records().filter_map(|record| record.firmware.as_deref()).collect();
    others.retain(|one| Some(*one) != latest);
    others.dedup();
    let is_dated = records().any(|record| record.started_unix_ms.is_some());
    let health = records().rev().map(health).find(|words| !words.is_empty());
    let xray = records().rev().find_map(|record| record.xray.as_deref());
    html! {
        div.facts {
            div { b { (count_of(records().map(Record::runs).sum(), "run")) } small { (days) } }
            @if let Some(latest) = latest {
                div { b { (latest) } small { @if is_dated { "latest firmware" } @else { "firmware" } @if !others.is_empty() { "; " (others.join(", ")) " measured too" } } }
            }
            @if let Some((price, per_tb)) = row::price(bench, own) { div { b { (price) } small { (per_tb) } } }
            @if let Some((first, rest)) = health.as_deref().and_then(<[_]>::split_first) {
                div { b { (first) } small { "health in its latest run" @if !rest.is_empty() { "; " (rest.join("; ")) } } }
            }
            @if let Some(xray) = xray {
                div { b { a href={ (own.slug) "-xray.html" } { "X-ray" } } small { (xray) } }
            } @else if records().any(|record| record.is_other_xray) {
                div { b { "X-ray" } small { "of another version of ssdgauge, not shown" } }
            }
        }
    }
}
