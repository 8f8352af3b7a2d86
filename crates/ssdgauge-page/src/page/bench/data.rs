//! The data of the comparison page, as scripts that call its own with what the program drew and judged.

use crate::chart::coordinate::at;
use crate::page::bench::chart::{Frame, Places};
use crate::page::bench::document::{BenchSite, MARK};
use crate::page::bench::index::{self, Column};
use crate::page::bench::{row, standing};
use serde_json::{Value, json};
use ssdgauge_analysis::bench::board::{Bench, Board, Entry};
use ssdgauge_analysis::bench::verdict::{self, FINE, FIRST_LETTER, HIGHEST};
use ssdgauge_core::{Family, Metric};

fn script(function: &str, value: &Value) -> String {
    format!("/* {MARK} */bench.{function}({value})\n")
}

/// Returns the drives, the tests and the scale of packed verdicts.
pub(super) fn site(site: &BenchSite<'_>) -> String {
    let bench = site.bench;
    let drives = bench.drives.iter().map(
        |drive| json!({ "n": drive.facts.full_name(), "s": drive.slug, "f": row::facts(drive) }),
    );
    let columns = index::columns(bench);
    let use_of = |board: &Board| {
        let is_own = |column: &&Column<'_>| column.boards.iter().any(|one| one.slug == board.slug);
        columns.iter().find(is_own).map(|column| column.name(bench))
    };
    let boards = bench.boards.iter().map(|board| board_facts(bench, board, use_of(board)));
    let value = json!({
        "drives": drives.collect::<Vec<_>>(),
        "tests": boards.collect::<Vec<_>>(),
        "database": index::for_databases(bench, &columns),
        "uses": columns.iter().map(|column| column.name(bench)).collect::<Vec<_>>(),
        // What the script needs to read packed verdicts.
        "first": FIRST_LETTER, "highest": HIGHEST, "fine": FINE,
    });
    script("site", &value)
}

/// Returns the words of a lead in percent and in multiples: `A`, `B` and `R` are the drive ahead, the other one and the range.
pub(super) fn lead_words(metric: Metric) -> (&'static str, &'static str) {
    match metric.family() {
        Family::Latency | Family::Stall => {
            ("B takes R% longer than A", "B takes R times as long as A")
        }
        Family::Rate => ("A is R% faster than B", "A is R times as fast as B"),
        Family::Efficiency => {
            ("A does R% more work per watt than B", "A does R times the work per watt of B")
        }
        Family::Power => ("B takes R% more power than A", "B takes R times the power of A"),
        Family::Duration => ("B takes R% longer than A", "B takes R times as long as A"),
        Family::Queue | Family::Cost | Family::Spare | Family::Trim | Family::Judgement => {
            ("A is R% better than B", "A is R times as good as B")
        }
    }
}

/// Returns what the script needs to know of `board`, which stands for `purpose` on the index.
fn board_facts(bench: &Bench, board: &Board, purpose: Option<&str>) -> Value {
    let (record, test) = bench.shown(board);
    let metric = test.headline.0.metric;
    let (ahead, times) = lead_words(metric);
    json!({
        "s": board.slug, "t": test.title, "r": test.requests, "m": metric.title(), "set": test.settings,
        "id": format!("{} {}", record.suite, test.id), "suite": record.suite_title,
        "use": purpose, "marks": board.marks, "words": [ahead, times],
    })
}

/// Returns the frame of a test, the order of its drives and the verdicts on all of their pairs.
pub(super) fn board(bench: &Bench, board: &Board, frame: &Frame) -> String {
    let entries: Vec<&Entry> = board.entries.iter().collect();
    let places = Places::new(bench, &entries);
    let value = json!({
        "s": board.slug,
        "order": board.entries.iter().map(|entry| bench.drives[entry.drive].slug.as_str()).collect::<Vec<_>>(),
        "pairs": verdict::packed(&board.verdicts),
        "frame": frame.picture,
        "ticks": standing::ticks(bench, board, &places),
        "ends": places.ends(bench.shown(board).1.headline.0.metric),
        "n": board.ranked(),
    });
    script("test", &value)
}

/// Returns the values of a drive with their conditions, and its fragments.
pub(super) fn drive(bench: &Bench, number: usize, frames: &[Frame]) -> String {
    let mut tests = serde_json::Map::new();
    for (board, frame) in bench.boards.iter().zip(frames) {
        let Some(place) = board.entries.iter().position(|entry| entry.drive == number) else {
            continue;
        };
        let entry = &board.entries[place];
        let entries: Vec<&Entry> = board.entries.iter().collect();
        let places = Places::new(bench, &entries);
        let (record, _) = bench.result(entry);
        let why = (!board.has_interval(place)).then(|| row::no_interval(bench, entry));
        let value = json!({
            "v": row::value(bench, entry), "i": row::interval_words(bench, entry), "run": row::run(record),
            "rank": row::rank_words(bench, board, entry), "why": why, "x": at(100.0 * standing::share(bench, entry, &places)), "d": frame.fragments[place],
        });
        tests.insert(board.slug.clone(), value);
    }
    script("drive", &json!({ "s": bench.drives[number].slug, "tests": tests }))
}
