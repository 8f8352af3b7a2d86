//! Findings at each test and at each run.

use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::groups::group::Group;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::text::case::capital;
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::{Finding, Severity};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// More notes than this are folded.
const UNFOLDED: usize = 2;

/// One finding with the steps or drives that it concerns.
struct Entry<'a> {
    finding: &'a Finding,
    places: Vec<String>,
}

/// Findings of equal text and severity as one entry.
#[derive(Default)]
struct Entries<'a> {
    list: Vec<Entry<'a>>,
    /// The place of each entry in the list: a file can hold tens of thousands.
    known: BTreeMap<(&'a str, Severity), usize>,
}

/// Returns the findings of the tests in `group`.
pub(super) fn group_findings(group: &Group<'_>, drives: &ReportDrives) -> Markup {
    let mut entries = Entries::default();
    for member in &group.members {
        for of_step in &member.test.findings {
            let place = match (&of_step.step, drives.count() > 1) {
                (Some(step), true) => {
                    format!(
                        "{}, {}",
                        drives.short(drives.drive_of(member.index)),
                        sanitize::step(step)
                    )
                }
                (Some(step), false) => sanitize::step(step),
                (None, true) => drives.short(drives.drive_of(member.index)).to_owned(),
                (None, false) => String::new(),
            };
            entries.add(&of_step.finding, place);
        }
    }
    let (notes, serious): (Vec<_>, Vec<_>) =
        entries.list.into_iter().partition(|entry| entry.finding.severity == Severity::Note);
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
    let mut entries = Entries::default();
    for finding in &run.findings {
        entries.add(finding, String::new());
    }
    html! { @if !entries.list.is_empty() { (list(entries.list)) } }
}

impl<'a> Entries<'a> {
    fn add(&mut self, finding: &'a Finding, place: String) {
        let next = self.list.len();
        let number = *self.known.entry((&finding.text, finding.severity)).or_insert(next);
        if number == next {
            self.list.push(Entry { finding, places: Vec::new() });
        }
        let places = &mut self.list[number].places;
        if !place.is_empty() && !places.contains(&place) {
            places.push(place);
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
