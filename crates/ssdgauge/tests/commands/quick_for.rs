//! `quick --for`: the loads of one kind of work, and the answer in a sentence.

use crate::support::Bench;
use serde_json::Value;

#[test]
fn a_quick_run_for_a_kind_of_work_answers_in_one_sentence_with_its_interval() {
    let works = [
        ("ai", "quick-ai", "Reads the experts of a language model at ", "s per GB."),
        (
            "database",
            "quick-database",
            "Commits of a database, one after the other: ",
            "per commit.",
        ),
        ("desktop", "quick-desktop", "Everyday work: ", "2 in flight."),
    ];
    for (work, suite, begin, end) in works {
        let bench = Bench::new();
        let text = bench.print(&["quick", "sim:tlc-client", "--for", work, "--out", "a.ssdg"]);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let sentence = flat.find(begin).map(|at| &flat[at..]);
        let sentence = sentence.and_then(|rest| Some(&rest[..rest.find(end)? + end.len()]));
        let sentence = sentence.unwrap_or_else(|| panic!("{work}: {text}"));
        assert!(sentence.contains(" to ") || sentence.contains("still settling"), "{sentence}");
        let json: Value =
            serde_json::from_str(&bench.print(&["report", "a.ssdg", "--json"])).unwrap();
        assert_eq!(json["runs"][0]["suite"]["id"], suite);
        // Bands are those of the common loads.
        assert_eq!(json["runs"][0]["quick_bands"], Value::Null);
        let page = std::fs::read_to_string(bench.path("a.html")).unwrap();
        assert!(
            page.contains("Quick check of one drive") && page.contains(begin.trim_end()),
            "{work}"
        );
    }
}

#[test]
fn a_quick_run_for_a_kind_of_work_takes_five_minutes_at_most() {
    let bench = Bench::new();
    for suite in ["quick-ai", "quick-database", "quick-desktop"] {
        let text = bench.print(&["suites", suite, "--json"]);
        let json: Value = serde_json::from_str(&text).unwrap();
        let seconds = json["suites"][0]["estimate_on_1_tb"]["time_s"].as_f64().unwrap();
        assert!((30.0..=300.0).contains(&seconds), "{suite}: {seconds} s");
        // The scratch file once, and the writes of the tests.
        let written = json["suites"][0]["estimate_on_1_tb"]["written_bytes"].as_f64().unwrap();
        assert!(written < 60e9, "{suite}: {written} bytes");
    }
}
