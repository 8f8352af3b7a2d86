//! Caveats: one line for each kind of finding, with what it means, its count and its drives.

use crate::page::kit::mark::{class, icon};
use maud::{Markup, html};
use ssdgauge_analysis::drives::comparability;
use ssdgauge_analysis::drives::drive_slots::SLOTS;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::findings::finding_lines;
use ssdgauge_analysis::findings::finding_words;
use ssdgauge_analysis::findings::trust;
use ssdgauge_analysis::model::{CachePlace, LocatedFinding, Run, TestRun};
use ssdgauge_analysis::steps::steady_state;
use ssdgauge_analysis::text::interval;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::Finding;
use std::cmp::Reverse;

/// More lines than this are folded.
const UNFOLDED: usize = 7;

/// More drives than this are counted in place of their marks.
const MAX_MARKS: usize = 14;

/// The maximum number of names of drives in a line.
const MAX_NAMES: usize = 4;

/// All findings of one kind.
struct Line<'a> {
    first: &'a Finding,
    is_doubt: bool,
    n: usize,
    /// The titles of its tests; empty for findings on a whole run.
    tests: Vec<&'a str>,
    /// Whether its findings differ in their words.
    differ: bool,
    drives: Vec<usize>,
}

/// Returns the list of caveats.
pub(super) fn list(runs: &[Run], drives: &ReportDrives) -> Markup {
    let mut lines = lines(runs, drives);
    let sentences = comparability::sentences(runs, drives);
    let unknown = unknown_caches(runs);
    let unsteady = titled(runs, drives, steady_state::is_never_steady);
    let flattered = titled(runs, drives, |test| interval::flattered(&test.headline).is_some());
    let rest = lines.split_off(lines.len().min(UNFOLDED));
    html! {
        @if lines.is_empty() && sentences.is_empty() && unknown == 0 && unsteady.is_empty() && flattered.is_empty() { p.small { "None." } }
        ul.cav {
            @for sentence in sentences { li { span { (sentence) } } }
            @for line in &lines { (item(line, drives)) }
            (of_tests(&unsteady, &WITHOUT_STEADY_STATE, drives))
            (of_tests(&flattered, &FLATTERED, drives))
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
                    None if line.differ => {
                        "For example: " (ssdgauge_analysis::text::case::uncapitalised(&sentence(&line.first.text)))
                        (advice(line.first))
                    }
                    Some(_) | None => { (sentence(&line.first.text)) (advice(line.first)) }
                }
                @if !line.tests.is_empty() { " In " (sanitize::prose(&titles(line.tests.iter().copied()))) "." }
                " " small { (count(line.n)) }
            }
            (who(&line.drives, drives))
        }
    }
}

fn count(n: usize) -> String {
    if n == 1 { "1 finding".to_owned() } else { format!("{} findings", number::count(n as u64)) }
}

fn sentence(text: &str) -> String {
    format!("{}.", ssdgauge_analysis::text::case::capital(&number::spaced(&sanitize::prose(text))))
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
    let mut lines: Vec<Line<'a>> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let drive = drives.drive_of(index);
        for LocatedFinding { test, finding, .. } in run.all_findings() {
            let is_doubt = trust::is_doubt(finding, test);
            let is_intended = trust::is_intended(finding.kind, test);
            if finding_words::MARKED.contains(&finding.kind) || is_intended {
                continue;
            }
            let same = |line: &&mut Line<'_>| {
                line.first.kind == finding.kind && line.first.severity == finding.severity
            };
            match lines.iter_mut().find(same) {
                Some(line) => {
                    line.n += 1;
                    line.tests.extend(test.map(|test| test.title.as_str()));
                    line.differ |= line.first.text != finding.text;
                    if !line.drives.contains(&drive) {
                        line.drives.push(drive);
                    }
                }
                None => lines.push(Line {
                    first: finding,
                    is_doubt,
                    n: 1,
                    tests: test.map(|test| test.title.as_str()).into_iter().collect(),
                    differ: false,
                    drives: vec![drive],
                }),
            }
        }
    }
    let key = |line: &Line<'_>| (line.first.severity, line.is_doubt, line.n);
    lines.sort_by_key(|line| Reverse(key(line)));
    lines
}

/// Returns the title of each test whose result `holds`, with its drive.
fn titled(
    runs: &[Run],
    drives: &ReportDrives,
    holds: impl Fn(&TestRun) -> bool,
) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let tests = run.tests.iter().filter(|test| holds(test));
        found.extend(tests.map(|test| (sanitize::prose(&test.test.title), drives.drive_of(index))));
    }
    found
}

/// A caveat that concerns results of tests: its name, and what it means.
struct OfTests {
    name: &'static str,
    meaning: &'static str,
}

const WITHOUT_STEADY_STATE: OfTests = OfTests {
    name: "No steady state",
    meaning: "By the criterion of SNIA over minutes: the result is that of the scored part, and a \
              longer run may end elsewhere.",
};

const FLATTERED: OfTests = OfTests {
    name: "Faster start excluded",
    meaning: "The result (marked †) excludes the faster start, which longer work does not have. The rule of the \
              test includes it.",
};

/// Returns the line of `tests`; nothing without any.
fn of_tests(tests: &[(String, usize)], caveat: &OfTests, drives: &ReportDrives) -> Markup {
    let titles = titles(tests.iter().map(|(title, _)| title.as_str()));
    let mut of_drives: Vec<usize> = tests.iter().map(|(_, drive)| *drive).collect();
    of_drives.sort_unstable();
    of_drives.dedup();
    html! {
        @if !tests.is_empty() {
            li.warning {
                span {
                    b { (caveat.name) } ". " (caveat.meaning) " In " (titles) ". "
                    small { (results(tests.len())) }
                }
                (who(&of_drives, drives))
            }
        }
    }
}

/// Returns the first of `titles`, each once, and how many others there are.
fn titles<'a>(titles: impl Iterator<Item = &'a str>) -> String {
    let mut titles: Vec<&str> = titles.collect();
    titles.sort_unstable();
    titles.dedup();
    finding_lines::named(&titles)
}

fn results(n: usize) -> String {
    if n == 1 { "1 result".to_owned() } else { format!("{} results", number::count(n as u64)) }
}

/// Returns the marks of `of_drives`, or their number where they are many.
fn who(of_drives: &[usize], drives: &ReportDrives) -> Markup {
    html! {
        @if of_drives.len() > MAX_MARKS {
            span.who { small { (number::count(of_drives.len() as u64)) " " (drives.those()) } }
        } @else if drives.count() > 1 {
            span.who {
                @for drive in of_drives {
                    span class=(class(*drive)) title=(drives.short(*drive)) { (icon(drives, *drive)) }
                }
                // More drives than colours: their marks alone do not tell them apart.
                @if drives.count() > SLOTS && of_drives.len() <= MAX_NAMES {
                    small {
                        " "
                        @for (number, drive) in of_drives.iter().enumerate() {
                            @if number > 0 { ", " }
                            (drives.short(*drive))
                        }
                    }
                }
            }
        }
    }
}

/// Returns in how many steps the state of the cache is unknown.
fn unknown_caches(runs: &[Run]) -> u64 {
    let points = runs.iter().flat_map(|run| &run.tests).flat_map(|test| &test.points);
    points.filter(|point| point.cache == Some(CachePlace::Unknown)).count() as u64
}
