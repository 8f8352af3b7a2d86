//! Every suite, shortened, on a block device; and every headline, compared with the queries of
//! docs/headlines.sql.

use crate::support::{Bench, Loop, text, unfolded};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const QUERIES: &str = include_str!("../../../../docs/headlines.sql");

/// Requests of 64 MiB have to fit, and every test fills the drive.
const SIZE: u64 = 72 << 20;

/// Each suite with its `--shorten` factor: larger for suites with many steps or long rounds.
const SUITES: &[(&str, u32)] = &[
    ("quick", 200),
    ("quick-ai", 300),
    ("quick-database", 300),
    ("quick-desktop", 300),
    ("iometer-2015", 20_000),
    ("consistency-2016", 3_000),
    ("client-2018", 5_000),
    ("client-2018-full", 20_000),
    ("enterprise-2019", 20_000),
    ("enterprise-2020", 20_000),
    ("client-2021", 2_000),
    ("fill-ladder", 2_000),
    ("snia-pts-e", 100_000),
    ("snia-pts-c", 100_000),
    ("act", 20_000),
    ("act-24h", 480_000),
    ("act-48h", 960_000),
    ("load-curve", 300),
    ("size-curve", 500),
    ("as-ssd", 2_000),
    ("tasks", 5_000),
    ("like-destroyer", 5_000),
    ("like-heavy", 5_000),
    ("like-light", 5_000),
    ("trim", 5_000),
    ("power-states", 5_000),
    ("cache-fill", 200),
    ("four-states", 5000),
    ("pulse", 1000),
    ("degrade-recover", 20000),
    ("commit", 300),
    ("ai-experts", 300),
    ("ssd-iq", 20_000),
    ("ai-checkpoint", 300),
    ("fsload", 1_000),
    ("demo", 500),
];

/// The tests of a suite that run here, where not all of them do: the others have the loads of another
/// test or suite (`client-2018`, `snia-pts-e`), or differ only by the length of a pause. `SSDGAUGE_LONG`
/// runs them all.
const SOME: &[(&str, &[&str])] = &[
    ("client-2018-full", &["burst-sequential-write-full", "mixed-sequential-full"]),
    (
        "snia-pts-e",
        &[
            "iops",
            "throughput-1024k",
            "throughput-128k",
            "latency",
            "write-saturation",
            "idle-recovery-50s",
            "cross-stimulus",
            "demand-intensity",
        ],
    ),
    ("snia-pts-c", &["latency", "idle-recovery-5s", "cross-stimulus"]),
    ("act-24h", &["act-5-24h"]),
    ("act-48h", &["act-6-48h"]),
    ("ssd-iq", &["zones", "latency"]),
    ("fsload", &["database", "copy"]),
];

#[test]
fn every_suite_is_listed_with_its_source() {
    let bench = Bench::new();
    let suites: Value = serde_json::from_str(&bench.print(&["suites", "--json"])).unwrap();
    let list = bench.print(&["suites"]);
    for suite in suites["suites"].as_array().unwrap() {
        let (id, source) = (suite["id"].as_str().unwrap(), suite["source"].as_str().unwrap());
        let (_, after) = list.split_once(&format!("{id} ")).unwrap();
        let title = suite["title"].as_str().unwrap();
        assert!(unfolded(after).contains(title), "{list}");
        let one = unfolded(&bench.print(&["suites", id]));
        assert!(one.contains(&format!("Source: {source}")), "{one}");
        assert!(suite["estimate_on_1_tb"]["written_bytes"].as_u64().unwrap() > 0, "{suite}");
    }
}

#[test]
fn every_built_in_suite_is_run_by_these_tests() {
    let suites = Bench::new().print(&["suites", "--json"]);
    let suites: Value = serde_json::from_str(&suites).unwrap();
    let known: Vec<&str> =
        suites["suites"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap()).collect();
    let here: Vec<&str> = SUITES.iter().map(|(suite, _)| *suite).collect();
    assert_eq!(known, here, "a new suite needs a line in SUITES");
}

// Seven tests, so that they run in parallel.

#[test]
#[ignore = "second tier"]
fn client_suites_run_shortened_on_a_loop_device_with_the_headlines_of_the_queries() {
    check_suites(&["quick", "iometer-2015", "client-2018", "client-2021", "demo"]);
}

#[test]
#[ignore = "second tier"]
fn enterprise_suites_run_shortened_on_a_loop_device_with_the_headlines_of_the_queries() {
    check_suites(&["enterprise-2019", "enterprise-2020", "snia-pts-e"]);
}

#[test]
#[ignore = "second tier"]
fn pts_style_client_tests_run_shortened_on_a_loop_device_with_the_headlines_of_the_queries() {
    check_suites(&["snia-pts-c"]);
}

#[test]
#[ignore = "second tier"]
fn other_suites_run_shortened_on_a_loop_device_with_the_headlines_of_the_queries() {
    check_suites(&[
        "consistency-2016",
        "fill-ladder",
        "act",
        "act-24h",
        "act-48h",
        "load-curve",
        "size-curve",
    ]);
}

#[test]
#[ignore = "second tier"]
fn suites_of_tasks_run_shortened_on_a_loop_device_with_the_headlines_of_the_queries() {
    check_suites(&["client-2018-full", "as-ssd", "tasks", "trim", "power-states"]);
    check_suites(&["like-destroyer", "like-heavy", "like-light"]);
}

#[test]
#[ignore = "second tier"]
fn suites_of_states_run_shortened_on_a_loop_device_with_the_headlines_of_the_queries() {
    check_suites(&[
        "cache-fill",
        "four-states",
        "pulse",
        "degrade-recover",
        "commit",
        "ai-experts",
        "quick-ai",
        "quick-database",
        "quick-desktop",
    ]);
}

#[test]
fn suites_of_loads_run_shortened_on_a_loop_device_with_the_headlines_of_the_queries() {
    check_suites(&["ssd-iq", "ai-checkpoint", "fsload"]);
}

/// Runs suites shortened on a loop device and checks their headlines.
fn check_suites(suites: &[&str]) {
    for (suite, shorten) in SUITES.iter().filter(|(suite, _)| suites.contains(suite)) {
        let bench = Bench::new();
        let Some(device) = Loop::attach(bench.folder.path(), SIZE) else { return };
        let start = Instant::now();
        let confirm = format!("{}:{SIZE}", device.name());
        let shorten = shorten.to_string();
        // In memory, because each of thousands of steps is synchronized to storage.
        let memory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let file = memory.path().join("run.ssdg");
        let mut arguments = vec![
            "run",
            suite,
            &device.path,
            "--confirm",
            &confirm,
            "--confined",
            &confirm,
            "--shorten",
            &shorten,
            "--scale-spans",
            "--out",
            file.to_str().unwrap(),
            "--json",
        ];
        let all = std::env::var_os("SSDGAUGE_LONG").is_some();
        let some = SOME.iter().filter(|(of, _)| !all && of == suite);
        let tests = some.flat_map(|(_, tests)| *tests);
        arguments.extend(tests.flat_map(|test| ["--test", test]));
        let document: Value = serde_json::from_str(&bench.print(&arguments)).unwrap();
        let ran = start.elapsed().as_secs_f64();
        let run = &document["runs"][0];
        assert_eq!((&run["complete"], &run["suite"]["is_shortened"]), (&true.into(), &true.into()));
        let found = run["findings"].to_string();
        assert!(found.contains("\"shortened\""), "{suite}: {found}");
        let missing = check_headlines(&file, run);
        let checked = start.elapsed().as_secs_f64() - ran;
        println!("{suite}: {ran:.1} s, {checked:.1} s of queries, {missing} without a headline");
    }
}

#[test]
fn the_queries_equal_the_headlines_with_full_seconds_power_repetitions_and_rounds() {
    let small = "sim:tiny";
    let large = "sim:tlc-client?capacity=20GB";
    let cases: [(&str, &str, &[&str]); 8] = [
        ("consistency-2016", small, &["--shorten", "60"]),
        ("client-2018", large, &["--shorten", "60", "--test", "mixed-random"]),
        ("client-2018", large, &["--test", "whole-drive-fill"]),
        ("client-2018", large, &["--test", "idle-power-active", "--test", "wake-up"]),
        ("snia-pts-c", small, &["--shorten", "30", "--test", "latency"]),
        ("act", small, &["--shorten", "360"]),
        ("trim", small, &["--shorten", "60", "--repeat", "2"]),
        ("load-curve", small, &["--shorten", "5", "--repeat", "2", "--test", "random-read"]),
    ];
    let bench = Bench::new();
    for (number, (suite, target, options)) in cases.iter().enumerate() {
        let out = format!("{number}.ssdg");
        let mut arguments = vec!["run", suite, target, "--scale-spans", "--json", "--out", &out];
        arguments.extend(*options);
        let document: Value = serde_json::from_str(&bench.print(&arguments)).unwrap();
        let missing = check_headlines(&bench.path(&out), &document["runs"][0]);
        assert_eq!(missing, 0, "{suite} {options:?}");
    }
    check_percentiles(&bench);
    let service = sqlite(&bench.path("5.ssdg"), &block("service"));
    assert!(service.lines().any(|line| line.contains("large-writes")), "{service}");
}

/// Checks every headline of `run` against the query of its rule; returns how many have none.
fn check_headlines(file: &Path, run: &Value) -> usize {
    let plan: Value = serde_json::from_str(&sqlite(file, "SELECT plan FROM run")).unwrap();
    let scores: BTreeMap<&str, &Value> = plan["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|test| (test["id"].as_str().unwrap(), test))
        .collect();
    let mut missing = 0;
    for test in run["tests"].as_array().unwrap() {
        let id = test["id"].as_str().unwrap();
        let planned = scores[id];
        let also = planned["also"].as_array().unwrap().iter().zip(test["also"].as_array().unwrap());
        let all = std::iter::once((&planned["score"], &test["headline"])).chain(also);
        for (number, (score, headline)) in all.enumerate() {
            let metric = headline["metric"].as_str().unwrap();
            // Percentiles are not SQL's (`check_percentiles` has them), nor are sums over buckets. Few drives
            // have a reading of the write amplification.
            const OTHERS: [&str; 5] =
                ["lat_p", "lat_time_p", "time_over", "write_amp", "effective"];
            if OTHERS.iter().any(|other| metric.starts_with(other)) {
                continue;
            }
            // The queries count as the protocol does.
            let expected = headline["protocol"].as_f64();
            let rows = sqlite(file, &query(id, score));
            let values: Vec<f64> = rows
                .lines()
                .filter_map(|row| row.split('|').next().and_then(|value| value.parse().ok()))
                .collect();
            let wanted = test["repetitions"].as_array().unwrap().len().max(1);
            let found =
                (values.len() == wanted).then(|| values.iter().sum::<f64>() / values.len() as f64);
            match (expected, found) {
                (Some(expected), Some(found)) => {
                    let apart = (found - expected).abs() / expected.abs().max(1e-12);
                    assert!(apart < 1e-9, "{id} {score}: {found}, and the report has {expected}");
                }
                (None, None) => {}
                (expected, found) => panic!("{id} {score}: {found:?}, report {expected:?}"),
            }
            if number == 0 && expected.is_none() {
                missing += 1;
                let findings = test["findings"].as_array().unwrap();
                let explained = findings.iter().any(|finding| {
                    finding["metrics"].as_array().unwrap().contains(&"headline".into())
                });
                assert!(explained, "{id} has no headline and does not say why: {findings:?}");
            }
        }
    }
    missing
}

/// Returns the query for a score of the plan, with its values filled in.
fn query(test: &str, score: &Value) -> String {
    let fill = |rule: &str, metric: &Value, at: &str, window: &str| {
        block(rule)
            .replace("TEST", test)
            .replace("METRIC", metric.as_str().unwrap_or_default())
            .replace("POSITIONS", at)
            .replace("WINDOW", window)
    };
    let none = &Value::Null;
    if let Some(rule) = score.as_str() {
        return match rule {
            "highest-borne" => fill("highest_borne", none, "", ""),
            "highest-borne-from-sending" => fill("highest_borne from sending", none, "", ""),
            other => panic!("no query for {other}"),
        };
    }
    let (rule, keys) = score.as_object().unwrap().iter().next().unwrap();
    let metric = if keys.is_string() { keys } else { &keys["metric"] };
    let window = |rule: &str| {
        let of = keys["window"].as_object().unwrap().iter().next().unwrap();
        let number = of.1.as_u64().unwrap();
        match of.0.as_str() {
            "time" => {
                let seconds = number.div_ceil(1_000_000_000);
                let of_power = if metric == "power_w" { " of power" } else { "" };
                fill(&format!("{rule} seconds{of_power}"), metric, "", &seconds.to_string())
            }
            "bytes" => fill(&format!("{rule} bytes"), metric, "", &number.to_string()),
            other => panic!("no query for a window of {other}"),
        }
    };
    match rule.as_str() {
        "mean-of" => fill("mean_of", metric, "", ""),
        "mean-at" => {
            let list = keys["positions"].to_string();
            fill("mean_of at", metric, list.trim_matches(['[', ']']), "")
        }
        "best-of" => fill("best_of", metric, "", ""),
        "at" if metric == "worst_second_iops" => {
            fill("worst_second at", metric, &keys["position"].to_string(), "")
        }
        "at" => fill("metric at", metric, &keys["position"].to_string(), ""),
        "of-stream" | "of-direction" => {
            let rule = match keys["direction"].is_null() {
                true => "metric at of a stream",
                false => "metric at of a direction",
            };
            let of = fill(rule, metric, &keys["position"].to_string(), "");
            let direction = keys["direction"].as_str().unwrap_or_default();
            of.replace("NUMBER", &keys["stream"].to_string()).replace("DIRECTION", direction)
        }
        "knee" => fill("knee_of", metric, "", ""),
        "knee-of-load" => fill("knee_of_load", metric, "", ""),
        "mean-of-last" => window("mean_of_last"),
        "mean-over-sigma-of-last" => window("mean_over_sigma_of_last"),
        other => panic!("no query for {other}"),
    }
}

/// Returns the query of the file that begins with `-- name`.
fn block(name: &str) -> String {
    let mut named = QUERIES.split("\n\n-- ").filter(|part| part.lines().next() == Some(name));
    let found = named.next().unwrap_or_else(|| panic!("docs/headlines.sql has no query '{name}'"));
    format!("-- {found}")
}

/// Runs `sql` in the sqlite3 shell, with the views of the file.
fn sqlite(file: &Path, sql: &str) -> String {
    let script = format!("{}\n{sql}", block("views"));
    let mut shell = Command::new("sqlite3")
        .arg("-readonly")
        .arg(file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    shell.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = shell.wait_with_output().unwrap();
    assert!(output.status.success(), "{}\n{sql}", text(&output.stderr));
    text(&output.stdout)
}

/// Checks the program for percentiles against the report of one run.
fn check_percentiles(bench: &Bench) {
    let file = bench.path("0.ssdg");
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/programs/percentile.py");
    let document: Value =
        serde_json::from_str(&bench.print(&["report", "0.ssdg", "--json"])).unwrap();
    let metrics = &document["runs"][0]["tests"][0]["points"][0]["metrics"];
    let sql = "SELECT id FROM step WHERE test = 0 AND phase_kind = 'measure'";
    let step = sqlite(&file, sql);
    for (percent, key) in [("50", "lat_p50_us"), ("99", "lat_p99_us"), ("99.9", "lat_p99_9_us")] {
        let output = Command::new("python3")
            .arg(program)
            .arg(&file)
            .args([step.trim(), percent])
            .output()
            .unwrap();
        let printed: f64 = text(&output.stdout).trim().parse().unwrap();
        assert_eq!(Some(printed), metrics[key].as_f64(), "{key}: {}", text(&output.stderr));
    }
}
