//! One chart on the page: the picture for wide and for narrow windows, and its numbers.

use crate::figure::chart::{Chart, Drawing, Table};
use crate::figure::draw::{self, Dimensions, Frame, Theme};
use maud::{Markup, PreEscaped, html};

/// A table with more rows than this is folded.
const FOLDED: usize = 8;

/// Returns `chart` for wide and for narrow windows, of which the style sheet shows one, with its
/// numbers.
pub(super) fn figure(chart: &Chart, id: &str) -> Markup {
    let drawn = |dimensions: &Dimensions, suffix: &str| {
        draw::svg(chart, Theme::Page, &Frame::default(), dimensions, &format!("{id}{suffix}"))
    };
    // Bars show their values, so their table serves screen readers only and is folded.
    let long = match &chart.drawing {
        Drawing::Bars { .. } => true,
        Drawing::Lines { .. } => chart.table.rows.len() > FOLDED,
    };
    let label = format!("{}. The data is in the table below.", chart.title);
    html! {
        figure {
            figcaption id={ (id) "-caption" } {
                strong { (chart.title) }
                @for note in &chart.notes { " " span.note { (note) } }
            }
            div.chart.wide role="img" aria-label=(label) { (PreEscaped(drawn(&Dimensions::WIDE, ""))) }
            div.chart.narrow role="img" aria-label=(label) {
                (PreEscaped(drawn(&Dimensions::NARROW, "n")))
            }
            @if long {
                details {
                    summary { "Data of this chart (" (chart.table.rows.len()) " rows)" }
                    (table(&chart.table))
                }
            } @else {
                (table(&chart.table))
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                @for (place, head) in table.head.iter().enumerate() {
                    th.n[place > 0] scope="col" { (head) }
                }
            } }
            tbody {
                @for row in &table.rows {
                    tr {
                        @for (place, cell) in row.iter().enumerate() {
                            @if place == 0 { th scope="row" { (cell) } }
                            @else { td.n { (cell) } }
                        }
                    }
                }
            }
        } }
    }
}
