//! The contract of a rig, for every profile.

use crate::model::support::{Recording, bytes, seconds, stream, workload};
use ssdgauge_core::{
    Access, Bytes, Direction, EndedBy, Engine, FindingKind, Nanos, Preparation, Rig, RigError,
    Stream, TargetKind, Until, Workload,
};
use ssdgauge_sim::{VirtualRig, profiles};

#[test]
fn every_profile_opens_and_is_marked_as_a_model() {
    for listed in profiles() {
        let rig = VirtualRig::open(listed.name, 1).unwrap();
        let info = rig.drive();
        assert_eq!(info.kind, TargetKind::Virtual);
        assert!(info.model.as_ref().unwrap().starts_with("MODEL "), "{info:?}");
        assert_eq!(info.target, format!("sim:{}", listed.name));
        assert!(!listed.title.is_empty() && !listed.description.is_empty());
    }
}

#[test]
fn every_profile_completes_reads_and_writes_for_a_second() {
    for listed in profiles() {
        let spec = format!("{}?capacity=2GB&state=filled", listed.name);
        let mut rig = VirtualRig::open(&spec, 1).unwrap();
        let capacity = rig.drive().capacity;
        for (percent, access) in
            [(0, Access::Random), (50, Access::Sequential), (100, Access::Random)]
        {
            let mut recording = Recording::default();
            let load = workload(stream(access, 4_096, percent, 8, capacity));
            let ended = rig.run(&load, &seconds(1), &mut recording).unwrap();
            assert_eq!(ended.by, EndedBy::Time);
            assert!(ended.elapsed >= Nanos::SECOND && recording.ios() > 1_000, "{spec} {ended:?}");
        }
    }
}

#[test]
fn equal_calls_give_equal_results_and_other_seeds_give_others() {
    let play = |seed| {
        let mut rig = VirtualRig::open("tiny?state=steady", seed).unwrap();
        let mut recording = Recording::default();
        let capacity = rig.drive().capacity;
        let fill = Preparation::Fill {
            access: Access::Random,
            block_size: Bytes(16_384),
            offset: Bytes(0),
            span: Bytes(100_000_000),
        };
        rig.prepare(&fill, &mut recording).unwrap();
        let load = workload(stream(Access::Random, 4_096, 30, 4, capacity));
        rig.run(&load, &seconds(5), &mut recording).unwrap();
        rig.rest(Nanos::from_secs(10), &mut recording).unwrap();
        rig.run(&load, &bytes(50_000_000), &mut recording).unwrap();
        recording
    };
    assert!(play(7) == play(7));
    assert!(play(7).intervals != play(8).intervals);
}

/// A load without faults has a loop of its own, in which pages enter the map together.
#[test]
fn a_load_without_faults_equals_one_whose_fault_never_comes() {
    let play = |fault: &str| {
        let mut rig = VirtualRig::open(&format!("tiny?state=steady{fault}"), 7).unwrap();
        let capacity = rig.drive().capacity;
        let mut recording = Recording::default();
        for (access, block, read_percent) in [
            (Access::Random, 4_096, 0),
            (Access::Random, 4_096, 30),
            (Access::Random, 2_048, 10),
            (Access::Sequential, 131_072, 0),
        ] {
            let load = workload(stream(access, block, read_percent, 8, capacity));
            rig.run(&load, &seconds(3), &mut recording).unwrap();
        }
        (recording.intervals, recording.readings, rig.ground_truth())
    };
    assert!(play("") == play("&fault.stall_at_s=1000000&fault.stall_for_s=1"));
}

#[test]
fn intervals_are_consecutive_seconds_and_only_the_last_may_be_short() {
    let mut rig = VirtualRig::open("tiny?state=filled", 1).unwrap();
    let mut recording = Recording::default();
    let span = rig.drive().capacity;
    let load = workload(stream(Access::Random, 4_096, 50, 32, span));
    let ended = rig.run(&load, &seconds(4), &mut recording).unwrap();
    for direction in Direction::TRANSFERS {
        let own: Vec<_> = recording.intervals.iter().filter(|i| i.direction == direction).collect();
        assert!(own.iter().enumerate().all(|(n, i)| i.second == n as u32));
        let length: Nanos = own.iter().map(|i| i.length).sum();
        assert_eq!(length, ended.elapsed);
        assert!(own.iter().all(|i| i.ios == i.latency.count() && i.bytes == i.ios * 4_096));
    }
}

#[test]
fn no_request_is_submitted_at_or_after_the_limit_and_those_in_flight_are_drained() {
    let mut rig = VirtualRig::open("tiny?state=filled", 1).unwrap();
    let load = workload(stream(Access::Random, 4_096, 100, 32, rig.drive().capacity));
    let mut recording = Recording::default();
    let until = Until { time: Some(Nanos(1_500_000_000)), bytes: None };
    let ended = rig.run(&load, &until, &mut recording).unwrap();
    assert_eq!(ended.by, EndedBy::Time);
    let over = ended.elapsed.0 - 1_500_000_000;
    let slowest = recording.intervals.iter().filter_map(|i| i.latency.max()).max().unwrap();
    assert!(over < slowest, "{over} {slowest}");
    assert_eq!(recording.intervals.len(), 2);
    assert_eq!(recording.intervals[1].length, Nanos(ended.elapsed.0 - 1_000_000_000));
}

#[test]
fn a_byte_limit_is_rounded_up_to_whole_requests_of_reads_and_writes_together() {
    let mut rig = VirtualRig::open("tiny?state=filled", 1).unwrap();
    let load = workload(stream(Access::Random, 16_384, 50, 7, rig.drive().capacity));
    let mut recording = Recording::default();
    let ended = rig.run(&load, &bytes(16_384 * 100 + 1), &mut recording).unwrap();
    assert_eq!((ended.by, recording.ios()), (EndedBy::Bytes, 101));
    let moved: u64 = recording.intervals.iter().map(|interval| interval.bytes).sum();
    assert_eq!(moved, 101 * 16_384);
}

#[test]
fn a_stream_has_intervals_of_the_directions_that_it_uses() {
    for (percent, expected) in [(100, 1), (0, 1), (50, 2)] {
        let mut rig = VirtualRig::open("tiny", 1).unwrap();
        let load = workload(stream(Access::Random, 4_096, percent, 1, rig.drive().capacity));
        let mut recording = Recording::default();
        rig.run(&load, &bytes(4_096 * 10), &mut recording).unwrap();
        assert_eq!(recording.intervals.len(), expected);
    }
}

#[test]
fn the_synchronous_engine_keeps_one_request_per_thread_in_flight() {
    let mut rig = VirtualRig::open("tiny?state=filled", 1).unwrap();
    let mut one = stream(Access::Random, 4_096, 100, 8, rig.drive().capacity);
    one.threads = 4;
    let mut load = workload(one);
    let ended = rig.run(&load, &bytes(4_096_000), &mut Recording::default()).unwrap();
    assert_eq!(ended.engine.in_flight_asked, 32);
    load.engine = Engine::Synchronous;
    let ended = rig.run(&load, &bytes(4_096_000), &mut Recording::default()).unwrap();
    assert_eq!(ended.engine.in_flight_asked, 4);
    assert_eq!((ended.engine.engine.as_str(), ended.engine.clock.as_str()), ("virtual", "virtual"));
}

#[test]
fn a_step_stops_within_a_virtual_second_of_the_request() {
    let mut rig = VirtualRig::open("tiny", 1).unwrap();
    let load = workload(stream(Access::Random, 4_096, 0, 4, rig.drive().capacity));
    let mut recording = Recording { stop_after: 3, ..Recording::default() };
    let ended = rig.run(&load, &seconds(1_000), &mut recording).unwrap();
    assert_eq!(ended.by, EndedBy::Stop);
    assert!(ended.elapsed <= Nanos(3_100_000_000), "{ended:?}");
    let fill = Preparation::Fill {
        access: Access::Sequential,
        block_size: Bytes(4_096),
        offset: Bytes(0),
        span: rig.drive().capacity,
    };
    let mut recording = Recording { stop_after: 1, ..Recording::default() };
    assert!(rig.prepare(&fill, &mut recording).unwrap().stopped);
    let mut recording = Recording { stop_after: 2, ..Recording::default() };
    rig.rest(Nanos::from_secs(100), &mut recording).unwrap();
    assert_eq!(recording.values("power_w").len(), 2);
}

#[test]
fn a_drive_that_disappears_fails_requests_in_flight_and_all_later_calls() {
    let mut rig = VirtualRig::open("tiny?state=filled&fault.gone_at_s=2.5", 1).unwrap();
    let load = workload(stream(Access::Random, 4_096, 100, 16, rig.drive().capacity));
    let mut recording = Recording::default();
    let ended = rig.run(&load, &seconds(10), &mut recording).unwrap();
    assert_eq!((ended.by, ended.elapsed), (EndedBy::Faults, Nanos(2_500_000_000)));
    assert_eq!(recording.intervals.iter().map(|i| i.errors).sum::<u64>(), 16);
    assert!(recording.findings.iter().any(|f| f.kind == FindingKind::DriveGone));
    let gone = |result: Result<(), RigError>| matches!(result, Err(RigError::Gone(_)));
    let mut sink = Recording::default();
    assert!(gone(rig.run(&load, &seconds(1), &mut sink).map(|_| ())));
    assert!(gone(rig.prepare(&Preparation::Purge, &mut sink).map(|_| ())));
    assert!(gone(rig.rest(Nanos::SECOND, &mut sink).map(drop)));
}

#[test]
fn failed_requests_are_counted_as_errors_and_not_as_ios() {
    let spec =
        "tiny?state=filled&fault.error_at=4096000&fault.error_bytes=8192&fault.error_writes=false";
    for (percent, errors) in [(100, 2), (0, 0)] {
        let mut rig = VirtualRig::open(spec, 1).unwrap();
        let load = workload(stream(Access::Sequential, 4_096, percent, 4, Bytes(8_192_000)));
        let mut recording = Recording::default();
        rig.run(&load, &bytes(8_192_000), &mut recording).unwrap();
        let failed: u64 = recording.intervals.iter().map(|i| i.errors).sum();
        assert_eq!(failed, errors, "{percent}");
        assert_eq!(recording.ios(), 2_000 - errors);
        assert_eq!(recording.findings.iter().any(|f| f.kind == FindingKind::Faults), errors > 0);
    }
}

#[test]
fn a_write_takes_a_nanosecond_where_the_profile_has_no_time_for_it() {
    let spec = "tiny?front.link_mb_s=1000000&front.write_command_us=0&front.write_delay_us=0";
    let mut rig = VirtualRig::open(spec, 1).unwrap();
    let load = workload(stream(Access::Sequential, 512, 0, 1, Bytes(1 << 20)));
    let mut recording = Recording::default();
    let ended = rig.run(&load, &bytes(512 * 100), &mut recording).unwrap();
    // 512 bytes at a picosecond each are half a nanosecond.
    assert_eq!((recording.ios(), ended.elapsed), (100, Nanos(100)));
}

#[test]
fn a_stall_delays_every_completion_and_its_seconds_have_no_requests() {
    let spec = "tiny?state=filled&fault.stall_at_s=2.2&fault.stall_for_s=40";
    let mut rig = VirtualRig::open(spec, 1).unwrap();
    let load = workload(stream(Access::Random, 4_096, 100, 4, rig.drive().capacity));
    let mut recording = Recording::default();
    rig.run(&load, &seconds(50), &mut recording).unwrap();
    let ios = recording.rates(Direction::Read);
    assert!(ios[3..42].iter().all(|n| *n == 0) && ios[2] > 0 && ios[43] > 0, "{ios:?}");
    assert!(recording.findings.iter().any(|f| f.kind == FindingKind::Hung));
    assert!(recording.intervals[42].latency.max().unwrap() > 39_900_000_000);
}

#[test]
fn a_purge_or_a_trim_of_all_restores_the_write_amplification_of_a_fresh_drive() {
    let amplification = |again: &[Preparation]| {
        let mut rig =
            VirtualRig::open("tiny?state=steady&slc.fixed_gb=0&slc.dynamic_gb=0", 1).unwrap();
        let mut sink = Recording::default();
        again.iter().for_each(|preparation| {
            rig.prepare(preparation, &mut sink).unwrap();
        });
        let load = workload(stream(Access::Random, 4_096, 0, 8, rig.drive().capacity));
        let mut recording = Recording::default();
        rig.run(&load, &bytes(400_000_000), &mut recording).unwrap();
        recording.last("write_amplification").unwrap()
    };
    let all = Preparation::Trim { offset: Bytes(0), span: Bytes(999_997_440) };
    assert!(amplification(&[]) > 4.0);
    assert_eq!(amplification(&[Preparation::Purge]), 1.0);
    assert_eq!(amplification(&[all]), 1.0);
}

#[test]
fn a_fill_writes_every_page_of_its_range_and_no_other() {
    for access in [Access::Sequential, Access::Random] {
        let mut rig = VirtualRig::open("tiny", 1).unwrap();
        rig.keep_generations();
        let (offset, span) = (Bytes(8_192_000), Bytes(100_003_840));
        let fill = Preparation::Fill { access, block_size: Bytes(131_072), offset, span };
        let prepared = rig.prepare(&fill, &mut Recording::default()).unwrap();
        assert_eq!(prepared.written, span);
        assert!(prepared.elapsed > Nanos::ZERO && !prepared.stopped);
        let (first, end) = (2_000u32, 2_000 + 24_415);
        for page in 0..40_000 {
            let written = rig.generation(page) != 0;
            assert_eq!(written, (first..end).contains(&page), "{access:?} {page}");
        }
    }
}

#[test]
fn invalid_workloads_are_refused_before_any_request() {
    let mut rig = VirtualRig::open("tiny", 1).unwrap();
    let capacity = rig.drive().capacity;
    let good = || stream(Access::Random, 4_096, 0, 1, capacity);
    let mut cases = vec![(vec![], seconds(1)), (vec![good()], Until { time: None, bytes: None })];
    let mut bad = |change: &dyn Fn(&mut Stream)| {
        let mut stream = good();
        change(&mut stream);
        cases.push((vec![stream], seconds(1)));
    };
    bad(&|s| s.offset = Bytes(4_096));
    bad(&|s| s.block_size = Bytes(0));
    bad(&|s| s.span = Bytes(100));
    bad(&|s| s.queue_depth = 0);
    bad(&|s| s.threads = 70_000);
    bad(&|s| s.read_percent = 101);
    bad(&|s| s.offset = Bytes(u64::MAX));
    cases.push((vec![good()], Until { time: Some(Nanos(u64::MAX)), bytes: None }));
    for (streams, until) in cases {
        let load = Workload { engine: Engine::IoUring, streams };
        let result = rig.run(&load, &until, &mut Recording::default());
        assert!(matches!(result, Err(RigError::Refused(_))), "{load:?} {result:?}");
    }
    assert_eq!(rig.ground_truth().host_bytes, 0);
}
