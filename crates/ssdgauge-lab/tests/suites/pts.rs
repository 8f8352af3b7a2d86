//! PTS-style suites in full length in virtual time: the relations between results that the drive
//! profile implies.

use crate::full::{falls, headline, rises, test, values, whole};
use ssdgauge_core::Metric;
use ssdgauge_report::Run;

/// A drive of 1 GB that is ten times slower than its profile, which divides the requests within 22
/// hours by as much. On a drive twice as slow the last requests of a step of 1 MiB would outlast its
/// limit.
const SLOW: &str = "tiny?nand.t_r_us=500&nand.t_prog_us=7000&slc.t_prog_us=2000";

fn pts_style(suite: &str) -> Run {
    let run = whole(suite, SLOW);
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
    let seconds = &saturated.points[0].seconds[..10];
    let fresh = seconds.iter().map(|second| second.iops).fold(0.0, f64::max);
    let (_, last) = saturated.points[0].seconds.split_at(saturated.points[0].seconds.len() - 30);
    let steady = last.iter().map(|second| second.iops).sum::<f64>() / 30.0;
    assert!(fresh > 1.5 * steady, "{fresh} {steady}");
    let idle = ["5s", "10s", "15s", "25s", "50s"].map(|idle| format!("idle-recovery-{idle}"));
    for id in &idle {
        let points = test(&run, id).points.len();
        assert_eq!(points, 361, "360 bursts and the baseline");
    }
    let recovered = idle.map(|id| headline(&run, &id) / test(&run, &id).also[0].value.unwrap());
    // Idle time lets garbage collection free blocks for the next burst.
    assert!(recovered.iter().all(|times| *times > 0.95), "{recovered:?}");
    assert!(recovered[4] > 0.9 * recovered[0], "{recovered:?}");
    let [first, _, again] = values(&run, "cross-stimulus", Metric::ThroughputMbS)[..] else {
        panic!("three stimuli")
    };
    assert!((0.5..=1.1).contains(&(again / first)), "{first} {again}");
    let latencies = values(&run, "demand-intensity", Metric::LatMeanUs);
    rises(&latencies, 0.9);
    assert!(latencies[8] > 10.0 * latencies[0], "{latencies:?}");
    run
}

#[test]
fn pts_style_tests_for_enterprise_drives() {
    let run = pts_style("snia-pts-e");
    // Without the write cache each write waits for its program operation.
    let writes = values(&run, "latency", Metric::LatMeanUs)[5];
    assert!(writes > 2_000.0, "{writes}");
}

#[test]
fn pts_style_tests_for_client_drives() {
    pts_style("snia-pts-c");
}
