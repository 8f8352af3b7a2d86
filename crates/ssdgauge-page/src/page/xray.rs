//! The page of an X-ray: the drive drawn as a cut, and each structure with its meaning, its value and interval or
//! the reason why there is none, and the series that it was read from.
//!
//! It shows what a card holds, and computes nothing.

mod compared;

use super::{document, style};
use crate::chart::xray::chart::chart;
use crate::chart::xray::fact::View;
use crate::chart::xray::picture::{headline, marks, summary};
use crate::chart::xray::{cut, words};
use crate::page::kit::drawn::svg;
pub use compared::xray_compared_page;
use maud::{Markup, html};
use ssdgauge_analysis::text::sanitize;
use ssdgauge_xray::{CheckedCard, Structure, meaning, read_from};

/// The size of a chart next to its structure.
const CHART: (f64, f64) = (330.0, 150.0);

/// The parts of a drive with their structures.
const PARTS: [(&str, &str, &[Structure]); 5] = [
    (
        "link",
        "Link and controller",
        &[Structure::Link, Structure::Command, Structure::WriteBuffer, Structure::Flush],
    ),
    (
        "flash",
        "Flash",
        &[
            Structure::Units,
            Structure::Chunk,
            Structure::PageRead,
            Structure::Suspend,
            Structure::ProgramTime,
            Structure::ProgramUnit,
            Structure::MappingUnit,
            Structure::Volumes,
            Structure::MapReach,
            Structure::Compression,
            Structure::Deduplication,
        ],
    ),
    (
        "cache",
        "Fast cache",
        &[Structure::Cache, Structure::NativeRate, Structure::Folding, Structure::Overflow],
    ),
    ("spare", "Spare area", &[Structure::Spare, Structure::EffectiveSpare, Structure::Separation]),
    ("heat", "Heat", &[Structure::Throttle, Structure::Resume]),
];

/// Returns what `card` found, in one sentence.
pub fn xray_headline(card: &CheckedCard) -> String {
    headline(card)
}

/// Returns the page of `card`. Equal cards give an equal page.
pub fn xray_page(card: &CheckedCard) -> String {
    let name = sanitize::prose(&card.card.drive);
    let title = format!("X-ray of {name}");
    let body = html! {
        (flags(&marks(card)))
        header.page { div.wrap {
            p.kick { (title) }
            h1 { (headline(card)) }
            p.dek { (summary(card)) ". " (refused(card)) }
        } }
        main.wrap {
            section class="use" #cut-through {
                h2 { "Cross-section of the drive" }
                (whole(card))
            }
            @for (id, name, structures) in PARTS {
                @let looked_for: Vec<Structure> = structures.iter().copied()
                    .filter(|one| words::outcome(card, *one).is_some()).collect();
                @if !looked_for.is_empty() {
                    section class="use" #(format!("part-{id}")) {
                        h2 { (name) }
                        div.xg { @for structure in looked_for { (structure_of(card, structure)) } }
                    }
                }
            }
            (conditions(card))
        }
        footer.page { div.wrap {
            "Made by ssdgauge from the card of an X-ray. One file, without scripts, that loads nothing."
        } }
    };
    document((&title, &html! {}), &style::of_xray(), &body, &[])
}

/// Returns the line above the page for `marks`.
fn flags(marks: &[&str]) -> Markup {
    html! {
        @if !marks.is_empty() {
            aside.flag aria-label="Marks of the X-ray" { div.wrap {
                @for mark in marks {
                    p {
                        strong { (mark) } " "
                        @if *mark == "MODEL" {
                            "A virtual drive. The values show how a class of drives behaves, and say nothing \
                             about any product."
                        } @else {
                            "Not every experiment was carried out. What is missing has its reason."
                        }
                    }
                }
            } }
        }
    }
}

/// Returns how many structures have no value.
fn refused(card: &CheckedCard) -> String {
    let refused = card.answers.iter().filter(|answer| answer.outcome.is_err()).count();
    match refused {
        0 => String::new(),
        1 => "One is not identifiable, with the reason.".to_owned(),
        count => format!("{count} are not identifiable, each with the reason."),
    }
}

/// Returns the cut in each of its widths.
fn whole(card: &CheckedCard) -> Markup {
    let label = format!(
        "Cross-section of {}: {}, {}",
        sanitize::prose(&card.card.drive),
        headline(card),
        summary(card)
    );
    let view = View { card, different: &[] };
    html! {
        figure #cut {
            figcaption { h3 { "Parts of the drive, with their values and intervals" } }
            (svg(&cut::wide(view), "ch wide of3 xcut", &label))
            (svg(&cut::middle(view), "ch middle xcut", &label))
            (svg(&cut::narrow(view), "ch narrow xcut", &label))
        }
        @if !card.series.is_empty() {
            p.foot {
                "In the charts below, a dashed grey line is the value, and the band around it is its interval. Bars in \
                 colour are the ones that the value was read from."
            }
        }
    }
}

/// Returns what a structure is, what was found, and the chart that it was read from.
fn structure_of(card: &CheckedCard, structure: Structure) -> Markup {
    // The series of another structure is shown again only where a value was read from it.
    let is_shown = read_from(structure) == structure || words::value_of(card, structure).is_some();
    let drawing = chart(&[card], structure, CHART).filter(|_| is_shown);
    let words = html! {
        p.cond { (meaning(structure)) }
        (found(card, structure))
        p.foot {
            "Read from: " (structure.method()) "."
            @if structure.source() != "own" { " Method: " (structure.source()) "." }
        }
    };
    let title = words::title(structure);
    html! {
        @if let Some(drawing) = drawing {
            figure.xstr #(structure.key()) {
                figcaption { h3 { (title) } (words) }
                (svg(&drawing, "ch", &chart_label(card, structure)))
            }
        } @else {
            div.xstr #(structure.key()) { div { h3 { (title) } (words) } }
        }
    }
}

/// Returns the value with its interval, or why there is none.
fn found(card: &CheckedCard, structure: Structure) -> Markup {
    html! {
        @match words::outcome(card, structure) {
            Some(Ok(value)) => {
                @let interval = words::interval(structure, value);
                p.xval {
                    b { (words::value(structure, value)) }
                    @if !interval.is_empty() { " " span { (interval) } }
                }
            }
            Some(Err(reason)) => p.xno { b { "Not identifiable, " } (words::because(reason)) "." },
            None => p.xno { b { "Not examined." } },
        }
    }
}

/// Returns the text of the chart of `structure`.
fn chart_label(card: &CheckedCard, structure: Structure) -> String {
    let title = words::title(structure);
    match words::value_of(card, structure) {
        Some(value) => format!(
            "{title}: {} {}",
            words::value(structure, &value),
            words::interval(structure, &value)
        ),
        None => format!("{title}: the series from which no value was read"),
    }
}

/// Returns what the values hold for, and the findings of the card.
fn conditions(card: &CheckedCard) -> Markup {
    let doubts = card.card.findings.iter().filter(|finding| finding.severity != "note");
    html! {
        section class="use" #conditions {
            h2 { "Conditions" }
            ul.flat {
                @for finding in doubts {
                    li {
                        b { (sanitize::prose(&finding.severity)) ": " }
                        (sanitize::prose(&finding.text)) ". " (sanitize::prose(&finding.advice))
                    }
                }
                li { "The cache, its rates and its folding are those of a trimmed drive." }
                li { "Values count for one temperature and one age of the drive; program times grow with wear." }
                li {
                    "An interval comes from the scatter of the data, with a least width for what a method cannot \
                     separate. A structure that never limits the drive is not seen."
                }
            }
        }
    }
}
