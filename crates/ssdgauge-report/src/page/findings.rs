//! Findings in the summary, at each test and at each run.

use crate::analysis::group::Group;
use crate::analysis::report_drives::ReportDrives;
use crate::model::{LocatedFinding, Run};
use crate::text::sanitize;
use maud::{Markup, html};
use ssdgauge_core::{Finding, Severity};
use std::cmp::Reverse;

/// More notes than this are folded.
const UNFOLDED: usize = 2;

/// More warnings than this at the top are folded; each is also listed at its test.
const MOST_WORST: usize = 5;

/// One finding with the steps or drives that it concerns.
struct Entry<'a> {
    finding: &'a Finding,
    places: Vec<String>,
}

/// All findings of one kind and severity on one drive: one line at the top.
struct Worst<'a> {
    finding: &'a Finding,
    name: &'a str,
    tests: Vec<String>,
    /// How many findings of this kind there are.
    n: usize,
}

/// Returns the warnings and invalidations of all runs, or a sentence that there are none.
pub(super) fn worst(runs: &[Run], drives: &ReportDrives) -> Markup {
    let mut all: Vec<Worst<'_>> = Vec::new();
    let mut notes = 0;
    for (run, name) in runs.iter().zip(&drives.names) {
        for LocatedFinding { test, finding, .. } in run.all_findings() {
            if finding.severity == Severity::Note {
                notes += 1;
                continue;
            }
            let test = test.map_or("whole run".to_owned(), |test| sanitize::prose(&test.title));
            let same = |known: &&mut Worst<'_>| {
                known.name == name
                    && known.finding.kind == finding.kind
                    && known.finding.severity == finding.severity
            };
            match all.iter_mut().find(same) {
                Some(known) => {
                    known.n += 1;
                    if !known.tests.contains(&test) {
                        known.tests.push(test);
                    }
                }
                None => all.push(Worst { finding, name, tests: vec![test], n: 1 }),
            }
        }
    }
    all.sort_by_key(|worst| Reverse(worst.finding.severity));
    let several = runs.len() > 1;
    html! {
        @if all.is_empty() {
            p.small {
                "No warnings."
                @if notes > 0 { " " (notes) " notes are listed at the tests that they concern." }
            }
        } @else {
            h3 { "Caveats" }
            @let rest = all.split_off(all.len().min(MOST_WORST));
            ul.findings { @for worst in &all { (worst_item(worst, several)) } }
            @if !rest.is_empty() {
                details.more {
                    summary { (rest.len()) " more warnings" }
                    ul.findings { @for worst in &rest { (worst_item(worst, several)) } }
                }
            }
        }
    }
}

fn worst_item(worst: &Worst<'_>, several: bool) -> Markup {
    let tests = places(&worst.tests);
    let place = if several { format!("{}, {tests}", worst.name) } else { tests };
    html! {
        (item(worst.finding, &place, |advice| html! {
            @if worst.n > 1 {
                " First of " (worst.n) " findings of this kind; each is listed at its test."
            }
            (advice)
        }))
    }
}

/// Returns the findings of the tests in `group`.
pub(super) fn group_findings(group: &Group<'_>, drives: &ReportDrives) -> Markup {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for member in &group.members {
        for of_step in &member.test.findings {
            let place = match (&of_step.step, drives.count() > 1) {
                (Some(step), true) => {
                    format!("{}, {}", drives.names[member.index], sanitize::prose(step))
                }
                (Some(step), false) => sanitize::prose(step),
                (None, true) => drives.names[member.index].clone(),
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
            details { summary { (notes.len()) " notes" } (list(notes)) }
        } @else if !notes.is_empty() {
            (list(notes))
        }
    }
}

/// Returns the findings that belong to whole runs.
pub(super) fn run_findings(run: &Run) -> Markup {
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
            @for entry in entries { (item(entry.finding, &places(&entry.places), |advice| advice)) }
        }
    }
}

/// Returns one finding with its place; `end` may add text before the advice.
fn item(finding: &Finding, place: &str, end: impl Fn(Markup) -> Markup) -> Markup {
    let word = finding.severity.name();
    let advice = html! {
        @if !finding.advice.is_empty() {
            " " span.advice { (capital(&sanitize::prose(&finding.advice))) "." }
        }
    };
    html! {
        li class=(word) {
            span.badge { (word) } " "
            @if !place.is_empty() { b { (place) ": " } }
            (sanitize::prose(&finding.text)) "."
            (end(advice))
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
