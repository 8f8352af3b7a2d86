//! Drives that fail on the host: each fault has its own outcome and its own finding.

use crate::engines::filled;
use crate::support::{Keeper, Loop, figure, for_millis, random};
use ssdgauge_core::{Bytes, Direction, EndedBy, Engine, FindingKind, Rig, RigError};
use ssdgauge_host::{Candidate, LinuxRig};

const SIZE: u64 = 64 << 20;
const SPAN: Bytes = Bytes(16 << 20);
const ENGINES: [Engine; 2] = [Engine::IoUring, Engine::Synchronous];

fn open(device: &Loop) -> LinuxRig {
    let candidate = Candidate::find(&device.path, None).unwrap();
    let mut rig = LinuxRig::open(candidate, Some(&device.confirmation(SIZE)), 3).unwrap();
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

fn has(keeper: &Keeper, kind: FindingKind) -> bool {
    keeper.findings.iter().any(|finding| finding.kind == kind)
}

#[test]
fn a_drive_that_vanishes_is_noticed_within_one_request() {
    let mut most = 0;
    for engine in ENGINES {
        for percent in [100, 0] {
            let Some(device) = Loop::attach(SIZE) else { return };
            let mut rig = open(&device);
            cut(&device, 0, true);
            let mut keeper = Keeper::default();
            let workload = random(engine, percent, 4, SPAN);
            let error = rig.run(&workload, &for_millis(5_000), &mut keeper).unwrap_err();
            assert!(matches!(error, RigError::Gone(_)), "{error}");
            assert!(has(&keeper, FindingKind::DriveGone), "{:?}", keeper.findings);
            // Nothing completed, and beyond what was in flight nothing was sent: empty answers
            // are no requests.
            let (ios, errors) =
                (keeper.ios(Direction::Read) + keeper.ios(Direction::Write), keeper.errors());
            assert_eq!(ios, 0);
            assert!((1..=4).contains(&errors), "{errors} requests at a depth of 4");
            assert!(keeper.findings.len() <= 4, "{:?}", keeper.findings);
            most = most.max(errors);
        }
    }
    figure(
        "vanished drive",
        "4 cases (reads and writes, both engines)",
        &format!("noticed at the first answer; {most} requests at a depth of 4"),
        "cargo test -p ssdgauge-host --test real_targets vanishes",
    );
}

#[test]
fn a_target_that_shrinks_is_named_with_both_sizes() {
    for engine in ENGINES {
        let Some(device) = Loop::attach(SIZE) else { return };
        let mut rig = open(&device);
        cut(&device, 4_096, true);
        let mut keeper = Keeper::default();
        let workload = random(engine, 100, 4, SPAN);
        let error = rig.run(&workload, &for_millis(5_000), &mut keeper).unwrap_err();
        let expected =
            RigError::Shrank { drive: device.path.clone(), was: Bytes(SIZE), now: Bytes(4_096) };
        assert_eq!(error, expected);
        assert!(has(&keeper, FindingKind::TargetShrank), "{:?}", keeper.findings);
        assert!(keeper.errors() > 0);
    }
}

#[test]
fn requests_that_fail_are_told_once_with_their_place_and_counted_apart() {
    for engine in ENGINES {
        let Some(device) = Loop::attach(SIZE) else { return };
        let mut rig = open(&device);
        // The device does not know yet: what lies beyond answers with an error.
        cut(&device, SPAN.0 / 2, false);
        let mut keeper = Keeper::default();
        let workload = random(engine, 100, 2, SPAN);
        let ended = rig.run(&workload, &for_millis(2_000), &mut keeper).unwrap();
        assert_eq!(ended.by, EndedBy::Faults);
        let told: Vec<_> =
            keeper.findings.iter().filter(|f| f.kind == FindingKind::Faults).collect();
        assert_eq!(told.len(), 1, "{:?}", keeper.findings);
        assert!(told[0].text.contains("Input/output error"), "{}", told[0].text);
        assert!(keeper.errors() > 1 && keeper.ios(Direction::Read) > 0);
        // Failed requests are in no other figure.
        let latencies: u64 = keeper.intervals.iter().map(|one| one.latency.count()).sum();
        assert_eq!(latencies, keeper.ios(Direction::Read));
    }
}

#[test]
fn somebody_else_on_the_drive_is_told() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = open(&device);
    let stranger = std::process::Command::new("dd")
        .args([&format!("if={}", device.path), "of=/dev/null", "bs=1M", "iflag=direct"])
        .stderr(std::process::Stdio::null())
        .spawn();
    let mut keeper = Keeper::default();
    // Few requests of our own, so that 64 MiB of others show.
    let workload = random(Engine::IoUring, 0, 1, SPAN);
    rig.run(&workload, &for_millis(1_500), &mut keeper).unwrap();
    stranger.unwrap().wait().unwrap();
    assert!(has(&keeper, FindingKind::OtherTraffic), "{:?}", keeper.findings);
}
