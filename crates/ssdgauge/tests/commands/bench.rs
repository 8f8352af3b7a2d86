//! The benchmark of the engine: it prints what it measured, and judges nothing.

use crate::support::{Bench, text};

#[test]
fn the_benchmark_prints_processor_time_for_each_request() {
    let bench = Bench::new();
    let text = bench.print(&["bench", "--seconds", "1"]);
    assert!(text.contains("ns of processor time for each I/O"), "{text}");
    assert!(text.contains("null: QD32"), "{text}");
}

#[test]
fn what_it_cannot_do_is_refused_and_never_done_otherwise() {
    let bench = Bench::new();
    for (arguments, code, words) in [
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
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    assert!(bench.names().is_empty(), "{:?}", bench.names());
}
