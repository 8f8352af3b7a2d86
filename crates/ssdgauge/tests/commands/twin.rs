//! `ssdgauge twin`: what it is made from and refuses, what its profile says, and what it answers.

use super::fio_page::{commands, words};
use crate::support::{Bench, text, unfolded};
use std::path::Path;

const SUITE: &str = r#"
[suite]
id = "reads"
revision = 1
title = "Reads"
summary = "random reads at queue depths and at rates"
source = "ssdgauge"

[[test]]
id = "depths"
revision = 1
title = "Random read, 4 KiB"
source = "ssdgauge"
prepare = [{ purge = true }, { fill = "sequential", span = "100%", block_size = "1MiB" }]
stream = { access = "random", block_size = "4KiB", read_percent = 100, span = "100%" }
sweep = { queue_depth = [1, 4, 16, 64] }
until = { time = "1s" }
score = { at = 1, metric = "iops" }
figures = ["ranking"]

[[test]]
id = "rates"
revision = 1
title = "Random read at a rate"
source = "ssdgauge"
stream = { access = "random", block_size = "4KiB", read_percent = 100, arrival = "poisson", span = "100%" }
sweep = { per_second = [4000, 16000, 64000, 128000, 512000] }
until = { time = "2s" }
score = { best_of = "iops" }
figures = ["ranking"]
"#;

const DRIVE: &str = "sim:nvme-datacentre?capacity=8GB&nand.t_r_us=62&front.read_delay_us=14";

fn refused(bench: &Bench, arguments: &[&str], code: i32) -> String {
    let output = bench.call(arguments);
    let message = unfolded(&text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
    message
}

#[test]
fn a_twin_of_reads_predicts_reads_and_refuses_what_no_run_has() {
    let bench = Bench::new();
    std::fs::write(bench.path("reads.toml"), SUITE).unwrap();
    bench.print(&["run", "./reads.toml", DRIVE, "-o", "a.ssdg"]);
    let summary = unfolded(&bench.print(&["twin", "a.ssdg", "-o", "drive.toml"]));
    assert!(summary.contains("random reads at a rate: reads p50 ±"), "{summary}");
    assert!(summary.contains("sequential writes: not predicted: no run"), "{summary}");
    let profile = std::fs::read_to_string(bench.path("drive.toml")).unwrap();
    assert!(profile.contains("decided by reads/depths"), "{profile}");
    assert!(profile.contains("not identified"), "{profile}");
    assert!(profile.contains("model_revision = "), "{profile}");

    // A rate between those that were measured: the drive itself is the judge.
    let json = bench.print(&["twin", "--ask", "reads, 32,000/s", "drive.toml", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&json).unwrap();
    let own = SUITE.replace("4000, 16000, 64000, 128000, 512000", "32000");
    std::fs::write(bench.path("own.toml"), own).unwrap();
    let truth = bench.print(&["run", "./own.toml", DRIVE, "-o", "own.ssdg", "--json"]);
    let truth: serde_json::Value = serde_json::from_str(&truth).unwrap();
    let measured = find(&truth, "lat_p50_us").expect("the run has a median");
    let p50 =
        answer["predicted"].as_array().unwrap().iter().find(|one| one["number"] == "read-p50");
    let p50 = p50.expect("the median is predicted");
    let (value, band) = (p50["value"].as_f64().unwrap(), p50["band"].as_f64().unwrap());
    assert!((value / measured - 1.0).abs() <= band.max(0.05), "{value} for {measured}, {band}");

    let said = bench.print(&["twin", "--ask", "4 KiB random, reads, 32,000/s", "drive.toml"]);
    assert!(said.starts_with("PREDICTED (twin of MODEL nvme-datacentre"), "{said}");
    let message = refused(&bench, &["twin", "--ask", "70 % read, 4000/s", "drive.toml"], 3);
    assert!(message.contains("run load-curve DRIVE --test mixed-random"), "{message}");
    let message = refused(&bench, &["twin", "--ask", "reads, 2000000/s", "drive.toml"], 3);
    assert!(message.contains("outside what was validated"), "{message}");
    let message = refused(&bench, &["twin", "--ask", "reads, quickly", "drive.toml"], 2);
    assert!(message.contains("'quickly' is not understood; terms:"), "{message}");

    // It is a virtual drive like others, and says everywhere what it is.
    let described = bench.print(&["drives", "sim:./drive.toml"]);
    assert!(described.contains("PREDICTED (twin of"), "{described}");
    let said =
        unfolded(&bench.print(&["run", "./own.toml", "sim:./drive.toml", "-o", "twin.ssdg"]));
    assert!(said.contains("PREDICTED (twin of MODEL nvme-datacentre 8GB, "), "{said}");
    let older = profile.replace("model_revision = ", "model_revision = 1");
    std::fs::write(bench.path("older.toml"), older).unwrap();
    let message = refused(&bench, &["drives", "sim:./older.toml"], 2);
    assert!(message.contains("fit it anew with `ssdgauge twin a.ssdg -o drive.toml`"), "{message}");
}

/// Returns the last number called `key` anywhere in `value`.
fn find(value: &serde_json::Value, key: &str) -> Option<f64> {
    match value {
        serde_json::Value::Object(fields) => {
            let within = fields.values().filter_map(|one| find(one, key)).next_back();
            fields.get(key).and_then(serde_json::Value::as_f64).or(within)
        }
        serde_json::Value::Array(values) => {
            values.iter().filter_map(|one| find(one, key)).next_back()
        }
        _ => None,
    }
}

#[test]
fn runs_of_two_drives_or_shortened_ones_make_no_twin() {
    let bench = Bench::new();
    std::fs::write(bench.path("reads.toml"), SUITE).unwrap();
    let other = "sim:nvme-datacentre?capacity=8GB";
    bench.print(&["run", "./reads.toml", DRIVE, "-o", "a.ssdg", "--test", "rates"]);
    bench.print(&["run", "./reads.toml", other, "-o", "b.ssdg", "--test", "rates"]);
    bench.print(&["run", "./reads.toml", DRIVE, "-o", "c.ssdg", "--shorten", "2"]);
    let message = refused(&bench, &["twin", "a.ssdg", "b.ssdg", "-o", "drive.toml"], 3);
    assert!(message.contains("a twin has one drive"), "{message}");
    let message = refused(&bench, &["twin", "c.ssdg", "-o", "drive.toml"], 3);
    assert!(message.contains("c.ssdg is shortened to 1/2"), "{message}");
    let message = refused(&bench, &["twin", "a.ssdg", "-o", "a.ssdg"], 3);
    assert!(message.contains("is not replaced"), "{message}");
    assert!(!bench.path("drive.toml").exists());
}

/// The drive that stands in for the one of the page.
const OF_THE_PAGE: &str = "sim:nvme-datacentre?capacity=32GB";

#[test]
#[ignore = "second tier"]
fn the_example_of_the_page_about_twins_is_answered_and_checked() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/twin.md");
    let page = std::fs::read_to_string(page).unwrap();
    let bench = Bench::new();
    let suite = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    std::fs::write(bench.path("database.toml"), suite).unwrap();
    let stand_in = |word: String| match word.as_str() {
        "sudo" | "ssdgauge" | "--confirm" | "SERIAL" => None,
        "/dev/nvme1n1" => Some(OF_THE_PAGE.to_owned()),
        _ => Some(word),
    };
    let mut ran = 0;
    for line in commands(&page) {
        let arguments: Vec<String> = words(&line).into_iter().filter_map(stand_in).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let said = bench.print(&arguments);
        if arguments.contains(&"--ask") {
            let numbers = |text: &str| -> Vec<String> {
                text.split_whitespace()
                    .filter(|word| word.starts_with(char::is_numeric))
                    .map(str::to_owned)
                    .collect()
            };
            let shown = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
            assert_eq!(numbers(shown), numbers(&said), "{said}");
        }
        ran += 1;
    }
    assert!(ran >= 5, "the page has lost commands: {ran}");
    // The drive itself is the judge.
    let truth = bench.print(&["run", "./database.toml", OF_THE_PAGE, "-o", "drive.ssdg", "--json"]);
    let truth: serde_json::Value = serde_json::from_str(&truth).unwrap();
    let load = "4 KiB random, reads, 20000/s";
    let answer = bench.print(&["twin", "--ask", load, "drive.toml", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    for (number, key) in [("read-p50", "lat_p50_us"), ("read-p99", "lat_p99_us")] {
        let given =
            answer["predicted"].as_array().unwrap().iter().find(|one| one["number"] == number);
        let given = given.unwrap_or_else(|| panic!("{number} is not predicted: {answer}"));
        let (value, band) = (given["value"].as_f64().unwrap(), given["band"].as_f64().unwrap());
        let measured = find(&truth, key).unwrap();
        assert!((value / measured - 1.0).abs() <= band, "{number}: {value} for {measured}, {band}");
    }
}

#[test]
fn a_plan_names_the_runs_that_an_answer_needs() {
    let bench = Bench::new();
    let plan = unfolded(&bench.print(&["twin", "--plan", "70 % read, steady, QD16"]));
    let asked = plan.find("run enterprise-2019 DRIVE --test mixed-random-qd32").expect(&plan);
    let other = plan.find("run client-2018 DRIVE --test whole-drive-fill").expect(&plan);
    assert!(asked < other, "the load that is asked for leads: {plan}");
    std::fs::write(bench.path("reads.toml"), SUITE).unwrap();
    bench.print(&["run", "./reads.toml", DRIVE, "-o", "a.ssdg"]);
    let plan = bench.print(&["twin", "--plan", "reads, 20000/s", "a.ssdg"]);
    assert!(plan.starts_with("None: fit a twin"), "{plan}");
    let plan = bench.print(&["twin", "--plan", "writes, QD4", "a.ssdg", "--json"]);
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let kinds: Vec<&str> =
        plan.as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["random-writes", "sequential-writes"]);
    let message = refused(&bench, &["twin", "--plan", "writes, 20000/s"], 3);
    assert!(message.contains("predicts no load of this kind"), "{message}");
}
