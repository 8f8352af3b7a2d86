//! The tests that only `./check --full` runs: each one has a row in CONTRIBUTING.md with a reason, and most
//! tests are not among them.

use std::collections::BTreeSet;
use std::path::Path;

/// The heading of the table.
const TABLE: &str = "### The second tier";

/// The attribute of these tests.
const SECOND: &str = "#[ignore = \"second tier\"]";

/// The tests of both tiers, by their names.
#[derive(Default)]
struct Tiers {
    first: BTreeSet<String>,
    second: BTreeSet<String>,
    /// Tests that are ignored for another reason, or none.
    others: Vec<String>,
}

impl Tiers {
    /// Adds the tests in all files below `folder`.
    fn add_below(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                self.add_below(&path);
            } else if path.extension().is_some_and(|suffix| suffix == "rs") {
                self.add(&std::fs::read_to_string(&path).unwrap());
            }
        }
    }

    fn add(&mut self, text: &str) {
        for test in text.split("#[test]\n").skip(1) {
            let Some((attributes, rest)) = test.split_once("fn ") else { continue };
            let name = rest.split('(').next().unwrap_or_default().to_owned();
            if attributes.contains(SECOND) {
                self.second.insert(name);
            } else if attributes.contains("#[ignore") {
                self.others.push(name);
            } else {
                self.first.insert(name);
            }
        }
    }
}

/// Returns the names between backticks.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn each_test_of_the_second_tier_has_a_reason_and_most_tests_are_in_the_first() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut tiers = Tiers::default();
    tiers.add_below(&root.join("crates"));
    assert_eq!(tiers.others, Vec::<String>::new(), "ignored without the tier");
    let page = std::fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let table = page.split(TABLE).nth(1).expect("the page has the table");
    let table = table.split("\n## ").next().unwrap();
    let mut listed = BTreeSet::new();
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [tests, proves, stays] = cells[..] else { panic!("three cells: {row}") };
        assert!(!proves.is_empty(), "what is proved? {row}");
        listed.extend(names(tests).into_iter().map(str::to_owned));
        assert!(!names(stays).is_empty(), "what stays in the first tier? {row}");
        for name in names(stays) {
            assert!(tiers.first.contains(name), "the first tier has no test `{name}`");
        }
    }
    assert_eq!(listed, tiers.second, "the table, and the tests with {SECOND}");
    let (first, second) = (tiers.first.len(), tiers.second.len());
    println!("{first} tests in the first tier, {second} in the second");
    assert!(first > 1_500 && second * 100 <= 15 * (first + second), "{first} and {second} tests");
}
