//! An open loop under a drive that freezes: latencies count from the due time, so the freeze is in
//! the percentiles with its full weight.

use crate::support::{Keeper, Loop, for_millis, has_program, random};
use ssdgauge_core::{
    Access, Arrival, Bytes, Engine, FindingKind, Histogram, Preparation, Rig, Stream,
};
use ssdgauge_host::{Candidate, LinuxRig};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
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

/// Freezes the file system at `point` once in each second; returns when it certainly was frozen:
/// both calls take their time on a busy machine, and writes may go on meanwhile.
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
    let mut frozen = Vec::new();
    for second in 0..SECONDS {
        let when = Duration::from_millis(second * 1_000 + 450);
        std::thread::sleep(when.saturating_sub(begin.elapsed()));
        call(FIFREEZE);
        let since = Instant::now();
        std::thread::sleep(FREEZE);
        frozen.push((since, Instant::now()));
        call(FITHAW);
    }
    frozen
}

/// Returns the percentile that follows from the times of the freezes alone, in nanoseconds: every
/// request that is due in one waits for its end, all others not at all.
fn truth(frozen: &[(Instant, Instant)], share: f64) -> f64 {
    let step = Duration::from_secs_f64(1.0 / RATE);
    let mut waits: Vec<Duration> = Vec::new();
    for (since, until) in frozen {
        let length = until.duration_since(*since);
        waits
            .extend((0u32..).map(|k| step * k).take_while(|at| *at < length).map(|at| length - at));
    }
    waits.sort_unstable();
    let all = RATE * SECONDS as f64;
    let beyond = (all * (1.0 - share)).round() as usize;
    waits[waits.len() - beyond].as_nanos() as f64
}

#[test]
fn an_open_loop_shows_a_freeze_with_its_full_weight() {
    let Some(place) = Mounted::new() else { return };
    for engine in [Engine::IoUring, Engine::Synchronous] {
        let candidate = Candidate::find(place.point.to_str().unwrap(), Some(SPAN)).unwrap();
        let mut rig = LinuxRig::open(candidate, None, 3).unwrap();
        let fill = Preparation::Fill {
            access: Access::Sequential,
            block_size: Bytes(1 << 20),
            offset: Bytes(0),
            span: SPAN,
        };
        rig.prepare(&fill, &mut Keeper::default()).unwrap();
        let mut workload = random(engine, 0, 8, SPAN);
        let stream: &mut Stream = &mut workload.streams[0];
        stream.arrival = Arrival::Uniform { per_second: RATE };
        let mut keeper = Keeper::default();
        let point = place.point.clone();
        let freezer = std::thread::spawn(move || freeze(&point));
        rig.run(&workload, &for_millis(SECONDS * 1_000), &mut keeper).unwrap();
        let frozen = freezer.join().unwrap();
        // The frozen requests of the ring stand in workers of the kernel, and it says so.
        let punted = keeper.findings.iter().any(|finding| finding.kind == FindingKind::Punted);
        assert_eq!(punted, engine == Engine::IoUring, "{:?}", keeper.findings);
        let mut latency = Histogram::default();
        keeper.intervals.iter().for_each(|interval| latency.merge(&interval.latency));
        for share in [0.95, 0.99] {
            let (told, true_) = (latency.percentile(share).unwrap() as f64, truth(&frozen, share));
            println!(
                "{engine:?} p{}: {:.1} ms, by arithmetic {:.1} ms ({:+.1} %)",
                share * 100.0,
                told / 1e6,
                true_ / 1e6,
                (told / true_ - 1.0) * 100.0
            );
            // An engine that waits with its requests says about 0.1 ms where 50 are true. On a
            // quiet machine the two agree within 6 %; a busy one adds delays, and never takes any.
            assert!(told / true_ > 0.94, "{engine:?} {share}: {told} {true_}");
        }
    }
}
