//! An open loop under a drive that freezes: latencies count from the due time, so the freeze is in
//! the percentiles with its full weight.

use crate::support::{Loop, for_millis, has_program, random};
use ssdgauge_core::{
    Access, Arrival, Bytes, Direction, Engine, FindingKind, Histogram, Preparation, Recording, Rig,
    Stream,
};
use ssdgauge_guard::Candidate;
use ssdgauge_host::LinuxRig;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const SPAN: Bytes = Bytes(8 << 20);
const RATE: f64 = 1_000.0;
/// The length of a freeze; one begins in each second.
const FREEZE: Duration = Duration::from_millis(100);
const SECONDS: u64 = 4;

/// A file system of its own on a loop device, unmounted when it is dropped.
struct Mounted {
    point: PathBuf,
    _device: Loop,
    _folder: tempfile::TempDir,
}

impl Mounted {
    fn new() -> Option<Mounted> {
        if !has_program("mkfs.ext4") {
            println!("skipped: no mkfs.ext4");
            return None;
        }
        let device = Loop::in_memory(64 << 20)?;
        let folder = tempfile::tempdir().unwrap();
        let point = folder.path().join("mounted");
        std::fs::create_dir(&point).unwrap();
        let made = Command::new("mkfs.ext4").args(["-q", &device.path]).status().unwrap();
        let mounted = Command::new("mount").args([device.path.as_str()]).arg(&point).status();
        assert!(made.success() && mounted.unwrap().success());
        Some(Mounted { point, _device: device, _folder: folder })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.point).status();
    }
}

/// Freezes the file system at `point` once in each second; returns when each call to freeze began,
/// and when it was thawed.
fn freeze(point: &Path) -> Vec<(Instant, Instant)> {
    const FIFREEZE: libc::c_ulong = 0xc004_5877;
    const FITHAW: libc::c_ulong = 0xc004_5878;
    let folder = File::open(point).unwrap();
    let call = |request: libc::c_ulong| {
        // SAFETY: both requests take no argument and concern the file system of the descriptor.
        let answer = unsafe { libc::ioctl(folder.as_raw_fd(), request, 0) };
        assert_eq!(answer, 0, "{}", std::io::Error::last_os_error());
    };
    let begin = Instant::now();
    let mut calls = Vec::new();
    for second in 0..SECONDS {
        let when = Duration::from_millis(second * 1_000 + 450);
        std::thread::sleep(when.saturating_sub(begin.elapsed()));
        let since = Instant::now();
        call(FIFREEZE);
        std::thread::sleep(FREEZE);
        call(FITHAW);
        calls.push((since, Instant::now()));
    }
    calls
}

/// Writes a byte below `point` all the time, until `stop`, and returns the times in which it could
/// not.
fn stand_by(point: &Path, stop: &AtomicBool) -> Vec<(Instant, Instant)> {
    // It shall not wait for a processor: that would look like a freeze.
    let first = libc::sched_param { sched_priority: 1 };
    // SAFETY: a call about this thread, with parameters that live as long as the call.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_RR, &raw const first) };
    let probe = File::create(point.join("probe")).unwrap();
    let mut waits = Vec::new();
    let mut last = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        probe.write_at(&[0], 0).unwrap();
        let now = Instant::now();
        if now.duration_since(last) > FREEZE / 2 {
            waits.push((last, now));
        }
        last = now;
        std::thread::sleep(Duration::from_micros(100));
    }
    waits
}

/// Returns when the file system was frozen. A call to freeze takes up to 40 ms, and the first
/// request stands from somewhere within: the writer beside tells from when.
fn frozen(calls: &[(Instant, Instant)], waits: &[(Instant, Instant)]) -> Vec<(Instant, Instant)> {
    let of = |(since, until): &(Instant, Instant)| {
        let within = |wait: &&(Instant, Instant)| wait.0 < *until && wait.1 > *since;
        let (from, _) = waits.iter().filter(within).max_by_key(|(from, to)| *to - *from).unwrap();
        (*from.max(since), *until)
    };
    calls.iter().map(of).collect()
}

/// Returns the percentile that follows from the times of the freezes alone, one in each second, in
/// nanoseconds: every request that is due in one waits for its end, all others not at all.
fn truth(frozen: &[(Instant, Instant)], share: f64) -> f64 {
    let step = Duration::from_secs_f64(1.0 / RATE);
    let mut waits: Vec<Duration> = Vec::new();
    for (since, until) in frozen {
        let length = until.duration_since(*since);
        waits
            .extend((0u32..).map(|k| step * k).take_while(|at| *at < length).map(|at| length - at));
    }
    waits.sort_unstable();
    let all = RATE * frozen.len() as f64;
    let beyond = (all * (1.0 - share)).round() as usize;
    waits[waits.len() - beyond].as_nanos() as f64
}

#[test]
fn an_open_loop_shows_a_freeze_with_its_full_weight() {
    let Some(place) = Mounted::new() else { return };
    for engine in [Engine::IoUring, Engine::Synchronous] {
        let candidate = Candidate::find(place.point.to_str().unwrap())
            .and_then(|found| found.sized(SPAN))
            .unwrap();
        let mut rig = LinuxRig::open(candidate, None, 3).unwrap();
        let fill = Preparation::Fill {
            access: Access::Sequential,
            block_size: Bytes(1 << 20),
            offset: Bytes(0),
            span: SPAN,
        };
        rig.prepare(&fill, &mut Recording::default()).unwrap();
        let mut workload = random(engine, 0, 8, SPAN);
        let stream: &mut Stream = &mut workload.streams[0];
        stream.arrival = Arrival::Uniform { per_second: RATE };
        let mut seen = Recording::default();
        let point = place.point.clone();
        let freezer = std::thread::spawn(move || freeze(&point));
        let (point, stop) = (place.point.clone(), Arc::new(AtomicBool::new(false)));
        let probe = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || stand_by(&point, &stop)
        });
        rig.run(&workload, &for_millis(SECONDS * 1_000), &mut seen).unwrap();
        let calls = freezer.join().unwrap();
        stop.store(true, Ordering::Relaxed);
        let frozen = frozen(&calls, &probe.join().unwrap());
        // The frozen requests of the ring stand in workers of the kernel, and it says so.
        let punted = seen.findings.iter().any(|finding| finding.kind == FindingKind::Punted);
        assert_eq!(punted, engine == Engine::IoUring, "{:?}", seen.findings);
        let mut whole = Histogram::default();
        seen.intervals.iter().for_each(|interval| whole.merge(&interval.latency));
        for share in [0.95, 0.99] {
            let error = |told: &Histogram, frozen: &[(Instant, Instant)]| {
                let error = told.percentile(share).unwrap() as f64 / truth(frozen, share) - 1.0;
                // An engine that waits with its requests says about 0.1 ms where 50 are true. On a
                // quiet machine the two agree within 3 %; a busy one adds delays, and never takes
                // any.
                assert!(error > -0.06, "{engine:?} p{share}: {error}");
                error * 100.0
            };
            let seconds: Vec<String> = seen
                .intervals
                .iter()
                .filter(|interval| interval.direction == Direction::Write)
                .zip(frozen.chunks(1))
                .map(|(interval, frozen)| format!("{:+.1}", error(&interval.latency, frozen)))
                .collect();
            assert_eq!(seconds.len(), frozen.len());
            println!(
                "{engine:?} p{}: {:+.1} % of the truth, in each second {} %",
                share * 100.0,
                error(&whole, &frozen),
                seconds.join(", ")
            );
        }
    }
}
