//! Effects on commands and capacity: trims by extent, a fixed cache inside the stated flash, a limit of writes in place.

use crate::model::support::{Recording, seconds, stream, workload};
use ssdgauge_core::{Access, Bytes, Preparation, Rig};
use ssdgauge_sim::VirtualRig;

#[test]
fn a_trim_takes_the_time_of_its_extents_and_bytes() {
    let elapsed = |keys: &str, span: u64| {
        let mut rig = VirtualRig::open(&format!("tlc-client?capacity=16GB{keys}"), 1).unwrap();
        let trim = Preparation::Trim { offset: Bytes(0), span: Bytes(span) };
        rig.prepare(&trim, &mut Recording::default()).unwrap().elapsed.0 as f64 / 1e3
    };
    let keys = "&effects.trim_extent_us=300&effects.trim_gib_us=50";
    for (gib, extents) in [(1, 1.0), (2, 1.0), (3, 2.0), (8, 4.0)] {
        let expected = extents * 300.0 + gib as f64 * 50.0;
        assert!((elapsed(keys, gib << 30) - expected).abs() < 0.001, "{gib} GiB");
        // Without the effect: 1 ms for each extent.
        assert!((elapsed("", gib << 30) - extents * 1e3).abs() < 0.001, "{gib} GiB");
    }
    assert!((elapsed("&effects.trim_extent_us=300", 4_096) - 300.0).abs() < 0.001);
}

#[test]
fn a_fixed_cache_inside_the_flash_is_missing_from_the_spare_area() {
    // 6 GB of 16 GiB in SLC mode need three times as much flash of TLC, minus what rounding to superblocks takes.
    let spare = |target: &str| {
        let mut rig = VirtualRig::open(target, 1).unwrap();
        let mut recording = Recording::default();
        let span = rig.drive().capacity;
        let write = stream(Access::Random, 4_096, 0, 32, span);
        rig.run(&workload(write), &seconds(1), &mut recording).unwrap();
        recording.last("true_over_provisioning").unwrap()
    };
    let drive = |raw: f64, keys: &str| {
        format!(
            "tlc-client?state=filled&drive.capacity_gb=64&drive.raw_gib={raw}&slc.dynamic_gb=0&slc.fixed_gb=2{keys}"
        )
    };
    let outside = spare(&drive(80.0, ""));
    let inside = spare(&drive(80.0, "&effects.fixed_cache_inside=true"));
    let lost = 3.0 * 2e9 / 64e9;
    assert!((outside - inside - lost).abs() < 0.01, "{outside} {inside}");
    // As on a drive that states so much less.
    let less = spare(&drive(80.0 - 3.0 * 2e9 / f64::from(1 << 30), ""));
    assert!((inside - less).abs() < 0.01, "{inside} {less}");
}

/// Returns the rate of sequential requests of an XPoint-like drive in MB/s.
fn sequential_mb_s(keys: &str, block: u64, reads: u8, depth: u32) -> f64 {
    let mut rig = VirtualRig::open(&format!("xpoint-like?capacity=16GB{keys}"), 1).unwrap();
    let mut recording = Recording::default();
    let load = stream(Access::Sequential, block, reads, depth, Bytes(16_000_000_000));
    rig.run(&workload(load), &seconds(2), &mut recording).unwrap();
    recording.ios() as f64 * block as f64 / 2e6
}

#[test]
fn a_limit_of_the_media_is_the_rate_of_writes_in_place_and_not_of_reads() {
    let rate = |keys: &str, reads: u8| sequential_mb_s(keys, 128 << 10, reads, 32);
    let limited = rate("&effects.in_place_write_mb_s=2000", 0);
    assert!((limited / 2_000.0 - 1.0).abs() < 0.005, "{limited} MB/s");
    assert!(rate("", 0) > 2_300.0);
    assert!(rate("&effects.in_place_write_mb_s=2000", 100) == rate("", 100));
}

#[test]
fn a_write_that_exceeds_the_buffer_is_written_while_the_link_transfers_it() {
    let block: u64 = 1 << 20;
    let us = |keys: &str| block as f64 / sequential_mb_s(keys, block, 0, 1);
    let limited = us("&effects.in_place_write_mb_s=1000");
    // The media takes 1,049 us from the first page on, not after the 419 us of the link, and never waits: the buffer
    // has the last 64 KiB of a request when it is acknowledged. Two seconds have 1,907 requests.
    assert!((limited / (block as f64 / 1_000.0) - 1.0).abs() < 1.0 / 1_907.0, "{limited} us");
    // Media that is as fast as the link delays nothing.
    assert!((us("&effects.in_place_write_mb_s=2500") - us("")).abs() < 0.5);
}
