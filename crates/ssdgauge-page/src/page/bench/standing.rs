//! Where a drive stands among all others: one strip for each use.

use crate::chart::coordinate::at;
use crate::page::bench::chart::Places;
use crate::page::bench::index::Column;
use crate::page::bench::row;
use maud::{Markup, html};
use ssdgauge_analysis::bench::board::{Bench, Board, Entry};
use ssdgauge_analysis::bench::verdict::Kind;
use ssdgauge_analysis::groups::uses::Use;
use ssdgauge_analysis::text::number;

/// Returns the places of all entries of `board` as the commands of a path of ticks, in hundredths of the width.
pub(super) fn ticks(bench: &Bench, board: &Board, places: &Places) -> String {
    let tick = |entry: &Entry| format!("M{} 0v10", at(100.0 * share(bench, entry, places)));
    board.entries.iter().map(tick).collect()
}

/// Returns the share of the width at which `entry` is drawn.
pub(super) fn share(bench: &Bench, entry: &Entry, places: &Places) -> f64 {
    places.share(bench.result(entry).1.headline.0.value.unwrap_or_default())
}

/// Returns the ranks of `drive` by use in one sentence; empty where it has none.
pub(super) fn sentence(bench: &Bench, columns: &[Column<'_>], drive: usize) -> String {
    let rank = |column: &Column<'_>| {
        let (board, place, _) = column.place(drive)?;
        let entry = board.entries.get(place).filter(|entry| entry.rank.is_some())?;
        let rank = row::rank(board, entry);
        let purpose = match column.name(bench).split_once(": ") {
            Some((of, what)) => format!("{of} ({what})"),
            None if column.purpose == Use::Everyday => "everyday work".to_owned(),
            None => column.name(bench).to_owned(),
        };
        Some(format!("{rank} for {}", purpose.to_lowercase()))
    };
    let ranks: Vec<String> = columns.iter().filter_map(rank).collect();
    if ranks.is_empty() { String::new() } else { format!("Rank {}.", ranks.join(", ")) }
}

/// Returns the strips of `drive`; nothing where it has no result that stands for a use.
pub(super) fn section(bench: &Bench, columns: &[Column<'_>], drive: usize) -> Markup {
    let found: Vec<_> = columns
        .iter()
        .filter_map(|column| column.place(drive).map(|(board, place, _)| (column, board, place)))
        .collect();
    html! {
        @if !found.is_empty() {
            section.use aria-labelledby="standing" {
                h2 #standing { "Where it stands" }
                p { "Each thin line is a drive; to the right is better." }
                div.stands { @for (column, board, place) in found { (strip(bench, column, board, place)) } }
            }
        }
    }
}

fn strip(bench: &Bench, column: &Column<'_>, board: &Board, place: usize) -> Markup {
    let entries: Vec<&Entry> = board.entries.iter().collect();
    let places = Places::new(bench, &entries);
    let entry = &board.entries[place];
    let (_, test) = bench.result(entry);
    let is_other = |(other, one): &(usize, &Entry)| *other != place && one.rank.is_some();
    let others = || board.entries.iter().enumerate().filter(is_other);
    let ahead = others().filter(|(other, _)| board.verdicts[place][*other].kind == Kind::Ahead);
    let (ahead, all) = (ahead.count(), others().count());
    let [from, to] = places.ends(test.headline.0.metric);
    html! {
        div.stand {
            div { b { (column.name(bench)) } small.block { a href={ "../tests/" (board.slug) ".html" } { (test.title) } } }
            div {
                div.strip {
                    svg viewBox="0 0 100 10" preserveAspectRatio="none" height="14" aria-hidden="true" { path.ticks d=(ticks(bench, board, &places)) {} }
                    i style={ "left:" (at(100.0 * share(bench, entry, &places))) "%" } {}
                }
                div.axis {
                    small { (from) }
                    small { @if places.is_log() { "logarithmic" } }
                    small { (to) }
                }
            }
            div title=(row::run(bench.result(entry).0)) {
                b { (row::value(bench, entry)) }
                small.block { "95%: " (row::interval_words(bench, entry)) }
            }
            div {
                @if entry.rank.is_some() {
                    "ahead of " b { (number::count(ahead as u64)) } " of " (number::count(all as u64))
                    small.block { "rank " (row::rank(board, entry)) }
                } @else { small.block { (row::rank_words(bench, board, entry)) } }
            }
        }
    }
}
