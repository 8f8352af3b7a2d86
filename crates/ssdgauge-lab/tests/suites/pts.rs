//! PTS-style suites in full length in virtual time: the relations between results that the drive
//! profile implies.

use crate::suites::full::{falls, in_full_length, rises, test, values};
use ssdgauge_analysis::Run;
use ssdgauge_core::Metric;

/// A drive of 1 GB that is ten times slower than its profile, which divides the requests within 22
/// hours by as much. On a drive twice as slow the last requests of a step of 1 MiB would outlast its
/// limit.
const SLOW: &str = "tiny?nand.t_r_us=500&nand.t_prog_us=7000&slc.t_prog_us=2000";

/// The tests that both suites run here. Left to the long check are three of five pauses, and for the
/// client drive the sixteen hours of the cross stimulus: each is half of a minute of processor time.
const TESTS: &[&str] = &[
    "iops",
    "throughput-1024k",
    "throughput-128k",
    "latency",
    "write-saturation",
    "idle-recovery-5s",
    "idle-recovery-50s",
    "demand-intensity",
];

fn pts_style(suite: &str, more: &[&str]) -> Run {
    let tests = match std::env::var_os("SSDGAUGE_LONG") {
        Some(_) => Vec::new(),
        None => [TESTS, more].concat(),
    };
    let run = in_full_length(suite, &tests, SLOW);
    let cells = test(&run, "iops");
    assert_eq!(cells.points.len(), 56);
    let iops = values(&run, "iops", Metric::Iops);
    // Seven mixes of eight sizes each, from reads alone to writes alone.
    for size in 0..8 {
        let mixes: Vec<f64> = (0..7).map(|mix| iops[mix * 8 + size]).collect();
        falls(&mixes, 1.2);
        assert!(mixes[0] > 1.5 * mixes[6], "{mixes:?}");
    }
    // From 1,024 KiB to 8 KiB every smaller size gives more requests.
    rises(&iops[..6], 1.05);
    for id in ["iops", "throughput-1024k", "throughput-128k", "latency"] {
        let tracked = &test(&run, id).tracked;
        let (start, verdict) = tracked.last().unwrap().window().unwrap();
        assert!(verdict.steady && start + 5 <= 25, "{id}: {verdict:?}");
    }
    for id in ["throughput-1024k", "throughput-128k"] {
        let [read, write] = values(&run, id, Metric::ThroughputMbS)[..] else { panic!("two") };
        assert!(read > 1.5 * write, "{id}: {read} {write}");
    }
    let saturated = test(&run, "write-saturation");
    let seconds: Vec<f64> = saturated.points[0].seconds().map(|second| second.iops()).collect();
    let fresh = seconds[..10].iter().copied().fold(0.0, f64::max);
    let steady = seconds[seconds.len() - 30..].iter().sum::<f64>() / 30.0;
    assert!(fresh > 1.5 * steady, "{fresh} {steady}");
    let recovered: Vec<f64> = run
        .tests
        .iter()
        .filter(|test| test.test.id.starts_with("idle-recovery"))
        .map(|test| {
            assert_eq!(test.points.len(), 361, "360 bursts and the baseline");
            test.headline.value.unwrap() / test.also[0].value.unwrap()
        })
        .collect();
    // Idle time lets garbage collection free blocks for the next burst.
    assert!(recovered.len() >= 2 && recovered.iter().all(|times| *times > 0.95), "{recovered:?}");
    assert!(recovered[recovered.len() - 1] > 0.9 * recovered[0], "{recovered:?}");
    if tests.is_empty() || tests.contains(&"cross-stimulus") {
        let stimuli = values(&run, "cross-stimulus", Metric::ThroughputMbS);
        let [first, _, again] = stimuli[..] else { panic!("three stimuli") };
        assert!((0.5..=1.1).contains(&(again / first)), "{first} {again}");
    }
    let latencies = values(&run, "demand-intensity", Metric::LatMeanUs);
    rises(&latencies, 0.9);
    assert!(latencies[8] > 10.0 * latencies[0], "{latencies:?}");
    run
}

#[test]
#[ignore = "second tier"]
fn pts_style_tests_for_enterprise_drives() {
    let run = pts_style("snia-pts-e", &["cross-stimulus"]);
    // Without the write cache each write waits for its program operation.
    let writes = values(&run, "latency", Metric::LatMeanUs)[5];
    assert!(writes > 2_000.0, "{writes}");
}

#[test]
#[ignore = "second tier"]
fn pts_style_tests_for_client_drives() {
    pts_style("snia-pts-c", &[]);
}
