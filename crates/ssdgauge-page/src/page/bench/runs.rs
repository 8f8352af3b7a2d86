//! How far the runs of a drive differ, and what its firmware changed.

use crate::chart::coordinate::at;
use crate::page::bench::data;
use crate::page::bench::row;
use maud::{Markup, html};
use ssdgauge_analysis::bench::board::{Bench, Board, Entry};
use ssdgauge_analysis::bench::record::{Record, TestRecord};
use ssdgauge_analysis::bench::verdict::{Kind, Verdict, verdict};
use ssdgauge_analysis::text::number;
use ssdgauge_core::rounded::count_of;
use ssdgauge_statistics::difference::NOISE;

/// Half the width of the axis: a change by this share. Chosen: four times what counts as noise.
const EDGE: f64 = 4.0 * NOISE;

/// A result of a drive with its run.
type Result<'a> = (&'a Record, &'a TestRecord);

fn results<'a>(bench: &'a Bench, entry: &Entry) -> Vec<Result<'a>> {
    let result = |(record, test): &(usize, usize)| {
        let record = &bench.records[*record];
        (record, &record.tests[*test])
    };
    entry.runs.iter().map(result).collect()
}

/// Returns how many times as good as `other` the value of `one` is.
fn gain(one: &TestRecord, other: &TestRecord) -> Option<f64> {
    let (one, other) = (&one.headline.0, &other.headline.0);
    let ratio = one.value? / other.value.filter(|value| *value > 0.0)?;
    let is_more = one.metric.more_is_better();
    (ratio > 0.0).then(|| if is_more { ratio } else { 1.0 / ratio })
}

/// Returns the section on the tests with several runs; nothing where there is none.
pub(super) fn spread(bench: &Bench, found: &[(&Board, &Entry)]) -> Markup {
    let several: Vec<_> = found.iter().filter(|(_, entry)| entry.runs.len() > 1).collect();
    html! {
        @if !several.is_empty() {
            section.use aria-labelledby="spread" {
                h2 #spread { "How far its runs differ" }
                p { "Every run against the one that counts; to the right is better. The tinted part is ±3%, the least that counts as a difference. Filled: the same firmware; hollow: another one; crosses: runs with marks. Runs beyond ±12% are at the edge." }
                div.stands { @for (board, entry) in several { (differing(bench, board, entry)) } }
            }
        }
    }
}

fn differing(bench: &Bench, board: &Board, entry: &Entry) -> Markup {
    let (own, shown) = bench.result(entry);
    let results = results(bench, entry);
    let is_marked = |record: &Record| record.marks.iter().any(|mark| !board.marks.contains(mark));
    let gains =
        || results.iter().filter_map(|(record, test)| Some((*record, *test, gain(test, shown)?)));
    let alike: Vec<f64> = gains()
        .filter(|(record, _, _)| record.firmware == own.firmware && !is_marked(record))
        .map(|(_, _, gain)| gain)
        .collect();
    let low = alike.iter().copied().fold(1.0, f64::min);
    let high = alike.iter().copied().fold(1.0, f64::max);
    let change = |gain: f64| number::change(gain).replace('-', "\u{2212}").replace(" %", "%");
    let range = format!("{} to {}", change(low), change(high));
    html! {
        div.stand.runs {
            div { b { (shown.title) } small.block { (count_of(results.len(), "run")) } }
            div.strip.noise role="img" aria-label={ (count_of(results.len(), "run")) ", " (range) } {
                @for (record, test, gain) in gains() {
                    @let x = 50.0 + 50.0 * ((gain - 1.0) / EDGE).clamp(-1.0, 1.0);
                    i.hollow[record.firmware != own.firmware].cross[is_marked(record)] style={ "left:" (at(x)) "%" }
                        title={ (number::measured(test.headline.0.value.unwrap_or_default(), test.headline.0.metric)) "; " (row::run(record)) } {}
                }
            }
            div {
                @if alike.len() > 1 { (range) small.block { "within one firmware" } }
                @else { small.block { "one run with this firmware" } }
            }
        }
    }
}

/// Returns what changed between the two latest firmware versions; nothing where only one was measured.
pub(super) fn firmware(bench: &Bench, found: &[(&Board, &Entry)]) -> Markup {
    let changes: Vec<Change<'_>> =
        found.iter().filter_map(|(board, entry)| change(bench, board, entry)).collect();
    let (clear, open): (Vec<_>, Vec<_>) = changes.iter().partition(|one| {
        matches!(one.verdict.kind, Kind::Ahead | Kind::Behind) && one.verdict.ratio.is_some()
    });
    html! {
        @if !changes.is_empty() {
            section.use aria-labelledby="firmware" {
                h2 #firmware { "What its firmware changed" }
                p { "The latest undisturbed run of the newest firmware against that of the one before; differences under 3% count as level." }
                ul {
                    @for one in &clear { li { b { (one.new.1.title) } ": " (one.words()) "." } }
                    @if !open.is_empty() {
                        li { "Too close to call or level: " (open.iter().map(|one| one.new.1.title.as_str()).collect::<Vec<_>>().join("; ")) "." }
                    }
                }
            }
        }
    }
}

/// The result of a test with the newest firmware, with the one before, and the verdict on both.
struct Change<'a> {
    new: Result<'a>,
    old: Result<'a>,
    verdict: Verdict,
}

fn change<'a>(bench: &'a Bench, board: &Board, entry: &Entry) -> Option<Change<'a>> {
    // Without a date nothing tells which firmware is the newer one.
    let is_plain = |record: &Record| {
        record.started_unix_ms.is_some()
            && record.marks.iter().all(|mark| board.marks.contains(mark))
    };
    let results = results(bench, entry);
    let new =
        results.iter().rev().find(|(record, _)| is_plain(record) && record.firmware.is_some())?;
    let is_other = |(record, _): &&Result<'_>| {
        is_plain(record) && record.firmware.is_some() && record.firmware != new.0.firmware
    };
    let old = results.iter().rev().find(is_other)?;
    Some(Change { new: *new, old: *old, verdict: verdict(new.1, old.1) })
}

impl Change<'_> {
    /// Returns the verdict in the words of a comparison.
    fn words(&self) -> String {
        let name =
            |one: Result<'_>| format!("firmware {}", one.0.firmware.as_deref().unwrap_or_default());
        let (low, high) = self.verdict.ratio.unwrap_or((1.0, 1.0));
        let is_new = self.verdict.kind == Kind::Ahead;
        let ((ahead, other), (from, to)) = match is_new {
            true => ((self.new, self.old), (low, high)),
            false => ((self.old, self.new), (1.0 / high, 1.0 / low)),
        };
        let (percent, times) = data::lead_words(self.new.1.headline.0.metric);
        let digits = |ratio: f64| match from >= 2.0 {
            true => number::tick((10.0 * ratio).round() / 10.0),
            false => {
                number::change(ratio).trim_start_matches('+').trim_end_matches(" %").to_owned()
            }
        };
        let (from_words, to_words) = (digits(from), digits(to));
        let range =
            if from_words == to_words { from_words } else { format!("{from_words} to {to_words}") };
        let words = if from >= 2.0 { times } else { percent };
        let part = |word: &str| match word {
            "A" => name(ahead),
            "B" => name(other),
            "R" => range.clone(),
            "R%" => format!("{range}%"),
            other => other.to_owned(),
        };
        words.split(' ').map(part).collect::<Vec<_>>().join(" ")
    }
}
