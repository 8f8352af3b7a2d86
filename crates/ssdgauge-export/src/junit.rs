//! A comparison as JUnit XML, which build servers read.

use crate::comparison;
use ssdgauge_analysis::comparison::compare::{Comparison, Difference, TestComparison};
use ssdgauge_core::Verdict;

/// Returns the comparison as JUnit XML. With a threshold, a test fails where the gate fails it, and
/// is an error where that is not decided; without one, it fails where it is worse, and is skipped
/// where it is not decided.
pub fn comparison_junit(comparison: &Comparison) -> String {
    let result = |test: &TestComparison| match (test.gate, &test.difference) {
        (Some(Verdict::Fails), _) => Some("failure"),
        (Some(Verdict::NotDecided), _) => Some("error"),
        (None, Difference::Worse) if !test.further => Some("failure"),
        (None, Difference::Unknown(_)) => Some("skipped"),
        (Some(Verdict::Holds) | None, _) => None,
    };
    let count =
        |wanted: &str| comparison.tests.iter().filter(|test| result(test) == Some(wanted)).count();
    let [failures, errors, skipped] = ["failure", "error", "skipped"].map(count);
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let name = escaped(&format!("{} against {}", comparison.names[1], comparison.names[0]));
    let total = comparison.tests.len();
    text.push_str(&format!(
        "<testsuites><testsuite name=\"{name}\" tests=\"{total}\" \
         failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">\n"
    ));
    for test in &comparison.tests {
        let name = match test.further {
            false => test.id.clone(),
            true => format!("{} {} ({})", test.id, test.metric.key(), test.rule),
        };
        let (id, sentence) = (escaped(&name), escaped(&sentence(comparison, test)));
        let inner = match result(test) {
            Some(result) => format!("<{result} message=\"{sentence}\"/>"),
            None => format!("<system-out>{sentence}</system-out>"),
        };
        text.push_str(&format!(
            "<testcase classname=\"ssdgauge\" name=\"{id}\">{inner}</testcase>\n"
        ));
    }
    text.push_str("</testsuite></testsuites>\n");
    text
}

/// Returns the test in words, and why its gate is not decided where its numbers do not say so.
fn sentence(comparison: &Comparison, test: &TestComparison) -> String {
    let sentence = comparison::sentence(test);
    match comparison.gate_reason.filter(|why| test.gate.is_some() && !sentence.contains(why)) {
        Some(why) => format!("{sentence}; gate not decided: {why}"),
        None => sentence,
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(character),
        }
    }
    escaped
}
