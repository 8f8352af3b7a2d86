//! The page of a drive: its place among all others, its runs and its firmware.

use crate::page::bench::document::{BenchSite, Page};
use crate::page::bench::{row, test};
use maud::html;
use ssdgauge_analysis::bench::board::{Board, Entry, slug};
use ssdgauge_analysis::text::labels::short_id;
use ssdgauge_analysis::text::number;
use ssdgauge_core::rounded::count_of;

/// Returns the page of the drive with this number.
pub(super) fn page(site: &BenchSite<'_>, drive: usize) -> String {
    let bench = site.bench;
    let own = &bench.drives[drive];
    let name = own.facts.full_name();
    let entry = |board: &'_ Board| board.entries.iter().position(|entry| entry.drive == drive);
    let found: Vec<(&Board, &Entry)> = bench
        .boards
        .iter()
        .filter_map(|board| Some((board, &board.entries[entry(board)?])))
        .collect();
    let main = html! {
        h1 { (name) }
        p.dek { (row::facts(own)) }
        p.next {
            a href={ "../compare.html#d=" (own.slug) } { "Compare with others" } " · "
            @if own.records.iter().any(|place| !bench.records[*place].submitted) {
                a href={ (own.slug) "-report.html" } { "Report of all runs" } " · "
            }
            a href={ (own.slug) ".json" } { "JSON" }
        }
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
                            td.n title=(row::rank_words(bench, entry)) {
                                (row::rank(entry))
                                @if entry.rank.is_some() { " of " (number::count(board.ranked() as u64)) }
                            }
                            td { (test::spread(bench, entry)) }
                            td { (row::run(record)) @for doubt in &result.doubts { br; (doubt) } }
                        }
                    } }
                }
            }
        }
        section.use aria-labelledby="runs" {
            h2 #runs { "Runs and firmware" }
            table.num.left {
                thead { tr { @for head in ["Day", "Suite", "Firmware", "Grade", "Marks", "Run", "Program"] { th scope="col" { (head) } } } }
                tbody { @for place in own.records.iter().rev() {
                    @let record = &bench.records[*place];
                    tr {
                        td { (row::day(record.started_unix_ms)) }
                        td { a href={ "../suites/" (slug(&record.suite)) ".html" } { (record.suite) " r" (record.suite_revision) } }
                        td { (record.firmware.as_deref().unwrap_or("unknown")) }
                        td { (record.grade.as_deref().unwrap_or("none")) }
                        td { (record.marks.join(", ")) }
                        td { code { (short_id(&record.id)) } }
                        td { (record.program) }
                    }
                } }
            }
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
