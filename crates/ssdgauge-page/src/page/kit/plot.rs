//! Lines over two axes on a page, for wide windows, for tablets and paper, and for phones.

use crate::chart::axis::AcrossScale;
use crate::chart::band::Band;
use crate::chart::coordinate::at;
use crate::chart::lines::{cut, drawn};
use crate::chart::plot::{Cut, Plot, Room, Series, TOP};
use crate::chart::svg::markup;
use crate::page::kit::values::{self, ValueRow};
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;

/// Returns `plot` over the whole width of the page.
pub(crate) fn wide(plot: &Plot, drives: &ReportDrives) -> Markup {
    cuts(plot, drives, (1_112.0, 390.0), (780.0, 280.0))
}

/// Returns `plot` over the whole width of the page, half as high.
pub(crate) fn low(plot: &Plot, drives: &ReportDrives) -> Markup {
    cuts(plot, drives, (1_112.0, 200.0), (780.0, 190.0))
}

/// Returns `plot` next to a ranking.
pub(crate) fn next_to_ranking(plot: &Plot, drives: &ReportDrives) -> Markup {
    cuts(plot, drives, (660.0, 300.0), (440.0, 240.0))
}

fn cuts(plot: &Plot, drives: &ReportDrives, wide: (f64, f64), middle: (f64, f64)) -> Markup {
    let band = Band::new(plot, drives);
    let band = band.as_ref();
    let rows: Vec<ValueRow<'_>> = plot.lines.iter().map(value_row).collect();
    html! {
        @for (room, classes, size) in [
            (Room::Wide, "ch wide of3", wide),
            (Room::Middle, "ch middle", middle),
            (Room::Narrow, "ch narrow", (358.0, 290.0)),
        ] {
            @let cut = cut(plot, band, drives, room, size);
            svg class=(classes) viewBox={ "0 0 " (at(cut.width)) " " (at(cut.height)) } role="img"
                aria-label=(plot.label) data-zoom=[zoom(plot, &cut)]
            {
                (markup(&drawn(plot, band, drives, &cut).shapes))
            }
        }
        @if let Some(band) = band {
            p.more.rest { (band.words()) " " label for="all-rows" { "Show all lines" } }
        }
        (values::fold(&plot.label, &rows, drives))
    }
}

fn value_row(line: &Series) -> ValueRow<'_> {
    let values = line.values.iter().map(|(_, _, words)| words.as_str());
    ValueRow { drive: line.drive, name: None, values: values.collect() }
}

/// Returns what the script needs to enlarge a part of the chart: the edges of the plot, the end of its
/// axis, and the end of its first part, 0 without one; `None` for a chart without time or amount across,
/// and for phones, where a finger scrolls.
fn zoom(plot: &Plot, cut: &Cut) -> Option<String> {
    let (end, first) = match plot.across.scale {
        AcrossScale::Places(_) => return None,
        AcrossScale::To(end) => (end, 0.0),
        AcrossScale::TwoSpeeds { cut, end } => (end, cut),
    };
    let edges = [cut.left, cut.width - cut.right, TOP, cut.bottom()].map(at).join(" ");
    (plot.rays.is_empty() && !cut.is_narrow()).then(|| format!("{edges} {end} {first}"))
}
