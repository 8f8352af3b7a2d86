//! The log of single requests: completeness, exactness, and no effect on results.

use crate::real_targets::engines::filled;
use crate::real_targets::support::{for_bytes, for_millis, random};
use ssdgauge_core::io_log::{Frame, FrameKind, RECORD, Record, Version};
use ssdgauge_core::{
    Arrival, Bytes, Direction, Engine, FindingKind, Histogram, Nanos, Pulse, Recording, Rig,
};
use ssdgauge_guard::Candidate;
use ssdgauge_host::LinuxRig;
use std::path::Path;
use std::process::Command;

const SPAN: Bytes = Bytes(16 << 20);

fn scratch(folder: &Path) -> LinuxRig {
    let mut rig = crate::real_targets::support::open(
        Candidate::find(folder.to_str().unwrap()).and_then(|found| found.sized(SPAN)).unwrap(),
        None,
        1,
    )
    .unwrap();
    filled(&mut rig);
    rig
}

/// Returns the records of each load in a log, and the number of lost records.
fn read(path: &Path) -> Vec<(Vec<Record>, u64)> {
    let bytes = std::fs::read(path).unwrap();
    let mut rest = bytes.strip_prefix(&Version::Two.magic()).unwrap();
    let mut loads: Vec<(Vec<Record>, u64)> = Vec::new();
    while !rest.is_empty() {
        let (head, tail) = rest.split_first_chunk::<{ Frame::LENGTH }>().unwrap();
        let frame = Frame::unpack(head).unwrap();
        let (payload, tail) = tail.split_at(frame.payload() as usize);
        rest = tail;
        match frame.kind {
            FrameKind::Load => loads.push(Default::default()),
            FrameKind::End => loads.last_mut().unwrap().1 = frame.lost,
            FrameKind::Records => {
                assert_eq!(frame.block_size, 4_096);
                let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
                let records = payload.chunks_exact(RECORD);
                loads.last_mut().unwrap().0.extend(records.map(|one| {
                    let words = [word(&one[..8]), word(&one[8..])];
                    Record::unpack(words, Version::Two, (4_096, &[])).unwrap()
                }));
            }
        }
    }
    loads
}

#[test]
fn every_measured_request_is_in_the_log_and_percentiles_agree_within_a_thousandth() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ios.log");
    let mut rig = scratch(folder.path());
    rig.log_ios(&path).unwrap();
    let mut seens = Vec::new();
    for (engine, arrival) in [
        (Engine::IoUring, Arrival::Closed),
        (Engine::Synchronous, Arrival::Closed),
        (Engine::IoUring, Arrival::Poisson { per_second: 5_000.0 }),
    ] {
        let mut seen = Recording::default();
        let mut workload = random(engine, 70, 4, SPAN);
        workload.streams[0].arrival = arrival;
        rig.run(&workload, &for_millis(1_500), &mut seen).unwrap();
        seens.push(seen);
    }
    drop(rig);
    let loads = read(&path);
    assert_eq!(loads.len(), seens.len());
    for ((records, lost), seen) in loads.iter().zip(&seens) {
        let reported = seen.findings.iter().any(|one| one.kind == FindingKind::LogIncomplete);
        assert_eq!(reported, *lost > 0);
        for direction in Direction::TRANSFERS {
            let mut latency = Histogram::default();
            seen.intervals.iter().filter(|one| one.direction == direction).for_each(|one| {
                latency.merge(&one.latency);
            });
            let mut exact: Vec<u64> = records
                .iter()
                .filter(|record| record.request.direction == direction)
                .map(|record| record.latency)
                .collect();
            exact.sort_unstable();
            if *lost > 0 {
                assert!(exact.len() as u64 + lost >= latency.count());
                continue;
            }
            assert_eq!(exact.len() as u64, latency.count());
            assert_eq!(exact.iter().map(|one| u128::from(*one)).sum::<u128>(), latency.sum());
            for share in [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999] {
                let Some(reported) = latency.percentile(share) else { continue };
                let rank = (share * exact.len() as f64).ceil() as usize;
                let expected = exact[rank - 1] as f64;
                let error = (reported as f64 - expected).abs() / expected;
                assert!(error <= 0.001, "{share}: {reported} for {expected}");
            }
        }
        let inside = |record: &Record| record.request.offset + 4_096 <= SPAN.0;
        assert!(records.iter().all(inside));
    }
}

#[test]
fn a_log_on_a_full_file_system_raises_a_finding_and_changes_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let mount = ["-t", "tmpfs", "-o", "size=64k", "none", small.to_str().unwrap()];
    if !Command::new("mount").args(mount).status().is_ok_and(|status| status.success()) {
        println!("skipped: tmpfs cannot be mounted");
        return;
    }
    let mut rig =
        crate::real_targets::support::open(Candidate::find("null:").unwrap(), None, 1).unwrap();
    rig.log_ios(&small.join("ios.log")).unwrap();
    let mut seen = Recording::default();
    let result = rig.run(&random(Engine::IoUring, 100, 8, SPAN), &for_millis(300), &mut seen);
    drop(rig);
    assert!(Command::new("umount").arg(&small).status().unwrap().success());
    result.unwrap();
    let incomplete = |one: &&ssdgauge_core::Finding| one.kind == FindingKind::LogIncomplete;
    let finding = seen.findings.iter().find(incomplete).unwrap();
    assert!(finding.text.contains("ended early"), "{}", finding.text);
    assert!(seen.ios(Direction::Read) > 10_000);
}

#[test]
fn an_existing_file_is_never_overwritten_by_a_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine");
    std::fs::write(&path, "mine").unwrap();
    let mut rig =
        crate::real_targets::support::open(Candidate::find("null:").unwrap(), None, 1).unwrap();
    let error = rig.log_ios(&path).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
}

/// Returns when each request of a log of one load began, in nanoseconds after the start of the load, and
/// its latency.
fn begins(path: &Path) -> Vec<(u64, u64)> {
    let bytes = std::fs::read(path).unwrap();
    let mut rest = bytes.strip_prefix(&Version::Two.magic()).unwrap();
    let mut begins = Vec::new();
    while let Some((head, tail)) = rest.split_first_chunk::<{ Frame::LENGTH }>() {
        let frame = Frame::unpack(head).unwrap();
        let (payload, tail) = tail.split_at(frame.payload() as usize);
        rest = tail;
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        let is_records = frame.kind == FrameKind::Records;
        for one in payload.chunks_exact(RECORD).filter(|_| is_records) {
            let words = [word(&one[..8]), word(&one[8..])];
            let record = Record::unpack(words, Version::Two, (4_096, &[])).unwrap();
            let end = frame.base + u64::from(record.after);
            begins.push((end - record.latency, record.latency));
        }
    }
    begins
}

#[test]
fn requests_begin_in_the_on_times_of_a_pulse_and_a_think_time_apart() {
    const SLACK: u64 = 1_000;
    let folder = tempfile::tempdir().unwrap();
    let pulse = Pulse { on: Nanos(50_000_000), off: Nanos(150_000_000) };
    for (number, engine) in [Engine::IoUring, Engine::Synchronous].into_iter().enumerate() {
        let path = folder.path().join(format!("pulse-{number}.log"));
        let mut rig = scratch(folder.path());
        rig.log_ios(&path).unwrap();
        let mut load = random(engine, 100, 2, SPAN);
        load.streams[0].pulse = Some(pulse);
        let mut seen = Recording::default();
        let ended = rig.run(&load, &for_millis(1_000), &mut seen).unwrap();
        drop(rig);
        // The conversion of ticks loses less than the slack.
        assert!(ended.elapsed.0 >= 1_000_000_000 - SLACK && seen.errors() == 0, "{ended:?}");
        let begins = begins(&path);
        assert!(begins.len() > 5, "{}", begins.len());
        for (begin, _) in &begins {
            let phase = (begin + SLACK) % 200_000_000;
            assert!(phase < 50_000_000 + 2 * SLACK, "{engine:?}: a request at {begin} ns");
        }
        let path = folder.path().join(format!("think-{number}.log"));
        let mut rig = scratch(folder.path());
        rig.log_ios(&path).unwrap();
        let mut load = random(engine, 100, 1, SPAN);
        load.streams[0].think_time = Some(Nanos(5_000_000));
        rig.run(&load, &for_bytes(20 * 4_096), &mut Recording::default()).unwrap();
        drop(rig);
        let mut all = self::begins(&path);
        all.sort_unstable();
        assert_eq!(all.len(), 20);
        for pair in all.windows(2) {
            let ((before, latency), (begin, _)) = (pair[0], pair[1]);
            assert!(begin + SLACK >= before + latency + 5_000_000, "{engine:?}: {pair:?}");
        }
    }
}
