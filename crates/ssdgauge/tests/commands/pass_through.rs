//! Runs with NVMe pass-through are refused where there is no whole NVMe drive, before anything is written.

use crate::support::{Bench, Loop, text, unfolded};

const SUITE: &str = r#"
[suite]
id = "reads"
revision = 1
title = "Reads"

[[test]]
id = "t"
revision = 1
title = "T"
stream = { access = "random", block_size = "4KiB", read_percent = 100 }
until = { time = "50ms" }
score = { best_of = "iops" }
"#;

#[test]
fn a_target_that_takes_no_commands_is_refused_with_the_remedy() {
    let bench = Bench::new();
    std::fs::write(bench.path("reads.toml"), SUITE).unwrap();
    std::fs::write(bench.path("file"), [0; 8_192]).unwrap();
    for (arguments, words) in [
        (&["quick", ".", "--size", "16MiB"][..], "is a file"),
        (&["run", "reads.toml", "sim:tiny"], "is a virtual drive (MODEL)"),
        (&["run", "reads.toml", "null:"], "is no drive"),
        (&["plan", "reads.toml", "null:"], "is no drive"),
        (&["bench", ".", "--size", "16MiB"], "is a file"),
        (&["bench", "file", "--size", "8KiB"], "is a file"),
        (&["bench"], "is no drive"),
    ] {
        let before = bench.names();
        let output = bench.call(&[arguments, &["--pass-through"]].concat());
        let stderr = unfolded(&text(&output.stderr));
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
        assert!(stderr.contains("hint: nothing was written; name a whole NVMe drive"), "{stderr}");
        assert_eq!(bench.names(), before, "{arguments:?}");
    }
}

#[test]
fn a_loop_device_is_refused_before_its_consent_is_asked_for() {
    let bench = Bench::new();
    let Some(device) = Loop::attach(bench.folder.path(), 16 << 20) else { return };
    std::fs::write(bench.path("reads.toml"), SUITE).unwrap();
    let path = format!("/dev/{}", device.name());
    for command in ["run", "plan"] {
        let output = bench.call(&[command, "reads.toml", &path, "--pass-through"]);
        let stderr = unfolded(&text(&output.stderr));
        assert_eq!(output.status.code(), Some(3), "{command}: {stderr}");
        let words = format!("cannot be passed through to {path}: it is no NVMe namespace");
        assert!(stderr.contains(&words), "{stderr}");
    }
}

#[test]
fn polled_completions_and_pass_through_exclude_each_other() {
    let bench = Bench::new();
    std::fs::write(bench.path("reads.toml"), SUITE).unwrap();
    for arguments in [&["run", "reads.toml", "null:"][..], &["bench"]] {
        let output = bench.call(&[arguments, &["--pass-through", "--polled"]].concat());
        let stderr = unfolded(&text(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains("cannot be used with"), "{stderr}");
    }
}
