//! Pages that differ: the types of the pages of a cell, and spread between blocks and pages.

use crate::model::support::{EQUAL_PAGES, Recording, bytes, seconds, stream, workload};
use ssdgauge_core::{Access, Bytes, Direction, Histogram, Rig};
use ssdgauge_sim::VirtualRig;

/// Types of pages and nothing else.
const TYPES: &str = "&effects.page_type_ratio=1.4&effects.read_spread=0";

const GIB: Bytes = Bytes(1 << 30);

/// Returns the latencies of random reads of 4 KiB at QD1 for two seconds.
fn reads(target: &str) -> Histogram {
    let mut rig = VirtualRig::open(target, 1).unwrap();
    let mut recording = Recording::default();
    rig.run(&workload(stream(Access::Random, 4_096, 100, 1, GIB)), &seconds(2), &mut recording)
        .unwrap();
    let mut all = Histogram::default();
    recording.intervals.iter().for_each(|interval| all.merge(&interval.latency));
    all
}

#[test]
fn reads_of_a_cell_with_three_or_four_bits_have_as_many_latencies() {
    for (profile, sense, bits) in [("nvme-datacentre", 60.0, 3), ("qlc-client", 100.0, 4)] {
        let target = format!("{profile}?capacity=4GB&state=filled&nand.t_r_us={sense}");
        let equal = reads(&format!("{target}{EQUAL_PAGES}"));
        assert_eq!(equal.min(), equal.max(), "{profile}");
        let found = reads(&format!("{target}{TYPES}"));
        let mean = (0..bits).map(|bit| 1.4f64.powi(bit)).sum::<f64>() / f64::from(bits);
        for bit in 0..bits {
            // In the middle of the share of the pages of this type.
            let share = (f64::from(bit) + 0.5) / f64::from(bits);
            let longer = found.percentile(share).unwrap() as f64 - equal.min().unwrap() as f64;
            let expected = sense * (1.4f64.powi(bit) / mean - 1.0) * 1e3;
            let bin = 0.01 * found.max().unwrap() as f64;
            assert!((longer - expected).abs() < bin, "{profile} {bit}: {longer} {expected}");
        }
        let mean_us = |latency: &Histogram| latency.mean().unwrap() / 1e3;
        assert!((mean_us(&found) - mean_us(&equal)).abs() < 0.01 * sense, "{profile}");
    }
}

#[test]
fn data_in_the_slc_cache_is_read_in_one_time() {
    let latencies = |target: &str| {
        let mut rig = VirtualRig::open(target, 1).unwrap();
        let write = stream(Access::Sequential, 1 << 20, 0, 8, Bytes(256 << 20));
        rig.run(&workload(write), &bytes(256 << 20), &mut Recording::default()).unwrap();
        let mut recording = Recording::default();
        let read = stream(Access::Random, 4_096, 100, 1, Bytes(256 << 20));
        rig.run(&workload(read), &bytes(8 << 20), &mut recording).unwrap();
        let of_reads = recording.intervals.into_iter().filter(|i| i.direction == Direction::Read);
        of_reads.map(|interval| interval.latency).collect::<Vec<_>>()
    };
    let of = |keys: &str| latencies(&format!("tlc-client?capacity=16GB{keys}"));
    assert!(of(TYPES) == of(EQUAL_PAGES));
    let native = |keys: &str| of(&format!("&slc.fixed_gb=0&slc.dynamic_gb=0{keys}"));
    assert!(native(TYPES) != native(EQUAL_PAGES));
}

#[test]
fn spread_changes_the_deviation_of_reads_and_not_their_mean() {
    let target =
        "nvme-datacentre?capacity=4GB&state=filled&nand.t_r_us=100&effects.page_type_ratio=0";
    let read = |spread: f64| reads(&format!("{target}&effects.read_spread={spread}"));
    let (equal, spread) = (read(0.0), read(0.1));
    let mean = |latency: &Histogram| latency.sum() as f64 / latency.count() as f64 / 1e3;
    assert!((mean(&spread) - mean(&equal)).abs() < 1.0, "{} {}", mean(&spread), mean(&equal));
    // Nearly normal: a standard deviation of 10 us, of which 84.1 % are below.
    let above = spread.percentile(0.8413).unwrap() as f64 / 1e3 - mean(&spread);
    assert!((above - 10.0).abs() < 1.5, "{above} us");
}

#[test]
fn the_spread_of_programs_leaves_the_write_rate_of_many_dies_as_it_is() {
    let rate = |keys: &str| {
        let target = format!("nvme-datacentre?capacity=16GB{keys}");
        let mut rig = VirtualRig::open(&target, 1).unwrap();
        let mut recording = Recording::brief();
        let write = stream(Access::Sequential, 128 << 10, 0, 32, Bytes(16_000_000_000));
        rig.run(&workload(write), &seconds(8), &mut recording).unwrap();
        recording.ios() as f64
    };
    // A row of units is done when its slowest die is: buffers even most of that out.
    let ratio = rate("&effects.program_spread=0.05") / rate("");
    assert!((0.9..1.0).contains(&ratio), "{ratio}");
}
