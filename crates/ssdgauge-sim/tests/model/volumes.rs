//! Drives of several independent volumes, against arithmetic and against the same drive without volumes.

use crate::model::support::{Recording, bytes, stream, workload};
use ssdgauge_core::{
    Access, Bytes, Direction, Nanos, Preparation, RequestSource, Rig, TimedLoads, TimedRequest,
    Timing,
};
use ssdgauge_sim::{VirtualRig, mean_field};

/// A drive of 16 dies on 8 channels whose flash limits its writes.
const DRIVE: &str = "nvme-datacentre?capacity=8GB&effects.read_retry_share=0&nand.channels=8\
                     &nand.t_prog_us=6000&front.buffer_kib=16384";
const KIB: u64 = 1 << 10;
/// The block of the writes, and the minimum part of a volume.
const BLOCK: u64 = 64 * KIB;

fn open(keys: &str) -> VirtualRig {
    VirtualRig::open(&format!("{DRIVE}&{keys}"), 1).unwrap()
}

fn volumes(volumes: u64, kib: u64) -> String {
    format!("effects.volumes={volumes}&effects.volume_kib={kib}")
}

fn request(direction: Direction, due_us: u64, offset: u64, length: u32) -> TimedRequest {
    TimedRequest { due: Nanos(due_us * 1_000), direction, offset, length }
}

fn send(rig: &mut VirtualRig, requests: &[TimedRequest], depth: u32) -> Vec<Timing> {
    rig.send(requests, depth, &mut Recording::default()).unwrap().unwrap().requests
}

/// Returns the seconds of ascending writes to the blocks whose address has none of the bits of `held`.
fn seconds_of_writes(rig: &mut VirtualRig, held: u64) -> f64 {
    let offsets = (0..).map(|number| number * BLOCK).filter(|offset| offset & held == 0);
    let requests: Vec<_> =
        offsets.take(6_000).map(|at| request(Direction::Write, 0, at, BLOCK as u32)).collect();
    let timings = send(rig, &requests, 64);
    let end = |number: usize| timings[number].completed.as_secs_f64();
    // The first third fills the write buffer.
    end(5_999) - end(2_000)
}

#[test]
fn writes_to_one_volume_take_as_many_times_as_long_as_there_are_volumes() {
    let whole = seconds_of_writes(&mut open("seed=1"), 0);
    for (number, kib) in [(2, 64), (2, 512), (4, 128), (8, 64), (8, 1_024)] {
        let keys = volumes(number, kib);
        let all = seconds_of_writes(&mut open(&keys), 0);
        let one = seconds_of_writes(&mut open(&keys), (number - 1) * kib * KIB);
        let (ratio, case) = (one / all, format!("{number} volumes of {kib} KiB"));
        assert!((ratio / number as f64 - 1.0).abs() < 0.02, "{case}: {ratio}");
        // Together they are as fast as the drive without volumes.
        assert!((all / whole - 1.0).abs() < 0.02, "{case}: {all} {whole}");
        // Bits other than those of the volumes change nothing.
        for held in [kib * KIB / 2, number * kib * KIB] {
            let other = seconds_of_writes(&mut open(&keys), held & !(BLOCK - 1));
            assert!((other / all - 1.0).abs() < 0.02, "{case} {held:x}: {other} {all}");
        }
    }
}

#[test]
fn reads_of_one_volume_do_not_wait_for_writes_to_another_one() {
    let reads_during = |written: Option<u64>| {
        let mut rig = open(&format!("state=filled&{}", volumes(2, 128)));
        let blocks = written.map_or(0..0, |_| 0..400);
        // A write every millisecond, which the flash can follow, and a read between two of them.
        let mut requests: Vec<_> = blocks
            .map(|number| {
                let offset = number * 256 * KIB + written.unwrap_or(0) * 128 * KIB;
                request(Direction::Write, number * 1_000, offset, BLOCK as u32)
            })
            .chain((0..400).map(|number| {
                let offset = (4 << 30) + number * 256 * KIB;
                request(Direction::Read, number * 1_000 + 500, offset, 4_096)
            }))
            .collect();
        requests.sort_by_key(|one| one.due);
        let timings = send(&mut rig, &requests, 64);
        let reads = requests.iter().zip(timings).filter(|one| one.0.direction == Direction::Read);
        reads.map(|(_, timing)| timing.latency()).collect::<Vec<_>>()
    };
    let alone = reads_during(None);
    assert_eq!(reads_during(Some(1)), alone);
    let same = reads_during(Some(0));
    let waiting = same.iter().zip(&alone).filter(|(same, alone)| same > alone).count();
    assert!(waiting > 40, "{waiting} of {}", same.len());
}

#[test]
fn write_amplification_is_that_of_the_same_drive_without_volumes_and_bytes_add_up() {
    let amplification = |keys: &str| {
        let mut rig = open(&format!("state=steady&capacity=4GB&over_provisioning=12%&{keys}"));
        let capacity = rig.drive().capacity;
        let load = workload(stream(Access::Random, 4_096, 0, 32, capacity));
        let turn = bytes(capacity.0 / 2);
        rig.run(&load, &turn, &mut Recording::brief()).unwrap();
        let (mut recording, before, work) = (Recording::brief(), rig.ground_truth(), rig.work());
        rig.run(&load, &turn, &mut recording).unwrap();
        let (truth, after) = (rig.ground_truth(), rig.work());
        assert_eq!(truth.host_bytes - before.host_bytes, capacity.0 / 2 / 4_096 * 4_096);
        assert_eq!(after.link_bytes - work.link_bytes, truth.host_bytes - before.host_bytes);
        // Units that are open at both ends are counted as pages, but not as operations.
        let programmed = (after.flash.programs - work.flash.programs) * rig_unit(&rig);
        let written = truth.nand_bytes() - before.nand_bytes();
        assert!((programmed as f64 / written as f64 - 1.0).abs() < 0.002, "{programmed} {written}");
        let share = 1.0 + recording.last("true_over_provisioning").unwrap();
        let pages = recording.last("superblock_pages").unwrap() as u32;
        let predicted = mean_field::greedy_write_amplification(share, pages);
        let found = recording.last("write_amplification").unwrap();
        assert!((found / predicted - 1.0).abs() < 0.015, "{keys}: {found} {predicted}");
        found
    };
    let whole = amplification("seed=1");
    for (number, kib) in [(2, 64), (4, 1_024), (8, 128)] {
        let found = amplification(&volumes(number, kib));
        assert!((found / whole - 1.0).abs() < 0.02, "{number} volumes: {found} {whole}");
    }
}

/// Returns the bytes of a program operation.
fn rig_unit(rig: &VirtualRig) -> u64 {
    u64::from(rig.profile().nand.program_kib) * KIB
}

#[test]
fn one_volume_is_the_drive_without_volumes_to_the_last_bit() {
    let run = |keys: &str| {
        let mut rig = VirtualRig::open(&format!("tlc-client?capacity=4GB&{keys}"), 1).unwrap();
        let mut recording = Recording::default();
        let capacity = rig.drive().capacity;
        for read_percent in [0, 50] {
            let load = workload(stream(Access::Random, 16_384, read_percent, 8, capacity));
            rig.run(&load, &bytes(1 << 30), &mut recording).unwrap();
            rig.rest(Nanos::from_secs(3), &mut recording).unwrap();
        }
        (recording, rig.ground_truth(), rig.work())
    };
    assert_eq!(run("effects.volumes=1&effects.volume_kib=128"), run("seed=1"));
}

#[test]
fn a_read_finds_what_was_written_last_in_every_volume() {
    let keys = "capacity=1GB&over_provisioning=30%&effects.map_unit_kib=16";
    for number in [2, 4] {
        let mut rig = open(&format!("{keys}&{}", volumes(number, 64)));
        rig.keep_generations();
        let capacity = rig.drive().capacity;
        let mut plain = vec![0; (capacity.0 / 4_096) as usize];
        let mut writes = 0;
        // Requests of 80 KiB cross the bounds of volumes.
        let load = stream(Access::Random, 80 * KIB, 0, 1, capacity);
        let (load, until) = (workload(load), bytes(capacity.0 * 2));
        let seed = rig.next_stream_seed(&load, &until, 0);
        let mut source = RequestSource::new(&load.streams[0], 0, seed);
        rig.run(&load, &until, &mut Recording::brief()).unwrap();
        for _ in 0..rig.ground_truth().host_bytes / (80 * KIB) {
            let first = (source.deal().offset / 4_096) as usize;
            for page in &mut plain[first..first + 20] {
                writes += 1;
                *page = writes;
            }
        }
        let (offset, span) = (Bytes(1 << 20), Bytes(1 << 20));
        rig.prepare(&Preparation::Trim { offset, span }, &mut Recording::brief()).unwrap();
        plain[256..512].fill(0);
        for (page, generation) in plain.iter().enumerate() {
            assert_eq!(rig.generation(page as u32), *generation, "page {page}");
        }
    }
}

#[test]
fn rests_empty_the_caches_of_all_volumes_at_the_rate_of_the_drive() {
    let folded = |keys: &str| {
        let target = "tlc-client?capacity=16GB&slc.fold_mb_s=200";
        let mut rig = VirtualRig::open(&format!("{target}&{keys}"), 1).unwrap();
        let load = workload(stream(Access::Sequential, 131_072, 0, 8, Bytes(2 << 30)));
        rig.run(&load, &bytes(1 << 30), &mut Recording::brief()).unwrap();
        rig.rest(Nanos::from_secs(3), &mut Recording::brief()).unwrap();
        rig.ground_truth().folded_pages as f64
    };
    let whole = folded("seed=1");
    let split = folded(&volumes(2, 128));
    assert!(whole > 1e5 && (split / whole - 1.0).abs() < 0.02, "{split} {whole}");
}

#[test]
fn drives_that_cannot_be_split_are_refused() {
    let refused = |target: &str| VirtualRig::open(target, 1).unwrap_err().to_string();
    let cases = [
        (format!("{DRIVE}&effects.volumes=3&effects.volume_kib=64"), "not 1, 2, 4 or 8"),
        (format!("{DRIVE}&effects.volumes=2"), "effects.volume_kib is 0"),
        (format!("{DRIVE}&effects.volumes=2&effects.volume_kib=96"), "not a power of two"),
        (format!("{DRIVE}&nand.dies=12&{}", volumes(8, 64)), "nand.dies 12 is not divisible"),
        (format!("{DRIVE}&front.buffer_kib=1024&{}", volumes(8, 64)), "three program operations"),
        (format!("{DRIVE}&effects.map_reach_mib=64&{}", volumes(2, 64)), "exclude each other"),
        (format!("xpoint-like?{}", volumes(2, 64)), "on a drive with a map"),
    ];
    for (target, words) in cases {
        let reason = refused(&target);
        assert!(reason.contains(words), "{target}: {reason}");
    }
}
