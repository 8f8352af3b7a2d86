//! Runs with polled completions or NVMe pass-through are refused where there are none, before anything is
//! written.

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

/// Each option, the words of its hint, and the words about a loop device.
const PATHS: [(&str, &[&str], &str); 2] = [
    (
        "--polled",
        &[
            "hint: nothing was written; poll an NVMe drive",
            "nvme.poll_queues=1",
            "or omit --polled",
        ],
        "the queue of DEVICE does not support polling",
    ),
    (
        "--pass-through",
        &["hint: nothing was written; name a whole NVMe drive", "or omit --pass-through"],
        "cannot be passed through to DEVICE: it is not an NVMe namespace",
    ),
];

#[test]
fn a_target_without_the_path_is_refused_with_the_remedy() {
    let bench = Bench::new();
    std::fs::write(bench.path("reads.toml"), SUITE).unwrap();
    std::fs::write(bench.path("file"), [0; 8_192]).unwrap();
    for (option, hints, _) in PATHS {
        for (arguments, words) in [
            (&["quick", ".", "--size", "16MiB"][..], "is a file"),
            (&["run", "reads.toml", "sim:tiny"], "is a virtual drive (MODEL)"),
            (&["run", "reads.toml", "null:"], "is not a drive"),
            (&["plan", "reads.toml", "null:"], "is not a drive"),
            (&["bench", ".", "--size", "16MiB"], "is a file"),
            (&["bench", "file", "--size", "8KiB"], "is a file"),
            (&["bench"], "is not a drive"),
        ] {
            let before = bench.names();
            let output = bench.call(&[arguments, &[option]].concat());
            let stderr = unfolded(&text(&output.stderr));
            assert_eq!(output.status.code(), Some(3), "{option}, {arguments:?}: {stderr}");
            for words in [&[words], hints].concat() {
                assert!(stderr.contains(words), "{option}, {arguments:?}: {words}: {stderr}");
            }
            assert_eq!(bench.names(), before, "{option}, {arguments:?}");
        }
    }
}

#[test]
fn a_loop_device_is_refused_before_its_consent_is_asked_for() {
    let bench = Bench::new();
    let Some(device) = Loop::attach(bench.folder.path(), 16 << 20) else { return };
    std::fs::write(bench.path("reads.toml"), SUITE).unwrap();
    let path = format!("/dev/{}", device.name());
    for (option, _, words) in PATHS {
        for command in ["run", "plan"] {
            let output = bench.call(&[command, "reads.toml", &path, option]);
            let stderr = unfolded(&text(&output.stderr));
            assert_eq!(output.status.code(), Some(3), "{option}, {command}: {stderr}");
            assert!(stderr.contains(&words.replace("DEVICE", &path)), "{stderr}");
        }
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
