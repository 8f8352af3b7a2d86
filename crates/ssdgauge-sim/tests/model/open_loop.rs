//! The slots of an open loop on a virtual drive: as many as on a real one, and never a silent
//! limit.

use crate::model::support::{Recording, seconds, stream, workload};
use ssdgauge_core::{
    Access, Arrival, Bytes, EndedBy, Engine, FindingKind, Interval, OpenLoop, Rig, Stream, Workload,
};
use ssdgauge_sim::VirtualRig;

/// Runs uniform random reads on a drive that stalls for `stall_s` seconds from second 2 on, for 15
/// seconds; returns the figures and the kinds of the findings.
fn run_with_stall(
    engine: Engine,
    block: u64,
    per_second: f64,
    stall_s: f64,
) -> (OpenLoop, Vec<FindingKind>) {
    let spec = format!("tiny?state=filled&fault.stall_at_s=2.0&fault.stall_for_s={stall_s}");
    let mut rig = VirtualRig::open(&spec, 1).unwrap();
    let span = rig.drive().capacity;
    let mut reads = stream(Access::Random, block, 100, 1, span);
    reads.arrival = Arrival::Uniform { per_second };
    let load = Workload { engine, ..workload(reads) };
    let mut recording = Recording::default();
    let mut ended = rig.run(&load, &seconds(15), &mut recording).unwrap();
    assert_eq!(ended.by, EndedBy::Time);
    let kinds = recording.findings.iter().map(|finding| finding.kind);
    let kinds = kinds.filter(|kind| *kind != FindingKind::Model).collect();
    (ended.engine.open_loop.remove(0), kinds)
}

#[test]
fn a_stall_shorter_than_the_lag_limit_withholds_no_request() {
    for stall_s in [3.0, 9.5] {
        let (open, kinds) = run_with_stall(Engine::IoUring, 4_096, 997.0, stall_s);
        assert_eq!((open.withheld, open.unsent, open.withheld_max_us), (0, 0, None), "{open:?}");
        assert_eq!(open.lateness_max_us, Some(0.0), "{open:?}");
        assert!(!kinds.contains(&FindingKind::Withheld), "{kinds:?}");
        assert!((open.sent_per_second - 997.0).abs() < 0.1, "{open:?}");
    }
}

#[test]
fn requests_that_wait_for_a_slot_are_a_finding_with_their_delay() {
    // Buffers of 64 MiB: memory allows 16 of the 20 that are due in the stall. Those due after
    // 8 s of it wait for its end.
    let (open, kinds) = run_with_stall(Engine::IoUring, 64 << 20, 2.0, 9.9);
    assert_eq!(open.slots, 16);
    assert!((3..=6).contains(&open.withheld), "{open:?}");
    assert_eq!(open.withheld_bytes, open.withheld * (64 << 20));
    let longest = open.withheld_max_us.unwrap();
    assert!((1.0e6..2.5e6).contains(&longest), "{open:?}");
    assert_eq!(open.lateness_max_us, Some(longest));
    assert!(kinds.contains(&FindingKind::Withheld), "{kinds:?}");
}

#[test]
fn a_thread_of_the_synchronous_engine_has_one_slot() {
    // 997 requests are due in each of three seconds, in which one is in flight.
    let (open, kinds) = run_with_stall(Engine::Synchronous, 4_096, 997.0, 3.0);
    assert_eq!(open.slots, 1);
    assert!((2_990..3_500).contains(&open.withheld), "{open:?}");
    let longest = open.withheld_max_us.unwrap();
    assert!((2.9e6..3.0e6).contains(&longest), "{open:?}");
    assert!(open.lateness_p99_us.unwrap() > 2.5e6 && open.unsent == 0, "{open:?}");
    assert!(kinds.contains(&FindingKind::Withheld), "{kinds:?}");
}

#[test]
fn a_stream_without_a_free_slot_does_not_delay_another_one() {
    let mut rig =
        VirtualRig::open("tiny?state=filled&fault.stall_at_s=2.0&fault.stall_for_s=9.9", 1)
            .unwrap();
    let span = rig.drive().capacity;
    let mut large = stream(Access::Random, 64 << 20, 100, 1, span);
    large.arrival = Arrival::Uniform { per_second: 2.0 };
    let mut small = stream(Access::Random, 4_096, 100, 1, Bytes(span.0 / 2));
    (small.name, small.arrival) = ("small".into(), Arrival::Uniform { per_second: 100.0 });
    let load = Workload { engine: Engine::IoUring, streams: vec![large, small] };
    let ended = rig.run(&load, &seconds(15), &mut Recording::default()).unwrap();
    let [large, small] = &ended.engine.open_loop[..] else { panic!("two streams") };
    assert!(large.withheld > 0, "{large:?}");
    assert_eq!((small.withheld, small.lateness_max_us), (0, Some(0.0)), "{small:?}");
}

#[test]
fn a_virtual_drive_reports_the_requests_that_it_held() {
    let mut rig = VirtualRig::open("tiny?state=filled", 1).unwrap();
    let span = rig.drive().capacity;
    let mut reads = stream(Access::Random, 4_096, 100, 8, span);
    let mut run = |reads: Stream| {
        let mut recording = Recording::default();
        let ended = rig.run(&workload(reads), &seconds(2), &mut recording).unwrap();
        let held = |interval: &Interval| interval.latency.sum() as f64;
        let held: f64 = recording.intervals.iter().map(held).sum();
        (ended.engine.kernel.unwrap(), held / ended.elapsed.0 as f64, recording.ios())
    };
    // In a closed loop, latencies count from the submission.
    let (kernel, in_flight, ios) = run(reads.clone());
    assert_eq!((kernel.device.as_str(), kernel.requests), ("virtual", ios));
    assert!((kernel.in_flight / in_flight - 1.0).abs() < 1e-9, "{in_flight} {kernel:?}");
    assert!(kernel.in_flight > 7.9 && kernel.in_flight <= 8.0, "{kernel:?}");
    reads.arrival = Arrival::Uniform { per_second: 1_000.0 };
    let (kernel, _, ios) = run(reads);
    let by_time = kernel.time_mean_us / 1e6 * ios as f64 / 2.0;
    assert!((by_time / kernel.in_flight - 1.0).abs() < 1e-3, "{kernel:?}");
}
