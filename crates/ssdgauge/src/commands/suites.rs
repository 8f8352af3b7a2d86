//! `ssdgauge suites`: lists the suites, or the tests of one.

use crate::arguments;
use crate::failure::Failure;
use crate::suite_options::find_suite;
use crate::terminal;
use serde_json::json;
use ssdgauge_lab::{Suite, built_in};

/// Prints all suites, or the tests of one.
///
/// # Errors
///
/// Fails where there is no such suite.
pub(crate) fn execute(arguments: &arguments::SuitesArguments) -> Result<(), Failure> {
    let suites = match &arguments.suite {
        Some(name) => vec![find_suite(name)?],
        None => built_in(),
    };
    if arguments.json {
        let list: Vec<_> = suites.iter().map(to_json).collect();
        terminal::print(&format!("{:#}\n", json!({ "schema_version": 1, "suites": list })));
        return Ok(());
    }
    for suite in &suites {
        terminal::print_text(&match arguments.suite {
            Some(_) => full_text(suite),
            None => short_text(suite),
        });
    }
    Ok(())
}

fn short_text(suite: &Suite) -> String {
    let Suite { id, title, summary, source, .. } = suite;
    format!("{id:<18} {title}\n{:18} {summary}\n{:18} Source: {source}", "", "")
}

fn full_text(suite: &Suite) -> String {
    let Suite { id, revision, title, summary, source, .. } = suite;
    let mut text = format!("{id} (revision {revision}): {title}\n{summary}\nSource: {source}\n");
    for test in &suite.tests {
        text.push_str(&format!("\n{} (revision {}): {}\n", test.id, test.revision, test.title));
        text.push_str(&format!("  source   {}\n", test.source));
        text.push_str(&format!(
            "  headline {} of {}\n",
            test.score.words(),
            test.score.metric().key()
        ));
        let labels: Vec<&str> = test.points.iter().map(|point| point.label.as_str()).collect();
        text.push_str(&format!("  points   {}\n", labels.join(", ")));
        for chosen in &test.chosen {
            text.push_str(&format!("  chosen   {} = {}\n", chosen.key, chosen.value));
        }
        for deviation in &test.deviations {
            let ssdgauge_core::Deviation { key, value, reason } = deviation;
            text.push_str(&format!("  differs  {key} = {value} ({reason})\n"));
        }
    }
    text
}

fn to_json(suite: &Suite) -> serde_json::Value {
    let test = |test: &ssdgauge_lab::TestRule| {
        json!({
            "id": test.id, "revision": test.revision, "title": test.title,
            "source": test.source, "metric": test.score.metric().key(),
            "score": test.score.words(),
            "points": test.points.iter().map(|point| &point.label).collect::<Vec<_>>(),
            "chosen": test.chosen, "deviations": test.deviations,
        })
    };
    json!({
        "id": suite.id, "revision": suite.revision, "title": suite.title,
        "summary": suite.summary, "source": suite.source,
        "tests": suite.tests.iter().map(test).collect::<Vec<_>>(),
    })
}
