//! Drives that compress or deduplicate: what data of each kind programs, and what it leaves, against arithmetic.

use crate::model::support::{Recording, bytes, stream, workload};
use ssdgauge_core::{
    Access, Bytes, Data, Direction, Ended, Nanos, Preparation, Rig, Stream, TimedLoads,
    TimedRequest,
};
use ssdgauge_sim::{GroundTruth, VirtualRig};

const PAGE: u64 = 4_096;

/// A filled drive of 16 dies without a cache, with so much spare area that nothing is collected. A program operation
/// writes 16 pages.
const DRIVE: &str =
    "nvme-datacentre?capacity=4GB&over_provisioning=90%&state=filled&nand.program_kib=64";

/// Neither effect, each one, and both.
const KINDS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

fn open(drive: &str, (compresses, deduplicates): (bool, bool)) -> VirtualRig {
    let keys = format!("&effects.compresses={compresses}&effects.deduplicates={deduplicates}");
    VirtualRig::open(&format!("{drive}{keys}"), 1).unwrap()
}

/// Writes `count` requests of `block` bytes to the first `span` bytes.
fn write(
    rig: &mut VirtualRig,
    (access, data): (Access, Data),
    block: u64,
    span: u64,
    count: u64,
) -> Ended {
    let stream = Stream { data, ..stream(access, block, 0, 32, Bytes(span)) };
    rig.run(&workload(stream), &bytes(count * block), &mut Recording::default()).unwrap()
}

/// Returns the half slots that a page takes.
fn halves(data: Data, (compresses, deduplicates): (bool, bool)) -> u64 {
    match data {
        Data::Incompressible => 2,
        Data::Zeros => {
            if compresses || deduplicates {
                0
            } else {
                2
            }
        }
        Data::Repeated => {
            if deduplicates {
                0
            } else {
                2
            }
        }
        Data::Half => {
            if compresses {
                1
            } else {
                2
            }
        }
    }
}

#[test]
fn each_kind_of_data_programs_what_the_kind_of_the_drive_leaves_of_it() {
    for (kind, data) in KINDS.into_iter().flat_map(|kind| Data::ALL.map(|data| (kind, data))) {
        for (access, block) in
            [(Access::Random, 65_536), (Access::Sequential, 65_536), (Access::Random, 8_192)]
        {
            let mut rig = open(DRIVE, kind);
            let pages = 160_000;
            write(&mut rig, (access, data), block, 3 << 30, pages * PAGE / block);
            let slots = pages * halves(data, kind) / 2;
            let (truth, flash) = (rig.ground_truth(), rig.work().flash);
            assert_eq!(truth.host_bytes, pages * PAGE);
            assert_eq!(truth.nand_bytes(), slots * PAGE, "{kind:?} {data:?} {block}");
            assert_eq!(truth.moved_pages, 0, "nothing is collected");
            assert_eq!(flash.programs, slots / 16, "{kind:?} {data:?} {block}");
        }
    }
}

#[test]
fn single_half_pages_meet_in_a_slot_but_for_the_last_one_of_a_program_operation() {
    let mut rig = open(DRIVE, (true, false));
    // Fifteen slots of two pages, and one of one page.
    let units = 5_000;
    write(&mut rig, (Access::Sequential, Data::Half), PAGE, 3 << 30, 31 * units);
    assert_eq!(rig.ground_truth().nand_bytes(), 16 * PAGE * units);
    assert_eq!(rig.work().flash.programs, units);
}

#[test]
fn a_page_without_flash_is_read_from_the_map_alone() {
    for kind in KINDS {
        let mut rig = open(DRIVE, kind);
        write(&mut rig, (Access::Sequential, Data::Zeros), 65_536, 1 << 30, 1 << 14);
        let trim = Preparation::Trim { offset: Bytes(2 << 30), span: Bytes(1 << 30) };
        rig.prepare(&trim, &mut Recording::default()).unwrap();
        let before = rig.work().flash.senses;
        let read = |number: u64, from: u64| TimedRequest {
            due: Nanos(number * 1_000_000),
            direction: Direction::Read,
            offset: from + number * 77 * PAGE,
            length: PAGE as u32,
        };
        let mut times = |from: u64| {
            let requests: Vec<_> = (0..1_000).map(|number| read(number, from)).collect();
            let timings = rig.send(&requests, 1, &mut Recording::default()).unwrap().unwrap();
            let last = timings.requests.into_iter().skip(1);
            last.map(|one| one.latency()).collect::<Vec<_>>()
        };
        let (zeros, trimmed) = (times(0), times(2 << 30));
        let is_bare = kind != (false, false);
        assert_eq!(zeros == trimmed, is_bare, "{kind:?}");
        let senses = rig.work().flash.senses - before;
        assert_eq!(senses, if is_bare { 0 } else { 1_000 }, "{kind:?}");
    }
}

/// A small drive that collects.
const SMALL: &str =
    "nvme-datacentre?capacity=1GB&over_provisioning=14%&state=fresh&gc.policy=greedy";

/// Returns what was programmed for each byte of two drive writes at random, after one that `fills` the first `span`
/// bytes.
fn amplification(mut rig: VirtualRig, data: Data, block: u64, span: u64) -> f64 {
    write(&mut rig, (Access::Random, data), block, span, 2 * span / block);
    let before = rig.ground_truth();
    write(&mut rig, (Access::Random, data), block, span, 2 * span / block);
    rig.ground_truth().write_amplification_since(&before).unwrap()
}

#[test]
fn zeros_free_the_flash_and_random_data_over_them_is_written_as_to_an_empty_drive() {
    for kind in KINDS {
        let mut rig = open(SMALL, kind);
        let capacity = rig.drive().capacity.0 / 65_536 * 65_536;
        let whole = capacity / 65_536;
        write(&mut rig, (Access::Sequential, Data::Incompressible), 65_536, capacity, whole);
        write(&mut rig, (Access::Sequential, Data::Zeros), 65_536, capacity, whole);
        let zeroed = rig.ground_truth();
        write(&mut rig, (Access::Random, Data::Incompressible), 65_536, capacity, whole / 2);
        let since = rig.ground_truth().write_amplification_since(&zeroed).unwrap();
        // Half of a drive at random: only where the zeros lie in flash is anything copied.
        assert_eq!(since == 1.0, kind != (false, false), "{kind:?} {since}");
        // And the steady state is that of a drive which never saw a zero.
        let mut plain = open(SMALL, (false, false));
        let [found, expected] = [&mut rig, &mut plain].map(|rig| {
            write(rig, (Access::Sequential, Data::Incompressible), 65_536, capacity, whole);
            amplification(rig.clone(), Data::Incompressible, 4_096, capacity)
        });
        assert!((found / expected - 1.0).abs() < 0.02, "{kind:?} {found}, {expected} expected");
    }
}

#[test]
fn half_pages_that_are_written_in_pairs_age_as_whole_pages_of_half_as_many_bytes() {
    let capacity = 1_000_000_000 / 16_384 * 16_384;
    // A fast cache, and one that is folded, take part as well.
    for keys in [
        "",
        "&slc.dynamic_gb=0.02&slc.fold_mb_s=50&slc.fold_under_load_mb_s=50&nand.program_kib=96",
    ] {
        for over in ["14%", "7%"] {
            let drive = SMALL.replace("14%", over) + keys;
            let packed = amplification(open(&drive, (true, false)), Data::Half, 8_192, capacity);
            let plain = open(&drive, (false, false));
            let whole = amplification(plain, Data::Incompressible, 4_096, capacity / 2);
            assert!((2.0 * packed / whole - 1.0).abs() < 0.02, "{over}{keys} {packed} {whole}");
        }
    }
}

#[test]
fn with_random_data_drives_with_and_without_the_effects_are_equal_to_the_nanosecond() {
    let drives =
        [SMALL, "tlc-client?capacity=2GB", "qlc-client?capacity=2GB&effects.map_unit_kib=16"];
    for drive in drives {
        let run = |kind| {
            let mut rig = open(drive, kind);
            let mut ended = Vec::new();
            for (access, block) in
                [(Access::Sequential, 65_536), (Access::Random, 4_096), (Access::Random, 32_768)]
            {
                let span = rig.drive().capacity.0;
                let random = (access, Data::Incompressible);
                ended.push(write(&mut rig, random, block, span, span / block).elapsed);
                rig.rest(Nanos::from_secs(5), &mut Recording::default()).unwrap();
                let reads = workload(stream(Access::Random, 4_096, 70, 8, Bytes(span)));
                ended.push(
                    rig.run(&reads, &bytes(100 << 20), &mut Recording::default()).unwrap().elapsed,
                );
            }
            (ended, rig.ground_truth(), rig.work())
        };
        let without = run((false, false));
        assert!(without.1.moved_pages > 0, "{drive}");
        for kind in KINDS {
            assert_eq!(run(kind), without, "{drive} {kind:?}");
        }
    }
}

#[test]
fn a_trim_and_a_purge_leave_nothing_of_such_pages() {
    let mut rig = open(SMALL, (true, true));
    let span = 512 << 20;
    for data in Data::ALL {
        write(&mut rig, (Access::Random, data), 12_288, span, 30_000);
    }
    let trim = Preparation::Trim { offset: Bytes(0), span: rig.drive().capacity };
    rig.prepare(&trim, &mut Recording::default()).unwrap();
    let mut recording = Recording::default();
    let reads = workload(stream(Access::Random, 4_096, 100, 8, Bytes(span)));
    rig.run(&reads, &bytes(1 << 20), &mut recording).unwrap();
    assert_eq!(recording.last("valid_pages"), Some(0.0));
    rig.prepare(&Preparation::Purge, &mut Recording::default()).unwrap();
    assert_eq!(rig.ground_truth(), GroundTruth::default());
}

#[test]
fn a_drive_that_overwrites_in_place_neither_compresses_nor_deduplicates() {
    for key in ["compresses", "deduplicates"] {
        let error = VirtualRig::open(&format!("xpoint-like?effects.{key}=true"), 1).unwrap_err();
        assert!(error.to_string().contains("overwrites data in place"), "{error}");
    }
}
