//! Agreement with fio on a device with a known rate.

use crate::support::{Bench, Loop, Throttle, text};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const SIZE: u64 = 64 << 20;
/// The rate limit of the control group, in requests per second: the true value. The kernel admits a
/// tenth of it in each tenth of a second, independent of the time before. So the first second can
/// have 10 % more, and is excluded for both programs.
const RATE: u64 = 500;
/// Requests in flight: more than the kernel admits in 0.3 s, so that a program which waits that long
/// for a processor loses no request.
const DEPTH: u64 = 160;

#[test]
#[ignore = "second tier"]
fn throughput_agrees_with_fio_within_five_percent_on_one_throttled_device() {
    if Command::new("fio").arg("--version").output().is_err() {
        println!("skipped: no fio");
        return;
    }
    let bench = Bench::new();
    let Some(device) = Loop::attach(bench.folder.path(), SIZE) else { return };
    let Some(throttle) = Throttle::new(&device, RATE) else { return };
    let suite = SUITE.replace("DEPTH", &DEPTH.to_string());
    std::fs::write(bench.path("read.toml"), suite).unwrap();
    // In turn, three times, and the best of each: other programs can delay requests, and the throttle admits no more.
    let mut pairs: [Vec<f64>; 2] = Default::default();
    for turn in 0..3 {
        pairs[0].push(ours(&bench, &device, &throttle, turn));
        pairs[1].push(theirs(bench.folder.path(), &device, &throttle));
    }
    let [ours, theirs] = pairs.map(|values| values.into_iter().fold(0.0, f64::max));
    println!("ssdgauge {ours:.1} IOPS, fio {theirs:.1} IOPS, truth {RATE}");
    assert!((ours / theirs - 1.0).abs() < 0.05, "ssdgauge {ours}, fio {theirs}");
    assert!((ours / RATE as f64 - 1.0).abs() < 0.05, "ssdgauge {ours}, truth {RATE}");
}

const SUITE: &str = r#"
[suite]
id = "read"
revision = 1
title = "Random reads"
prepare = [{ fill = "sequential", block_size = "1MiB" }]

[[test]]
id = "read"
revision = 1
title = "Random reads"
stream = { access = "random", block_size = "4KiB", read_percent = 100, queue_depth = DEPTH }
until = { time = "4s" }
score = { metric = "iops", mean_of_last = "3s" }
"#;

/// Returns the IOPS of ssdgauge in the last three of four seconds.
fn ours(bench: &Bench, device: &Loop, throttle: &Throttle, turn: u32) -> f64 {
    let program = env!("CARGO_BIN_EXE_ssdgauge");
    let (path, name) = (&device.path, device.name());
    let arguments = format!(
        "run read.toml {path} --confirm {name}:{SIZE} --confined {name}:{SIZE} --out {turn}.ssdg --json"
    );
    let output = throttle
        .inside(&format!("{program} {arguments}"))
        .current_dir(bench.folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    json["runs"][0]["tests"][0]["headline"]["value"].as_f64().unwrap()
}

/// Returns the IOPS of fio in the same three seconds, from its request log: its own mean excludes
/// requests that were in flight at the end of the ramp.
fn theirs(folder: &Path, device: &Loop, throttle: &Throttle) -> f64 {
    let arguments = format!(
        "fio --name=peer --filename={} --rw=randread --bs=4k --direct=1 --ioengine=io_uring \
         --iodepth={DEPTH} --time_based --runtime=4 --write_lat_log=peer",
        device.path
    );
    let output = throttle.inside(&arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let log = std::fs::read_to_string(folder.join("peer_lat.1.log")).unwrap();
    let millis = log.lines().map(|line| line.split(',').next().unwrap().parse::<u64>().unwrap());
    millis.filter(|at| (1_000..4_000).contains(at)).count() as f64 / 3.0
}
