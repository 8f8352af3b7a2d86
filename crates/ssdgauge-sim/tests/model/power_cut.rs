//! A cut of the power takes what was acknowledged, and neither programmed nor flushed.

use crate::model::support::{Recording, bytes, stream, workload};
use ssdgauge_core::{
    Access, Bytes, Direction, Nanos, Preparation, Rig, Stream, TimedLoads, TimedRequest, Verified,
    WriteCache,
};
use ssdgauge_sim::VirtualRig;

const PAGE: u64 = 4_096;
/// Pages of a program unit.
const UNIT: u64 = 12;
const NO_CACHE: &str = "tiny?slc.fixed_gb=0&slc.dynamic_gb=0";

/// Writes 16 MiB in ascending order as `change` alters them, one page at a time, to a drive whose power is cut after 10
/// milliseconds; returns what is found wrong.
fn verified(query: &str, change: impl Fn(&mut Stream)) -> Verified {
    let target = format!("{NO_CACHE}{query}&fault.power_cut_at_s=0.01");
    let mut rig = VirtualRig::open(&target, 1).unwrap();
    let mut writes = stream(Access::Sequential, PAGE, 0, 1, Bytes(16 << 20));
    change(&mut writes);
    rig.run(&workload(writes), &bytes(16 << 20), &mut Recording::brief()).unwrap();
    rig.verify(&mut |_, _| true).unwrap().unwrap()
}

/// Returns the range of the pages that are lost.
fn lost(verified: &Verified) -> std::ops::Range<u64> {
    let first = verified.first[0].offset / PAGE;
    let places = verified.first.iter().map(|lost| lost.offset / PAGE);
    assert!(places.zip(first..).all(|(place, expected)| place == expected), "{verified:?}");
    first..first + verified.wrong
}

#[test]
fn a_fast_writer_loses_the_whole_buffer() {
    let found = verified("", |_| {});
    // Of 1 MiB; the oldest unit in it may have been programmed.
    assert!((256 - UNIT..=256).contains(&found.wrong), "{found:?}");
    assert_eq!((lost(&found).start % UNIT, found.first[0].found.as_str()), (0, "zeros"));
}

#[test]
fn what_was_not_programmed_before_the_cut_is_lost_and_nothing_else() {
    // A page every 100 us: the last one before 10 ms is number 99, the unit of number 95 is full at 9.5 ms.
    for (t_prog_us, expected) in [(650, 84..100), (300, 96..100)] {
        let keys = format!("&nand.t_prog_us={t_prog_us}&fault.power_cut_at_s=0.01");
        let mut rig = VirtualRig::open(&format!("{NO_CACHE}{keys}"), 1).unwrap();
        let write = |page: u64| TimedRequest {
            due: Nanos(page * 100_000),
            direction: Direction::Write,
            offset: page * PAGE,
            length: PAGE as u32,
        };
        let writes: Vec<TimedRequest> = (0..200).map(write).collect();
        rig.send(&writes, 32, &mut Recording::brief()).unwrap().unwrap();
        let found = rig.verify(&mut |_, _| true).unwrap().unwrap();
        assert_eq!((lost(&found), found.blocks), (expected, 200), "{t_prog_us}");
    }
}

#[test]
fn a_flush_bounds_the_loss_by_what_was_written_since() {
    for every in [5, 64] {
        let found = verified("", |writes| writes.flush_every = Some(every));
        let lost_pages = lost(&found);
        assert_eq!(lost_pages.start % u64::from(every), 0, "{every}: {lost_pages:?}");
        assert!(found.wrong <= u64::from(every), "{every}: {lost_pages:?}");
    }
    let found = verified("", |writes| writes.flush_every = Some(1));
    assert!(found.wrong <= 1, "{found:?}");
}

#[test]
fn what_outlives_a_loss_of_power_is_not_lost() {
    let synchronous = verified("", |writes| writes.sync = true);
    let protected = verified("&front.buffer_is_safe=true", |_| {});
    let earlier = verified("", |writes| writes.offset = Bytes(32 << 20));
    assert_eq!((synchronous.wrong, protected.wrong), (0, 0));
    assert!(earlier.wrong > 0);
    let mut off = VirtualRig::open(&format!("{NO_CACHE}&fault.power_cut_at_s=0.01"), 1).unwrap();
    let cache = Preparation::WriteCache(WriteCache::Off);
    off.prepare(&cache, &mut Recording::brief()).unwrap();
    let writes = stream(Access::Sequential, PAGE, 0, 1, Bytes(16 << 20));
    off.run(&workload(writes), &bytes(16 << 20), &mut Recording::brief()).unwrap();
    assert_eq!(off.verify(&mut |_, _| true).unwrap().unwrap().wrong, 0);
}

#[test]
fn pages_that_are_written_again_are_whole_and_others_hold_older_data() {
    let target = format!("{NO_CACHE}&state=filled&fault.power_cut_at_s=0.01");
    let mut rig = VirtualRig::open(&target, 1).unwrap();
    let writes = || workload(stream(Access::Sequential, PAGE, 0, 1, Bytes(16 << 20)));
    rig.run(&writes(), &bytes(16 << 20), &mut Recording::brief()).unwrap();
    let found = rig.verify(&mut |_, _| true).unwrap().unwrap();
    assert_eq!(found.first[0].found, "older data");
    rig.run(&writes(), &bytes(16 << 20), &mut Recording::brief()).unwrap();
    assert_eq!(rig.verify(&mut |_, _| true).unwrap().unwrap().wrong, 0);
}

#[test]
fn a_flush_after_a_flush_takes_no_program_operation() {
    let mut rig = VirtualRig::open(NO_CACHE, 1).unwrap();
    let write = TimedRequest {
        due: Nanos::ZERO,
        direction: Direction::Write,
        offset: 0,
        length: PAGE as u32,
    };
    let flush = TimedRequest::FLUSH;
    // The first one ends an idle time.
    let requests = [flush, flush, write, flush, flush];
    let timings = rig.send(&requests, 1, &mut Recording::brief()).unwrap().unwrap();
    let us: Vec<f64> =
        timings.requests.iter().map(|timing| timing.latency().as_micros_f64()).collect();
    let t_prog = rig.profile().nand.t_prog_us;
    assert_eq!(us[1], us[4], "{us:?}");
    assert!((us[3] - us[4] - t_prog).abs() < 0.01, "{us:?} {t_prog}");
}
