//! Caveats: one line for each kind of finding, with what it means, its count and its drives.

use crate::analysis::comparability;
use crate::analysis::finding_words;
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::trust;
use crate::model::{CachePlace, LocatedFinding, Run};
use crate::page::kit::mark::{class, icon};
use crate::text::number;
use crate::text::sanitize;
use maud::{Markup, html};
use ssdgauge_core::{Finding, FindingKind};
use std::cmp::Reverse;

/// More lines than this are folded.
const UNFOLDED: usize = 7;

/// More drives than this are counted in place of their marks.
const MAX_MARKS: usize = 14;

/// All findings of one kind.
struct Line<'a> {
    first: &'a Finding,
    is_doubt: bool,
    n: usize,
    drives: Vec<usize>,
}

/// Returns the list of caveats.
pub(super) fn list(runs: &[Run], drives: &ReportDrives) -> Markup {
    let mut lines = lines(runs, drives);
    let sentences = comparability::sentences(runs, drives);
    let unknown = unknown_caches(runs);
    let rest = lines.split_off(lines.len().min(UNFOLDED));
    html! {
        @if lines.is_empty() && sentences.is_empty() && unknown == 0 { p.small { "None." } }
        ul.cav {
            @for sentence in sentences { li { span { (sentence) } } }
            @for line in &lines { (item(line, drives)) }
            @if unknown > 0 {
                li { span {
                    b { "State of the cache unknown" } " in " (number::count(unknown))
                    " steps: the size of the cache is known too roughly."
                } }
            }
        }
        @if !rest.is_empty() {
            details.fold {
                summary { (rest.len()) " more kinds of notes" }
                ul.cav { @for line in &rest { (item(line, drives)) } }
            }
        }
    }
}

fn item(line: &Line<'_>, drives: &ReportDrives) -> Markup {
    let kind = line.first.kind;
    html! {
        li class=(line.first.severity.name()) {
            span {
                b { (finding_words::title(kind)) } ". "
                @match finding_words::meaning(kind) {
                    Some(meaning) if line.n > 1 => { (meaning) }
                    Some(_) | None => { (sentence(&line.first.text)) (advice(line.first)) }
                }
                " " small { (count(line.n)) }
            }
            @if line.drives.len() > MAX_MARKS {
                span.who { small { (number::count(line.drives.len() as u64)) " " (drives.those()) } }
            } @else if drives.count() > 1 {
                span.who {
                    @for drive in &line.drives {
                        span class=(class(*drive)) title=(drives.short(*drive)) {
                            (icon(drives, *drive))
                        }
                    }
                }
            }
        }
    }
}

fn count(n: usize) -> String {
    if n == 1 { "1 finding".to_owned() } else { format!("{} findings", number::count(n as u64)) }
}

fn sentence(text: &str) -> String {
    format!("{}.", crate::analysis::statements::capital(&number::spaced(&sanitize::prose(text))))
}

fn advice(finding: &Finding) -> String {
    match finding.advice.is_empty() {
        true => String::new(),
        false => format!(" {}", sentence(&finding.advice)),
    }
}

/// Returns a line for each kind, those that put numbers in doubt first, then the most frequent. What
/// the flag above the page says has no line.
fn lines<'a>(runs: &'a [Run], drives: &ReportDrives) -> Vec<Line<'a>> {
    const FLAGS: [FindingKind; 3] =
        [FindingKind::Model, FindingKind::Shortened, FindingKind::SpanScaled];
    let mut lines: Vec<Line<'a>> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let drive = drives.drive_of(index);
        for LocatedFinding { test, finding, .. } in run.all_findings() {
            let is_doubt = trust::is_doubt(finding, test);
            let is_intended = trust::is_intended(finding.kind, test);
            if FLAGS.contains(&finding.kind) || is_intended {
                continue;
            }
            let same = |line: &&mut Line<'_>| {
                line.first.kind == finding.kind && line.first.severity == finding.severity
            };
            match lines.iter_mut().find(same) {
                Some(line) => {
                    line.n += 1;
                    if !line.drives.contains(&drive) {
                        line.drives.push(drive);
                    }
                }
                None => lines.push(Line { first: finding, is_doubt, n: 1, drives: vec![drive] }),
            }
        }
    }
    let key = |line: &Line<'_>| (line.first.severity, line.is_doubt, line.n);
    lines.sort_by_key(|line| Reverse(key(line)));
    lines
}

/// Returns in how many steps the state of the cache is unknown.
fn unknown_caches(runs: &[Run]) -> u64 {
    let points = runs.iter().flat_map(|run| &run.tests).flat_map(|test| &test.points);
    points.filter(|point| point.cache == Some(CachePlace::Unknown)).count() as u64
}
