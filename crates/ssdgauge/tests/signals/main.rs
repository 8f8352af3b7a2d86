//! Signals and stops: what was asked to end ends, in time, and leaves a run that goes on.
//!
//! A program of its own, so that no other test takes the processor from it meanwhile.

// A test ends at the first thing that does not work.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[allow(dead_code, reason = "the tests of commands use the rest of it")]
#[path = "../commands/support.rs"]
mod support;

use rustix::process::Signal;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{Bench, Loop, figure, measures, query, signal, wait_for};

/// How often each signal is sent, at moments that differ.
const TIMES: u64 = 4;

/// A run of twenty seconds on a loop device, in its measuring step.
struct Load {
    bench: Bench,
    pub device: Loop,
    child: Child,
}

impl Load {
    fn begin() -> Option<Load> {
        let bench = Bench::new();
        let device = Loop::attach(bench.folder.path(), 32 << 20)?;
        std::fs::write(bench.path("mine.toml"), SUITE).unwrap();
        let confirm = format!("{}:{}", device.name(), 32 << 20);
        let line = ["run", "mine.toml", &device.path, "--confirm", &confirm, "--out", "a.ssdg"];
        let child = bench
            .command(&line)
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(bench.path("talk")).unwrap())
            .spawn()
            .unwrap();
        let file = bench.path("a.ssdg");
        wait_for("the measuring step", || measures(&file));
        Some(Load { bench, device, child })
    }

    /// Returns the requests that the kernel has taken from us so far.
    fn requests(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/sys/block/{}/stat", self.device.name()));
        let stat = stat.unwrap();
        let fields: Vec<u64> = stat.split_whitespace().map(|word| word.parse().unwrap()).collect();
        fields[0] + fields[1] + fields[4] + fields[5]
    }

    fn talk(&self) -> String {
        std::fs::read_to_string(self.bench.path("talk")).unwrap()
    }

    /// Returns the processes that still have the device open.
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
fn each_signal_stops_the_requests_at_once_and_leaves_nobody_behind() {
    let (mut slowest, mut latest) = (Duration::ZERO, Duration::ZERO);
    let mut runs = 0;
    for name in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        for time in 0..TIMES {
            let Some(mut load) = Load::begin() else { return };
            std::thread::sleep(Duration::from_millis(50 + 170 * time));
            let since = Instant::now();
            rustix::process::kill_process(rustix::process::Pid::from_child(&load.child), name)
                .unwrap();
            // The kernel's own counter says when the last request came back.
            let mut counts = vec![(since, load.requests())];
            let status = loop {
                if let Some(status) = load.child.try_wait().unwrap() {
                    break status;
                }
                counts.push((Instant::now(), load.requests()));
                std::thread::sleep(Duration::from_millis(1));
            };
            slowest = slowest.max(since.elapsed());
            // The very last request is our mark on the drive, not the load.
            let loaded = load.requests() - 1;
            let moved = counts.iter().take_while(|(_, count)| *count < loaded).last();
            latest = latest.max(moved.map_or(Duration::ZERO, |(moment, _)| *moment - since));
            assert_eq!(status.code(), Some(75), "{name:?}: {}", load.talk());
            assert!(load.talk().contains("goes on; finished steps are safe"), "{}", load.talk());
            wait_for("the end of everybody who has the device open", || load.holders() == 0);
            let after = load.requests();
            let file = load.bench.path("a.ssdg");
            assert_eq!(query(&file, "SELECT count(*) FROM step WHERE state='running'"), 0);
            assert_eq!(query(&file, "SELECT count(*) FROM step WHERE ended_by='stop'"), 1);
            assert_eq!(load.requests(), after, "{name:?}: somebody still sends requests");
            runs += 1;
        }
    }
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
    figure(
        "signals",
        &format!("{runs} (INT, TERM, HUP, QUIT)"),
        &format!(
            "exit 75; last request after {} ms, end after {} ms at most",
            latest.as_millis(),
            slowest.as_millis()
        ),
        "cargo test -p ssdgauge --test signals each_signal",
    );
}

/// A loop device over a file on a file system that can be frozen: its writes then hang.
struct Freezer {
    folder: std::path::PathBuf,
    // Detached last.
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

    fn freeze(&self, word: &str) -> bool {
        let line = [word, self.folder.to_str().unwrap()];
        Command::new("fsfreeze").args(line).output().is_ok_and(|output| output.status.success())
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        self.freeze("-u");
        self.device = None;
        // The kernel lets go of the device when the last abandoned request has come back.
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
fn a_signal_is_honoured_while_the_drive_hangs_and_a_second_one_at_once() {
    for second in [false, true] {
        let bench = Bench::new();
        let Some(freezer) = Freezer::new(&bench) else { return };
        let Some(device) = &freezer.device else { return };
        std::fs::write(bench.path("mine.toml"), SUITE).unwrap();
        let confirm = format!("{}:{}", device.name(), 32 << 20);
        let out = "a.ssdg";
        let line = ["run", "mine.toml", &device.path, "--confirm", &confirm, "--out", out];
        let talk = std::fs::File::create(bench.path("talk")).unwrap();
        let mut child = bench.command(&line).stdout(Stdio::null()).stderr(talk).spawn().unwrap();
        wait_for("the measuring step", || measures(&bench.path(out)));
        std::thread::sleep(Duration::from_millis(300));
        assert!(freezer.freeze("-f"));
        std::thread::sleep(Duration::from_millis(500));
        signal(&child, "TERM");
        let since = Instant::now();
        if second {
            std::thread::sleep(Duration::from_millis(300));
            assert!(child.try_wait().unwrap().is_none(), "the first signal waits for the drive");
            signal(&child, "TERM");
        }
        wait_for("the end", || child.try_wait().unwrap().is_some());
        let (status, took) = (child.wait().unwrap(), since.elapsed());
        assert!(freezer.freeze("-u"));
        if second {
            assert_eq!(status.signal(), Some(15), "{status:?}");
            assert!(took < Duration::from_secs(2), "{took:?}");
        } else {
            let said = std::fs::read_to_string(bench.path("talk")).unwrap();
            assert_eq!(status.code(), Some(75), "{said}");
            assert!(said.contains("did not finish its last requests within"), "{said}");
            assert!(took < Duration::from_secs(6), "{took:?}");
            let hung = "SELECT count(*) FROM finding WHERE kind='hung'";
            assert_eq!(query(&bench.path(out), hung), 1);
        }
    }
}

#[test]
fn nobody_goes_on_when_the_program_is_killed() {
    let Some(mut load) = Load::begin() else { return };
    load.child.kill().unwrap();
    load.child.wait().unwrap();
    let before = load.requests();
    // The part that keeps rights has it open for reading, until it sees that nobody asks any more.
    wait_for("the end of everybody who has the device open", || load.holders() == 0);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(load.requests(), before, "an orphan sends requests");
    figure(
        "orphans",
        "kill -9 under load, and every signal",
        "0 processes hold the device, 0 requests after the end",
        "cargo test -p ssdgauge --test signals nobody_goes_on",
    );
}

#[test]
fn a_program_that_was_stopped_and_continued_says_when_and_for_how_long() {
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
    let told = "SELECT count(*) FROM finding WHERE kind='stood-still' AND severity='invalid'";
    assert_eq!(query(&file, told), 1);
    // No drive is blamed for it.
    assert_eq!(query(&file, "SELECT count(*) FROM finding WHERE kind='hung'"), 0);
}
