//! The index: every drive with its number for each use.

use crate::page::bench::chart::Places;
use crate::page::bench::document::{BenchSite, Page};
use crate::page::bench::row;
use maud::{Markup, html};
use ssdgauge_analysis::bench::board::{Bench, Board, Entry};
use ssdgauge_analysis::bench::waits;
use ssdgauge_analysis::groups::uses::Use;
use ssdgauge_analysis::text::number;
use ssdgauge_core::rounded::count_of;
use std::collections::BTreeSet;

/// A column: the boards of one test, whatever their settings.
pub(super) struct Column<'a> {
    pub(super) purpose: Use,
    pub(super) boards: Vec<&'a Board>,
}

/// Returns one column for each use: the test with the most drives, and of equal ones the first.
pub(super) fn columns(bench: &Bench) -> Vec<Column<'_>> {
    let of_test = |board: &&Board| {
        let (record, test) = bench.shown(board);
        (record.suite.clone(), test.id.clone(), test.revision)
    };
    let column = |purpose: Use| {
        let own =
            || bench.boards.iter().filter(|board| bench.shown(board).1.purpose == purpose.anchor());
        let drives = |test: &Board| {
            let same = own().filter(|other| of_test(other) == of_test(&test));
            same.map(|board| board.entries.len()).sum::<usize>()
        };
        // Of equal ones the latency of reads, and the speed of the same load.
        let is_of_waits = |board: &Board| {
            let id = bench.shown(board).1.id.as_str();
            let waits = bench.boards.iter().map(|other| bench.shown(other).1.id.as_str());
            waits
                .filter_map(|other| Some((other, other.strip_suffix(waits::SUFFIX)?)))
                .any(|(waits, speed)| id == waits || id == speed)
        };
        let best = own().rev().max_by_key(|board| (drives(board), is_of_waits(board)))?;
        let boards: Vec<&Board> = own().filter(|board| of_test(board) == of_test(&best)).collect();
        Some(Column { purpose, boards })
    };
    Use::ALL.into_iter().filter_map(column).collect()
}

impl Column<'_> {
    /// Returns the name of the use: a load that mixes random reads and writes is that of a database.
    pub(super) fn name(&self, bench: &Bench) -> &'static str {
        let has_waits = |board: &&&Board| bench.shown(board).1.id.ends_with(waits::SUFFIX);
        match self.purpose {
            Use::Sustained => "Sustained writes",
            Use::Transfers => "Large transfers",
            Use::Mixed => "Databases: speed",
            Use::Latency if self.boards.iter().any(|board| has_waits(&board)) => {
                "Databases: latency"
            }
            other => other.name(),
        }
    }

    /// Returns the entry of `drive`, one without a mark before others, with whether it is marked.
    pub(super) fn entry(&self, drive: usize) -> Option<(&Entry, bool)> {
        let of_board = |board: &&'_ Board| -> Option<(usize, bool)> {
            let place = board.entries.iter().position(|entry| entry.drive == drive)?;
            Some((place, !board.marks.is_empty() || !board.entries[place].marks.is_empty()))
        };
        let found = self.boards.iter().filter_map(|board| Some((*board, of_board(board)?)));
        let (board, (place, marked)) = found.min_by_key(|(_, (_, marked))| *marked)?;
        Some((&board.entries[place], marked))
    }
}

/// Returns the page.
pub(super) fn page(site: &BenchSite<'_>) -> String {
    let bench = site.bench;
    let columns = columns(bench);
    let entries: Vec<Vec<&Entry>> = columns
        .iter()
        .map(|column| column.boards.iter().flat_map(|board| &board.entries).collect())
        .collect();
    let places: Vec<Places> = entries.iter().map(|own| Places::new(bench, own)).collect();
    let mut order: Vec<usize> = (0..bench.drives.len()).collect();
    // The best of the first column first; drives without a number of it last.
    let first = |drive: &usize| {
        let entry = columns.first().and_then(|column| column.entry(*drive));
        entry.map_or(-1.0, |(entry, _)| {
            places[0].share(bench.result(entry).1.headline.0.value.unwrap_or_default())
        })
    };
    order.sort_by(|a, b| first(b).total_cmp(&first(a)));
    let is_marked = |drive: usize| {
        columns.iter().all(|column| column.entry(drive).is_none_or(|(_, marked)| marked))
    };
    let marked = order.iter().filter(|drive| is_marked(**drive)).count();
    let count = count_of(bench.drives.len(), "drive");
    let has_submitted = bench.records.iter().any(|record| record.submitted);
    let main = html! {
        h1 { (count) ", " (count_of(bench.records.len(), "run")) }
        p.dek { "Every number is recomputed from the samples of a run" @if has_submitted { ", except those “submitted without samples”" } "; point at it for its interval, firmware and run. A rank is a range wherever drives are too close to call, and “–” without an interval or for a marked run." (row::mark_words(bench).unwrap_or_default()) }
        (row::controls(bench.drives.len(), marked))
        (filters(bench))
        (row::tray())
        div.scroll tabindex="0" role="group" aria-label="All drives" {
            table #drives.drives {
                thead { tr {
                    th scope="col" { span.vh { "Choose" } }
                    th scope="col" { "Drive" }
                    @for (column, places) in columns.iter().zip(&places) {
                        th scope="col" { (heading(bench, column, places)) }
                    }
                } }
                tbody { @for drive in &order {
                    @let own = &bench.drives[*drive];
                    tr.marked[is_marked(*drive)] data-f=(filter_words(bench, *drive)) {
                        (row::head(own, "", &firmwares(bench, *drive, &columns)))
                        @for (column, places) in columns.iter().zip(&places) {
                            @match column.entry(*drive) {
                                Some((entry, _)) => (row::cell(bench, entry, places)),
                                None => td.v data-v="" { "–" },
                            }
                        }
                    }
                } }
            }
        }
        p.small { "Bars begin at zero; points are on a logarithmic scale, where to the right is better. The thin line is the 95% interval within the run; it does not cover the spread between units of a model." }
    };
    let page = Page {
        site,
        title: "Drives".to_owned(),
        description: format!(
            "{count} by measured results, with intervals, sortable and comparable"
        ),
        up: "",
        place: "Drives",
        data: Vec::new(),
    };
    page.document(&main)
}

fn heading(bench: &Bench, column: &Column<'_>, places: &Places) -> Markup {
    let Some(board) = column.boards.first() else { return html! {} };
    let (_, test) = bench.shown(board);
    let metric = test.headline.0.metric;
    html! {
        span.sort { (column.name(bench)) }
        small {
            a href={ "tests/" (board.slug) ".html" } { (test.title) }
            ", " (metric.title())
            @if !metric.more_is_better() { ", less is better" }
            @if places.is_log() { ", logarithmic" }
        }
    }
}

/// Returns the firmware of the runs of a row, each once.
fn firmwares(bench: &Bench, drive: usize, columns: &[Column<'_>]) -> String {
    let of = |column: &Column<'_>| bench.result(column.entry(drive)?.0).0.firmware.clone();
    columns
        .iter()
        .filter_map(of)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()
        .join(", ")
}

/// The properties that the index filters by.
fn properties(bench: &Bench, drive: usize) -> [(&'static str, String); 5] {
    let own = &bench.drives[drive];
    let firmware = own.records.last().and_then(|place| bench.records[*place].firmware.clone());
    [
        ("Class", own.facts.class.clone()),
        ("Interface", own.facts.interface.clone()),
        ("Flash", own.facts.flash.clone()),
        ("Capacity", number::plain_capacity(own.facts.capacity)),
        ("Firmware", firmware.unwrap_or_default()),
    ]
}

/// Returns the properties of `drive` as one text, in which the script looks for the chosen ones.
fn filter_words(bench: &Bench, drive: usize) -> String {
    let words = properties(bench, drive).map(|(name, value)| format!("{name}={value}"));
    words.join("|")
}

/// Returns the filters by properties of which there are several values; the script shows them.
fn filters(bench: &Bench) -> Markup {
    let values = |number: usize| -> BTreeSet<(u64, String)> {
        let one = |drive: usize| {
            let value = properties(bench, drive)[number].1.clone();
            (if number == 3 { bench.drives[drive].facts.capacity } else { 0 }, value)
        };
        (0..bench.drives.len()).map(one).filter(|(_, value)| !value.is_empty()).collect()
    };
    let names = ["Class", "Interface", "Flash", "Capacity", "Firmware"];
    html! {
        div #filters.tools hidden {
            @for (number, name) in names.into_iter().enumerate() {
                @let found = values(number);
                @if found.len() > 1 {
                    select name=(name) aria-label=(name) {
                        option value="" { (name) ": all" }
                        @for (_, value) in &found { option value={ (name) "=" (value) } { (value) } }
                    }
                }
            }
            button #reset type="button" { "Reset" }
        }
    }
}
