//! Synchronous writes (O_DSYNC): they complete when they outlive a loss of power.

use crate::model::support::{Recording, seconds, stream, workload};
use ssdgauge_core::{Access, Interval, Preparation, Rig, WriteCache};
use ssdgauge_sim::{VirtualRig, profiles};

/// Returns 4 KiB random writes at QD1 on a drive that was filled and has no SLC cache.
fn writes(profile: &str, sync: bool, cache: WriteCache) -> (Vec<Interval>, VirtualRig) {
    let spec = format!("{profile}?capacity=4GB&state=filled&slc.fixed_gb=0&slc.dynamic_gb=0");
    let mut rig = VirtualRig::open(&spec, 1).unwrap();
    let mut recording = Recording::default();
    rig.prepare(&Preparation::WriteCache(cache), &mut recording).unwrap();
    let mut random = stream(Access::Random, 4_096, 50, 1, rig.drive().capacity);
    random.sync = sync;
    rig.run(&workload(random), &seconds(1), &mut recording).unwrap();
    (recording.intervals, rig)
}

/// Returns the shortest and the mean latency of the writes, in microseconds.
fn latency_us(intervals: &[Interval]) -> (f64, f64) {
    let latency = &intervals[1].latency;
    (latency.min().unwrap() as f64 / 1e3, latency.mean().unwrap() / 1e3)
}

#[test]
fn a_synchronous_write_waits_for_the_flash_where_the_buffer_is_volatile() {
    let mut volatile = Vec::new();
    for listed in profiles() {
        let (sync, rig) = writes(listed.name, true, WriteCache::On);
        let (plain, _) = writes(listed.name, false, WriteCache::On);
        if rig.profile().host_interface.buffer_is_safe {
            assert!(sync == plain, "{}: the buffer is as durable as the flash", listed.name);
            continue;
        }
        volatile.push(listed.name);
        let (uncached, _) = writes(listed.name, false, WriteCache::Off);
        assert!(sync == uncached, "{}: as without a write cache", listed.name);
        // The program operation comes on top of the path to the buffer; a few wait for the one
        // before on their die.
        let program_us = rig.profile().nand.t_prog_us;
        let (shortest, mean) = latency_us(&sync);
        let expected = latency_us(&plain).0 + program_us;
        assert!((shortest - expected).abs() < 0.01 * expected, "{}: {shortest}", listed.name);
        assert!((1.0..1.25).contains(&(mean / expected)), "{}: {mean} {expected}", listed.name);
    }
    assert_eq!(volatile, ["tlc-client", "mlc-client", "qlc-client", "tiny"]);
}

#[test]
fn reads_of_a_synchronous_stream_do_not_wait() {
    let reads = |sync| {
        let mut rig = VirtualRig::open("tlc-client?capacity=4GB&state=filled", 1).unwrap();
        let mut random = stream(Access::Random, 4_096, 100, 4, rig.drive().capacity);
        random.sync = sync;
        let mut recording = Recording::default();
        rig.run(&workload(random), &seconds(1), &mut recording).unwrap();
        recording.intervals
    };
    assert!(reads(true) == reads(false));
}
