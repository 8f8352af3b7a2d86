//! Runs with polled completions are refused where there are none, before anything is written.

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
fn a_target_without_polled_completions_is_refused_with_the_remedy() {
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
        let output = bench.call(&[arguments, &["--polled"]].concat());
        let stderr = unfolded(&text(&output.stderr));
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
        assert!(stderr.contains("hint: nothing was written; poll an NVMe drive"), "{stderr}");
        assert!(stderr.contains("nvme.poll_queues=1"), "{stderr}");
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
        let output = bench.call(&[command, "reads.toml", &path, "--polled"]);
        let stderr = unfolded(&text(&output.stderr));
        assert_eq!(output.status.code(), Some(3), "{command}: {stderr}");
        assert!(
            stderr.contains(&format!("the queue of {path} does not support polling")),
            "{stderr}"
        );
    }
}
