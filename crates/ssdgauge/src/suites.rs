//! Finding and listing suites.

use crate::arguments;
use crate::failure::{Failure, Kind};
use crate::world;
use serde_json::json;
use ssdgauge_lab::{Suite, built_in, find_built_in};
use std::path::Path;

/// The largest suite or profile that is read; the built-in ones have a few thousand bytes.
const MOST: u64 = 1 << 20;

/// Reads a text file that a person wrote, or says why it cannot be one.
pub(crate) fn read_small(name: &str) -> Result<String, String> {
    let path = Path::new(name);
    let metadata = std::fs::metadata(path).map_err(|error| format!("{name}: {error}"))?;
    if !metadata.is_file() || metadata.len() > MOST {
        return Err(format!("{name} is no text file of at most {MOST} bytes"));
    }
    std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))
}

/// Finds the suite `name`: one of the list, or a file.
pub(crate) fn find(name: &str) -> Result<Suite, Failure> {
    let is_path = name.contains('/') || name.ends_with(".toml");
    if !is_path {
        return Ok(find_built_in(name)?);
    }
    let hint = "`ssdgauge suites` lists the suites that come with the program";
    let text = read_small(name).map_err(|error| Failure::new(Kind::Usage, error, hint))?;
    Ok(Suite::parse(name, &text)?)
}

/// Lists all suites, or the tests of one.
pub(crate) fn list(arguments: &arguments::Suites) -> Result<(), Failure> {
    let suites = match &arguments.suite {
        Some(name) => vec![find(name)?],
        None => built_in(),
    };
    if arguments.json {
        let list: Vec<_> = suites.iter().map(as_json).collect();
        world::print(&format!("{:#}\n", json!({ "schema_version": 1, "suites": list })));
        return Ok(());
    }
    for suite in &suites {
        world::print_words(&match arguments.suite {
            Some(_) => in_full(suite),
            None => in_short(suite),
        });
    }
    Ok(())
}

fn in_short(suite: &Suite) -> String {
    let Suite { id, title, summary, source, .. } = suite;
    format!("{id:<18} {title}\n{:18} {summary}\n{:18} Source: {source}", "", "")
}

fn in_full(suite: &Suite) -> String {
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
    }
    text
}

fn as_json(suite: &Suite) -> serde_json::Value {
    let test = |test: &ssdgauge_lab::TestRule| {
        json!({
            "id": test.id, "revision": test.revision, "title": test.title,
            "source": test.source, "metric": test.score.metric().key(),
            "score": test.score.words(),
            "points": test.points.iter().map(|point| &point.label).collect::<Vec<_>>(),
            "chosen": test.chosen,
        })
    };
    json!({
        "id": suite.id, "revision": suite.revision, "title": suite.title,
        "summary": suite.summary, "source": suite.source,
        "tests": suite.tests.iter().map(test).collect::<Vec<_>>(),
    })
}
