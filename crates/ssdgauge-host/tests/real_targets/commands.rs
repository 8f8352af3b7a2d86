//! The keys of a stream on real targets: trims and flushes, hot blocks, several sizes.

use crate::real_targets::support::{Loop, for_bytes, for_millis, open, random};
use ssdgauge_core::{
    Access, BlockSizes, Bytes, Direction, Distribution, EndedBy, Engine, Operation, Preparation,
    Recording, Rig, RigError, SizeShare, Stream, Workload, Zone,
};
use ssdgauge_guard::Candidate;
use ssdgauge_host::LinuxRig;

const SIZE: u64 = 32 << 20;
const HALF: u64 = SIZE / 2;
const BLOCK: u64 = 64 << 10;
const ENGINES: [Engine; 2] = [Engine::IoUring, Engine::Synchronous];

fn fill(rig: &mut LinuxRig, span: u64) {
    let (access, block_size) = (Access::Sequential, Bytes(1 << 20));
    let fill = Preparation::Fill { access, block_size, offset: Bytes(0), span: Bytes(span) };
    rig.prepare(&fill, &mut Recording::default()).unwrap();
}

/// A workload that trims each block of the upper half once: by one thread, since several share the
/// volume of a phase by speed, not by range, and one of them would begin its range again.
fn trims(engine: Engine) -> Workload {
    let queue_depth = if engine == Engine::IoUring { 4 } else { 1 };
    let stream = Stream {
        operation: Operation::Trim,
        access: Access::Sequential,
        block_size: Bytes(BLOCK),
        read_percent: 0,
        queue_depth,
        offset: Bytes(HALF),
        span: Bytes(HALF),
        ..Stream::default()
    };
    Workload { engine, streams: vec![stream] }
}

fn flushes(engine: Engine, queue_depth: u32) -> Workload {
    let (operation, read_percent) = (Operation::Flush, 0);
    let stream = Stream { operation, queue_depth, read_percent, ..Stream::default() };
    Workload { engine, streams: vec![stream] }
}

/// Returns the discards and the flushes that the kernel has counted for `device`.
fn counted(device: &Loop) -> (u64, u64) {
    let text = std::fs::read_to_string(format!("/sys/block/{}/stat", device.name())).unwrap();
    let fields: Vec<u64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    (fields[11], fields[15])
}

#[test]
fn trims_of_a_device_deallocate_their_blocks_in_their_own_direction() {
    let Some(device) = Loop::in_memory(SIZE) else { return };
    let mut rig = device.rig();
    for engine in ENGINES {
        fill(&mut rig, SIZE);
        let before = std::fs::read(device.image()).unwrap();
        let (discards, _) = counted(&device);
        let mut seen = Recording::default();
        let ended = rig.run(&trims(engine), &for_bytes(HALF), &mut seen).unwrap();
        let blocks = HALF / BLOCK;
        assert_eq!((seen.ios(Direction::Trim), seen.errors()), (blocks, 0), "{:?}", seen.findings);
        assert_eq!(seen.intervals.iter().map(|one| one.bytes).sum::<u64>(), HALF);
        assert!(seen.intervals.iter().all(|one| one.direction == Direction::Trim));
        assert_eq!(counted(&device).0 - discards, blocks, "{engine:?}");
        assert_eq!(ended.by, EndedBy::Bytes);
        let latency = &seen.intervals[0].latency;
        assert!(latency.min().unwrap() > 1_000, "a trim of a loop device waits for its worker");
        let after = std::fs::read(device.image()).unwrap();
        let half = HALF as usize;
        assert!(after[half..].iter().all(|byte| *byte == 0), "{engine:?}");
        assert!(after[4_096..half] == before[4_096..half], "{engine:?}: the rest is unchanged");
        assert!(after[..half].iter().any(|byte| *byte != 0));
    }
}

#[test]
fn what_is_trimmed_is_verified_again_once_it_is_written() {
    let Some(device) = Loop::in_memory(SIZE) else { return };
    let mut rig = device.rig();
    fill(&mut rig, SIZE);
    let verify = |rig: &mut LinuxRig| {
        let verified = rig.verify(&mut |_, _| true).unwrap().unwrap();
        assert_eq!(verified.wrong, 0, "{:?}", verified.first);
        verified.bytes
    };
    let whole = verify(&mut rig);
    let mut both = trims(Engine::IoUring);
    let writes = random(Engine::IoUring, 0, 4, Bytes(SIZE));
    both.streams.push(Stream { name: "writes".into(), ..writes.streams[0].clone() });
    rig.run(&both, &for_millis(300), &mut Recording::default()).unwrap();
    let known = verify(&mut rig);
    assert!(known <= HALF && known < whole, "{known} of {whole}");
    let lost = rig.read_back(ssdgauge_core::Nanos::from_secs(30)).unwrap();
    assert!(lost.is_none_or(|read_back| read_back.lost.is_empty()));
    fill(&mut rig, SIZE);
    assert_eq!(verify(&mut rig), whole);
}

#[test]
fn a_trimmed_scratch_file_is_read_again_only_after_a_fill() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let candidate = Candidate::find(folder.path().to_str().unwrap()).unwrap();
    let mut rig = open(candidate.sized(Bytes(SIZE)).unwrap(), None, 1).unwrap();
    for engine in ENGINES {
        fill(&mut rig, SIZE);
        let reads = random(engine, 100, 2, Bytes(SIZE));
        let mut seen = Recording::default();
        rig.run(&trims(engine), &for_bytes(HALF), &mut seen).unwrap();
        assert_eq!((seen.ios(Direction::Trim), seen.errors()), (HALF / BLOCK, 0));
        let refused = rig.run(&reads, &for_millis(100), &mut Recording::default());
        assert!(matches!(&refused, Err(RigError::Refused(why)) if why.contains("16777216")));
        let lower = random(engine, 100, 2, Bytes(HALF));
        rig.run(&lower, &for_millis(100), &mut Recording::default()).unwrap();
    }
}

#[test]
fn a_stream_of_flushes_sends_as_many_as_it_records() {
    let Some(device) = Loop::in_memory(SIZE) else { return };
    let mut rig = device.rig();
    for engine in ENGINES {
        let (_, before) = counted(&device);
        let mut seen = Recording::default();
        rig.run(&flushes(engine, 1), &for_millis(200), &mut seen).unwrap();
        let (sent, after) = (seen.ios(Direction::Flush), counted(&device).1);
        assert!(sent > 10 && seen.errors() == 0, "{sent} {:?}", seen.findings);
        assert_eq!(after - before, sent, "{engine:?}");
        assert!(seen.intervals.iter().all(|one| one.bytes == 0));
    }
    // Two at a time: the kernel may answer both by one flush of the device.
    let mut seen = Recording::default();
    rig.run(&flushes(Engine::IoUring, 2), &for_millis(200), &mut seen).unwrap();
    assert!(seen.ios(Direction::Flush) > 10);
}

#[test]
fn a_flush_follows_every_n_writes_of_a_thread_with_nothing_else_in_flight() {
    let Some(device) = Loop::in_memory(SIZE) else { return };
    let mut rig = device.rig();
    for (engine, depth, every) in [
        (Engine::IoUring, 1, 1),
        (Engine::IoUring, 4, 8),
        (Engine::Synchronous, 1, 1),
        (Engine::Synchronous, 2, 5),
    ] {
        let mut load = random(engine, 0, depth, Bytes(SIZE));
        load.streams[0].flush_every = Some(every);
        let (_, before) = counted(&device);
        let (requests, mut seen) = (400, Recording::default());
        let ended = rig.run(&load, &for_bytes(requests * 4_096), &mut seen).unwrap();
        assert_eq!(ended.by, EndedBy::Bytes);
        assert_eq!(seen.ios(Direction::Write), requests, "{engine:?} {:?}", seen.findings);
        // Of several threads, each has a rest of its own.
        let threads = u64::from(load.streams[0].threads);
        let (sent, most) = (seen.ios(Direction::Flush), requests / u64::from(every));
        assert!(sent <= most && sent + threads > most, "{sent} of {most}");
        let flushed = counted(&device).1 - before;
        match threads {
            1 => assert_eq!(flushed, sent, "{engine:?} every {every}"),
            // The kernel answers flushes of two threads at one time by one of the device.
            _ => assert!(flushed > 0 && flushed <= sent, "{flushed} {sent}"),
        }
        let all: Vec<Direction> = seen.intervals.iter().map(|one| one.direction).collect();
        assert!(all.contains(&Direction::Write) && all.contains(&Direction::Flush));
    }
}

#[test]
fn hot_blocks_are_written_as_often_as_their_zone_says() {
    let Some(device) = Loop::in_memory(SIZE) else { return };
    let mut rig = device.rig();
    let mut load = random(Engine::IoUring, 0, 4, Bytes(SIZE));
    let zone = |accesses, space| Zone { accesses, space };
    load.streams[0].distribution = Distribution::Zones(vec![zone(0.99, 0.01), zone(0.01, 0.99)]);
    rig.run(&load, &for_bytes(4_000 * 4_096), &mut Recording::default()).unwrap();
    let image = std::fs::read(device.image()).unwrap();
    let written = image.chunks(4_096).filter(|block| block.iter().any(|byte| *byte != 0)).count();
    // 82 hot blocks, about 40 of the others, and that of the label.
    assert!((82..180).contains(&written), "{written} of 8,192 blocks");
    assert_eq!(rig.verify(&mut |_, _| true).unwrap().unwrap().wrong, 0);
}

#[test]
fn requests_of_several_sizes_move_their_bytes_and_every_byte_of_them_is_verified() {
    let Some(device) = Loop::in_memory(SIZE) else { return };
    let mut rig = device.rig();
    fill(&mut rig, SIZE);
    // 100 requests have 2,000 KiB.
    let sizes = [(4_096, 60), (16_384, 30), (131_072, 10)];
    let share = |(size, percent)| SizeShare { size: Bytes(size), percent };
    let sizes = BlockSizes(sizes.map(share).to_vec());
    for (engine, threads) in [(Engine::IoUring, 1), (Engine::IoUring, 2), (Engine::Synchronous, 1)]
    {
        for access in [Access::Random, Access::Sequential] {
            let mut load = random(engine, 50, 4, Bytes(SIZE));
            load.streams[0].sizes = sizes.clone();
            load.streams[0].block_size = Bytes(131_072);
            (load.streams[0].access, load.streams[0].threads) = (access, threads);
            let mut seen = Recording::default();
            let ended = rig.run(&load, &for_bytes(2_000 * 1_024 * 20), &mut seen).unwrap();
            assert_eq!((ended.by, seen.errors()), (EndedBy::Bytes, 0), "{:?}", seen.findings);
            let (ios, bytes) = (
                seen.ios(Direction::Read) + seen.ios(Direction::Write),
                seen.intervals.iter().map(|one| one.bytes).sum::<u64>(),
            );
            if threads == 1 {
                assert_eq!((ios, bytes), (2_000, 2_000 * 1_024 * 20), "{engine:?} {access:?}");
            }
            assert!((2_000 * 1_024 * 20..2_000 * 1_024 * 20 + 131_072).contains(&bytes));
            assert!(ios.abs_diff(2_000) < 200, "{ios}");
        }
        let read_back = rig.read_back(ssdgauge_core::Nanos::from_secs(10)).unwrap().unwrap();
        assert!(read_back.read > 32 && read_back.lost.is_empty(), "{read_back:?}");
        let verified = rig.verify(&mut |_, _| true).unwrap().unwrap();
        assert!(verified.wrong == 0 && verified.bytes > SIZE / 2, "{verified:?}");
    }
}
