//! How far the numbers of a drive may be quoted: a grade by rule, from its findings.
//!
//! A grade follows only from the runs of a drive: which other drives are shown with it, and which of its
//! numbers a page shows first, changes nothing.

pub(crate) use crate::findings::doubt::{concerns_result, is_beyond_knee};
pub use crate::findings::doubt::{is_doubt, is_intended};

use crate::findings::finding_words;
use crate::findings::run_outcome::{self, RunOutcome};
use crate::model::{CachePlace, PointRun, Run, StepFinding, TestRun};
use crate::steps::steady_state;
use crate::text::case::uncapitalised;
use crate::text::number;
use ssdgauge_core::{Finding, FindingKind, ScoreFamily, Severity};

/// The share of the results that may be in doubt for a B. Chosen: with one in four a reader finds three
/// sound numbers for each of the others.
pub(crate) const FEW: f64 = 0.25;

/// The grade of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// No finding puts a result in doubt, or a further number of its test.
    A,
    /// At most `FEW` of the results are in doubt, or further numbers, or means that may mix two speeds.
    B,
    /// More of the results are in doubt.
    C,
    /// Not to be quoted: an invalid result, or a shortened or disturbed run.
    D,
}

impl Grade {
    /// Returns the letter.
    pub fn letter(self) -> &'static str {
        match self {
            Grade::A => "A",
            Grade::B => "B",
            Grade::C => "C",
            Grade::D => "D",
        }
    }

    /// Returns what it means in words.
    pub fn meaning(self) -> &'static str {
        match self {
            Grade::A => "no finding puts a result in doubt",
            Grade::B => "few numbers are in doubt",
            Grade::C => "more than one in four numbers is in doubt",
            Grade::D => "not to be quoted",
        }
    }
}

/// A grade with its reasons in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Trust {
    /// The grade.
    pub grade: Grade,
    /// The reasons of this grade, each once; empty for an A.
    pub reasons: Vec<String>,
    /// How many results are in doubt.
    pub doubted: usize,
    /// How many results there are.
    pub results: usize,
}

impl Trust {
    /// Returns the reasons in one sentence.
    pub fn in_words(&self) -> String {
        match self.reasons.as_slice() {
            [] => Grade::A.meaning().to_owned(),
            reasons => reasons.join("; "),
        }
    }
}

/// Why one number is in doubt.
struct Doubt {
    /// D for a result that is invalid, B for a doubt that is possible and not shown, else C.
    grade: Grade,
    reason: String,
}

/// Returns the trust in the numbers of one drive, from all of its `runs`; `None` where no test has a
/// result.
pub fn of_runs<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Option<Trust> {
    let (mut results, mut doubted) = (0_usize, 0_usize);
    let mut doubts: Vec<Doubt> = Vec::new();
    for run in runs {
        if run.is_shortened() {
            doubts.push(Doubt { grade: Grade::D, reason: "shortened run".to_owned() });
        }
        if run_outcome::of(run) == RunOutcome::Disturbed {
            let reason = "most results were disturbed from outside the drive".to_owned();
            doubts.push(Doubt { grade: Grade::D, reason });
        }
        // What concerns a whole run concerns each of its results.
        let of_run = run.findings.iter().filter(|finding| is_doubt(finding, None));
        let of_run: Vec<Doubt> = of_run.map(doubt).collect();
        for test in run.tests.iter().filter(|test| test.headline.value.is_some()) {
            let of_test = of_test(test);
            let is_doubted = |one: &Doubt| one.grade >= Grade::C;
            results += 1;
            doubted += usize::from(of_test.iter().chain(&of_run).any(is_doubted));
            doubts.extend(of_test);
        }
        doubts.extend(of_run);
    }
    if results == 0 {
        return None;
    }
    let is_few = doubted as f64 <= FEW * results as f64;
    for doubt in doubts.iter_mut().filter(|doubt| doubt.grade == Grade::C && is_few) {
        doubt.grade = Grade::B;
    }
    let grade = doubts.iter().map(|doubt| doubt.grade).max().unwrap_or(Grade::A);
    let mut reasons: Vec<String> = Vec::new();
    for doubt in doubts.into_iter().filter(|doubt| doubt.grade == grade) {
        let reason = uncapitalised(&doubt.reason);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let (in_doubt, all) = (doubted, results);
    if let Some(first) = reasons.first_mut().filter(|_| doubted > 0 && grade < Grade::D) {
        let (doubted, results) = (number::count(doubted as u64), number::count(results as u64));
        *first = format!("{doubted} of {results} results in doubt: {first}");
    }
    Some(Trust { grade, reasons, doubted: in_doubt, results: all })
}

/// Returns why the result of `test` is in doubt, each reason once; nothing for a doubt that is possible
/// and not shown.
pub fn doubts(test: &TestRun) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for doubt in of_test(test).into_iter().filter(|doubt| doubt.grade >= Grade::C) {
        if !reasons.contains(&doubt.reason) {
            reasons.push(doubt.reason);
        }
    }
    reasons
}

/// The mark of a result in doubt: cards have no letters beyond ASCII.
pub const DOUBT: &str = "?";

/// Returns the mark of a result in doubt with its reasons, `? in doubt: stalled`; `None` for a clear result, and for an
/// invalid one, which says so in place of its value.
pub fn doubt_in_words(run: &Run, test: &TestRun) -> Option<String> {
    let reasons: Vec<String> = doubts(test).iter().map(|reason| uncapitalised(reason)).collect();
    let is_shown = !reasons.is_empty() && test.headline.value.is_some();
    (is_shown && invalid(run, test).is_none())
        .then(|| format!("{DOUBT} in doubt: {}", reasons.join("; ")))
}

/// Returns whether a finding makes all results of `run` invalid.
pub(crate) fn is_invalid(run: &Run) -> bool {
    run.findings.iter().any(|finding| finding.severity == Severity::Invalid)
}

/// Returns why the result of `test` must not be used: the finding that makes it or the whole run invalid;
/// `None` for a valid result. An invalid result never leads, is never compared and never becomes a headline.
pub fn invalid(run: &Run, test: &TestRun) -> Option<String> {
    let is_invalid = |finding: &Finding| finding.severity == Severity::Invalid;
    let of_test = test.findings.iter().filter(|one| concerns_result(one, test));
    let mut found = run.findings.iter().chain(of_test.map(|one| &one.finding));
    found.find(|finding| is_invalid(finding)).map(|finding| finding_words::title(finding.kind))
}

/// Returns the first finding that makes `run` or one of its tests invalid.
pub fn invalidating(run: &Run) -> Option<&Finding> {
    let all = run.all_findings().into_iter().map(|located| located.finding);
    all.into_iter().find(|finding| finding.severity == Severity::Invalid)
}

fn doubt(finding: &Finding) -> Doubt {
    let is_invalid = finding.severity == Severity::Invalid;
    let grade = if is_invalid { Grade::D } else { Grade::C };
    Doubt { grade, reason: finding_words::title(finding.kind) }
}

fn of_test(test: &TestRun) -> Vec<Doubt> {
    let found = test.findings.iter().filter(|one| !is_beyond_knee(one, test));
    let found = found.filter(|one| is_doubt(&one.finding, Some(&test.test)));
    let (of_result, others): (Vec<&StepFinding>, Vec<&StepFinding>) =
        found.partition(|one| concerns_result(one, test));
    let mut doubts: Vec<Doubt> = of_result.iter().map(|one| doubt(&one.finding)).collect();
    doubts.extend(others.into_iter().filter(|one| concerns_further(one, test)).map(|one| {
        let title = finding_words::title(one.finding.kind);
        Doubt { grade: Grade::B, reason: format!("further numbers in doubt: {title}") }
    }));
    if steady_state::is_unsteady(test) {
        let reason = "not steady by the SNIA criterion".to_owned();
        doubts.push(Doubt { grade: Grade::C, reason });
    }
    if mixes_cache(test) {
        let reason = finding_words::title(FindingKind::CacheExceeded);
        doubts.push(Doubt { grade: Grade::C, reason });
    } else if has_unknown_cache(test) {
        // That a mean mixes two speeds is possible, and not shown.
        let reason = "state of the cache unknown".to_owned();
        doubts.push(Doubt { grade: Grade::B, reason });
    }
    doubts
}

/// Returns whether `found` is about a step that a further number of `test` counts: that one is printed with
/// the result.
fn concerns_further(found: &StepFinding, test: &TestRun) -> bool {
    let of_step = |point: &&PointRun| found.step.as_ref() == Some(&point.point.label);
    test.points.iter().filter(of_step).any(|point| {
        let mut further = test.test.also.iter().zip(&test.also);
        further.any(|(score, number)| number.value.is_some() && score.needs(point.point.position))
    })
}

/// Returns whether a mean over the steps of `test` mixes writes inside and beyond the cache.
fn mixes_cache(test: &TestRun) -> bool {
    let is_mean = test.test.score.family() == ScoreFamily::Mean;
    let is = |place: CachePlace| test.points.iter().any(|point| point.cache == Some(place));
    let both = is(CachePlace::Inside) && is(CachePlace::Beyond);
    is_mean && test.points.len() > 1 && (both || is(CachePlace::Crossing))
}

/// Returns whether a mean over the steps of `test` may mix writes inside and beyond the cache.
fn has_unknown_cache(test: &TestRun) -> bool {
    let is_mean = test.test.score.family() == ScoreFamily::Mean;
    is_mean && test.points.iter().any(|point| point.cache == Some(CachePlace::Unknown))
}
