//! Findings at each test and at each run.

use crate::analysis::group::Group;
use crate::analysis::report_drives::ReportDrives;
use crate::model::Run;
use crate::text::sanitize;
use maud::{Markup, html};
use ssdgauge_core::{Finding, Severity};
use std::cmp::Reverse;

/// More notes than this are folded.
const UNFOLDED: usize = 2;

/// One finding with the steps or drives that it concerns.
struct Entry<'a> {
    finding: &'a Finding,
    places: Vec<String>,
}

/// Returns the findings of the tests in `group`.
pub(super) fn group_findings(group: &Group<'_>, drives: &ReportDrives) -> Markup {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for member in &group.members {
        for of_step in &member.test.findings {
            let place = match (&of_step.step, drives.count() > 1) {
                (Some(step), true) => {
                    format!(
                        "{}, {}",
                        drives.short(drives.drive_of(member.index)),
                        sanitize::prose(step)
                    )
                }
                (Some(step), false) => sanitize::prose(step),
                (None, true) => drives.short(drives.drive_of(member.index)).to_owned(),
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
            @for entry in entries { (item(entry.finding, &places(&entry.places))) }
        }
    }
}

/// Returns one finding with its place.
fn item(finding: &Finding, place: &str) -> Markup {
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
            (advice)
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
