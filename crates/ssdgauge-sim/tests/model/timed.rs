//! Loads whose requests are timed one by one.

use crate::model::support::EQUAL_PAGES;
use ssdgauge_core::{
    Access, Bytes, Data, Direction, Lane, LaneLimits, Nanos, Recording, RigError, TimedLoads,
    TimedRequest,
};
use ssdgauge_sim::VirtualRig;

fn read(due: u64, offset: u64) -> TimedRequest {
    TimedRequest { due: Nanos(due), direction: Direction::Read, offset, length: 4_096 }
}

fn lane(direction: Direction, think: Nanos) -> Lane {
    Lane {
        direction,
        access: Access::Sequential,
        block_size: Bytes(65_536),
        offset: Bytes(0),
        span: Bytes(64 << 20),
        queue_depth: 4,
        think,
        latencies: 10,
        data: Data::Incompressible,
    }
}

fn rig(query: &str) -> VirtualRig {
    VirtualRig::open(&format!("tlc-client?capacity=4GB&{query}"), 1).unwrap()
}

#[test]
fn two_reads_on_one_unit_end_one_page_read_apart_and_on_two_units_a_command_apart() {
    let mut rig = rig(&format!("state=filled{EQUAL_PAGES}"));
    let mut sink = Recording::default();
    for (distance, apart_us) in [(16 * 16_384, 40.0), (3 * 16_384, 2.6)] {
        let requests = [read(0, 0), read(0, distance)];
        let timings = rig.send(&requests, 2, &mut sink).unwrap().unwrap().requests;
        let apart = timings[1].completed.saturating_sub(timings[0].completed).as_micros_f64();
        assert!((apart - apart_us).abs() < 0.1, "{distance} {timings:?}");
    }
}

#[test]
fn a_request_waits_for_its_time_and_for_room_in_the_queue() {
    let mut rig = rig("state=filled");
    let mut sink = Recording::default();
    let requests = [read(0, 0), read(0, 1 << 20), read(5_000_000, 2 << 20)];
    let timings = rig.send(&requests, 1, &mut sink).unwrap().unwrap().requests;
    assert_eq!(timings[1].submitted, timings[0].completed);
    assert_eq!(timings[2].submitted, Nanos(5_000_000));
    // A drive that slept has to wake, also between two requests of one list.
    let requests = [read(0, 0), read(4_000_000_000, 1 << 20)];
    let timings = rig.send(&requests, 1, &mut sink).unwrap().unwrap().requests;
    assert!(timings[1].latency() > Nanos(5_000_000), "{timings:?}");
    assert!(sink.readings.iter().any(|reading| reading.quantity == "temperature_c"));
    assert!(sink.readings.iter().all(|reading| reading.quantity != "write_amplification"));
}

#[test]
fn lanes_count_each_byte_in_its_bin_and_end_at_their_limits() {
    let mut rig = rig("seed=1");
    let mut sink = Recording::default();
    let limits =
        LaneLimits { time: Nanos::SECOND, written: Bytes(100 * 65_536 + 1), bin: Nanos(1_000_000) };
    let lanes = [lane(Direction::Write, Nanos::ZERO), lane(Direction::Read, Nanos(100_000))];
    let ended = rig.run_lanes(&lanes, limits, &mut sink).unwrap().unwrap();
    assert_eq!(ended.lanes[0].bytes.iter().sum::<u64>(), 100 * 65_536);
    assert_eq!(rig.ground_truth().host_bytes, 100 * 65_536);
    assert_eq!(ended.lanes[0].bytes.len() as u64, ended.elapsed.0 / 1_000_000 + 1);
    assert_eq!(ended.lanes[1].latencies.len(), 10);
    let limits = LaneLimits { time: Nanos(20_000_000), ..limits };
    let ended = rig.run_lanes(&lanes[1..], limits, &mut sink).unwrap().unwrap();
    assert!((20_000_000..21_000_000).contains(&ended.elapsed.0), "{:?}", ended.elapsed);
}

#[test]
fn requests_beyond_the_drive_out_of_order_or_that_fail_are_errors_and_a_stop_is_none() {
    let mut rig = rig("fault.error_at=1048576");
    let mut sink = Recording::default();
    for bad in [&[read(0, 4_000_000_000)][..], &[read(5, 0), read(4, 0)]] {
        let refused = rig.send(bad, 1, &mut sink);
        assert!(matches!(refused, Err(RigError::Refused(_))), "{refused:?}");
    }
    assert!(matches!(rig.send(&[read(0, 0)], 0, &mut sink), Err(RigError::Refused(_))));
    let failed = rig.send(&[read(0, 1 << 20)], 1, &mut sink);
    assert!(matches!(failed, Err(RigError::System { .. })), "{failed:?}");
    let mut stopping = Recording { stop_after: Some(0), ..Recording::default() };
    let late = [read(0, 0), read(9_000_000_000, 0)];
    assert_eq!(rig.send(&late, 1, &mut stopping).unwrap(), None);
}
