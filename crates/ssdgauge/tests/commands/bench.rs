//! The benchmark of the engine: it prints what it measured, and judges nothing.

use crate::support::Bench;

#[test]
fn the_benchmark_prints_processor_time_for_each_request() {
    let bench = Bench::new();
    let text = bench.print(&["bench", "--seconds", "1"]);
    assert!(text.contains("ns of processor time for each I/O"), "{text}");
    assert!(text.contains("null: QD32"), "{text}");
}
