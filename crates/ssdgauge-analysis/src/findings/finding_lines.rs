//! Findings of a run in lines: one for each kind, with the tests that it concerns and their number.

use crate::findings::finding_words;
use crate::model::LocatedFinding;
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::{Finding, Severity};
use std::cmp::Reverse;

/// The maximum number of tests that a line names.
const MOST: usize = 3;

/// All findings of one kind and severity.
pub struct FindingLine<'a> {
    /// The first of them.
    pub first: &'a Finding,
    /// How many there are.
    pub n: usize,
    /// The titles of the tests that they concern, each once; none for a whole run.
    tests: Vec<&'a str>,
    /// Whether their texts differ, and whether their advice does.
    differs: (bool, bool),
}

/// Returns `found` by kind and severity, the most severe first, then in the order of their first
/// appearance. Findings of equal text on several tests are several findings.
pub fn by_kind<'a>(found: impl IntoIterator<Item = LocatedFinding<'a>>) -> Vec<FindingLine<'a>> {
    let mut lines: Vec<FindingLine<'a>> = Vec::new();
    for LocatedFinding { test, finding, .. } in found {
        let key = |finding: &Finding| (finding.kind, finding.severity);
        let place = lines.iter().position(|line| key(line.first) == key(finding));
        let place = place.unwrap_or_else(|| {
            lines.push(FindingLine {
                first: finding,
                n: 0,
                tests: Vec::new(),
                differs: (false, false),
            });
            lines.len() - 1
        });
        let line = &mut lines[place];
        line.n += 1;
        line.differs.0 |= line.first.text != finding.text;
        line.differs.1 |= line.first.advice != finding.advice;
        if let Some(test) = test.filter(|test| !line.tests.contains(&test.title.as_str())) {
            line.tests.push(&test.title);
        }
    }
    lines.sort_by_key(|line| Reverse(line.first.severity));
    lines
}

impl FindingLine<'_> {
    /// Returns the line in words; `all` is the number of tests of the run.
    pub fn words(&self, all: usize) -> String {
        let Finding { kind, text, advice, .. } = self.first;
        // Of several warnings the first one is an example; several notes have only their meaning.
        let is_note = self.first.severity == Severity::Note;
        let meaning = finding_words::meaning(*kind).filter(|_| self.differs.0 && is_note);
        let mut words = match meaning {
            Some(meaning) => {
                let meaning = meaning.trim_end_matches('.');
                format!("{}: {meaning}", finding_words::title(*kind))
            }
            None => sanitize::prose(text),
        };
        if !self.differs.1 && !advice.is_empty() {
            words.push_str(&format!(" ({})", sanitize::prose(advice)));
        }
        words + &self.extent(all)
    }

    /// Returns the first finding without its advice, with the tests and the number of findings.
    pub(crate) fn observation(&self, all: usize) -> String {
        sanitize::prose(&self.first.text) + &self.extent(all)
    }

    /// Returns the tests of the line, unless it concerns all of them.
    pub(crate) fn of_tests(&self, all: usize) -> String {
        match self.tests.is_empty() || self.tests.len() >= all {
            true => String::new(),
            false => format!("; in {}", sanitize::prose(&named(&self.tests))),
        }
    }

    /// Returns the tests of the line, unless it concerns all of them, and the number of findings.
    fn extent(&self, all: usize) -> String {
        let mut words = self.of_tests(all);
        if self.n > 1 {
            let of_kind = if self.differs.0 { " of this kind" } else { "" };
            words.push_str(&format!("; {} findings{of_kind}", number::count(self.n as u64)));
        }
        words
    }
}

/// Returns the first of `titles`, and how many others there are.
pub fn named(titles: &[&str]) -> String {
    let shown = titles[..titles.len().min(MOST)].join("; ");
    match titles.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {} more", number::count(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use ssdgauge_core::FindingKind;

    #[test]
    fn equal_texts_on_several_tests_are_one_line_with_all_of_their_tests_and_their_number() {
        let finding =
            |text: &str, severity| Finding::new(FindingKind::Disturbed, severity, text, "stop it");
        let (equal, other) = (
            finding("other work", Severity::Warning),
            finding("other work for 3 s", Severity::Warning),
        );
        let note = finding("other work", Severity::Note);
        let tests: Vec<_> = ["one", "two", "three", "four"]
            .map(|title| ssdgauge_core::Test { title: title.to_owned(), ..test() })
            .into();
        let on = |test: usize, finding| LocatedFinding {
            test: Some(&tests[test]),
            step: None,
            metrics: &[],
            finding,
        };
        let found = [on(0, &note), on(0, &equal), on(1, &equal), on(2, &equal)];
        let lines = by_kind(found);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].words(4), "other work (stop it); in one; two; three; 3 findings");
        assert_eq!(lines[1].words(4), "other work (stop it); in one");
        let lines = by_kind([on(3, &other), on(0, &equal), on(1, &equal), on(2, &equal)]);
        let words =
            "other work for 3 s (stop it); in four; one; two and 1 more; 4 findings of this kind";
        assert_eq!(lines[0].words(9), words);
    }

    fn test() -> ssdgauge_core::Test {
        ssdgauge_core::Test {
            id: "t".to_owned(),
            revision: 1,
            title: String::new(),
            source: String::new(),
            score: ssdgauge_core::Score::MeanOf(ssdgauge_core::Metric::Iops),
            also: Vec::new(),
            figures: Vec::new(),
            chosen: Vec::new(),
            deviations: Vec::new(),
            restart: ssdgauge_core::Restart::Step,
            phases: Vec::new(),
            search: None,
            rounds: None,
            repetition: 1,
        }
    }
}
