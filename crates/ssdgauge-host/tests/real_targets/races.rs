//! Drives that change between inspection and write: the write never reaches another drive.

use crate::real_targets::support::{Loop, random};
use crate::tiers::{repetitions, write_figure};
use ssdgauge_core::{
    Access, Arrival, Bytes, Engine, Finding, FindingKind, Nanos, Preparation, Recording, Rig,
    RigError, Severity, Until,
};
use ssdgauge_guard::{Candidate, Continued, TargetOptions};
use ssdgauge_host::LinuxRig;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SIZE: u64 = 4 << 20;
const FILL: Preparation = Preparation::Fill {
    access: Access::Sequential,
    block_size: Bytes(64 << 10),
    offset: Bytes(0),
    span: Bytes(256 << 10),
};

/// A loop device is confirmed by name and size, so the device that replaces it here has the same
/// confirmation: only its identity distinguishes the two.
#[test]
fn a_drive_that_replaces_the_confirmed_one_is_never_written() {
    // While it is detached another test would take the lowest free device, and lose it to this one.
    let Some(device) = Loop::attach_apart(SIZE) else { return };
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    let pattern = vec![0x5a; SIZE as usize];
    std::fs::write(&other, &pattern).unwrap();
    let (mut refused, mut written) = (0, 0);
    // The time from the inspection to the end of the first write is not that of an idle machine: longer after each
    // refusal, shorter after each write, so that half of the drives are replaced before it.
    let mut scale = Duration::from_millis(20);
    for race in 0..repetitions(40, 200, 1_000) {
        let confirmation = device.confirmation(SIZE);
        let candidate = Candidate::find(&device.path).unwrap();
        // Spread over the time from the inspection to the end of the first write.
        let delay = scale * (race as u32 * 7_919 % 1_000) / 500;
        let swap = {
            let (path, other) = (device.path.clone(), other.clone());
            std::thread::spawn(move || swap_after(delay, &path, &other))
        };
        let options = TargetOptions {
            confirm: Some(&confirmation),
            erase: Some(&confirmation),
            confined: Some(&confirmation),
            ..TargetOptions::default()
        };
        let rig = LinuxRig::open_with(candidate, &options, 1);
        let result = rig.map_err(|error| error.to_string()).and_then(|mut rig| {
            let result = rig.prepare(&FILL, &mut Recording::default());
            result.map_err(|error| error.to_string())
        });
        match result {
            Ok(_) => (written, scale) = (written + 1, scale * 9 / 10),
            Err(_) => {
                (refused, scale) = (refused + 1, (scale * 11 / 10).min(Duration::from_secs(1)))
            }
        }
        swap.join().unwrap();
        put_back(&device, &other);
        assert!(std::fs::read(&other).unwrap() == pattern, "race {race}: misdirected write");
    }
    println!("{refused} refused, {written} written to the confirmed drive, 0 misdirected");
    assert!(refused > 0 && written > 0, "{refused} refused, {written} written: no race at all");
    let command = "cargo test -p ssdgauge-host --test it races -- --nocapture";
    let races = format!("{} races", refused + written);
    write_figure("detach and attach races", &races, "0 misdirected writes", command);
}

/// Detaches the loop device after `delay` and attaches `other` in its place, which the kernel
/// permits unless the device is open.
fn swap_after(delay: Duration, path: &str, other: &Path) {
    let since = Instant::now();
    while since.elapsed() < delay {
        std::thread::sleep(Duration::from_micros(100));
    }
    let quiet = |command: &mut Command| command.stderr(Stdio::null()).status();
    let _ = quiet(Command::new("losetup").args(["-d", path]));
    let _ = quiet(Command::new("losetup").args(["--direct-io=on", path]).arg(other));
}

/// Attaches the first image again.
fn put_back(device: &Loop, other: &Path) {
    let since = Instant::now();
    let quiet = |command: &mut Command| {
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    loop {
        match device.backing() {
            Some(file) if file == device.image() || file == other => {
                quiet(Command::new("losetup").args(["-d", &device.path]));
            }
            Some(file) => panic!("{} was taken for {}", device.path, file.display()),
            None => {
                let mut attach = Command::new("losetup");
                attach.args(["--direct-io=on", &device.path]).arg(device.image());
                if quiet(&mut attach) {
                    return;
                }
            }
        }
        assert!(since.elapsed() < Duration::from_secs(20), "the loop device does not come back");
    }
}

/// Checks that no step that writes begins, that the finding contains `words`, and that the drive is
/// unchanged.
fn check_stopped(device: &Loop, rig: &mut LinuxRig, words: &str) {
    let before = std::fs::read(device.image()).unwrap();
    let counts = device.kernel_counts()[1];
    let load = random(Engine::IoUring, 0, 4, Bytes(256 << 10));
    let until = Until { time: Some(Nanos::from_secs(1)), bytes: Some(Bytes(64 << 10)) };
    for what in ["fill", "trim", "load"] {
        let mut recording = Recording::default();
        let trim = Preparation::Trim { offset: Bytes(0), span: Bytes(64 << 10) };
        let error = match what {
            "fill" => rig.prepare(&FILL, &mut recording).map(drop),
            "trim" => rig.prepare(&trim, &mut recording).map(drop),
            _ => rig.run(&load, &until, &mut recording).map(drop),
        };
        let error = error.unwrap_err();
        assert!(
            matches!(&error, RigError::Changed(text) if text.contains(words)),
            "{what}: {error}"
        );
        let finding = recording.findings.iter().find(|one| one.kind == FindingKind::DriveChanged);
        assert!(finding.is_some_and(|finding| finding.text.contains(words)), "{what}");
    }
    assert_eq!(device.kernel_counts()[1], counts, "something was written");
    assert!(std::fs::read(device.image()).unwrap() == before, "something was written");
}

#[test]
fn a_program_that_opens_the_drive_for_writing_stops_the_run_before_its_next_write() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = device.rig();
    rig.prepare(&FILL, &mut Recording::default()).unwrap();
    let reader = start_shell(&format!("exec 7<{}; echo; exec sleep 60", device.path));
    rig.prepare(&FILL, &mut Recording::default()).unwrap();
    drop(reader);
    let writer = start_shell(&format!("exec 7<>{}; echo; exec sleep 60", device.path));
    check_stopped(&device, &mut rig, "is open in sleep (process");
    drop(writer);
}

#[test]
fn a_loop_device_that_appears_on_the_drive_stops_the_run() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = device.rig();
    let output = Command::new("losetup").args(["--show", "-f", &device.path]).output().unwrap();
    assert!(output.status.success());
    let above = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    check_stopped(&device, &mut rig, "is a loop device on it");
    assert!(Command::new("losetup").args(["-d", &above]).status().unwrap().success());
}

#[test]
fn a_drive_that_shrinks_stops_the_run_before_its_next_write() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = device.rig();
    let image = std::fs::OpenOptions::new().write(true).open(device.image()).unwrap();
    image.set_len(SIZE / 2).unwrap();
    drop(image);
    assert!(Command::new("losetup").args(["-c", &device.path]).status().unwrap().success());
    check_stopped(&device, &mut rig, "its ");
}

#[test]
fn a_run_never_writes_more_than_its_plan() {
    let Some(device) = Loop::attach(64 << 20) else { return };
    let candidate = Candidate::find(&device.path).unwrap();
    let confirmation = device.confirmation(64 << 20);
    let limit = Some(Bytes(256 << 10));
    let options = TargetOptions {
        confirm: Some(&confirmation),
        confined: Some(&confirmation),
        writes_at_most: limit,
        ..TargetOptions::default()
    };
    let mut rig = LinuxRig::open_with(candidate, &options, 1).unwrap();
    rig.prepare(&FILL, &mut Recording::default()).unwrap();
    let more = Preparation::Fill {
        access: Access::Sequential,
        block_size: Bytes(64 << 10),
        offset: Bytes(8 << 20),
        span: Bytes(8 << 20),
    };
    let mut recording = Recording::default();
    let error = rig.prepare(&more, &mut recording).unwrap_err();
    assert!(matches!(error, RigError::OverBudget { .. }), "{error}");
    // A step without a byte limit is stopped while it runs.
    let load = random(Engine::IoUring, 0, 8, Bytes(1 << 20));
    let until = Until { time: Some(Nanos::from_secs(60)), bytes: None };
    let error = rig.run(&load, &until, &mut recording).unwrap_err();
    assert!(matches!(error, RigError::OverBudget { .. }), "{error}");
    let is_over = |finding: &&Finding| finding.kind == FindingKind::OverBudget;
    assert_eq!(recording.findings.iter().filter(is_over).count(), 2);
    let image = std::fs::read(device.image()).unwrap();
    assert!(image[8 << 20..].iter().all(|byte| *byte == 0), "the second fill has begun");
}

/// Begins to write more than is left of the limit of the user, in a step with and in one without a limit
/// of bytes: neither exceeds it.
fn check_limited(rig: &mut LinuxRig, left: u64, arrival: Arrival) {
    rig.prepare(&FILL, &mut Recording::default()).unwrap();
    let mut recording = Recording::default();
    let whole = Preparation::Fill {
        access: Access::Sequential,
        block_size: Bytes(64 << 10),
        offset: Bytes(0),
        span: Bytes(left),
    };
    let error = rig.prepare(&whole, &mut recording).unwrap_err();
    assert!(matches!(error, RigError::OverLimit { .. }), "{error}");
    assert_eq!(recording.intervals.len(), 0, "a step that is too large does not begin");
    // Some tests write for seconds, some all within the first one, which has none before it.
    let mut load = random(Engine::IoUring, 0, 8, Bytes(256 << 10));
    load.streams[0].arrival = arrival;
    let until = Until { time: Some(Nanos::from_secs(600)), bytes: None };
    let error = rig.run(&load, &until, &mut recording).unwrap_err();
    assert!(matches!(error, RigError::OverLimit { .. }), "{error}");
    let written: u64 = recording.intervals.iter().map(|interval| interval.bytes).sum();
    assert!(written > 0 && written <= left - (256 << 10), "{written} bytes");
    let found: Vec<&Finding> = recording.findings.iter().collect();
    let is_limit = |one: &&&Finding| one.kind == FindingKind::OverBudget;
    assert_eq!(found.iter().filter(is_limit).count(), 2);
    assert!(found.iter().filter(is_limit).all(|one| one.severity == Severity::Warning));
}

#[test]
fn a_run_is_stopped_before_it_writes_more_than_its_user_allows() {
    let left: u64 = 16 << 20;
    let folder = tempfile::tempdir().unwrap();
    let scratch = Candidate::find(folder.path().to_str().unwrap()).unwrap();
    let scratch = scratch.sized(Bytes(64 << 20)).unwrap();
    // What an interrupted run wrote counts.
    let continued = Continued { is_own: true, written: Bytes(1 << 30), ..Continued::default() };
    let options = TargetOptions {
        continues: Some(&continued),
        allowed_writes: Some(Bytes((1 << 30) + left)),
        ..TargetOptions::default()
    };
    let slow = Arrival::Uniform { per_second: 1_000.0 };
    check_limited(&mut LinuxRig::open_with(scratch, &options, 1).unwrap(), left, slow);

    let Some(device) = Loop::attach(64 << 20) else { return };
    let confirmation = device.confirmation(64 << 20);
    let options = TargetOptions {
        confirm: Some(&confirmation),
        confined: Some(&confirmation),
        allowed_writes: Some(Bytes(left)),
        ..TargetOptions::default()
    };
    let candidate = Candidate::find(&device.path).unwrap();
    let fast = Arrival::Closed;
    check_limited(&mut LinuxRig::open_with(candidate, &options, 1).unwrap(), left, fast);
}

/// A shell that runs until it is dropped.
struct Shell(std::process::Child);

/// Starts a shell with `line`, and waits for the line that it prints when it is ready.
fn start_shell(line: &str) -> Shell {
    let mut command = Command::new("sh");
    command.args(["-c", line]).stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
    let mut child = command.spawn().unwrap();
    let mut byte = [0];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut byte).unwrap();
    Shell(child)
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
