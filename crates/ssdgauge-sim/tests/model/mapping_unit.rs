//! Mapping units of more than 4 KiB: what partial writes program and read, against arithmetic.

use crate::model::support::{Recording, bytes, stream, workload};
use ssdgauge_core::{Access, Bytes, Nanos, Rig, Stream};
use ssdgauge_sim::{GroundTruth, VirtualRig};

const KIB: u64 = 1_024;

/// A filled drive of 16 dies without a cache, with so much spare area that nothing is collected.
const DRIVE: &str = "nvme-datacentre?capacity=4GB&over_provisioning=90%&state=filled";

fn open(keys: &str) -> VirtualRig {
    VirtualRig::open(&format!("{DRIVE}{keys}"), 1).unwrap()
}

fn with_unit(kib: u64) -> VirtualRig {
    open(&format!("&effects.map_unit_kib={kib}"))
}

/// Writes `count` requests of `block` bytes, at addresses that are multiples of it from `offset` on.
fn write(rig: &mut VirtualRig, access: Access, block: u64, offset: u64, count: u64) -> Recording {
    let stream = Stream { offset: Bytes(offset), ..stream(access, block, 0, 32, Bytes(3 << 30)) };
    let mut recording = Recording::default();
    rig.run(&workload(stream), &bytes(count * block), &mut recording).unwrap();
    recording
}

/// Returns the bytes programmed for each byte of the host.
fn amplification(rig: &VirtualRig) -> f64 {
    rig.ground_truth().write_amplification_since(&GroundTruth::default()).unwrap()
}

#[test]
fn a_write_programs_each_unit_that_it_touches_as_a_whole() {
    // Unit, block and offset in KiB, and the units that a write touches, in bytes of it.
    let cases = [
        (16, 4, 0, 4.0),
        (16, 16, 0, 1.0),
        (16, 16, 4, 2.0),
        (16, 8, 0, 2.0),
        // Every second one lies in two units.
        (16, 8, 4, 3.0),
        (16, 128, 4, 1.125),
        (8, 4, 0, 2.0),
        (8, 8, 4, 2.0),
        (32, 4, 0, 8.0),
        (64, 4, 0, 16.0),
        (64, 64, 32, 2.0),
        (64, 64, 64, 1.0),
        (4, 4, 0, 1.0),
        (4, 16, 4, 1.0),
    ];
    for (unit, block, offset, expected) in cases {
        let mut rig = with_unit(unit);
        write(&mut rig, Access::Random, block * KIB, offset * KIB, 10_000);
        let found = amplification(&rig);
        // Eight units at most were not programmed yet, and few are met a second time before that.
        let case = format!("{unit} KiB, writes of {block} KiB at {offset} KiB: {found}");
        assert!((found / expected - 1.0).abs() < 0.004, "{case}, {expected} expected");
    }
}

#[test]
fn ascending_writes_complete_their_units_without_a_read() {
    for (block, offset) in [(4, 0), (8, 4), (64, 4)] {
        let mut rig = with_unit(64);
        write(&mut rig, Access::Sequential, block * KIB, offset * KIB, 10_000);
        let (found, senses) = (amplification(&rig), rig.work().flash.senses);
        assert!((found - 1.0).abs() < 0.001, "{found}");
        // The first and the last unit at most.
        assert!(senses <= 8, "{senses}");
    }
}

#[test]
fn a_unit_without_data_is_completed_without_a_read() {
    let mut rig = with_unit(16);
    let trim = ssdgauge_core::Preparation::Trim { offset: Bytes(0), span: rig.drive().capacity };
    rig.prepare(&trim, &mut Recording::default()).unwrap();
    // Each unit once: the next write to a unit would read it.
    let stream =
        Stream { offset: Bytes(0), ..stream(Access::Random, 4 * KIB, 0, 32, Bytes(1 << 30)) };
    rig.run(&workload(stream), &bytes(200 * 4 * KIB), &mut Recording::default()).unwrap();
    let truth = rig.ground_truth();
    assert!(truth.completing_pages >= 3 * 192, "{truth:?}");
    assert!(rig.work().flash.senses <= 2, "{:?}", rig.work());
}

#[test]
fn the_rate_of_partial_writes_is_that_of_their_programs_and_reads() {
    // A program of 16 pages takes 1 ms. A unit lies in one flash page, so one sense operation reads what is missing.
    let keys = "&nand.t_prog_us=1000&nand.t_bers_us=0&nand.t_r_us=100&nand.program_kib=64\
                &nand.page_kib=16&nand.channel_mb_s=1000000&front.buffer_kib=65536";
    for (unit, block, offset, senses) in
        [(16u32, 4, 0, 1.0), (8, 4, 0, 1.0), (16, 16, 4, 2.0), (64, 4, 0, 4.0), (64, 64, 0, 0.0)]
    {
        let mut rig = open(&format!("{keys}&effects.map_unit_kib={unit}"));
        let units = if offset > 0 { 2.0 } else { 1.0 };
        let programmed = f64::from(unit) / 64.0 * units;
        // The buffer is full after the first part, and spare area is left after the second.
        let mut write = |programs: f64| {
            let count = (programs / programmed) as u64;
            write(&mut rig, Access::Random, block * KIB, offset * KIB, count)
        };
        write(12_000.0);
        let recording = write(24_000.0);
        let lengths = recording.intervals.iter().map(|interval| interval.length);
        let elapsed = lengths.fold(Nanos::ZERO, |sum, length| sum + length);
        let found = recording.ios() as f64 / elapsed.as_secs_f64();
        let expected = 16.0 / (programmed * 1e-3 + senses * 1e-4);
        let case = format!("{unit} KiB, writes of {block} KiB at {offset} KiB");
        assert!(
            (found / expected - 1.0).abs() < 0.05,
            "{case}: {found:.0}/s, {expected:.0} expected"
        );
    }
}

#[test]
fn a_synchronous_write_waits_for_the_read_and_a_buffered_one_does_not() {
    // The units of one flash page each; the pauses let the dies finish.
    let keys = "&front.buffer_is_safe=false&nand.channel_mb_s=1000000&nand.t_r_us=100";
    let mean_us = |unit: u32, sync: bool| {
        let mut rig = open(&format!("{keys}&effects.map_unit_kib={unit}"));
        let think_time = Some(Nanos(8_000_000));
        let stream = stream(Access::Random, 4 * KIB, 0, 1, Bytes(3 << 30));
        let stream = Stream { sync, think_time, ..stream };
        let mut recording = Recording::default();
        rig.run(&workload(stream), &bytes(400 * 4 * KIB), &mut recording).unwrap();
        recording.latency_sum as f64 / recording.ios() as f64 / 1e3
    };
    let sync = mean_us(16, true) - mean_us(4, true);
    assert!((sync - 100.0).abs() < 2.0, "{sync} us");
    assert_eq!(mean_us(16, false), mean_us(4, false));
}

#[test]
fn a_unit_of_a_page_changes_nothing() {
    let run = |keys: &str| {
        let mut rig = open(keys);
        let recording = write(&mut rig, Access::Random, 4 * KIB, 0, 50_000);
        (recording, rig.ground_truth(), rig.work())
    };
    assert!(run("") == run("&effects.map_unit_kib=4"));
}

#[test]
fn collection_in_the_steady_state_multiplies_what_partial_writes_program() {
    let amplification = |keys: &str| {
        let text = format!("nvme-datacentre?capacity=4GB&over_provisioning=15%&state=steady{keys}");
        let mut rig = VirtualRig::open(&text, 1).unwrap();
        let capacity = rig.drive().capacity;
        let load = workload(stream(Access::Random, 4 * KIB, 0, 32, capacity));
        rig.run(&load, &bytes(capacity.0 / 4), &mut Recording::brief()).unwrap();
        let before = rig.ground_truth();
        rig.run(&load, &bytes(capacity.0 / 2), &mut Recording::brief()).unwrap();
        rig.ground_truth().write_amplification_since(&before).unwrap()
    };
    let (plain, units) = (amplification(""), amplification("&effects.map_unit_kib=16"));
    // Superblocks of fewer units: collection finds emptier ones.
    let ratio = units / plain;
    assert!((3.85..=4.05).contains(&ratio), "{units} {plain}");
}
