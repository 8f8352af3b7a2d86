//! `ssdgauge twin`: what it is made from and refuses, what its profile says, and what it answers.

use crate::support::{Bench, text, unfolded};

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
