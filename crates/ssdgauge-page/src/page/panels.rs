//! The panels of a figure, one for each tab, on a page.

use crate::chart::bars::Ranking;
use crate::chart::coordinate::at;
use crate::chart::heat_map::HeatMap;
use crate::chart::panels::Panel;
use crate::chart::plot::Plot;
use crate::chart::rows::Rows;
use crate::chart::svg::markup;
use crate::page::kit::bars::bars;
use crate::page::kit::mark::{class, name, name_column};
use crate::page::kit::{plot, rows};
use crate::page::one_drive;
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;

/// Returns the charts of `panel`.
pub(super) fn body(panel: &Panel, drives: &ReportDrives) -> Markup {
    html! {
        @if let Some(repeated) = &panel.repeated { (one_drive::repeated(repeated)) }
        @match (&panel.rows, &panel.ranking) {
            _ if panel.repeated.is_some() => {}
            (Some((rows, caption)), _) if !rows.reasons.is_empty() => {
                (with_reasons(rows, caption, drives))
            }
            (Some((rows, _)), Some(ranking)) => {
                div.duo.w85 { div { (rows::list(rows, drives)) } div { (bars(ranking, drives)) } }
            }
            (Some((rows, _)), None) => { (rows::list(rows, drives)) }
            (None, Some(ranking)) => { (ranked(panel, ranking, drives)) }
            (None, None) => {}
        }
        @for below in &panel.below {
            @if !below.caption.is_empty() { p.cap { (below.caption) } }
            (plot::wide(below, drives))
        }
        @if let Some(first) = panel.maps.first() { p.cap { (first.caption()) } }
        @for map in &panel.maps { (heat_map(map)) }
    }
}

/// Returns a map of latencies in the three cuts of a page.
fn heat_map(map: &HeatMap) -> Markup {
    html! {
        p.cap { b { (map.title) } ": " (map.summary()) }
        @for (classes, width) in [("ch wide of3", 1_112.0), ("ch middle", 780.0), ("ch narrow", 358.0)] {
            @let drawn = map.drawn(width);
            svg class=(classes) viewBox={ "0 0 " (at(drawn.width)) " " (at(drawn.height)) } role="img" aria-label=(map.label()) {
                (markup(&drawn.shapes))
            }
        }
    }
}

/// Returns the ranking next to its measure over time.
fn ranked(panel: &Panel, ranking: &Ranking, drives: &ReportDrives) -> Markup {
    match &panel.course {
        Some(plot) if panel.is_alone => {
            html! { p.cap { (ranking.caption) } (plot::wide(plot, drives)) }
        }
        None if panel.is_alone => bars(ranking, drives),
        Some(plot) => duo(plot, ranking, drives),
        None => html! { div.half { (bars(ranking, drives)) } },
    }
}

/// Returns the ranking next to a plot; for a single drive only the plot.
fn duo(plot: &Plot, ranking: &Ranking, drives: &ReportDrives) -> Markup {
    if let [row] = ranking.rows.as_slice() {
        // A latency has its own unit, such as ms, which may differ from that of the measure.
        let (comma, caption) = match ranking.caption.strip_prefix("µs, ") {
            Some(rest) if row.words.ends_with('s') => (", ", rest),
            // Not a unit, but a sentence about the value.
            None if ranking.caption.starts_with(char::is_numeric) => (": ", &*ranking.caption),
            Some(_) | None => (" ", &*ranking.caption),
        };
        return html! { p.cap { b { (row.words) } (comma) (caption) } (plot::wide(plot, drives)) };
    }
    html! {
        div.duo { div { (bars(ranking, drives)) } div { (plot::next_to_ranking(plot, drives)) } }
    }
}

/// Returns the rows of a search, with what stopped it for each drive.
fn with_reasons(rows: &Rows, caption: &str, drives: &ReportDrives) -> Markup {
    let names: Vec<&str> = rows.reasons.iter().map(|(drive, _)| drives.short(*drive)).collect();
    html! {
        div.duo.w85 {
            div { (rows::list(rows, drives)) }
            div {
                p.cap { (caption) }
                ul.bars style=(name_column(&names)) {
                    @for (drive, reason) in &rows.reasons {
                        li class=(class(*drive)) {
                            (name(drives, *drive))
                            span.why { (reason) }
                        }
                    }
                }
            }
        }
    }
}
