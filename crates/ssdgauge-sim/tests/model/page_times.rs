//! Pages that differ: the types of the pages of a cell, and spread between blocks and pages.

use crate::model::support::{Recording, bytes, seconds, stream, workload};
use ssdgauge_core::{Access, Bytes, Direction, Histogram, Rig};
use ssdgauge_sim::VirtualRig;

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
        let equal = reads(&target);
        assert_eq!(equal.min(), equal.max(), "{profile}");
        let found = reads(&format!("{target}&effects.page_type_ratio=1.4"));
        assert_eq!(found.min(), equal.min(), "{profile}");
        for bit in 0..bits {
            // In the middle of the share of the pages of this type.
            let share = (f64::from(bit) + 0.5) / f64::from(bits);
            let longer = found.percentile(share).unwrap() - equal.min().unwrap();
            let expected = sense * (1.4f64.powi(bit) - 1.0) * 1e3;
            let bin = 0.01 * found.max().unwrap() as f64;
            assert!((longer as f64 - expected).abs() < bin, "{profile} {bit}: {longer} {expected}");
        }
    }
}

#[test]
fn data_in_the_slc_cache_is_read_in_one_time() {
    let target = "tlc-client?capacity=16GB&effects.page_type_ratio=1.4";
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
    assert!(latencies(target) == latencies("tlc-client?capacity=16GB"));
    let native = "tlc-client?capacity=16GB&slc.fixed_gb=0&slc.dynamic_gb=0";
    let typed = format!("{native}&effects.page_type_ratio=1.4");
    assert!(latencies(&typed) != latencies(native));
}

#[test]
fn spread_changes_the_deviation_of_reads_and_not_their_mean() {
    let target = "nvme-datacentre?capacity=4GB&state=filled&nand.t_r_us=100";
    let (equal, spread) = (reads(target), reads(&format!("{target}&effects.read_spread=0.1")));
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
