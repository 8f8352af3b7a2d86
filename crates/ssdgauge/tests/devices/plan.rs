//! What `plan` prints about time and bytes, and what a run prints about its rest.

use crate::support::{Bench, Loop, text, unfolded};

const FIVE_FILLS: &str = r#"
[suite]
id = "five"
revision = 1
title = "Five fills"

[[test]]
id = "t"
revision = 1
title = "T"
prepare = [
    { fill = "sequential", span = "1GB" },
    { fill = "sequential", span = "1GB" },
    { fill = "sequential", span = "1GB" },
    { fill = "sequential", span = "1GB" },
    { fill = "sequential", span = "1GB" },
]
stream = { access = "random", block_size = "4KiB", read_percent = 100 }
until = { time = "50ms" }
score = { best_of = "iops" }
"#;

const TARGET: &str = "sim:sata-datacentre?capacity=2GB";

fn line<'a>(text: &'a str, start: &str) -> &'a str {
    let found = text.lines().find(|line| line.starts_with(start));
    found.unwrap_or_else(|| panic!("no line '{start}' in {text}"))
}

#[test]
fn a_plan_states_expected_values_bounds_and_the_assumed_rates() {
    let bench = Bench::new();
    std::fs::write(bench.path("five.toml"), FIVE_FILLS).unwrap();
    let plan = bench.print(&["plan", "five.toml", TARGET]);
    // 5 GB at 540 MB/s, and 50 ms of reads; the bound at half the rate.
    assert_eq!(
        line(&plan, "  time "),
        "  time      9 s of virtual time expected, at most 19 s; about 1 s here"
    );
    let writes = "  writes    5.00 GB expected, at most 5.00 GB: 2.5 drive writes";
    assert_eq!(line(&plan, "  writes "), writes);
    let rates = unfolded(&plan);
    assert!(rates.contains("a SATA drive without volatile write cache: 540 MB/s"), "{rates}");
    assert!(rates.contains("--write-rate"), "{rates}");
}

#[test]
fn a_given_write_rate_replaces_the_assumed_one() {
    let bench = Bench::new();
    std::fs::write(bench.path("five.toml"), FIVE_FILLS).unwrap();
    let arguments = ["plan", "five.toml", TARGET, "--write-rate", "100MB", "--json"];
    let json: serde_json::Value = serde_json::from_str(&bench.print(&arguments)).unwrap();
    let estimate = &json["estimate"];
    let seconds = estimate["time_s"].as_f64().unwrap();
    assert!((50.0..51.0).contains(&seconds), "{seconds}");
    assert!(estimate["time_bound_s"].as_f64().unwrap() >= 100.0);
    // Five times 1 GB in whole requests of 128 KiB.
    assert_eq!(estimate["written_bytes"], 4_999_987_200_u64);
    assert_eq!(estimate["rates"]["large_write_mb_s"], 100.0);
    // The keys of the limits keep their meaning.
    assert_eq!(estimate["filled_bytes"], 4_999_987_200_u64);
    assert_eq!(estimate["written_bytes_at_most"], 4_999_987_200_u64);
    assert_eq!(estimate["assumed_bytes_per_second"], 100_000_000);
}

#[test]
fn a_run_prints_its_rest_by_the_rate_of_its_first_fill() {
    let bench = Bench::new();
    std::fs::write(bench.path("five.toml"), FIVE_FILLS).unwrap();
    let output = bench.call(&["run", "five.toml", TARGET, "--out", "a.ssdg"]);
    let stderr = text(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let found: Vec<&str> = stderr.lines().filter(|line| line.contains("after this fill")).collect();
    // Four fills of 1 GB are left.
    let [line] = found[..] else { panic!("{stderr}") };
    assert!(line.contains("at 560 MB/s: about 7 s left, 4.00 GB to write"), "{line}");
}

#[test]
fn a_run_is_refused_by_the_expected_bytes_and_not_by_the_bound() {
    let bench = Bench::new();
    let plan = |endurance: &str| {
        let arguments =
            ["plan", "consistency-2016", TARGET, "--shorten", "60", "--endurance", endurance];
        bench.print(&arguments)
    };
    // About 36 GB are expected, and at most about 75: 2 % of 2 TB lie between.
    assert!(!plan("2TBW").contains("would be refused"), "{}", plan("2TBW"));
    let refused = plan("1TBW");
    let reason = unfolded(&refused);
    assert!(reason.contains("refused this run would be refused: "), "{reason}");
    assert!(reason.contains("is rated for (at most "), "{reason}");
}

#[test]
fn a_plan_of_a_drive_that_a_run_would_refuse_states_the_reason() {
    let bench = Bench::new();
    let plan = bench.print(&["plan", "fill-ladder", "sim:tlc-client"]);
    assert!(!plan.contains("refused") && plan.contains("next:  ssdgauge run"), "{plan}");
    let Some(device) = Loop::attach(bench.folder.path(), 64 << 20) else { return };
    let arguments = ["plan", "quick", &device.path];
    let read_only = |flag: &str| {
        let mut command = std::process::Command::new("blockdev");
        assert!(command.args([flag, &device.path]).status().unwrap().success());
    };
    assert!(!bench.print(&arguments).contains("a run would be refused"));
    read_only("--setro");
    let plan = bench.print(&arguments);
    let json: serde_json::Value =
        serde_json::from_str(&bench.print(&[&arguments[..], &["--json"]].concat())).unwrap();
    let name = format!("{}:{}", device.name(), 64 << 20);
    let consent = ["--confirm", &name, "--confined", &name, "--out", "a.ssdg"];
    let run = bench.call(&[&["run"], &arguments[1..], &consent].concat());
    read_only("--setrw");
    let reason = format!("{} is read-only", device.path);
    assert_eq!(line(&plan, "  refused "), format!("  refused   a run would be refused: {reason}"));
    assert!(!plan.contains("next:  ssdgauge run"), "{plan}");
    assert_eq!(json["refused"], reason);
    assert_eq!(run.status.code(), Some(3));
    assert!(text(&run.stderr).contains(&reason), "{}", text(&run.stderr));
}

#[test]
fn a_plan_of_several_tests_has_a_line_for_each_and_the_next_command() {
    let bench = Bench::new();
    let arguments = ["plan", "client-2018", "sim:tlc-client"];
    let plan = bench.print(&arguments);
    let json: serde_json::Value =
        serde_json::from_str(&bench.print(&[&arguments[..], &["--json"]].concat())).unwrap();
    for test in json["plan"]["tests"].as_array().unwrap() {
        let id = format!("  {} ", test["id"].as_str().unwrap());
        assert_eq!(plan.lines().filter(|line| line.starts_with(&id)).count(), 1, "{id}: {plan}");
    }
    assert!(line(&plan, "  mixed-random ").ends_with("11: 100 % read to 0 % read"), "{plan}");
    assert!(plan.lines().count() < 30, "{plan}");
    assert!(
        plan.contains("values are chosen by ssdgauge") && plan.contains("--all of `plan` lists")
    );
    assert_eq!(plan.lines().last(), Some("next:  ssdgauge run client-2018 sim:tlc-client"));
    // The command can be pasted: with its options, and with what a shell would read otherwise in quotes.
    let drive = "sim:tlc-client?capacity=64GB&seed=3";
    let plan = bench.print(&["plan", "fsload", drive, "--shorten", "4", "--all"]);
    let next = "next:  ssdgauge run fsload 'sim:tlc-client?capacity=64GB&seed=3' --shorten 4";
    assert_eq!(plan.lines().last(), Some(next));
    let every = bench.print(&[&arguments[..], &["--all"]].concat());
    assert!(every.lines().count() > 200 && every.contains("duty cycle of 50 %"), "{every}");
    let one = bench.print(&[&arguments[..], &["--test", "mixed-random"]].concat());
    assert!(one.contains("duty cycle of 50 %") && !one.contains("--all lists"), "{one}");
}

#[test]
fn sizes_of_a_plan_are_rounded_and_json_has_them_exactly() {
    let bench = Bench::new();
    let target = "sim:tlc-client?capacity=977GB";
    let plan = bench.print(&["plan", "snia-pts-c", target, "--all"]);
    let is_long = |word: &str| word.trim_matches(|c: char| !c.is_ascii_digit()).len() > 7;
    let words: Vec<&str> = plan.split_whitespace().filter(|word| word.contains("KiB")).collect();
    assert!(!words.iter().any(|word| is_long(word)), "{words:?}");
    assert!(plan.contains("write 733 GB once, sequential order, 128 KiB per request"), "{plan}");
    let json = bench.print(&["plan", "snia-pts-c", target, "--json"]);
    assert!(json.contains("\"span\": 7327"), "exact");
}
