//! What an imported result does not state is unknown on every surface: its date, the capacity of its drive. Lengths
//! of requests are shown exactly.

use crate::commands::import::{output, report};
use crate::support::{Bench, text, unfolded};
use serde_json::{Value, json};

/// Imports `output` as `name.ssdg`; returns the messages.
fn import(bench: &Bench, name: &str, output: &Value) -> String {
    std::fs::write(bench.path(&format!("{name}.json")), output.to_string()).unwrap();
    let (input, to) = (format!("{name}.json"), format!("{name}.ssdg"));
    let call = bench.call(&["import", "--fio", &input, "-o", &to, "--model", "Drive X"]);
    assert_eq!(call.status.code(), Some(0), "{}", text(&call.stderr));
    unfolded(&text(&call.stderr))
}

/// Returns an output without its date, for which no job states a size.
fn undated() -> Value {
    let mut output = output("fio-3.33");
    output.as_object_mut().unwrap().retain(|key, _| !key.starts_with("time"));
    output["jobs"][0]["job options"].as_object_mut().unwrap().remove("size");
    output
}

#[test]
fn a_date_that_is_not_stated_is_unknown_everywhere() {
    let bench = Bench::new();
    import(&bench, "undated", &undated());
    let mut dated = undated();
    dated["timestamp_ms"] = json!(1_700_000_000_000_u64);
    import(&bench, "dated", &dated);
    let today = ssdgauge_analysis::text::number::day(
        std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64,
    );
    let run = report(&bench, "undated.ssdg")["runs"][0].take();
    assert!(run["started_unix_ms"].is_null(), "{run:#}");
    assert!(run["id"].as_str().unwrap().starts_with("undated-"), "{}", run["id"]);
    // 1,700,000,000 s are 22:13:20 on 14 November 2023, UTC.
    let dated = report(&bench, "dated.ssdg")["runs"][0].take();
    let ended = 1_700_000_000_000_i64;
    let started = dated["started_unix_ms"].as_i64().unwrap();
    assert!((ended - 3_600_000..=ended).contains(&started), "{started}");

    // The list, as text and as JSON.
    let list = bench.print(&["list", "undated.ssdg", "dated.ssdg"]);
    assert!(list.contains("unknown") && list.contains("2023-11-14"), "{list}");
    let list: Value =
        serde_json::from_str(&bench.print(&["list", "undated.ssdg", "dated.ssdg", "--json"]))
            .unwrap();
    let starts: Vec<bool> = list["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["started_unix_ms"].is_null())
        .collect();
    assert_eq!(starts.iter().filter(|is_null| **is_null).count(), 1, "{list:#}");

    // Terminal, page, Markdown, CSV, comparison.
    let shown = bench.print(&["show", "undated.ssdg"]);
    bench.print(&["report", "undated.ssdg", "-o", "one.html"]);
    let page = std::fs::read_to_string(bench.path("one.html")).unwrap();
    let markdown = bench.print(&["report", "undated.ssdg", "--markdown"]);
    for (what, text) in [("show", &shown), ("page", &page), ("Markdown", &markdown)] {
        assert!(text.contains("date unknown"), "{what}: {text}");
        assert!(!text.contains(&today) && !text.contains("1970-01-01"), "{what}");
    }
    let csv = bench.print(&["report", "undated.ssdg", "--csv"]);
    let mut lines = csv.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = head.iter().position(|name| *name == "started_unix_ms").unwrap();
    assert!(lines.all(|line| line.split(',').nth(place) == Some("")), "{csv}");
    bench.print(&["report", "undated.ssdg", "dated.ssdg", "-o", "both.html"]);
    let both = std::fs::read_to_string(bench.path("both.html")).unwrap();
    assert!(both.contains("2023-11-14") && !both.contains(&today), "both");
    let compared = bench.print(&["compare", "dated.ssdg", "undated.ssdg"]);
    assert!(!compared.contains(&today) && !compared.contains("1970"), "{compared}");
    // A run without a date is not an earlier one.
    let history = bench.call(&["compare", "dated.ssdg", "dated.ssdg", "--history", "."]);
    assert!(!text(&history.stdout).contains("1970"), "{}", text(&history.stdout));
}

#[test]
fn a_site_has_no_capacity_or_date_that_is_not_stated() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("runs")).unwrap();
    import(&bench, "undated", &undated());
    std::fs::rename(bench.path("undated.ssdg"), bench.path("runs/undated.ssdg")).unwrap();
    let site = || text(&bench.call(&["site", "runs", "-o", "site"]).stderr);
    assert!(site().contains("1 run: "));
    assert!(site().contains(": 0 files and 0 reports written"), "the run is read once");
    let name = "site/drives/drive-x";
    let drive = std::fs::read_to_string(bench.path(&format!("{name}.json"))).unwrap();
    let drive: Value = serde_json::from_str(&drive).unwrap();
    assert!(drive["capacity_bytes"].is_null(), "{drive:#}");
    assert!(drive["runs"][0]["started_unix_ms"].is_null(), "{drive:#}");
    let page = std::fs::read_to_string(bench.path(&format!("{name}.html"))).unwrap();
    assert!(page.contains("date unknown") && !page.contains("1 TB") && !page.contains("1970"));
    let index = std::fs::read_to_string(bench.path("site/index.html")).unwrap();
    assert!(!index.contains("1 TB"), "the assumed capacity");
    let submitted = bench.call(&["submit", "runs/undated.ssdg", "-o", "sent", "--yes"]);
    assert_eq!(submitted.status.code(), Some(3), "{}", text(&submitted.stdout));
    assert!(text(&submitted.stderr).contains("another program measured it"));
}

#[test]
fn lengths_of_requests_are_those_of_the_file() {
    let bench = Bench::new();
    let with = |options: &[(&str, &str)], each: u64| {
        let mut output = output("fio-3.33");
        for (key, value) in options {
            output["jobs"][0]["job options"][*key] = json!(value);
        }
        let count = output["jobs"][0]["read"]["total_ios"].as_u64().unwrap();
        output["jobs"][0]["read"]["io_bytes"] = json!(count * each);
        output
    };
    // Options, mean length, what the page shows.
    for (number, (options, each, words)) in [
        (&[("bs", "4608")][..], 4_608, "4,608 B"),
        (&[("bs", "5000")][..], 5_000, "5,000 B"),
        (&[("bs", "100")][..], 100, "100 B"),
        (&[("bs", "128m")][..], 128 << 20, "128 MiB"),
        (&[("bssplit", "4k/50:8k/25:16k/25")][..], 8_192, "50 % 4 KiB, 25 % 8 KiB, 25 % 16 KiB"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("n{number}");
        let messages = import(&bench, &name, &with(options, each));
        assert!(!messages.contains("block size"), "{options:?}: {messages}");
        let run = report(&bench, &format!("{name}.ssdg"))["runs"][0].take();
        let point = &run["tests"][0]["points"][0]["metrics"];
        let (mb_s, iops) = (point["throughput_mb_s"].as_f64(), point["iops"].as_f64());
        let mean = mb_s.unwrap() * 1e6 / iops.unwrap();
        assert!((mean / each as f64 - 1.0).abs() < 1e-6, "{options:?}: {mean}");
        bench.print(&["report", &format!("{name}.ssdg"), "-o", &format!("{name}.html")]);
        let page = std::fs::read_to_string(bench.path(&format!("{name}.html"))).unwrap();
        assert!(page.replace('\u{a0}', " ").contains(words), "{options:?}: {words}");
    }
}

#[test]
fn a_contradiction_names_its_numbers_as_a_person_reads_them() {
    let bench = Bench::new();
    let mut wrong = output("fio-3.33");
    let latency = &mut wrong["jobs"][0]["read"]["clat_ns"];
    latency["N"] = json!(latency["N"].as_u64().unwrap() + 1);
    std::fs::write(bench.path("wrong.json"), wrong.to_string()).unwrap();
    let call = bench.call(&["import", "--fio", "wrong.json", "-o", "wrong.ssdg"]);
    assert_eq!(call.status.code(), Some(2));
    let message = unfolded(&text(&call.stderr));
    assert!(message.contains("and it counts") && !message.contains("Some("), "{message}");
}
