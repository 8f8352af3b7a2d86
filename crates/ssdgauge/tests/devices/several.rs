//! Runs on several targets side by side, and the view of a run in progress.

use crate::commands::watch::{on_terminal, read_until};
use crate::support::{Bench, Loop, measures, query, signal, text, wait_for};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

/// A short run of little load.
const SUITE: &str = r#"
[suite]
id = "mine"
revision = 1
title = "Mine"
prepare = [{ fill = "sequential", span = "8MiB", block_size = "128KiB" }]
[[test]]
id = "load"
revision = 1
title = "Load"
stream = { access = "random", block_size = "4KiB", read_percent = 50, span = "8MiB", per_second = 100 }
until = { time = "TIME" }
score = { mean_of = "iops" }
"#;

/// Returns a suite of one load that reads and writes for `time`.
pub(crate) fn short_suite(time: &str) -> String {
    SUITE.replace("TIME", time)
}

fn bench(time: &str) -> Bench {
    let bench = Bench::new();
    std::fs::write(bench.path("mine.toml"), short_suite(time)).unwrap();
    bench
}

#[test]
fn several_targets_run_side_by_side_with_files_of_their_own_and_one_report() {
    let bench = bench("1s");
    let line =
        ["run", "mine.toml", "sim:tlc-client?capacity=4GB", ".", "sim:qlc-client?capacity=4GB"];
    let line = [&line[..], &["--size", "16MiB", "--out", "a.ssdg", "--json"]].concat();
    let output = bench.call(&line);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    let kind = |at: usize| runs[at]["drive"]["kind"].as_str().unwrap().to_owned();
    assert_eq!([kind(0), kind(1), kind(2)], ["virtual", "file", "virtual"]);
    for name in ["sim-tlc-client", "target", "sim-qlc-client"] {
        let file = bench.path(&format!("a-{name}.ssdg"));
        assert_eq!(query(&file, "SELECT count(*) FROM step WHERE state='finished'"), 2);
        assert!(stderr.lines().any(|line| line.starts_with(&format!("{name}: "))), "{stderr}");
    }
    let page = std::fs::read_to_string(bench.path("a.html")).unwrap();
    assert!(page.contains("qlc-client") && page.contains("tlc-client"));
    // A scheduler that starts the same command again finds all of them finished.
    let output = bench.call(&[&line[..], &["--or-resume"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn a_target_that_is_refused_keeps_all_from_beginning_and_one_that_fails_stops_no_other() {
    let bench = bench("1s");
    let targets = ["run", "mine.toml", "sim:tlc-client?capacity=4GB", "/dev/none"];
    let output = bench.call(&[&targets[..], &["--out", "a.ssdg"]].concat());
    assert_ne!(output.status.code(), Some(0));
    assert_eq!(bench.names(), ["mine.toml"]);

    // Both loop devices need a confirmation each.
    let size = 64 << 20;
    let (one, two) = (bench.path("one"), bench.path("two"));
    std::fs::create_dir(&one).unwrap();
    std::fs::create_dir(&two).unwrap();
    let Some(first) = Loop::attach(&one, size) else { return };
    let Some(second) = Loop::attach(&two, size) else { return };
    let words = [&first, &second].map(|device| format!("{}:{size}", device.name()));
    let targets = ["run", "mine.toml", &first.path, &second.path, "--out", "b.ssdg"];
    let confirm = ["--confirm", &words[0], "--confined", &words[0], "--confined", &words[1]];
    let output = bench.call(&[&targets[..], &confirm].concat());
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(!bench.names().iter().any(|name| name.starts_with("b-")), "{:?}", bench.names());

    let confirm = [&confirm[..], &["--confirm", &words[1]]].concat();
    // The run file of the second one is not a run file: its process fails, and the other one goes on.
    let held = bench.path(&format!("b-{}.ssdg", second.name()));
    std::fs::write(&held, "").unwrap();
    let output = bench.call(&[&targets[..], &confirm, &["--or-resume"]].concat());
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("1 of 2 runs did not finish"), "{stderr}");
    let finished = bench.path(&format!("b-{}.ssdg", first.name()));
    assert_eq!(query(&finished, "SELECT count(*) FROM step WHERE state='finished'"), 2);

    std::fs::remove_file(&held).unwrap();
    let line = [&targets[..], &confirm, &["--or-resume"]].concat();
    let output = bench.call(&line);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn a_drive_that_is_named_twice_is_refused_and_nothing_is_written() {
    let bench = bench("1s");
    let Some(drive) = Loop::attach(&bench.path(""), 64 << 20) else { return };
    let other = bench.path("other-name");
    std::os::unix::fs::symlink(&drive.path, &other).unwrap();
    let before = bench.names();
    let line = ["run", "mine.toml", &drive.path, "null:", other.to_str().unwrap()];
    let output = bench.call(&[&line[..], &["--out", "a.ssdg"]].concat());
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains(&format!("{} and {} are one drive", drive.path, other.display())),
        "{stderr}"
    );
    assert_eq!(bench.names(), before);
}

#[test]
fn one_signal_stops_all_runs_and_leaves_files_that_can_be_resumed() {
    let bench = bench("60s");
    let line = ["run", "mine.toml", "null:", ".", "--size", "16MiB", "--out", "a.ssdg"];
    let mut child = bench
        .command(&line)
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(bench.path("stderr")).unwrap())
        .spawn()
        .unwrap();
    let files = ["a-null.ssdg", "a-target.ssdg"].map(|name| bench.path(name));
    for file in &files {
        wait_for("the measuring step", || file.exists() && measures(file));
    }
    signal(&child, "TERM");
    let code = child.wait().unwrap().code();
    let stderr = std::fs::read_to_string(bench.path("stderr")).unwrap();
    assert_eq!(code, Some(75), "{stderr}");
    assert!(stderr.contains("2 of 2 runs did not finish"), "{stderr}");
    for file in &files {
        assert_eq!(query(file, "SELECT count(*) FROM step WHERE ended_by='stop'"), 1);
        let name = file.file_name().unwrap().to_str().unwrap();
        assert_eq!(bench.call(&["watch", name]).status.code(), Some(75));
    }
}

#[test]
fn a_run_with_its_view_stops_by_ctrl_c_and_goes_on_when_the_view_is_left() {
    for (keys, time, code) in [(&b"\x03"[..], "60s", 75), (b"q", "2s", 0)] {
        let bench = bench(time);
        let line = "run mine.toml null: --size 16MiB --out a.ssdg --watch";
        let Some(mut run) = on_terminal(&bench, line, 100, &[]) else { return };
        read_until(&mut run, |text| text.contains("Ctrl-C stop") && text.contains("IOPS"));
        run.stdin.as_mut().unwrap().write_all(keys).unwrap();
        let end = if code == 0 { "report: " } else { "ssdgauge resume" };
        let shown = read_until(&mut run, |text| text.contains(end));
        assert!(shown.contains("\u{1b}[?1049l"), "the terminal is given back: {shown}");
        assert_eq!(run.wait().unwrap().code(), Some(code), "{shown}");
        let finished = "SELECT count(*) FROM step WHERE state='finished' AND phase_kind='measure'";
        assert_eq!(query(&bench.path("a.ssdg"), finished), i64::from(code == 0));
    }
}
