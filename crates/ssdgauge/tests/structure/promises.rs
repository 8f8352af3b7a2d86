//! Each promise about safety, of the README and of docs/reference/safety-promises.md, has a test by the table in
//! docs/explanation/safety.md, which holds promises of that page as well.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The heading of the table.
const TABLE: &str = "## Promises and their tests";

/// Returns the section of the page `safety` with the table.
fn table(safety: &str) -> &str {
    let section = safety.split(TABLE).nth(1).expect("the page has the table");
    section.split("\n## ").next().unwrap()
}

/// Returns the rows of the table: the words of the promise, and the names of the tests.
fn rows(safety: &str) -> Vec<[String; 2]> {
    let lines = table(safety).lines().filter(|line| line.starts_with("| ")).skip(1);
    let cells = lines.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let cells: [&str; 2] = cells.try_into().unwrap_or_else(|_| panic!("two cells: {line}"));
        cells.map(str::to_owned)
    });
    cells.collect()
}

/// Returns the names between backticks that have an underscore: those of tests.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Returns the names of all tests below `folder`.
fn tests_below(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path: PathBuf = entry.path();
        if path.is_dir() {
            tests_below(&path, names);
        } else if path.extension().is_some_and(|suffix| suffix == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let tests = text.split("#[test]").skip(1);
            let named = tests.filter_map(|test| test.split("fn ").nth(1)?.split('(').next());
            names.extend(named.map(str::to_owned));
        }
    }
}

fn unfolded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_safety_promise_of_the_readme_has_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let (readme, safety) = (read("README.md"), read("docs/explanation/safety.md"));
    let list = read("docs/reference/safety-promises.md");
    let rows = rows(&safety);
    let mut tests = BTreeSet::new();
    tests_below(&root.join("crates"), &mut tests);
    assert!(tests.len() > 500, "{} tests", tests.len());
    let page = safety.replace(table(&safety), "");
    let all = unfolded(&format!("{readme} {list} {page}"));
    for [promise, named] in &rows {
        assert!(all.contains(promise.as_str()), "no page says '{promise}'");
        assert!(!names(named).is_empty(), "{promise}: no test");
        for name in names(named) {
            assert!(tests.contains(name), "{promise}: there is no test `{name}`");
        }
    }
    let section = readme.split("## The safety promise").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let promises = section.split("\n- ").skip(1).chain(list.split("\n- ").skip(1));
    let promises: Vec<String> = promises.map(unfolded).collect();
    assert!(promises.len() >= 16, "{} promises", promises.len());
    for promise in promises {
        let is_held = rows.iter().any(|[quoted, ..]| promise.contains(quoted.as_str()));
        assert!(is_held, "no row of the table quotes '{promise}'");
    }
}
