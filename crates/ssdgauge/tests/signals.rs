//! Signals: a run stops in time and can be resumed.
//!
//! A test program of its own, so that no other test uses the processors at the same time.

// A test ends at the first error.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use crate::support;

use crate::tiers::write_figure;
use rustix::process::Signal;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{Bench, Loop, measures, query, signal, wait_for};

/// The number of runs per signal, each stopped after another delay.
const RUNS_PER_SIGNAL: u64 = 4;

/// A run of 20 s on a loop device, in its measuring step.
struct RunUnderLoad {
    bench: Bench,
    pub device: Loop,
    child: Child,
}

/// Returns the command that runs the suite of these tests on the drive `path`.
fn run_line<'a>(path: &'a str, confirm: &'a str) -> [&'a str; 9] {
    ["run", "mine.toml", path, "--confirm", confirm, "--confined", confirm, "--out", "a.ssdg"]
}

impl RunUnderLoad {
    fn start() -> Option<RunUnderLoad> {
        let bench = Bench::new();
        let device = Loop::attach(bench.folder.path(), 32 << 20)?;
        std::fs::write(bench.path("mine.toml"), SUITE).unwrap();
        let confirm = format!("{}:{}", device.name(), 32 << 20);
        let line = run_line(&device.path, &confirm);
        let child = bench
            .command(&line)
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(bench.path("stderr")).unwrap())
            .spawn()
            .unwrap();
        let file = bench.path("a.ssdg");
        wait_for("the measuring step", || measures(&file));
        Some(RunUnderLoad { bench, device, child })
    }

    /// Returns the number of requests that the kernel has completed or merged on the device.
    fn requests(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/sys/block/{}/stat", self.device.name()));
        let stat = stat.unwrap();
        let fields: Vec<u64> = stat.split_whitespace().map(|word| word.parse().unwrap()).collect();
        fields[0] + fields[1] + fields[4] + fields[5]
    }

    fn stderr(&self) -> String {
        std::fs::read_to_string(self.bench.path("stderr")).unwrap()
    }

    /// Returns the number of processes that have the device open.
    fn holders(&self) -> usize {
        let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
        let open = processes.flatten().filter(|process| {
            let descriptors = std::fs::read_dir(process.path().join("fd"));
            descriptors.into_iter().flatten().flatten().any(|descriptor| {
                std::fs::read_link(descriptor.path())
                    .is_ok_and(|path| path.as_os_str() == self.device.path.as_str())
            })
        });
        open.count()
    }
}

const SUITE: &str = r#"
[suite]
id = "mine"
revision = 1
title = "Mine"
prepare = [{ fill = "sequential", span = "16MiB", block_size = "128KiB" }]
[[test]]
id = "load"
revision = 1
title = "Load"
stream = { access = "random", block_size = "4KiB", read_percent = 50, queue_depth = 4, span = "16MiB" }
until = { time = "20s" }
score = { mean_of = "iops" }
"#;

#[test]
fn each_signal_stops_the_requests_at_once_and_leaves_no_process() {
    let (mut slowest, mut latest) = (Duration::ZERO, Duration::ZERO);
    let mut runs = 0;
    for name in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        for number in 0..RUNS_PER_SIGNAL {
            let Some(mut load) = RunUnderLoad::start() else { return };
            std::thread::sleep(Duration::from_millis(50 + 170 * number));
            let since = Instant::now();
            rustix::process::kill_process(rustix::process::Pid::from_child(&load.child), name)
                .unwrap();
            // The counters of the kernel show when the last request was completed.
            let mut counts = vec![(since, load.requests())];
            let status = loop {
                if let Some(status) = load.child.try_wait().unwrap() {
                    break status;
                }
                counts.push((Instant::now(), load.requests()));
                std::thread::sleep(Duration::from_millis(1));
            };
            slowest = slowest.max(since.elapsed());
            // The last request writes the ownership label; it is not part of the load.
            let loaded = load.requests() - 1;
            let moved = counts.iter().take_while(|(_, count)| *count < loaded).last();
            latest = latest.max(moved.map_or(Duration::ZERO, |(moment, _)| *moment - since));
            assert_eq!(status.code(), Some(75), "{name:?}: {}", load.stderr());
            assert!(
                load.stderr().contains("finished steps are safe; continue with"),
                "{}",
                load.stderr()
            );
            let stderr = load.stderr();
            assert!(stderr.contains("interrupted: 1 of 2 steps are finished"), "{stderr}");
            let steps: Vec<&str> = stderr.lines().filter(|line| line.contains("/2]")).collect();
            assert!(
                steps.len() == 2 && !steps[0].contains("interrupted after"),
                "the line of the fill, {steps:?}"
            );
            assert!(steps[1].contains("interrupted after"), "the line of the load, {steps:?}");
            wait_for("the end of all processes that have the device open", || load.holders() == 0);
            let after = load.requests();
            let file = load.bench.path("a.ssdg");
            assert_eq!(query(&file, "SELECT count(*) FROM step WHERE state='running'"), 0);
            assert_eq!(query(&file, "SELECT count(*) FROM step WHERE ended_by='stop'"), 1);
            assert_eq!(load.requests(), after, "{name:?}: requests after the end");
            runs += 1;
        }
    }
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
    write_figure(
        "signals",
        &format!("{runs} (INT, TERM, HUP, QUIT)"),
        &format!(
            "exit 75; last request after {} ms, end after {} ms at most",
            latest.as_millis(),
            slowest.as_millis()
        ),
        "cargo test -p ssdgauge --test it each_signal",
    );
}

/// A loop device over a file on a file system that can be frozen: its writes then hang.
struct Freezer {
    folder: std::path::PathBuf,
    // Detached last: `drop` detaches `device` first.
    _below: Loop,
    device: Option<Loop>,
}

impl Freezer {
    fn new(bench: &Bench) -> Option<Freezer> {
        let below = Loop::attach(bench.folder.path(), 96 << 20)?;
        let folder = bench.path("frozen");
        std::fs::create_dir(&folder).unwrap();
        let run = |line: &[&str]| {
            Command::new(line[0]).args(&line[1..]).output().is_ok_and(|out| out.status.success())
        };
        let name = folder.to_str().unwrap();
        if !run(&["mkfs.ext4", "-q", &below.path]) || !run(&["mount", &below.path, name]) {
            println!("skipped: no file system to freeze");
            return None;
        }
        let device = Loop::attach(&folder, 32 << 20);
        Some(Freezer { folder, _below: below, device })
    }

    fn fsfreeze(&self, option: &str) -> bool {
        let line = [option, self.folder.to_str().unwrap()];
        Command::new("fsfreeze").args(line).output().is_ok_and(|output| output.status.success())
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        self.fsfreeze("-u");
        self.device = None;
        // The kernel releases the device when the last request in flight is completed.
        let umount = || {
            let output = Command::new("umount").arg(&self.folder).output();
            output.is_ok_and(|output| output.status.success())
        };
        let since = Instant::now();
        while !umount() && since.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn a_signal_stops_the_run_while_the_drive_hangs_and_a_second_one_ends_it_at_once() {
    for second in [false, true] {
        let bench = Bench::new();
        let Some(freezer) = Freezer::new(&bench) else { return };
        let Some(device) = &freezer.device else { return };
        std::fs::write(bench.path("mine.toml"), SUITE).unwrap();
        let confirm = format!("{}:{}", device.name(), 32 << 20);
        let out = "a.ssdg";
        let line = run_line(&device.path, &confirm);
        let stderr = std::fs::File::create(bench.path("stderr")).unwrap();
        let mut child = bench.command(&line).stdout(Stdio::null()).stderr(stderr).spawn().unwrap();
        wait_for("the measuring step", || measures(&bench.path(out)));
        std::thread::sleep(Duration::from_millis(300));
        assert!(freezer.fsfreeze("-f"));
        std::thread::sleep(Duration::from_millis(500));
        signal(&child, "TERM");
        let since = Instant::now();
        if second {
            std::thread::sleep(Duration::from_millis(300));
            assert!(
                child.try_wait().unwrap().is_none(),
                "the first signal has to wait for the drive"
            );
            signal(&child, "TERM");
        }
        wait_for("the end", || child.try_wait().unwrap().is_some());
        let (status, took) = (child.wait().unwrap(), since.elapsed());
        assert!(freezer.fsfreeze("-u"));
        if second {
            assert_eq!(status.signal(), Some(15), "{status:?}");
            assert!(took < Duration::from_secs(2), "{took:?}");
        } else {
            let stderr = std::fs::read_to_string(bench.path("stderr")).unwrap();
            assert_eq!(status.code(), Some(75), "{stderr}");
            assert!(stderr.contains("did not finish its last requests within"), "{stderr}");
            assert!(took < Duration::from_secs(6), "{took:?}");
            let hung = "SELECT count(*) FROM finding WHERE kind='hung'";
            assert_eq!(query(&bench.path(out), hung), 1);
        }
    }
}

#[test]
fn no_process_sends_requests_after_the_program_was_killed() {
    let Some(mut load) = RunUnderLoad::start() else { return };
    load.child.kill().unwrap();
    load.child.wait().unwrap();
    let before = load.requests();
    // The privileged helper has it open for reading, until its socket is closed.
    wait_for("the end of all processes that have the device open", || load.holders() == 0);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(load.requests(), before, "an orphan process sends requests");
    write_figure(
        "orphans",
        "kill -9 under load, and every signal",
        "0 processes hold the device, 0 requests after the end",
        "cargo test -p ssdgauge --test it no_process_sends",
    );
}

#[test]
fn sigstop_during_a_measurement_causes_an_invalid_finding_and_no_hung_drive() {
    let bench = Bench::new();
    let line = ["quick", ".", "--size", "16MiB", "--shorten", "5", "--out", "a.ssdg"];
    let mut child = bench
        .command(&line)
        .args(["--test", "mixed-70-30"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let file = bench.path("a.ssdg");
    wait_for("the measuring step", || measures(&file));
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "STOP");
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, "CONT");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let count = "SELECT count(*) FROM finding WHERE kind='stood-still' AND severity='invalid'";
    assert_eq!(query(&file, count), 1);
    // The pause is not attributed to the drive.
    assert_eq!(query(&file, "SELECT count(*) FROM finding WHERE kind='hung'"), 0);
}
