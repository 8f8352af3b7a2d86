//! Pages from the digests of steps and from their samples.

use crate::support::{Bench, query};
use rusqlite::Connection;

/// Suites with a divisor of their durations: each kind of step that has a digest or none, with seconds enough for a
/// map of latencies (60), for intervals of percentiles, and for rounds.
const SUITES: [(&str, &str); 6] = [
    ("quick", "10"),
    ("client-2018", "2000"),
    ("consistency-2016", "100"),
    ("enterprise-2019", "10000"),
    ("load-curve", "20"),
    ("commit", "10"),
];

#[test]
fn a_page_from_digests_is_that_from_samples_to_the_byte() {
    let bench = Bench::new();
    for (suite, divisor) in SUITES {
        let file = format!("{suite}.ssdg");
        let shortened = ["--shorten", divisor, "--scale-spans"];
        bench.print(&[&["run", suite, "sim:tiny"], &shortened[..], &["--out", &file]].concat());
        let with_samples = "SELECT count(*) FROM digest WHERE content ->> 'samples' IS NOT NULL";
        let measured = "SELECT count(*) FROM digest";
        let path = bench.path(&file);
        assert_eq!(query(&path, with_samples), query(&path, measured), "{suite}");
        assert!(query(&path, measured) > 0, "{suite}");
        pages_are_equal(&bench, &[&file]);
    }
    let all: Vec<String> = SUITES.iter().map(|(suite, _)| format!("{suite}.ssdg")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    pages_are_equal(&bench, &all);
}

#[test]
fn numbers_of_a_planted_digest_are_on_no_page() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "10", "--out", "a.ssdg"]);
    let before = page(&bench, &["a.ssdg"], &[]);
    // The samples of another step: the checksum of the row is wrong, then also the hash of the chain.
    let connection = Connection::open(bench.path("a.ssdg")).unwrap();
    let planted =
        "UPDATE digest SET content = (SELECT content FROM digest WHERE rowid = 3) WHERE rowid = 2";
    connection.execute_batch(planted).unwrap();
    drop(connection);
    let after = pages_are_equal(&bench, &["a.ssdg"]);
    assert!(after.contains("records of this run were changed later"));
    assert!(!before.contains("records of this run were changed later"));
}

/// Returns the page of `files`, which is the same from digests and from samples.
fn pages_are_equal(bench: &Bench, files: &[&str]) -> String {
    let by_digests = page(bench, files, &[]);
    // Not `assert_eq`, which prints both.
    assert!(by_digests == page(bench, files, &["--recompute"]), "{files:?}");
    let json = |more: &[&str]| bench.print(&[&["report", "--json"], files, more].concat());
    assert!(json(&[]) == json(&["--recompute"]), "{files:?}");
    by_digests
}

fn page(bench: &Bench, files: &[&str], options: &[&str]) -> String {
    bench.print(&[&["report", "-o", "page.html"], files, options].concat());
    let page = std::fs::read_to_string(bench.path("page.html")).unwrap();
    std::fs::remove_file(bench.path("page.html")).unwrap();
    page
}
