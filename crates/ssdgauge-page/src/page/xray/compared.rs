//! The page of two X-rays: both cuts side by side with what differs marked, and each series over the other one.

use super::{document, flags, style};
use crate::chart::xray::chart::chart;
use crate::chart::xray::fact::View;
use crate::chart::xray::picture::{marks, summary};
use crate::chart::xray::{cut, words};
use crate::page::kit::drawn::svg;
use maud::{Markup, html};
use ssdgauge_analysis::text::case::capital;
use ssdgauge_analysis::text::sanitize;
use ssdgauge_xray::{CheckedCard, Compared, Identified, Likeness, Structure, meaning, read_from};

/// The size of a chart of both drives.
const CHART: (f64, f64) = (330.0, 160.0);
/// The names of both drives.
const NAMES: [&str; 2] = ["A", "B"];

/// Returns the page of two `cards` that are `compared`; `sentence` is what the comparison amounts to.
pub fn xray_compared_page(
    cards: [&CheckedCard; 2],
    compared: &[Compared],
    sentence: &str,
) -> String {
    let different: Vec<Structure> = compared
        .iter()
        .filter(|one| one.likeness == Likeness::Different)
        .map(|one| one.structure)
        .collect();
    let both = || NAMES.into_iter().zip(cards);
    let all_marks: Vec<&str> = cards.iter().flat_map(|card| marks(card)).collect();
    let mut shown_marks = Vec::new();
    for mark in all_marks {
        if !shown_marks.contains(&mark) {
            shown_marks.push(mark);
        }
    }
    let body = html! {
        (flags(&shown_marks))
        header.page { div.wrap {
            p.kick { "X-rays of two drives" }
            h1 { (capital(&sanitize::prose(sentence))) }
            @for (name, card) in both() {
                p.dek {
                    b { (name) } " " (sanitize::prose(&card.card.drive))
                    @if card.card.is_model && !card.card.drive.contains("MODEL") { " (MODEL)" }
                    ": " (summary(card))
                }
            }
        } }
        main.wrap {
            section class="use" #both {
                h2 { "Both cross-sections" }
                p { "Framed structures differ: their intervals have no value in common." }
                div.xtwo {
                    @for (name, card) in both() {
                        figure id=(format!("cut-{}", name.to_lowercase())) {
                            figcaption { h3 { (name) " " (sanitize::prose(&card.card.drive)) } }
                            @let view = View { card, different: &different };
                            (svg(&cut::narrow(view), "ch xcut", &format!("Cross-section of {name}: {}", summary(card))))
                        }
                    }
                }
            }
            section class="use" #structures {
                h2 { "Every structure" }
                p {
                    "The same: each value lies within the interval of the other. Different: the intervals have no \
                     value in common. Everything else is not decided."
                }
                div.xg { @for one in compared { (row(cards, one)) } }
            }
        }
        footer.page { div.wrap {
            "Made by ssdgauge from the cards of two X-rays. One file, without scripts, that loads nothing."
        } }
    };
    document(("X-rays of two drives", &html! {}), &style::of_xray(), &body, &[])
}

/// Returns a structure of both drives, with the series of both in one chart.
fn row(cards: [&CheckedCard; 2], compared: &Compared) -> Markup {
    let structure = compared.structure;
    let title = words::title(structure);
    let (class, word) = match compared.likeness {
        Likeness::Same => ("xsame", "the same"),
        Likeness::Different => ("xdiff", "different"),
        Likeness::NotDecided => ("xopen", "not decided"),
    };
    let words = html! {
        p.cond { (meaning(structure)) }
        p.small { span class=(class) { (capital(&sanitize::prose(word))) } (stated(compared)) }
        @for (name, outcome) in NAMES.into_iter().zip(&compared.outcomes) {
            (found(name, structure, outcome.as_ref()))
        }
    };
    let is_own = read_from(structure) == structure;
    let drawing = chart(&cards, structure, CHART).filter(|_| is_own);
    html! {
        @if let Some(drawing) = drawing {
            figure.xstr #(structure.key()) {
                figcaption { h3 { (title) } (words) }
                (svg(&drawing, "ch", &format!("{title} of A and B: {word}")))
            }
        } @else {
            div.xstr #(structure.key()) { div { h3 { (title) } (words) } }
        }
    }
}

/// Returns what else a difference of this structure depends on.
fn stated(compared: &Compared) -> String {
    let is_outside = !compared.structure.is_inside();
    match (&compared.reason, compared.likeness == Likeness::Different && is_outside) {
        (Some(reason), _) => format!(": {reason}"),
        (None, true) => ", also by slot, host or cooling".into(),
        (None, false) => String::new(),
    }
}

fn found(name: &str, structure: Structure, outcome: Option<&Identified>) -> Markup {
    html! {
        @match outcome {
            Some(Ok(value)) => {
                p.xval {
                    (name) " " b { (words::value(structure, value)) } " "
                    span { (words::interval(structure, value)) }
                }
            }
            Some(Err(reason)) => {
                p.xno { (name) " " b { "Not identifiable, " } (words::because(reason)) "." }
            }
            None => p.xno { (name) " " b { "Not examined." } },
        }
    }
}
