//! The page of a test: the ranking of all drives with its method and source.

use crate::page::bench::chart::{BAND, Frame, Places};
use crate::page::bench::distribution;
use crate::page::bench::document::{BenchSite, Page};
use crate::page::bench::row;
use maud::{PreEscaped, html};
use ssdgauge_analysis::bench::board::{Bench, Board, Entry, slug};
use ssdgauge_analysis::text::number;
use ssdgauge_core::rounded::count_of;
use ssdgauge_statistics::difference::peers::Peers;
use ssdgauge_statistics::difference::{NOISE, Outcome};

/// Returns the page of `board`.
pub(super) fn page(site: &BenchSite<'_>, board: &Board, frame: &Frame) -> String {
    let bench = site.bench;
    let (record, test) = bench.shown(board);
    let metric = test.headline.0.metric;
    let mut entries: Vec<&Entry> = board.entries.iter().collect();
    let shown = |entry: &&Entry| (entry.marks.is_empty(), row::value(bench, entry));
    row::by_name_where_equal(&mut entries, shown, |entry| entry.drive);
    let places = Places::new(bench, &entries);
    let marked = entries.iter().filter(|entry| !entry.marks.is_empty()).count();
    let far = outliers(bench, board);
    let main = html! {
           p.kick { a href={ "../suites/" (slug(&record.suite)) ".html" } { (record.suite_title) } }
           h1 { (test.title) }
           p.dek {
               (test.requests) ": " (metric.title()) ", " (test.rule) ". "
               @if metric.more_is_better() { "More is better. " } @else { "Less is better. " }
               (row::mark_words(bench).unwrap_or_default()) " "
               @if !far.is_empty() { "Far from the others: " (far.join(", ")) "." }
           }
           p.cond { (test.settings) @for mark in &board.marks { " · " b { (mark) } } }
           div.two {
               @if !frame.picture.is_empty() {
                   figure.one { (PreEscaped(format!("{}</svg>", frame.picture))) figcaption.small { @if frame.is_band { (BAND) } @else { "Every drive of this page." } } }
               }
               (distribution::figure(bench, board))
           }
           (row::controls(entries.len(), marked))
           (row::tray())
           div.scroll tabindex="0" role="group" aria-label="Ranking" {
               table #drives.drives {
                   thead { tr {
                       th scope="col" { span.vh { "Choose" } }
                       th scope="col" { "Drive" }
                       th scope="col" { span.sort { "Result" } small { (metric.title()) @if places.is_log() { ", logarithmic" } } }
                       th scope="col" { "95% interval" }
                       th scope="col" { "All runs" }
                       th scope="col" { "Run" }
                   } }
                   tbody { @for entry in &entries {
                       @let (own, result) = bench.result(entry);
                       tr.marked[!entry.marks.is_empty()] data-n=(entry.drive) {
                           (row::head(bench, &bench.drives[entry.drive], "../", ""))
                           (row::cell(bench, board, entry, &places))
                           td { (row::interval_words(bench, entry)) }
                           td { (spread(bench, entry)) }
                           td.run { (row::run(own)) @for doubt in &result.doubts { br; (doubt) } }
                       }
                   } }
               }
           }
           section.use aria-labelledby="method" {
               h2 #method { "Method" }
               p { (test.load) }
               @if !test.source.is_empty() { p { "Source: " (test.source) } }
               p {
    "One drive is ahead of another where the 95% interval of their ratio excludes equality and the difference is beyond 3%, as in " code { "ssdgauge compare" } ". A result without an interval has no rank. The latest undisturbed run of a drive counts." }
           }
       };
    let count = count_of(entries.len(), "drive");
    let page = Page {
        site,
        title: test.title.clone(),
        description: format!("{}: {count}, {}", test.title, test.requests),
        up: "../",
        place: "Tests",
        data: Vec::new(),
    };
    page.document(&main)
}

/// Returns the range of all runs of a drive.
pub(super) fn spread(bench: &Bench, entry: &Entry) -> String {
    let (low, high, runs) = entry.spread;
    let metric = bench.result(entry).1.headline.0.metric;
    match runs {
        1 => match bench.result(entry).0.runs() {
            1 => "1 run".to_owned(),
            n => format!("mean of {n} runs"),
        },
        n => format!(
            "{n} runs, {} to {}",
            number::measured(low, metric),
            number::measured(high, metric)
        ),
    }
}

/// Returns the ranked drives beyond the outer fence of Tukey and beyond the noise.
fn outliers(bench: &Bench, board: &Board) -> Vec<String> {
    let value = |entry: &Entry| bench.result(entry).1.headline.0.value;
    let ranked = || board.entries.iter().filter(|entry| entry.rank.is_some());
    let values: Vec<f64> = ranked().filter_map(value).filter(|value| *value > 0.0).collect();
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let Some(peers) = Peers::new(&sorted).filter(|_| sorted.len() > 8) else { return Vec::new() };
    let is_out = |entry: &&Entry| {
        value(entry).is_some_and(|value| value > 0.0 && peers.judge(value, NOISE) != Outcome::Equal)
    };
    ranked()
        .filter(is_out)
        .take(6)
        .map(|entry| bench.drives[entry.drive].facts.full_name())
        .collect()
}
