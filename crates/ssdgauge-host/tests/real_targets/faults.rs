//! Drives that fail during a workload: outcome and finding of each fault.

use crate::real_targets::engines::filled;
use crate::real_targets::support::{Loop, for_millis, random};
use crate::tiers::write_figure;
use ssdgauge_core::{Bytes, Direction, EndedBy, Engine, FindingKind, Recording, Rig, RigError};
use ssdgauge_host::LinuxRig;
use std::sync::atomic::{AtomicBool, Ordering};

const SIZE: u64 = 64 << 20;
const SPAN: Bytes = Bytes(16 << 20);
const ENGINES: [Engine; 2] = [Engine::IoUring, Engine::Synchronous];
/// Reads and writes of both engines.
const CASES: [(Engine, u8); 4] = [
    (Engine::IoUring, 100),
    (Engine::IoUring, 0),
    (Engine::Synchronous, 100),
    (Engine::Synchronous, 0),
];

fn open(device: &Loop) -> LinuxRig {
    let mut rig = device.rig();
    filled(&mut rig);
    rig
}

/// Truncates the backing file to `length`, and updates the capacity of the device if `update`.
fn truncate(device: &Loop, length: u64, update: bool) {
    let image = std::fs::OpenOptions::new().write(true).open(device.image()).unwrap();
    image.set_len(length).unwrap();
    if update {
        let status = std::process::Command::new("losetup").args(["-c", &device.path]).status();
        assert!(status.unwrap().success());
    }
}

fn has(seen: &Recording, kind: FindingKind) -> bool {
    seen.findings.iter().any(|finding| finding.kind == kind)
}

/// Runs a load with four requests in flight, causes `fault` after 300 ms, and returns the error.
fn run_with_fault(
    (engine, percent): (Engine, u8),
    rig: &mut LinuxRig,
    fault: impl FnOnce() + Send,
) -> (Recording, RigError) {
    let mut seen = Recording::default();
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(300));
            fault();
        });
        let workload = random(engine, percent, 4, SPAN);
        rig.run(&workload, &for_millis(30_000), &mut seen).unwrap_err()
    });
    (seen, error)
}

#[test]
fn a_drive_without_capacity_is_reported_as_gone() {
    // Writes would extend the backing file again.
    for case in CASES.into_iter().filter(|(_, percent)| *percent == 100) {
        let Some(device) = Loop::attach(SIZE) else { return };
        let mut rig = open(&device);
        // Before the load: between truncation and update, reads fail with another error.
        truncate(&device, 0, true);
        let mut seen = Recording::default();
        let workload = random(case.0, case.1, 4, SPAN);
        let error = rig.run(&workload, &for_millis(30_000), &mut seen).unwrap_err();
        assert!(matches!(error, RigError::Gone(_)), "{case:?}: {error}");
        assert!(has(&seen, FindingKind::DriveGone), "{:?}", seen.findings);
    }
}

#[test]
fn a_target_that_shrinks_ends_the_run_within_one_request() {
    let mut most = 0;
    for case in CASES {
        let Some(device) = Loop::attach(SIZE) else { return };
        let mut rig = open(&device);
        // No error precedes it: reads return 0 bytes and writes "no space" from one moment on.
        let (seen, error) = run_with_fault(case, &mut rig, || device.limit(4_096));
        let (drive, was) = (device.path.clone(), Bytes(SIZE));
        assert_eq!(error, RigError::Shrank { drive, was, now: Bytes(4_096) }, "{case:?}");
        assert!(has(&seen, FindingKind::TargetShrank), "{:?}", seen.findings);
        // Only requests that were in flight failed: no more were sent.
        let errors = seen.errors();
        assert!((1..=4).contains(&errors), "{case:?}: {errors} requests at a depth of 4");
        assert!(seen.findings.len() <= 6, "{:?}", seen.findings);
        most = most.max(errors);
    }
    write_figure(
        "vanished drive",
        "4 (reads and writes, both engines)",
        &format!("detected at the first completion; {most} failed requests at a depth of 4"),
        "cargo test -p ssdgauge-host --test it shrinks",
    );
}

#[test]
fn failed_requests_raise_one_finding_and_are_in_no_latency() {
    for engine in ENGINES {
        let Some(device) = Loop::attach(SIZE) else { return };
        let mut rig = open(&device);
        // The device keeps its capacity: requests beyond the end of the file fail.
        truncate(&device, SPAN.0 / 2, false);
        let mut seen = Recording::default();
        let workload = random(engine, 100, 2, SPAN);
        let ended = rig.run(&workload, &for_millis(2_000), &mut seen).unwrap();
        assert_eq!(ended.by, EndedBy::Faults);
        let faults: Vec<_> =
            seen.findings.iter().filter(|f| f.kind == FindingKind::Faults).collect();
        assert_eq!(faults.len(), 1, "{:?}", seen.findings);
        assert!(faults[0].text.contains("Input/output error"), "{}", faults[0].text);
        assert!(seen.errors() > 1 && seen.ios(Direction::Read) > 0);
        // Failed requests are in no latency.
        let latencies: u64 = seen.intervals.iter().map(|one| one.latency.count()).sum();
        assert_eq!(latencies, seen.ios(Direction::Read));
    }
}

#[test]
fn traffic_of_another_program_raises_a_finding() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = open(&device);
    let mut seen = Recording::default();
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Again and again: on a busy machine, one pass could begin after the load.
        scope.spawn(|| {
            let input = format!("if={}", device.path);
            let line = [&input, "of=/dev/null", "bs=1M", "iflag=direct"];
            while !has_ended.load(Ordering::Relaxed) {
                let output = std::process::Command::new("dd").args(line).output();
                assert!(output.unwrap().status.success());
            }
        });
        // The workload only writes: all reads are of the other program.
        let workload = random(Engine::IoUring, 0, 1, SPAN);
        let ended = rig.run(&workload, &for_millis(3_000), &mut seen);
        has_ended.store(true, Ordering::Relaxed);
        ended.unwrap();
    });
    assert!(has(&seen, FindingKind::OtherTraffic), "{:?}", seen.findings);
}

#[test]
fn reads_of_unwritten_blocks_raise_a_finding_and_reads_of_data_do_not() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = device.rig();
    let unwritten = |rig: &mut LinuxRig, span: Bytes| {
        let mut seen = Recording::default();
        rig.run(&random(Engine::IoUring, 100, 2, span), &for_millis(50), &mut seen).unwrap();
        let is_unwritten =
            |finding: &ssdgauge_core::Finding| finding.kind == FindingKind::Unwritten;
        seen.findings.into_iter().find(is_unwritten).map(|finding| finding.text)
    };
    let fresh = unwritten(&mut rig, SPAN).unwrap();
    assert!(fresh.starts_with("64 of 64 sampled blocks"), "{fresh}");
    filled(&mut rig);
    assert_eq!(unwritten(&mut rig, SPAN), None);
    // One third of the span was filled.
    let part = unwritten(&mut rig, Bytes(SPAN.0 * 3)).unwrap();
    assert!(part.starts_with("42 of 64 sampled blocks"), "{part}");
    // Data of another run counts as written.
    std::fs::write(device.image(), vec![0x5a; SIZE as usize]).unwrap();
    assert_eq!(unwritten(&mut rig, Bytes(SIZE)), None);
    drop(rig);
}
