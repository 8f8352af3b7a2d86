//! The engines on real targets: counts, seconds, limits and queue depth.

use crate::real_targets::support::{Loop, for_bytes, for_millis, random};
use ssdgauge_core::{
    Access, Bytes, Direction, EndedBy, Engine, Finding, FindingKind, Nanos, Preparation, Recording,
    Rig, RigError, Workload,
};
use ssdgauge_guard::Candidate;
use ssdgauge_host::LinuxRig;

const SPAN: Bytes = Bytes(16 << 20);

pub(crate) fn filled(rig: &mut LinuxRig) -> Recording {
    let mut seen = Recording::default();
    let fill = Preparation::Fill {
        access: Access::Sequential,
        block_size: Bytes(128 << 10),
        offset: Bytes(0),
        span: SPAN,
    };
    let prepared = rig.prepare(&fill, &mut seen).unwrap();
    assert_eq!(prepared.written, SPAN);
    assert!(!prepared.stopped);
    seen
}

fn scratch(folder: &tempfile::TempDir) -> LinuxRig {
    let name = folder.path().to_str().unwrap();
    crate::real_targets::support::open(
        Candidate::find(name).and_then(|found| found.sized(SPAN)).unwrap(),
        None,
        1,
    )
    .unwrap()
}

const ENGINES: [Engine; 2] = [Engine::IoUring, Engine::Synchronous];

#[test]
fn a_byte_limit_is_exact_to_the_request() {
    let folder = tempfile::tempdir().unwrap();
    let mut rig = scratch(&folder);
    filled(&mut rig);
    for engine in ENGINES {
        for (depth, requests) in [(1, 100), (8, 1_000), (4, 777)] {
            let mut seen = Recording::default();
            let until = for_bytes(requests * 4_096 - 1);
            let workload = random(engine, 50, depth, SPAN);
            let ended = rig.run(&workload, &until, &mut seen).unwrap();
            assert_eq!(ended.by, EndedBy::Bytes);
            let (reads, writes) = (seen.ios(Direction::Read), seen.ios(Direction::Write));
            assert_eq!(reads + writes, requests, "{engine:?} QD{depth}");
            assert_eq!(seen.errors(), 0);
        }
    }
}

#[test]
fn a_mix_of_reads_and_writes_has_exactly_the_requested_share() {
    let folder = tempfile::tempdir().unwrap();
    let mut rig = scratch(&folder);
    filled(&mut rig);
    for percent in [0, 10, 70, 100] {
        let mut seen = Recording::default();
        let workload = random(Engine::IoUring, percent, 8, SPAN);
        rig.run(&workload, &for_bytes(2_000 * 4_096), &mut seen).unwrap();
        assert_eq!(seen.ios(Direction::Read), u64::from(percent) * 20);
        assert_eq!(seen.ios(Direction::Write), (100 - u64::from(percent)) * 20);
    }
}

#[test]
fn every_second_is_reported_and_their_lengths_add_up_to_the_step() {
    let folder = tempfile::tempdir().unwrap();
    let mut rig = scratch(&folder);
    filled(&mut rig);
    for engine in ENGINES {
        let mut seen = Recording::default();
        let workload = random(engine, 70, 2, SPAN);
        let ended = rig.run(&workload, &for_millis(2_300), &mut seen).unwrap();
        assert_eq!(ended.by, EndedBy::Time);
        assert!(ended.elapsed >= Nanos(2_300_000_000), "{:?}", ended.elapsed);
        for direction in Direction::TRANSFERS {
            let intervals: Vec<_> =
                seen.intervals.iter().filter(|one| one.direction == direction).collect();
            let seconds: Vec<u32> = intervals.iter().map(|one| one.second).collect();
            assert_eq!(seconds, [0, 1, 2]);
            let length: Nanos = intervals.iter().map(|one| one.length).sum();
            assert_eq!(length, ended.elapsed);
            assert!(intervals.iter().all(|one| one.ios == one.latency.count()));
            assert!(intervals.iter().all(|one| one.bytes == one.ios * 4_096));
        }
    }
}

#[test]
fn the_counts_equal_those_of_the_kernel() {
    let Some(device) = Loop::attach(64 << 20) else { return };
    let mut rig = device.rig();
    let before = device.kernel_counts();
    let fill = filled(&mut rig);
    // The first block that is written holds the ownership label, and is read back.
    let mut counted = [fill.ios(Direction::Read) + 1, fill.ios(Direction::Write) + 1];
    for engine in ENGINES {
        for percent in [100, 70, 0] {
            let mut seen = Recording::default();
            let workload = random(engine, percent, 4, SPAN);
            rig.run(&workload, &for_millis(300), &mut seen).unwrap();
            counted[0] += seen.ios(Direction::Read);
            counted[1] += seen.ios(Direction::Write);
        }
    }
    let after = device.kernel_counts();
    assert_eq!([after[0] - before[0], after[1] - before[1]], counted);
    assert!(counted[0] > 0 && counted[1] > 0);
}

#[test]
fn a_queue_shorter_than_the_requested_depth_raises_a_finding() {
    let Some(device) = Loop::in_memory(64 << 20) else { return };
    let mut rig = device.rig();
    filled(&mut rig);
    let length = format!("/sys/block/{}/queue/nr_requests", device.name());
    let before = std::fs::read_to_string(&length).unwrap();
    std::fs::write(&length, "4").unwrap();
    let mut seen = Recording::default();
    let workload = random(Engine::IoUring, 100, 32, SPAN);
    let ended = rig.run(&workload, &for_millis(1_200), &mut seen);
    // The kernel keeps the value for the next image on this device.
    std::fs::write(&length, before).unwrap();
    assert_eq!(ended.unwrap().by, EndedBy::Time);
    let is_queue = |finding: &Finding| finding.kind == FindingKind::QueueNotReached;
    let text = seen.findings.into_iter().find(is_queue).map(|finding| finding.text);
    let text = text.expect("a queue of 4 cannot hold 32 requests");
    assert!(text.starts_with("the drive held ") && text.ends_with("; its queue holds 4"), "{text}");
    let held = text.split(' ').nth(3).unwrap();
    assert!((1.0..=4.1).contains(&held.parse().unwrap()), "{text}");
}

#[test]
fn sequential_requests_are_never_merged() {
    let Some(device) = Loop::attach(64 << 20) else { return };
    let mut rig = device.rig();
    let before = device.merges();
    filled(&mut rig);
    let mut workload = random(Engine::IoUring, 100, 32, SPAN);
    workload.streams[0].access = Access::Sequential;
    rig.run(&workload, &for_millis(300), &mut Recording::default()).unwrap();
    assert_eq!(device.merges(), before);
}

#[test]
fn a_stop_ends_a_step_at_once_and_keeps_its_seconds() {
    let mut rig =
        crate::real_targets::support::open(Candidate::find("null:").unwrap(), None, 1).unwrap();
    for engine in ENGINES {
        let mut seen = Recording { stop_after: Some(3), ..Recording::default() };
        let workload = random(engine, 100, 2, SPAN);
        let ended = rig.run(&workload, &for_millis(60_000), &mut seen).unwrap();
        assert_eq!(ended.by, EndedBy::Stop);
        assert!(ended.elapsed < Nanos::from_secs(5));
        assert!(seen.ios(Direction::Read) > 0);
    }
}

#[test]
fn unwritten_parts_of_a_scratch_file_are_never_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut rig = scratch(&folder);
    let workload: Workload = random(Engine::IoUring, 100, 1, SPAN);
    let error = rig.run(&workload, &for_millis(100), &mut Recording::default()).unwrap_err();
    assert!(matches!(error, RigError::Refused(_)), "{error}");
}

#[test]
fn a_scratch_file_has_no_name_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let rig = scratch(&folder);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    drop(rig);
    let file = folder.path().join("scratch.bin");
    let candidate =
        Candidate::find(file.to_str().unwrap()).and_then(|found| found.sized(SPAN)).unwrap();
    let _rig = crate::real_targets::support::open(candidate, None, 1).unwrap();
    assert!(!file.exists());
}

#[test]
fn reads_do_not_update_the_access_time() {
    let folder = tempfile::tempdir().unwrap();
    let [usual, ours] = ["usual", "ours"].map(|name| folder.path().join(name));
    let accessed = |path: &std::path::Path| std::fs::metadata(path).unwrap().accessed().unwrap();
    for path in [&usual, &ours] {
        std::fs::write(path, vec![7; 1 << 20]).unwrap();
    }
    let before = accessed(&ours);
    let mut rig = LinuxRig::reading(&ours, false).unwrap();
    for engine in ENGINES {
        let workload = random(engine, 100, 4, Bytes(1 << 20));
        rig.run(&workload, &for_millis(100), &mut Recording::default()).unwrap();
    }
    assert_eq!(accessed(&ours), before);
    // Most mounts record the first read after a write: only there can the assertion above fail.
    let before = accessed(&usual);
    std::fs::read(&usual).unwrap();
    if accessed(&usual) == before {
        println!("no proof: this file system records no access times");
    }
}
