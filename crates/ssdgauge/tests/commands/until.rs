//! `--repeat until:2%`: arguments, plan, results, and runs that are killed.

use crate::support::{Bench, text, unfolded};
use crate::tiers::repetitions;
use serde_json::Value;
use ssdgauge_core::Random;
use std::process::Stdio;
use std::time::Duration;

/// A drive without an SLC cache: after an idle time its reads depend on their addresses alone.
const DRIVE: &str = "sim:tiny?slc.fixed_gb=0&slc.dynamic_gb=0";

const SUITE: &str = include_str!("../reads.toml");

fn bench() -> Bench {
    let bench = Bench::new();
    std::fs::write(bench.path("own.toml"), SUITE).unwrap();
    bench
}

#[test]
fn a_wrong_number_of_repetitions_is_a_usage_error_with_the_valid_form() {
    let bench = bench();
    let cases = [
        ("until", "until:2%"),
        ("until:", "until:2%"),
        ("until:0%", "above 0 and below 100 %"),
        ("until:100%", "above 0 and below 100 %"),
        ("until:-2%", "above 0 and below 100 %"),
        ("until:NaN%", "above 0 and below 100 %"),
        ("until:2%,at-most=4", "use 5 to 100"),
        ("until:2%,at-most=1000", "use 5 to 100"),
        ("0", "use 1 to 100"),
        ("often", "until:2%"),
    ];
    for (repeat, expected) in cases {
        let output = bench.call(&["plan", "own.toml", DRIVE, "--repeat", repeat]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{repeat}: {stderr}");
        assert!(stderr.contains(expected), "{repeat}: {stderr}");
    }
}

#[test]
fn a_plan_states_the_minimum_and_the_maximum_number_of_repetitions() {
    let bench = bench();
    let plan = |repeat: &str, more: &[&str]| {
        let arguments = ["plan", "own.toml", DRIVE, "--repeat", repeat];
        bench.print(&[&arguments[..], more].concat())
    };
    for repeat in ["until:2%", "until 2%", "until:2%,at-most=20"] {
        let text = plan(repeat, &[]);
        let head = "all tests 5 to 20 times, until every 95 % interval is within ±2 % of its mean";
        let words = unfolded(&text);
        assert!(words.contains(head), "{text}");
        assert_eq!(text.matches("reads (revision 1)").count(), 2, "{text}");
        assert!(text.contains("reads (revision 1), each further repetition: Reads"), "{text}");
        assert!(words.contains("5 times: 6 s expected"), "{text}");
        assert!(
            words.contains(
                "20 times: time 22 s of virtual time expected, at most 26 s; about 1 s here"
            ),
            "{text}"
        );
    }
    let json: Value = serde_json::from_str(&plan("until:0.5%,at-most=40", &["--json"])).unwrap();
    assert_eq!(json["plan"]["repeat_until"]["at_most"], 40);
    assert_eq!(json["plan"]["tests"].as_array().unwrap().len(), 40);
    assert_eq!(json["estimate"]["timed_s"], 44.0);
    assert_eq!(json["estimate_of_fewest_repetitions"]["timed_s"], 5.5);
    let json: Value = serde_json::from_str(&plan("3", &["--json"])).unwrap();
    assert_eq!(json["estimate_of_fewest_repetitions"], Value::Null);
    assert!(json["plan"].get("repeat_until").is_none(), "older programs read such a plan");
}

#[test]
fn card_page_and_json_state_when_the_run_ended() {
    let bench = bench();
    let run = ["run", "own.toml", DRIVE, "--repeat", "until:20%", "--out", "a.ssdg"];
    let card = bench.print(&run);
    let reached = "stopped after 5 of at most 20 repetitions: every interval within ±20 %";
    // Plain output is ASCII.
    assert!(card.contains(&reached.replace('±', "+/-")), "{card}");
    let page = std::fs::read_to_string(bench.path("a.html")).unwrap();
    // No line breaks between a number and its unit.
    let page = page.replace('\u{a0}', " ");
    assert!(page.contains(reached) && !page.contains("UNFINISHED"));
    let report = |file: &str| -> Value {
        let json: Value = serde_json::from_str(&bench.print(&["report", file, "--json"])).unwrap();
        json["runs"][0].clone()
    };
    let json = report("a.ssdg");
    let rule = &json["repeat_until"];
    assert_eq!((&rule["ended_after"], &rule["at_most"]), (&Value::from(5), &Value::from(20)));
    assert_eq!(rule["half_width_percent"], 20.0);
    assert_eq!(json["complete"], true);
    assert_eq!(json["tests"][0]["repetitions"].as_array().unwrap().len(), 5);
    // The goal is out of reach.
    let repeat = "until:0.00001%,at-most=6";
    let run = ["run", "own.toml", DRIVE, "--repeat", repeat, "--out", "b.ssdg", "--json"];
    let json: Value = serde_json::from_str(&bench.print(&run)).unwrap();
    let json = &json["runs"][0];
    assert_eq!(
        (&json["repeat_until"]["ended_after"], &json["complete"]),
        (&6.into(), &true.into())
    );
    let findings = json["findings"].as_array().unwrap();
    let warning = findings.iter().find(|one| one["kind"] == "interval-not-reached").unwrap();
    assert_eq!(warning["severity"], "warning");
    let page = std::fs::read_to_string(bench.path("b.html")).unwrap();
    let page = page.replace('\u{a0}', " ");
    assert!(page.contains("not within ±0.00001 % after 6 repetitions: Reads ±"), "{warning}");
    // Runs with different numbers of repetitions are compared by all of them.
    let comparison = bench.print(&["compare", "a.ssdg", "b.ssdg"]);
    assert!(comparison.contains(" 0.0 %"), "{comparison}");
}

#[test]
fn a_run_that_is_killed_again_and_again_has_as_many_repetitions_as_one_that_is_not() {
    let kills = repetitions(8, 25, 500);
    let seed = 20_261_122;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let bench = bench();
    let results = |file: &str| -> (Value, Value) {
        let json: Value = serde_json::from_str(&bench.print(&["report", file, "--json"])).unwrap();
        let run = &json["runs"][0];
        assert_eq!(run["complete"], true);
        (run["repeat_until"]["ended_after"].clone(), run["tests"][0]["repetitions"].clone())
    };
    let run = |out: &'static str| {
        ["run", "own.toml", DRIVE, "--repeat", "until:0.05%,at-most=12", "--out", out]
    };
    bench.print(&run("whole.ssdg"));
    let whole = results("whole.ssdg");
    let (mut killed, mut completed) = (0, 0);
    while killed < kills {
        let file = bench.path("a.ssdg");
        loop {
            let resume = ["resume", "a.ssdg"];
            let line = if file.exists() { &resume[..] } else { &run("a.ssdg") };
            let mut command = bench.command(line);
            let command = command.stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            std::thread::sleep(Duration::from_millis(random.below(250)));
            match child.try_wait().unwrap() {
                Some(ended) => {
                    assert_eq!(ended.code(), Some(0), "after {killed} kills");
                    break;
                }
                None => {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    killed += 1;
                }
            }
            // On a slow machine no part may finish a step in time: the last part is not killed.
            if killed >= kills && file.exists() {
                bench.print(&resume);
                break;
            }
        }
        if !file.exists() {
            continue;
        }
        completed += 1;
        assert_eq!(results("a.ssdg"), whole, "after {killed} kills");
        std::fs::remove_file(&file).unwrap();
        let _ = std::fs::remove_file(bench.path("a.html"));
    }
    println!("{killed} kills, {completed} runs completed");
    assert!(completed > 0);
}
