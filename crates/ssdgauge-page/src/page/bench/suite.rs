//! The list of all tests, and a page for each suite.

use crate::page::bench::document::{BenchSite, Page};
use crate::page::bench::row;
use maud::{Markup, html};
use ssdgauge_analysis::bench::board::{Board, slug};
use ssdgauge_analysis::text::number;
use ssdgauge_core::rounded::count_of;
use std::collections::BTreeMap;

/// Returns the boards of each suite.
fn suites<'a>(site: &BenchSite<'a>) -> BTreeMap<&'a str, Vec<&'a Board>> {
    let mut suites: BTreeMap<&str, Vec<&Board>> = BTreeMap::new();
    for board in &site.bench.boards {
        suites.entry(site.bench.shown(board).0.suite.as_str()).or_default().push(board);
    }
    suites
}

/// Returns the page of all tests.
pub(super) fn list(site: &BenchSite<'_>) -> String {
    let main = html! {
        h1 { "Tests" }
        @for (suite, boards) in suites(site) {
            h2 { a href={ "suites/" (slug(suite)) ".html" } { (site.bench.shown(boards[0]).0.suite_title) } }
            (table(site, &boards, ""))
        }
    };
    document(site, "Tests", "Every test of this site with its leading drives", "", &main)
}

/// Returns the pages of the suites.
pub(super) fn pages(site: &BenchSite<'_>) -> Vec<(String, String)> {
    let page = |(suite, boards): (&str, Vec<&Board>)| {
        let (record, _) = site.bench.shown(boards[0]);
        let runs = site.bench.records.iter().filter(|one| one.suite == suite);
        let revisions: BTreeMap<u32, usize> = runs.fold(BTreeMap::new(), |mut counts, one| {
            *counts.entry(one.suite_revision).or_insert(0) += one.runs();
            counts
        });
        let main = html! {
            p.kick { "Suite " (suite) }
            h1 { (record.suite_title) }
            p.dek { @for (revision, runs) in &revisions { "Revision " (revision) ": " (count_of(*runs, "run")) ". " } }
            (table(site, &boards, "../"))
            section.use aria-labelledby="method" {
                h2 #method { "Protocol" }
                @if record.is_imported() {
                    p { "Another program measured it; the page of each test has its load." }
                } @else {
                    p { "The whole protocol of this suite, with the source of each value: " code { "ssdgauge suites " (suite) } }
                }
            }
        };
        let text = document(
            site,
            &record.suite_title,
            &format!("{}: tests, loads and sources", record.suite_title),
            "../",
            &main,
        );
        (format!("suites/{}.html", slug(suite)), text)
    };
    suites(site).into_iter().map(page).collect()
}

fn table(site: &BenchSite<'_>, boards: &[&Board], up: &str) -> Markup {
    html! {
        table.num.left {
            thead { tr { th scope="col" { "Test" } th scope="col" { "Drives" } th scope="col" { "First" } th scope="col" { "Source" } } }
            tbody { @for board in boards {
                @let (_, test) = site.bench.shown(board);
                tr {
                    th scope="row" {
                        a href={ (up) "tests/" (board.slug) ".html" } { (test.title) }
                        small.block { (test.requests) " · " (test.settings) @for mark in &board.marks { " · " (mark) } }
                    }
                    td.n { (number::count(board.entries.len() as u64)) }
                    td { @if let Some(best) = board.entries.iter().find(|one| one.rank.is_some()) {
                        (site.bench.drives[best.drive].facts.full_name()) ", " (row::value(site.bench, best))
                    } }
                    td { (test.source) }
                }
            } }
        }
    }
}

fn document(
    site: &BenchSite<'_>,
    title: &str,
    description: &str,
    up: &'static str,
    main: &Markup,
) -> String {
    let (title, description) = (title.to_owned(), description.to_owned());
    Page { site, title, description, up, place: "Tests", data: Vec::new() }.document(main)
}
