//! Drives that fail on the host: each fault has its own outcome and its own finding.

use crate::engines::filled;
use crate::support::{Loop, figure, for_millis, random};
use ssdgauge_core::{Bytes, Direction, EndedBy, Engine, FindingKind, Recording, Rig, RigError};
use ssdgauge_host::LinuxRig;

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

/// Cuts the file below the device to `length`, and tells the device of it where `tells`.
fn cut(device: &Loop, length: u64, tells: bool) {
    let image = std::fs::OpenOptions::new().write(true).open(device.image()).unwrap();
    image.set_len(length).unwrap();
    if tells {
        let status = std::process::Command::new("losetup").args(["-c", &device.path]).status();
        assert!(status.unwrap().success());
    }
}

fn has(seen: &Recording, kind: FindingKind) -> bool {
    seen.findings.iter().any(|finding| finding.kind == kind)
}

/// Runs a load of four requests in flight while `fault` befalls the drive, and returns how it
/// ended.
fn during(
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
fn a_drive_that_vanishes_is_gone() {
    // Writes would make the file below the device longer again.
    for case in CASES.into_iter().filter(|(_, percent)| *percent == 100) {
        let Some(device) = Loop::attach(SIZE) else { return };
        let mut rig = open(&device);
        // Before it: between both calls of a cut reads would fail in another way.
        cut(&device, 0, true);
        let mut seen = Recording::default();
        let workload = random(case.0, case.1, 4, SPAN);
        let error = rig.run(&workload, &for_millis(30_000), &mut seen).unwrap_err();
        assert!(matches!(error, RigError::Gone(_)), "{case:?}: {error}");
        assert!(has(&seen, FindingKind::DriveGone), "{:?}", seen.findings);
    }
}

#[test]
fn a_target_that_vanishes_in_part_is_noticed_within_one_request() {
    let mut most = 0;
    for case in CASES {
        let Some(device) = Loop::attach(SIZE) else { return };
        let mut rig = open(&device);
        // Without an error before: from one moment on reads give 0 bytes, and writes "no space".
        let (seen, error) = during(case, &mut rig, || device.limit(4_096));
        let (drive, was) = (device.path.clone(), Bytes(SIZE));
        assert_eq!(error, RigError::Shrank { drive, was, now: Bytes(4_096) }, "{case:?}");
        assert!(has(&seen, FindingKind::TargetShrank), "{:?}", seen.findings);
        // Beyond what was in flight nothing was sent: empty answers are no requests.
        let errors = seen.errors();
        assert!((1..=4).contains(&errors), "{case:?}: {errors} requests at a depth of 4");
        assert!(seen.findings.len() <= 6, "{:?}", seen.findings);
        most = most.max(errors);
    }
    figure(
        "vanished drive",
        "4 (reads and writes, both engines)",
        &format!("noticed at the first answer; {most} failed requests at a depth of 4"),
        "cargo test -p ssdgauge-host --test real_targets vanishes",
    );
}

#[test]
fn requests_that_fail_are_told_once_with_their_place_and_counted_apart() {
    for engine in ENGINES {
        let Some(device) = Loop::attach(SIZE) else { return };
        let mut rig = open(&device);
        // The device does not know yet: what lies beyond answers with an error.
        cut(&device, SPAN.0 / 2, false);
        let mut seen = Recording::default();
        let workload = random(engine, 100, 2, SPAN);
        let ended = rig.run(&workload, &for_millis(2_000), &mut seen).unwrap();
        assert_eq!(ended.by, EndedBy::Faults);
        let told: Vec<_> = seen.findings.iter().filter(|f| f.kind == FindingKind::Faults).collect();
        assert_eq!(told.len(), 1, "{:?}", seen.findings);
        assert!(told[0].text.contains("Input/output error"), "{}", told[0].text);
        assert!(seen.errors() > 1 && seen.ios(Direction::Read) > 0);
        // Failed requests are in no other figure.
        let latencies: u64 = seen.intervals.iter().map(|one| one.latency.count()).sum();
        assert_eq!(latencies, seen.ios(Direction::Read));
    }
}

#[test]
fn somebody_else_on_the_drive_is_told() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = open(&device);
    let mut seen = Recording::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(300));
            let input = format!("if={}", device.path);
            let line = [&input, "of=/dev/null", "bs=1M", "iflag=direct"];
            let output = std::process::Command::new("dd").args(line).output();
            assert!(output.unwrap().status.success());
        });
        // It only writes: whatever is read belongs to somebody else.
        let workload = random(Engine::IoUring, 0, 1, SPAN);
        rig.run(&workload, &for_millis(3_000), &mut seen).unwrap();
    });
    assert!(has(&seen, FindingKind::OtherTraffic), "{:?}", seen.findings);
}

#[test]
fn reads_of_what_was_never_written_are_told_and_reads_of_data_are_not() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = device.rig();
    let told = |rig: &mut LinuxRig, span: Bytes| {
        let mut seen = Recording::default();
        rig.run(&random(Engine::IoUring, 100, 2, span), &for_millis(50), &mut seen).unwrap();
        let of = |finding: &ssdgauge_core::Finding| finding.kind == FindingKind::Unwritten;
        seen.findings.into_iter().find(of).map(|finding| finding.text)
    };
    let fresh = told(&mut rig, SPAN).unwrap();
    assert!(fresh.starts_with("64 of 64 sampled blocks"), "{fresh}");
    filled(&mut rig);
    assert_eq!(told(&mut rig, SPAN), None);
    // A third of what is read was filled, the rest never.
    let part = told(&mut rig, Bytes(SPAN.0 * 3)).unwrap();
    assert!(part.starts_with("42 of 64 sampled blocks"), "{part}");
    // What another run has left is data too.
    std::fs::write(device.image(), vec![0x5a; SIZE as usize]).unwrap();
    assert_eq!(told(&mut rig, Bytes(SIZE)), None);
    drop(rig);
}
