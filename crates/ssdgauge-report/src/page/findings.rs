//! Findings in words, beside the numbers that they touch.

use crate::clean;
use crate::figure::Cast;
use crate::group::Group;
use crate::json::severity;
use crate::run::{PlacedFinding, Run};
use maud::{Markup, html};
use ssdgauge_core::{Finding, Severity};
use std::cmp::Reverse;

/// More notes than this are folded.
const UNFOLDED: usize = 2;

/// One finding with everything that it was found in.
struct Entry<'a> {
    finding: &'a Finding,
    places: Vec<String>,
}

/// Returns the findings of all runs that are more than a note, or a sentence that there are none.
pub(super) fn worst(runs: &[Run], cast: &Cast) -> Markup {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut notes = 0;
    for (run, name) in runs.iter().zip(&cast.names) {
        for PlacedFinding { test, finding, .. } in run.all_findings() {
            if finding.severity == Severity::Note {
                notes += 1;
                continue;
            }
            let test = test.map_or("whole run".to_owned(), |test| clean::prose(&test.title));
            let place = if runs.len() > 1 { format!("{name}, {test}") } else { test };
            add(&mut entries, finding, place);
        }
    }
    html! {
        @if entries.is_empty() {
            p.small {
                "No warnings."
                @if notes > 0 { " " (notes) " notes stand beside the tests that they touch." }
            }
        } @else {
            h3 { "What bears on these numbers" }
            (list(entries))
        }
    }
}

/// Returns the findings of the tests in `group`.
pub(super) fn of_group(group: &Group<'_>, cast: &Cast) -> Markup {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for member in &group.members {
        for of_step in &member.test.findings {
            let place = match (&of_step.step, cast.count() > 1) {
                (Some(step), true) => {
                    format!("{}, {}", cast.names[member.index], clean::prose(step))
                }
                (Some(step), false) => clean::prose(step),
                (None, true) => cast.names[member.index].clone(),
                (None, false) => String::new(),
            };
            add(&mut entries, &of_step.finding, place);
        }
    }
    let (notes, serious): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| entry.finding.severity == Severity::Note);
    html! {
        @if !serious.is_empty() { (list(serious)) }
        @if notes.len() > UNFOLDED {
            details { summary { (notes.len()) " notes on what is missing or special" } (list(notes)) }
        } @else if !notes.is_empty() {
            (list(notes))
        }
    }
}

/// Returns the findings that belong to whole runs.
pub(super) fn of_run(run: &Run) -> Markup {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for finding in &run.findings {
        add(&mut entries, finding, String::new());
    }
    html! { @if !entries.is_empty() { (list(entries)) } }
}

fn add<'a>(entries: &mut Vec<Entry<'a>>, finding: &'a Finding, place: String) {
    let known = entries.iter_mut().find(|entry| {
        entry.finding.text == finding.text && entry.finding.severity == finding.severity
    });
    match known {
        Some(entry) if place.is_empty() || entry.places.contains(&place) => {}
        Some(entry) => entry.places.push(place),
        None => {
            let places = if place.is_empty() { Vec::new() } else { vec![place] };
            entries.push(Entry { finding, places });
        }
    }
}

fn list(mut entries: Vec<Entry<'_>>) -> Markup {
    entries.sort_by_key(|entry| Reverse(entry.finding.severity));
    html! {
        ul.findings {
            @for entry in entries {
                @let word = severity(entry.finding.severity);
                li class=(word) {
                    span.badge { (word) } " "
                    @if !entry.places.is_empty() { b { (places(&entry.places)) ": " } }
                    (clean::prose(&entry.finding.text)) "."
                    @if !entry.finding.advice.is_empty() {
                        " " span.advice { (capital(&clean::prose(&entry.finding.advice))) "." }
                    }
                }
            }
        }
    }
}

fn places(places: &[String]) -> String {
    const MOST: usize = 4;
    match places.len() > MOST {
        true => format!("{} and {} more", places[..MOST].join("; "), places.len() - MOST),
        false => places.join("; "),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
