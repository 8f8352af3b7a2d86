//! The index: every drive with its number for each use.

use crate::page::bench::chart::Places;
use crate::page::bench::document::{BenchSite, Page};
use crate::page::bench::row;
use crate::page::prices;
use maud::{Markup, html};
use ssdgauge_analysis::bench::board::{Bench, Board, Entry};
use ssdgauge_analysis::bench::record::Record;
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
        // Everyday work waits for small reads, not for large ones.
        let is_random = |board: &Board| {
            purpose == Use::Everyday && bench.shown(board).1.requests.contains("random")
        };
        let best = own()
            .rev()
            .max_by_key(|board| (drives(board), is_of_waits(board), is_random(board)))?;
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
            Use::Durable => "Databases: commits",
            Use::Mixed => "Databases: speed",
            Use::Latency if self.boards.iter().any(|board| has_waits(&board)) => {
                "Databases: latency"
            }
            other => other.name(),
        }
    }

    /// Returns the entry of `drive`, one without a mark before others, with whether it is marked.
    pub(super) fn entry(&self, drive: usize) -> Option<(&Entry, bool)> {
        self.place(drive).map(|(board, place, marked)| (&board.entries[place], marked))
    }

    /// Returns the board and the place of this entry on it.
    pub(super) fn place(&self, drive: usize) -> Option<(&Board, usize, bool)> {
        let of_board = |board: &&'_ Board| -> Option<(usize, bool)> {
            let place = board.entries.iter().position(|entry| entry.drive == drive)?;
            Some((place, !board.marks.is_empty() || !board.entries[place].marks.is_empty()))
        };
        let found = self.boards.iter().filter_map(|board| Some((*board, of_board(board)?)));
        let (board, (place, marked)) = found.min_by_key(|(_, (_, marked))| *marked)?;
        Some((board, place, marked))
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
    let shown = |drive: &usize| {
        let entry = columns.first().and_then(|column| column.entry(*drive));
        entry.map_or_else(String::new, |(entry, _)| row::value(bench, entry))
    };
    row::by_name_where_equal(&mut order, shown, |drive| *drive);
    let is_marked = |drive: usize| {
        columns.iter().all(|column| column.entry(drive).is_none_or(|(_, marked)| marked))
    };
    let marked = order.iter().filter(|drive| is_marked(**drive)).count();
    let count = count_of(bench.drives.len(), "drive");
    let has_prices = bench.drives.iter().any(|drive| drive.price.is_some());
    let main = html! {
        h1 { (count) ", " (count_of(bench.records.iter().map(Record::runs).sum(), "run")) }
        p.small.intro { "After each value its rank among the drives with the same test: a range where they are too close to call, “–” for a marked run. Rows that show equal values are in the order of their names." @if let Some(words) = database_words(bench, &columns) { " " (words) } (row::mark_words(bench).unwrap_or_default()) }
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
                    @if has_prices { th scope="col" { span.sort { "Price" } small { "and per TB" } } }
                } }
                tbody { @for drive in &order {
                    @let own = &bench.drives[*drive];
                    tr.marked[is_marked(*drive)] data-n=(drive) data-f=(filter_words(bench, *drive)) {
                        (row::head(bench, own, "", &firmwares(bench, *drive, &columns)))
                        @for (column, places) in columns.iter().zip(&places) {
                            @match column.place(*drive) {
                                Some((board, place, _)) => (row::cell(bench, board, &board.entries[place], places)),
                                None => td.v data-v="" { "–" },
                            }
                        }
                        @if has_prices { (row::price_cell(bench, own)) }
                    }
                } }
            }
        }
        p.small { (origin(bench)) " Point at a number for its interval, firmware and run." }
        p.small { "Bars begin at zero; points are on a logarithmic scale, where to the right is better. The thin line, or a dot where it is narrow, is the 95% interval within the run; it does not cover the spread between units of a model." @if bench.records.iter().any(|record| record.runs() > 1) { " Of drives measured several times by others, it is the interval between these runs." } }
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

/// Returns the names of the columns that decide for a database, the first one first.
pub(super) fn for_databases(bench: &Bench, columns: &[Column<'_>]) -> Vec<&'static str> {
    let of_use = |purpose: &Use| columns.iter().find(|column| column.purpose == *purpose);
    Use::FOR_DATABASES.iter().filter_map(of_use).map(|column| column.name(bench)).collect()
}

/// Returns the sentence that says which of several columns decides for a database.
fn database_words(bench: &Bench, columns: &[Column<'_>]) -> Option<String> {
    let names: Vec<String> =
        for_databases(bench, columns).into_iter().map(|name| short(name).to_lowercase()).collect();
    let (first, rest) = names.split_first().filter(|(_, rest)| !rest.is_empty())?;
    Some(format!(
        "For a database, {first} decide; where they are level or missing, {}.",
        rest.join(", then ")
    ))
}

/// Returns the name of a column without its use: `latency` of `Databases: latency`.
fn short(name: &str) -> &str {
    name.split_once(": ").map_or(name, |(_, what)| what)
}

/// Returns where the numbers of the site come from.
fn origin(bench: &Bench) -> String {
    let has = |is_of: &dyn Fn(&Record) -> bool| bench.records.iter().any(is_of);
    let is_by_others = |record: &Record| record.origin.is_some();
    let exceptions = [
        has(&|record| record.submitted && !is_by_others(record))
            .then_some("those “submitted without samples”"),
        has(&|record| record.is_imported() && !is_by_others(record))
            .then_some("those IMPORTED, which another program measured"),
        has(&is_by_others).then_some("those measured by others"),
    ];
    let exceptions: Vec<&str> = exceptions.into_iter().flatten().collect();
    match exceptions.as_slice() {
        [] => "Every number is recomputed from the samples of a run.".to_owned(),
        some => format!(
            "Every number is recomputed from the samples of a run, except {}.",
            some.join(" and ")
        ),
    }
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
            @if !metric.more_is_better() { ", lower is better" }
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
const PROPERTIES: [&str; 7] =
    ["Class", "Interface", "Flash", "Capacity", "Firmware", "Price", "Data"];

/// The upper ends of ranges of prices, in any currency. Chosen: each holds about as many drives on sale.
const PRICES: [u32; 6] = [50, 100, 200, 500, 1_000, 2_000];

/// Returns each property of `drive` with a number by which its values are sorted; a text is empty where it is not known.
fn properties(bench: &Bench, drive: usize) -> [(u64, String); 7] {
    let own = &bench.drives[drive];
    let last = own.records.last().map(|place| &bench.records[*place]);
    let firmware = last.and_then(|record| record.firmware.clone());
    let kind = |record: &Record| {
        let has = |name: &str| record.marks.iter().any(|mark| mark.starts_with(name));
        if has("MODEL") {
            (3, "MODEL")
        } else if record.origin.is_some() {
            (2, row::BY_OTHERS)
        } else if has("IMPORTED") {
            (1, "imported")
        } else {
            (0, "measured")
        }
    };
    let (order, kind) = last.map_or((0, ""), kind);
    [
        (0, own.facts.class.clone()),
        (0, own.facts.interface.clone()),
        (0, own.facts.flash.clone()),
        (
            own.facts.capacity.unwrap_or(0),
            own.facts.capacity.map_or("not known".to_owned(), number::plain_capacity),
        ),
        (0, firmware.unwrap_or_default()),
        own.price.map_or((0, String::new()), |price| price_range(price, &bench.currency)),
        (order, kind.to_owned()),
    ]
}

/// Returns the range of a price: its lower end, and its words.
fn price_range(price: f64, currency: &str) -> (u64, String) {
    let amount = |end: u32| prices::amount(f64::from(end), currency);
    let place = PRICES.iter().position(|end| price <= f64::from(*end)).unwrap_or(PRICES.len());
    let below = place.checked_sub(1).map(|place| PRICES[place]);
    let words = match (below, PRICES.get(place)) {
        (None, Some(end)) => format!("up to {}", amount(*end)),
        (Some(start), Some(end)) => {
            format!("{} to {}", number::count(u64::from(start)), amount(*end))
        }
        (start, None) => format!("above {}", amount(start.unwrap_or_default())),
    };
    (below.map_or(0, u64::from), words)
}

/// Returns the properties of `drive` as one text, in which the script looks for the chosen ones.
fn filter_words(bench: &Bench, drive: usize) -> String {
    let values = properties(bench, drive).into_iter().zip(PROPERTIES);
    let words = values.map(|((_, value), name)| format!("{name}={}", plain(&value)));
    words.collect::<Vec<_>>().join("|")
}

/// Returns a value as it is written in addresses, and separated from others.
fn plain(value: &str) -> String {
    value.replace('\u{a0}', " ").replace('|', "/")
}

/// Returns the filters by properties of which there are several values; the script shows them.
fn filters(bench: &Bench) -> Markup {
    let all: Vec<_> = (0..bench.drives.len()).map(|drive| properties(bench, drive)).collect();
    let values = |number: usize| -> BTreeSet<(u64, String)> {
        let own = all.iter().map(|one| one[number].clone());
        own.filter(|(_, value)| !value.is_empty()).collect()
    };
    html! {
        div #filters.tools hidden {
            @for (number, name) in PROPERTIES.into_iter().enumerate() {
                @let found = values(number);
                @if found.len() > 1 {
                    select name=(name) aria-label=(name) {
                        option value="" { (name) ": all" }
                        @for (_, value) in &found { option value={ (name) "=" (plain(value)) } { (value) } }
                    }
                }
            }
            button #reset type="button" { "Reset" }
        }
    }
}
