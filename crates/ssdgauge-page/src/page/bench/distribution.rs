//! How the results of a test are distributed over the drives.

use crate::chart::coordinate::at;
use crate::page::bench::chart::Places;
use crate::page::bench::standing;
use maud::{Markup, html};
use ssdgauge_analysis::bench::board::{Bench, Board, Entry};
use ssdgauge_analysis::text::number;
use ssdgauge_core::rounded::count_of;
use ssdgauge_statistics::summary::quantile;

/// The columns of the chart. Chosen: each is 10 pixels wide.
const COLUMNS: usize = 48;

/// Fewer drives than this are read from the table.
const FEWEST: usize = 8;

/// Returns the columns of `board` with quartiles in words; nothing for a few drives.
pub(super) fn figure(bench: &Bench, board: &Board) -> Markup {
    let ranked: Vec<&Entry> = board.entries.iter().filter(|entry| entry.rank.is_some()).collect();
    let value = |entry: &&Entry| bench.result(entry).1.headline.0.value;
    let mut values: Vec<f64> = ranked.iter().filter_map(value).collect();
    values.sort_by(f64::total_cmp);
    let quartile = |share| quantile(&values, share);
    let (Some(low), Some(middle), Some(high)) = (quartile(0.25), quartile(0.5), quartile(0.75))
    else {
        return html! {};
    };
    if ranked.len() < FEWEST {
        return html! {};
    }
    let metric = bench.shown(board).1.headline.0.metric;
    let places = Places::new(bench, &ranked);
    let mut counts = [0_usize; COLUMNS];
    for entry in &ranked {
        let column = COLUMNS as f64 * standing::share(bench, entry, &places);
        counts[(column as usize).min(COLUMNS - 1)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1) as f64;
    let column = |(place, count): (usize, &usize)| {
        let height = 60.0 * *count as f64 / most;
        format!("M{} 60v-{}h8v{}z", 10 * place + 1, at(height), at(height))
    };
    let columns: String =
        counts.iter().enumerate().filter(|(_, count)| **count > 0).map(column).collect();
    let [from, to] = places.ends(metric);
    let words = |value: f64| number::measured(value, metric);
    let said = format!(
        "Half of the {} are between {} and {}; the median is {}.",
        count_of(ranked.len(), "ranked drive"),
        words(low),
        words(high),
        words(middle)
    );
    html! {
        figure.one {
            svg.ch viewBox="0 0 480 62" role="img" aria-label={ "Number of drives by result. " (said) } {
                path.columns d=(columns) {}
                path.ax d="M0 60.5H480" {}
            }
            div.axis {
                small { (from) }
                small { @if places.is_log() { "logarithmic; " } "right is better" }
                small { (to) }
            }
            figcaption.small { (said) " The highest column has " (count_of(most as usize, "drive")) "." }
        }
    }
}
