//! The first screen of a page of one drive: its numbers as bars among the grey bars of other drives, and what it is
//! good for and what not.

use crate::chart::coordinate::percent;
use crate::chart::panels::repeated::Repeated;
use crate::page::grade;
use maud::{Markup, html};
use ssdgauge_analysis::answers::one_drive::{FirstScreen, others};
use ssdgauge_analysis::answers::suited::Suited;
use ssdgauge_analysis::answers::tile::Tile;
use ssdgauge_analysis::drives::peers::Peers;
use ssdgauge_analysis::findings::trust::{Grade, Trust};
use ssdgauge_analysis::text::case::uncapitalised;
use ssdgauge_analysis::text::number;
use ssdgauge_core::Metric;

/// The heights of the bar of the drive, of one of another drive, and of the gap between two, in pixels.
const BARS: (f64, f64, f64) = (8.0, 4.0, 3.0);

/// Bars of other drives at most; of more drives those at even ranks.
const MOST: usize = 10;

/// Reasons of a grade at most.
const REASONS: usize = 2;

/// Returns the numbers and the uses of `screen`; `ids` are the anchors of the tests.
pub(super) fn screen(screen: &FirstScreen, ids: &[String], peers: Option<&Peers>) -> Markup {
    let has_uses = !screen.good.is_empty() || !screen.not_good.is_empty();
    html! {
        div.one.d-0.with-uses[has_uses] #answer {
            div.numbers { @for tile in &screen.tiles { (number(tile, ids)) } }
            @if has_uses {
                div.uses {
                    (uses("Good for", "yes", &screen.good))
                    (uses("Not good for", "nay", &screen.not_good))
                }
            }
        }
        (legend(screen, peers))
    }
}

fn number(tile: &Tile, ids: &[String]) -> Markup {
    let (value, unit) = tile.words();
    let is_more = tile.number.metric.more_is_better();
    html! {
        div {
            h2 {
                @match ids.get(tile.number.test) {
                    Some(id) => { a href={ "#" (id) } { (tile.number.title) } }
                    None => { (tile.number.title) }
                }
            }
            @let less = (!is_more).then_some("lower is better");
            @let setting = Some(tile.number.setting.as_str()).filter(|words| !words.is_empty());
            p.set { (setting.into_iter().chain(less).collect::<Vec<_>>().join("; ")) }
            p.val { b { (value) } " " (unit) }
            // A bar of its own says nothing.
            @if !tile.others.is_empty() { (bars(tile.number.value, &tile.others, tile.number.metric)) }
            @if let Some(count) = tile.count() { p.cnt { (count) } }
            @if let Some(doubt) = tile.number.doubts.first() {
                p.dbt { "Questionable: " (uncapitalised(doubt)) }
            }
        }
    }
}

/// Returns equal repetitions as one value, among those of other drives.
pub(super) fn repeated(one: &Repeated) -> Markup {
    html! {
        p.cap { b { (number::measured(one.value, one.metric)) } ", " (one.of) " of " (one.words) }
        div.half.d-0 { (bars(one.value, &one.others, one.metric)) }
    }
}

/// Returns the bars of `own` and of the `others` from zero, the best on top.
fn bars(own: f64, others: &[f64], metric: Metric) -> Markup {
    let is_more = metric.more_is_better();
    let mut bars: Vec<(f64, bool)> =
        spread(others).into_iter().map(|other| (other, false)).collect();
    let is_better = |other: f64| if is_more { other > own } else { other < own };
    bars.insert(bars.partition_point(|(other, _)| is_better(*other)), (own, true));
    let most = bars.iter().map(|(value, _)| *value).fold(0.0, f64::max);
    let (of_own, of_other, gap) = BARS;
    let mut top = 0.0;
    let placed: Vec<(f64, f64, f64, bool)> = bars
        .into_iter()
        .map(|(value, is_own)| {
            let height = if is_own { of_own } else { of_other };
            let place = top;
            top += height + gap;
            (value, place, height, is_own)
        })
        .collect();
    html! {
        svg width="100%" height=(format!("{:.0}", top - gap)) aria-hidden="true" {
            @for (value, y, height, is_own) in placed {
                rect class=(if is_own { "br" } else { "pe" }) width=(percent(if most > 0.0 { value / most } else { 0.0 }))
                    y=(format!("{y:.0}")) height=(format!("{height:.0}")) rx="1" {}
            }
        }
    }
}

/// Returns at most [`MOST`] of `values`, at even ranks from the first to the last.
fn spread(values: &[f64]) -> Vec<f64> {
    if values.len() <= MOST {
        return values.to_vec();
    }
    let last = (values.len() - 1) as f64;
    (0..MOST)
        .map(|place| values[(place as f64 * last / (MOST - 1) as f64).round() as usize])
        .collect()
}

fn uses(title: &str, class: &str, uses: &[Suited]) -> Markup {
    html! {
        @if !uses.is_empty() {
            h2 { (title) }
            ul class=(class) {
                @for one in uses {
                    li {
                        svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true" {
                            path d=(if class == "yes" { "M2 7.5 5.5 11 12 3.5" } else { "M3 3 11 11M11 3 3 11" }) {}
                        }
                        span { (one.name) small { (one.number) } }
                    }
                }
            }
        }
    }
}

/// Returns what the bars are, and what the other drives are.
fn legend(screen: &FirstScreen, peers: Option<&Peers>) -> Markup {
    let has_others = screen.tiles.iter().any(|tile| !tile.others.is_empty());
    html! {
        @if let Some(peers) = peers.filter(|_| has_others) {
            @let shown = if peers.drives > MOST { format!(", {MOST} evenly spaced ones drawn") } else { String::new() };
            p.lgd.d-0 {
                svg width="22" height="8" aria-hidden="true" { rect.br width="22" height="8" rx="1" {} } " this drive "
                svg width="22" height="8" aria-hidden="true" { rect.pe y="2" width="22" height="4" rx="1" {} } " "
                @if peers.is_model { b { "MODEL" } " cohort: " }
                (others(peers)) (shown)
                @if let Some(class) = peers.class { " (" (class.words()) ")" }
                @if peers.has_other_interfaces { " (SATA and NVMe)" }
                "; best on top. Differences under 3\u{a0}% count as ties."
            }
        }
    }
}

/// Returns the grade in words about the run, with its first reasons and those that concern one of `tiles`.
pub(super) fn quality(trust: &Trust, tiles: &[Tile]) -> Markup {
    let Trust { grade: of_run, reasons, doubted, results } = trust;
    let (doubted, results) = (number::count(*doubted as u64), number::count(*results as u64));
    let first = reasons.iter().take(REASONS);
    let first = first.map(|one| one.split_once("in doubt: ").map_or(one.as_str(), |(_, why)| why));
    let of_tiles = tiles.iter().flat_map(|tile| &tile.number.doubts).map(String::as_str);
    let mut shown: Vec<String> = Vec::new();
    // Two tests can have the same doubt.
    for why in first.chain(of_tiles).map(uncapitalised) {
        if !shown.iter().any(|known| known.contains(&why)) {
            shown.push(why);
        }
    }
    let clear = match &*results {
        "1" => "The result is clear".to_owned(),
        "2" => "Both results are clear".to_owned(),
        _ => format!("All {results} results are clear"),
    };
    let first = match of_run {
        Grade::A if shown.is_empty() => clear,
        Grade::A | Grade::B if doubted == "0" => format!("{clear}, some further numbers are not"),
        Grade::A | Grade::B | Grade::C => format!("{doubted} of {results} results unclear"),
        Grade::D => "not to be quoted".to_owned(),
    };
    html! {
        p.trust {
            b { "Measurement quality: " (grade::link(trust)) } ", " (uncapitalised(&first))
            @if !shown.is_empty() { ": " (shown.join("; ")) } "."
        }
    }
}
