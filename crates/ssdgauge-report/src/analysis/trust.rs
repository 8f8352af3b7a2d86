//! How far the numbers of a drive may be quoted: a grade by rule, from its findings.

use crate::analysis::finding_words;
use crate::analysis::steady_state;
use crate::model::{CachePlace, Run, TestRun};
use ssdgauge_core::{Finding, FindingKind, ScoreFamily, Severity, Test};

/// The grade of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grade {
    /// No finding puts a number in doubt.
    A,
    /// A number outside the answer is in doubt.
    B,
    /// A number of the answer is in doubt.
    C,
    /// Not to be quoted: an invalid result, or a shortened run.
    D,
}

impl Grade {
    /// Returns the letter.
    pub(crate) fn letter(self) -> &'static str {
        match self {
            Grade::A => "A",
            Grade::B => "B",
            Grade::C => "C",
            Grade::D => "D",
        }
    }
}

/// A grade with its reasons in words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trust {
    /// The grade.
    pub(crate) grade: Grade,
    /// The reasons of this grade, each once; empty for an A.
    pub(crate) reasons: Vec<String>,
}

impl Trust {
    /// Returns the reasons in one sentence.
    pub(crate) fn in_words(&self) -> String {
        match self.reasons.as_slice() {
            [] => "no finding puts a number in doubt".to_owned(),
            reasons => reasons.join("; "),
        }
    }
}

/// Returns the trust in the numbers of the only drive of `runs`: each of its tests is an answer.
pub(crate) fn of_runs(runs: &[Run]) -> Trust {
    grade(&runs.iter().collect::<Vec<_>>(), |_| true)
}

/// Returns the trust in the numbers of one drive, from all of its `runs`; `is_answer` says whether a
/// test has a number in the answer.
pub(crate) fn grade(runs: &[&Run], is_answer: impl Fn(&TestRun) -> bool) -> Trust {
    let mut reasons: Vec<(Grade, String)> = Vec::new();
    for run in runs {
        if run.is_shortened() {
            reasons.push((Grade::D, "shortened run".to_owned()));
        }
        for finding in run.findings.iter().filter(|finding| is_doubt(finding, None)) {
            // What concerns the whole run concerns its answer.
            reasons.push((severe(finding, Grade::C), finding_words::title(finding.kind)));
        }
        for test in &run.tests {
            let place = if is_answer(test) { Grade::C } else { Grade::B };
            reasons.extend(of_test(test, place));
        }
    }
    let grade = reasons.iter().map(|(grade, _)| *grade).max().unwrap_or(Grade::A);
    let mut words: Vec<String> = Vec::new();
    for (of, reason) in reasons {
        if of == grade && !words.contains(&reason) {
            words.push(reason);
        }
    }
    Trust { grade, reasons: words }
}

fn severe(finding: &Finding, otherwise: Grade) -> Grade {
    if finding.severity == Severity::Invalid { Grade::D } else { otherwise }
}

fn of_test(test: &TestRun, place: Grade) -> Vec<(Grade, String)> {
    let doubts = test.findings.iter().filter(|one| is_doubt(&one.finding, Some(&test.test)));
    let mut reasons: Vec<(Grade, String)> = doubts
        .map(|one| (severe(&one.finding, place), finding_words::title(one.finding.kind)))
        .collect();
    if steady_state::is_unsteady(test) {
        reasons.push((place, "not steady by the SNIA criterion".to_owned()));
    }
    if mixes_cache(test) {
        reasons.push((place, finding_words::title(FindingKind::CacheExceeded)));
    } else if has_unknown_cache(test) {
        // That a mean mixes two speeds is possible, and not shown.
        reasons.push((Grade::B, "state of the cache unknown".to_owned()));
    }
    reasons
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

/// Returns whether `finding` puts a number in doubt.
pub(crate) fn is_doubt(finding: &Finding, test: Option<&Test>) -> bool {
    let is_intended = is_intended(finding.kind, test);
    let is_settling = finding.kind == FindingKind::StillSettling;
    !is_intended && (finding.severity > Severity::Note || is_settling)
}

/// Returns whether a search produces findings of this kind on purpose: it tries loads until the drive
/// no longer keeps up.
pub(crate) fn is_intended(kind: FindingKind, test: Option<&Test>) -> bool {
    let of_overload = [FindingKind::Overloaded, FindingKind::Withheld];
    of_overload.contains(&kind) && test.is_some_and(|test| test.search.is_some())
}
