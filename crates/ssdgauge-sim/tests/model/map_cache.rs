//! Maps that are available in part: how often a read finds its part, and what a missing one costs, against arithmetic.

use crate::model::support::{EQUAL_PAGES, Recording, bytes, stream, workload};
use ssdgauge_core::{Access, Bytes, Direction, Rig, TimedRequest};
use ssdgauge_sim::VirtualRig;

/// A filled drive of 16 dies that has no read retries.
const DRIVE: &str = "nvme-datacentre?capacity=8GB&state=filled&effects.read_retry_share=0";

const MIB: u64 = 1 << 20;

fn open(keys: &str) -> VirtualRig {
    VirtualRig::open(&format!("{DRIVE}{keys}"), 1).unwrap()
}

/// Returns the sense operations of each of `count` random reads of 4 KiB in `span` bytes.
fn senses(rig: &mut VirtualRig, span: u64, count: u64) -> f64 {
    let before = rig.work().flash.senses;
    let load = workload(stream(Access::Random, 4_096, 100, 1, Bytes(span)));
    rig.run(&load, &bytes(count * 4_096), &mut Recording::default()).unwrap();
    (rig.work().flash.senses - before) as f64 / count as f64
}

#[test]
fn random_reads_find_their_part_of_the_map_as_often_as_reach_is_to_span() {
    // Reach and span in MiB, and the mapping unit in KiB.
    let cases = [
        (1_024, 4_096, 4),
        (1_024, 2_048, 4),
        (256, 4_096, 4),
        (2_048, 2_560, 4),
        (1_024, 4_096, 16),
    ];
    for (reach, span, unit) in cases {
        let keys = format!("&effects.map_reach_mib={reach}&effects.map_unit_kib={unit}");
        let mut rig = open(&keys);
        // After so many reads, what was cached before has no part.
        senses(&mut rig, span * MIB, 20_000);
        let missing = senses(&mut rig, span * MIB, 40_000) - 1.0;
        let expected = 1.0 - reach as f64 / span as f64;
        let case = format!("reach {reach} MiB of {span} MiB, unit {unit} KiB");
        assert!((missing - expected).abs() < 0.012, "{case}: {missing}, {expected} expected");
    }
}

#[test]
fn a_map_within_reach_is_read_once_and_a_reach_beyond_the_drive_never() {
    let mut rig = open("&effects.map_reach_mib=1024");
    // 256 parts of 4 MiB; few are left out by 20,000 reads.
    let first = senses(&mut rig, 1_024 * MIB, 20_000) - 1.0;
    assert_eq!((first * 20_000.0).round(), 256.0);
    assert_eq!(senses(&mut rig, 1_024 * MIB, 20_000), 1.0);
    let mut whole = open("&effects.map_reach_mib=8000");
    assert_eq!(senses(&mut whole, 7_000 * MIB, 20_000), 1.0);
    assert_eq!(senses(&mut open(""), 7_000 * MIB, 20_000), 1.0);
}

#[test]
fn a_read_whose_map_is_missing_takes_one_page_read_longer() {
    let mut rig = open(&format!("&effects.map_reach_mib=64&nand.t_r_us=60{EQUAL_PAGES}"));
    let read = |offset| TimedRequest {
        due: ssdgauge_core::Nanos::ZERO,
        direction: Direction::Read,
        offset,
        length: 4_096,
    };
    // The second read of each pair finds what the first one has read.
    let requests: Vec<_> = (0..50)
        .flat_map(|number| [read(number * 64 * MIB), read(number * 64 * MIB + MIB)])
        .collect();
    let loads = rig.timed_loads().unwrap();
    let timings = loads.send(&requests, 1, &mut Recording::default()).unwrap().unwrap();
    let us: Vec<f64> = timings.requests.iter().map(|one| one.latency().as_micros_f64()).collect();
    for pair in us.chunks(2) {
        let longer = pair[0] - pair[1];
        // The sense, and the transfer of a page.
        assert!((60.0..70.0).contains(&longer), "{pair:?}");
    }
}

#[test]
fn trimmed_addresses_are_known_without_their_map_and_a_drive_without_a_map_is_refused() {
    let mut rig = VirtualRig::open(&DRIVE.replace("filled", "fresh"), 1).unwrap();
    assert_eq!(senses(&mut rig, 4_096 * MIB, 1_000), 0.0);
    let error = VirtualRig::open("xpoint-like?effects.map_reach_mib=64", 1).unwrap_err();
    assert!(error.to_string().contains("overwrites data in place"), "{error}");
}

#[test]
fn each_changed_part_that_gives_way_is_programmed_once() {
    for (reach, span) in [(256, 2_048), (1_024, 2_048), (2_048, 1_024)] {
        let keys = format!("&effects.map_reach_mib={reach}&effects.map_updates=true");
        let mut rig = open(&keys);
        let write = |count: u64, rig: &mut VirtualRig| {
            let load = workload(stream(Access::Random, 4_096, 0, 8, Bytes(span * MIB)));
            rig.run(&load, &bytes(count * 4_096), &mut Recording::default()).unwrap();
            (rig.ground_truth().map_pages, rig.work().flash)
        };
        let before = write(20_000, &mut rig);
        let after = write(40_000, &mut rig);
        let missing = (1.0 - reach as f64 / span as f64).max(0.0);
        // Each missing part is read, and displaces a part that was changed: a page of the map, in units of 24.
        let pages = (after.0 - before.0) as f64 / 40_000.0;
        assert!((pages - missing).abs() < 0.012, "{reach} of {span}: {pages}");
        assert!((after.0 - before.0).is_multiple_of(24));
    }
    // Without updates a write finds its part.
    let mut rig = open("&effects.map_reach_mib=256");
    let load = workload(stream(Access::Random, 4_096, 0, 8, Bytes(2_048 * MIB)));
    rig.run(&load, &bytes(40_000 * 4_096), &mut Recording::default()).unwrap();
    assert_eq!(rig.ground_truth().map_pages, 0);
}
