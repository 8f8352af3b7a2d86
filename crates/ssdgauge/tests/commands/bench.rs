//! `ssdgauge bench`.

use crate::support::{Bench, text};

#[test]
fn the_benchmark_prints_processor_time_per_request() {
    let bench = Bench::new();
    let text = bench.print(&["bench", "--seconds", "1"]);
    assert!(text.contains("ns of processor time per I/O"), "{text}");
    assert!(text.contains("null: QD32"), "{text}");
}

#[test]
fn unsupported_options_are_refused_and_create_no_file() {
    let bench = Bench::new();
    for (arguments, code, expected) in [
        (["--queue-depth", "0"], 2, "1..=4096"),
        (["--queue-depth", "99999"], 2, "1..=4096"),
        (["--threads", "0"], 2, "1..=4096"),
        (["--requests", "0"], 2, "--requests"),
        (["--seconds", "0"], 2, "0.01 to 86400"),
        (["--rate", "nan"], 2, "above 0"),
        (["--block-size", "3"], 2, "512B to 64MiB"),
        (["--block-size", "5000"], 3, "block sizes that are multiples of"),
    ] {
        let line: Vec<&str> = ["bench", "."].into_iter().chain(arguments).collect();
        let output = bench.call(&line);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    assert!(bench.names().is_empty(), "{:?}", bench.names());
}
