//! The rows of tables of drives: how a value, its rank, its interval and its conditions are written.

use crate::page::bench::chart::Places;
use crate::page::prices;
use maud::{Markup, html};
use ssdgauge_analysis::bench::board::{Bench, BenchDrive, Board, Entry};
use ssdgauge_analysis::bench::record::Record;
use ssdgauge_analysis::text::labels::short_id;
use ssdgauge_analysis::text::{interval, number};
use ssdgauge_core::rounded::count_of;

/// Returns the rank of `entry` on `board`, such as `3 to 7 of 40`: a range where drives are too close to call; a dash for a marked
/// run, and why there is none for another one.
pub(super) fn rank(board: &Board, entry: &Entry) -> String {
    let all = number::count(board.ranked() as u64);
    match entry.rank {
        None if entry.marks.is_empty() => "no interval".to_owned(),
        None => "–".to_owned(),
        Some((best, worst)) if best == worst => format!("{best} of {all}"),
        Some((best, worst)) => format!("{best} to {worst} of {all}"),
    }
}

/// Returns the rank of `entry` in words, or why it has none.
pub(super) fn rank_words(bench: &Bench, board: &Board, entry: &Entry) -> String {
    match (entry.rank, entry.marks.as_slice()) {
        (Some(_), _) => format!("rank {}", rank(board, entry)),
        (None, []) => format!("no rank: {}", no_interval(bench, entry)),
        (None, marks) => format!("no rank: {}", marks.join(", ")),
    }
}

/// Returns why a result without an interval has none, as `compare` gives it.
pub(super) fn no_interval(bench: &Bench, entry: &Entry) -> &'static str {
    let (record, test) = bench.result(entry);
    match interval::reason(&test.headline.0.interval) {
        Some(_) if record.origin.is_some() => {
            "no 95 % interval: one run, published without samples"
        }
        reason => reason.unwrap_or("no 95 % interval"),
    }
}

/// Returns the value of `entry` with its unit, marked where the protocol also counts a start that flatters.
pub(super) fn value(bench: &Bench, entry: &Entry) -> String {
    let headline = &bench.result(entry).1.headline.0;
    let mark = if interval::flattered(headline).is_some() { interval::FLATTERED } else { "" };
    interval::headline_measured(headline).map_or_else(|| "–".to_owned(), |value| value + mark)
}

/// Returns what the mark of [`value`] means, where a value has it.
pub(super) fn mark_words(bench: &Bench) -> Option<String> {
    let mut entries = bench.boards.iter().flat_map(|board| &board.entries);
    let is_marked =
        |entry: &Entry| interval::flattered(&bench.result(entry).1.headline.0).is_some();
    entries.any(is_marked).then(|| format!(" {}.", interval::FLATTERED_WORDS))
}

/// Returns the 95 % interval of `entry`, or why there is none.
pub(super) fn interval_words(bench: &Bench, entry: &Entry) -> String {
    let headline = &bench.result(entry).1.headline.0;
    interval::words(&headline.interval, headline.metric)
        .unwrap_or_else(|| no_interval(bench, entry).to_owned())
}

/// Returns the run of a value: firmware, day, id and marks.
pub(super) fn run(record: &Record) -> String {
    // A virtual drive has none.
    let is_model = record.marks.iter().any(|mark| mark == "MODEL");
    let firmware = match record.firmware.as_deref() {
        Some(firmware) => format!("firmware {firmware}, "),
        None if is_model => String::new(),
        None => "firmware unknown, ".to_owned(),
    };
    let mut words = format!("{firmware}{}, run {}", day(record), short_id(&record.id));
    if let Some(origin) = &record.origin {
        words.push_str(&format!(", {BY_OTHERS}: {}", origin.words()));
    } else if record.submitted {
        words.push_str(", submitted without samples");
    }
    for mark in &record.marks {
        words.push_str(&format!(", {mark}"));
    }
    words
}

/// What numbers are called that others have published.
pub(super) const BY_OTHERS: &str = "measured by others";

/// Returns the day of a run.
pub(super) fn day(record: &Record) -> String {
    number::day(record.started_unix_ms.unwrap_or(0))
}

/// Returns what tells `drive` from others: class, interface and flash, as far as they are known.
pub(super) fn facts(drive: &BenchDrive) -> String {
    let facts = &drive.facts;
    let of_class = facts.class.split(", ").nth(1).unwrap_or_default().to_owned();
    let parts = [facts.interface.clone(), facts.flash.clone(), of_class];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// An interval of less than this share of the width of a cell is drawn as a dot: two pixels on a wide screen.
const NARROW: f64 = 0.01;

/// Returns the cell of a value with its rank, its bar and its interval.
pub(super) fn cell(bench: &Bench, board: &Board, entry: &Entry, places: &Places) -> Markup {
    let (record, test) = bench.result(entry);
    let headline = &test.headline.0;
    let value_number = headline.value.unwrap_or_default();
    let sort = if headline.metric.more_is_better() { value_number } else { -value_number };
    let percent = |value: f64| format!("{:.1}", 100.0 * places.share(value));
    let mut style = format!("--w:{}", percent(value_number));
    let mut is_dot = false;
    if let Some((low, high)) = headline.interval.ends() {
        let mut ends =
            [places.share(low), places.share(high)].map(|share| format!("{:.1}", 100.0 * share));
        if !headline.metric.more_is_better() {
            ends.reverse();
        }
        style.push_str(&format!(";--a:{};--b:{}", ends[0], ends[1]));
        // Too narrow to be seen as a line.
        is_dot = (places.share(high) - places.share(low)).abs() < NARROW;
    }
    let rank_words = rank_words(bench, board, entry);
    let interval = headline.interval.ends().map(|_| interval_words(bench, entry));
    let interval = interval.map(|words| format!("95% interval {words}; ")).unwrap_or_default();
    let title = format!("{interval}{rank_words}; {}", run(record));
    html! {
        td.v data-v=(sort) title=(title) {
            b { (value(bench, entry)) } " " small { (rank(board, entry)) }
            span.vb.pt[places.is_log()].dt[is_dot] style=(style) {}
        }
    }
}

/// Returns the price of a drive, and that of a terabyte.
pub(super) fn price(bench: &Bench, drive: &BenchDrive) -> Option<(String, String)> {
    let amount = |price| prices::amount(price, &bench.currency);
    let price = drive.price?;
    let per_tb = match drive.facts.capacity {
        Some(capacity) => format!("{} per TB", amount((price / (capacity as f64 / 1e12)).round())),
        None => "capacity not known".to_owned(),
    };
    Some((amount(price), per_tb))
}

/// Returns the cell of the price of a drive; a lower one is better.
pub(super) fn price_cell(bench: &Bench, drive: &BenchDrive) -> Markup {
    let sort = drive.price.map(|price| (-price).to_string()).unwrap_or_default();
    html! {
        td.v data-v=(sort) {
            @match price(bench, drive) {
                Some((price, per_tb)) => { b { (price) } " " small.block { (per_tb) } },
                None => "–",
            }
        }
    }
}

/// Puts rows in the order of their names where the values that they show are equal: digits that nobody sees would order them.
pub(super) fn by_name_where_equal<T, S: PartialEq>(
    rows: &mut [T],
    shown: impl Fn(&T) -> S,
    name: impl Fn(&T) -> usize,
) {
    rows.chunk_by_mut(|a, b| shown(a) == shown(b)).for_each(|equal| equal.sort_by_key(&name));
}

/// Returns the head of a row: the box that chooses the drive, its name and its facts.
pub(super) fn head(bench: &Bench, drive: &BenchDrive, up: &str, firmware: &str) -> Markup {
    let name = drive.facts.full_name();
    let by_others = drive.records.iter().any(|place| bench.records[*place].origin.is_some());
    let by_others = by_others.then(|| BY_OTHERS.to_owned());
    let firmware = Some(format!("firmware {firmware}")).filter(|_| !firmware.is_empty());
    let facts = Some(facts(drive)).filter(|facts| !facts.is_empty());
    let about = facts.into_iter().chain(firmware).chain(by_others).collect::<Vec<_>>().join(" · ");
    html! {
        td.c { label { input type="checkbox" class="pick" value=(drive.slug) aria-label={ "Choose " (name) }; } }
        th scope="row" {
            a href={ (up) "drives/" (drive.slug) ".html" } { (name) }
            small { (about) }
        }
    }
}

/// Returns the control that shows runs with marks, and the tray of chosen drives, which the script fills.
pub(super) fn controls(count: usize, marked: usize) -> Markup {
    html! {
        div.tools {
            input #q type="search" placeholder="Search drives, such as 970 evo, p4510" aria-label="Search drives" hidden;
            @if marked > 0 {
                label.mk {
                    input #marked type="checkbox" checked[marked == count];
                    " Include " (number::count(marked as u64)) " with only MODEL, shortened, disturbed or imported runs"
                }
            }
            output #count aria-live="polite" { (count_of(count, "drive")) }
            span #ticks hidden { "Tick two to six drives to compare them" }
        }
    }
}

/// Returns the place of the chosen drives.
pub(super) fn tray() -> Markup {
    html! { aside #tray hidden aria-label="Chosen drives" {} }
}
