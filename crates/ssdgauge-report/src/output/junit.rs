//! A comparison as JUnit XML, which build servers read.

use crate::analysis::compare::{Comparison, Difference, TestComparison, fails};
use crate::output::comparison;

impl Comparison {
    /// Returns the comparison as JUnit XML: a test fails where the gate would fail it, and is
    /// skipped where it could not be compared.
    pub fn junit(&self) -> String {
        // With a history, its limit takes the place of the noise.
        let least = |test: &TestComparison| match test.variation {
            Some(_) => 0.0,
            None => self.options.noise,
        };
        let fails = |test: &TestComparison| {
            !test.further && fails(test, self.options.threshold.unwrap_or(least(test)))
        };
        let failures = self.tests.iter().filter(|test| fails(test)).count();
        let unknown = |difference: &Difference| match difference {
            Difference::Unknown(_) => true,
            Difference::Better | Difference::Worse | Difference::WithinNoise => false,
        };
        let skipped = self.tests.iter().filter(|test| unknown(&test.difference)).count();
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let name = escaped(&format!("{} against {}", self.names[1], self.names[0]));
        let total = self.tests.len();
        text.push_str(&format!(
            "<testsuites><testsuite name=\"{name}\" tests=\"{total}\" \
             failures=\"{failures}\" skipped=\"{skipped}\">\n"
        ));
        for test in &self.tests {
            let name = match test.further {
                false => test.id.clone(),
                true => format!("{} {} ({})", test.id, test.metric.key(), test.rule),
            };
            let (id, sentence) = (escaped(&name), escaped(&comparison::sentence(test)));
            let inner = match (fails(test), unknown(&test.difference)) {
                (true, _) => format!("<failure message=\"{sentence}\"/>"),
                (false, true) => format!("<skipped message=\"{sentence}\"/>"),
                (false, false) => format!("<system-out>{sentence}</system-out>"),
            };
            text.push_str(&format!(
                "<testcase classname=\"ssdgauge\" name=\"{id}\">{inner}</testcase>\n"
            ));
        }
        text.push_str("</testsuite></testsuites>\n");
        text
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
