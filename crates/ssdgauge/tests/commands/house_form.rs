//! Numbers for people have one form: three significant digits, a space in front of the unit, latencies in
//! µs, ms or s by their size; and the same value is the same text on every output.

use crate::support::{Bench, text, unfolded};
use serde_json::Value;
use ssdgauge_core::{Metric, rounded};

/// The units of sizes, times and rates.
const UNITS: [&str; 21] = [
    "ns", "us", "µs", "ms", "s", "min", "h", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "W",
    "J", "IOPS", "MB/s", "GB/s", "°C",
];

/// Runs whose cards and findings are read: each with the arguments after `run`.
const RUNS: [&[&str]; 3] = [
    &["quick", "sim:tlc-client", "--shorten", "200"],
    &["client-2018", "sim:tlc-client", "--shorten", "5000", "--test", "burst-random-write"],
    &["act", "sim:tlc-client", "--shorten", "20000", "--test", "act-5"],
];

/// Returns what is wrong with the numbers of `text`, with the words around each.
fn defects(text: &str) -> Vec<String> {
    let words: Vec<&str> =
        text.split([' ', '\n', '\u{a0}']).filter(|word| !word.is_empty()).collect();
    let mut defects = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let around = || words[place.saturating_sub(4)..words.len().min(place + 3)].join(" ");
        let word = word.trim_matches(['(', ')', ',', ';', ':', '[', ']', '~', '±', '|', '.']);
        let digits =
            word.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
        // What can be typed again comes after an option, or between quotes.
        let is_typed = place > 0 && words[place - 1].starts_with("--");
        // Identities of programs and runs are hexadecimal; one in 43 runs has only digits.
        let is_key = place > 0 && ["(commit", "executable", "run"].contains(&words[place - 1]);
        if word.len() > 4 && word.chars().all(|c| c.is_ascii_digit()) && !is_key {
            defects.push(format!("thousands are not set apart: {}", around()));
            continue;
        }
        if digits.len() < word.len() && !is_typed && UNITS.contains(&digits) {
            defects.push(format!("no space in front of the unit: {}", around()));
        }
        let unit = words
            .get(place + 1)
            .map(|unit| unit.trim_matches(['(', ')', ',', ';', ':', '[', ']', '|', '.']));
        let Some(unit) = unit.filter(|unit| digits.is_empty() && UNITS.contains(unit)) else {
            continue;
        };
        let count = word.chars().filter(char::is_ascii_digit).count();
        let significant = word.trim_start_matches(['0', '.']).chars().filter(char::is_ascii_digit);
        if word.contains('.') && significant.count() > 4 {
            defects.push(format!("more digits than a reader can use: {}", around()));
        }
        if !word.contains(['.', ',']) && count > 3 {
            defects.push(format!("thousands are not set apart: {}", around()));
        }
        if word.contains(',') && ["ns", "us", "µs", "ms"].contains(&unit) {
            defects.push(format!("a larger unit fits: {}", around()));
        }
    }
    defects
}

/// Returns all texts and advices of findings in `document`.
fn findings(document: &Value) -> Vec<String> {
    match document {
        Value::Array(items) => items.iter().flat_map(findings).collect(),
        Value::Object(keys) => {
            let own = ["text", "advice"].into_iter().filter_map(|key| keys.get(key)?.as_str());
            own.map(str::to_owned).chain(keys.values().flat_map(findings)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// Returns the metric with this key.
fn metric(key: &str) -> Metric {
    serde_json::from_value(Value::from(key)).unwrap()
}

#[test]
fn the_scanner_finds_each_form_that_is_not_that_of_the_house() {
    for (text, expected) in [
        ("completed for 715.8us, then", "no space"),
        ("a drive of 16GB", "no space"),
        ("mean 47590.5 IOPS", "more digits"),
        ("mean 47590 IOPS", "not set apart"),
        ("in 244139 blocks", "not set apart"),
        ("a p99 of 8,070 µs", "larger unit"),
    ] {
        let found = defects(text);
        assert!(found.len() == 1 && found[0].contains(expected), "{text}: {found:?}");
    }
    for text in [
        "(commit 123456789012, executable 12345678)",
        "8.07 ms, 47,591 IOPS",
        "--size 16GB",
        "1 min 05 s",
        "1.000 ± 0.003 TB",
        "4KiB-ish",
        "run 88844789 of",
    ] {
        assert_eq!(defects(text), [""; 0], "{text}");
    }
}

#[test]
fn numbers_of_cards_and_findings_have_the_form_of_the_house_and_equal_values_equal_texts() {
    let bench = Bench::new();
    let mut failures = Vec::new();
    for (number, run) in RUNS.into_iter().enumerate() {
        let file = format!("{number}.ssdg");
        let output = bench.call(&[&["run"], run, &["--out", &file]].concat());
        let (card, live) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{run:?}: {live}");
        let document: Value =
            serde_json::from_str(&bench.print(&["report", &file, "--json"])).unwrap();
        let markdown = bench.print(&["report", &file, "--markdown"]);
        let page = std::fs::read_to_string(bench.path(&format!("{number}.html"))).unwrap();
        let page = page.replace('\u{a0}', " ");
        let mut texts = findings(&document);
        assert!(!texts.is_empty(), "{run:?} has findings");
        // The name of a drive is a text of its own.
        let drive = document["runs"][0]["drive"]["model"].as_str().unwrap_or_default();
        texts.extend([&card, &live].map(|text| unfolded(text).replace(drive, "drive")));
        for found in texts.iter().flat_map(|text| defects(text)) {
            failures.push(format!("{run:?}: {found}"));
        }
        let is_quick = run[0] == "quick";
        for test in document["runs"][0]["tests"].as_array().unwrap() {
            let headline = &test["headline"];
            let Some(value) = headline["value"].as_f64() else { continue };
            let words = metric(headline["metric"].as_str().unwrap()).about(value);
            // The card of quick has rows of requests in place of headlines.
            // Without colour it is plain ASCII.
            let ascii = card.replace(&words.replace('×', "x").replace('µ', "u"), &words);
            let outputs = [("card", &ascii, !is_quick), ("Markdown", &markdown, true)];
            let outputs = outputs.into_iter().chain([("page", &page, true)]);
            for (name, output, _) in outputs.filter(|one| one.2 && !one.1.contains(&words)) {
                failures.push(format!("{run:?}: {} is not {words} on the {name}", test["id"]));
                assert!(!output.is_empty());
            }
        }
        for load in loads(&document) {
            if !page.contains(&format!("{load}×")) || page.contains(&format!(">{load}x")) {
                failures.push(format!("{run:?}: the load {load} is not {load}× on the page"));
            }
        }
        if is_quick {
            for point in points(&document) {
                let metrics = &point["metrics"];
                let Some(us) = metrics["lat_p99_us"].as_f64() else { continue };
                // The card has the directions of a mix, the live view has all of its requests.
                if !metrics["read_lat_p99_us"].is_null() && !metrics["write_lat_p99_us"].is_null() {
                    continue;
                }
                let words = rounded::latency(us);
                let on_card = card.contains(&words) || card.contains(&words.replace('µ', "u"));
                if !on_card || !live.contains(&words) || !page.contains(&words) {
                    failures
                        .push(format!("{run:?}: p99 {words} is not on card, page and live view"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Returns the loads that searches tried.
fn loads(document: &Value) -> Vec<u64> {
    let tests = document["runs"][0]["tests"].as_array().unwrap();
    let tried = tests.iter().filter_map(|test| test["tried_loads"].as_array()).flatten();
    tried.map(|load| load["load"].as_f64().unwrap() as u64).collect()
}

#[test]
fn numbers_of_xray_prove_bench_and_meters_have_the_form_of_the_house() {
    let bench = Bench::new();
    let meter = "name=shunt@command:sh -c 'while :; do echo 12.3456; sleep 0.1; done'";
    for (arguments, expected) in [
        (vec!["xray", "sim:tlc-client", "--out", "x.ssdg"], "MB/s"),
        (vec!["prove", "sim:tiny", "--out", "p.ssdg"], "244,139 blocks"),
        (vec!["bench", "null:", "--seconds", "0.2", "--runs", "1", "--rate", "20000"], "20,000"),
        (vec!["meters", meter, "--for", "300ms"], "12.3 "),
    ] {
        let output = bench.call(&arguments);
        let (card, live) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {live}");
        assert!(card.contains(expected), "{arguments:?}: {card}");
        for text in [card, live] {
            let text = unfolded(&text).replace("500GB", "").replace("1GB", "");
            // The cost of the engine is in nanoseconds at every size, so that it can be compared.
            let text = text.replace(" ns of processor time", "");
            assert_eq!(defects(&text), [""; 0], "{arguments:?}: {text}");
        }
    }
}

#[test]
fn a_report_of_two_drives_has_the_form_of_the_house() {
    let bench = Bench::new();
    let files = ["a.ssdg", "b.ssdg"];
    for (file, drive) in files.iter().zip(["sim:tlc-client", "sim:qlc-client"]) {
        let run = ["run", "client-2018", drive, "--shorten", "5000", "--out", file];
        bench.print(&[&run[..], &["--test", "burst-random-write"]].concat());
    }
    for format in ["--markdown", "--json"] {
        let printed = bench.print(&[&["report"], &files[..], &[format]].concat());
        let texts = match format {
            "--json" => findings(&serde_json::from_str(&printed).unwrap()),
            _ => vec![printed.replace("500GB", "").replace("1TB", "")],
        };
        assert!(!texts.is_empty(), "{format}");
        let defects: Vec<String> = texts.iter().flat_map(|text| defects(text)).collect();
        assert_eq!(defects, [""; 0], "{format}");
    }
    let compared = bench.print(&["compare", "a.ssdg", "b.ssdg"]).replace("500GB", "");
    assert_eq!(defects(&compared.replace("1TB", "")), [""; 0], "{compared}");
}

fn points(document: &Value) -> Vec<&Value> {
    let tests = document["runs"][0]["tests"].as_array().unwrap();
    tests.iter().filter_map(|test| test["points"].as_array()).flatten().collect()
}
