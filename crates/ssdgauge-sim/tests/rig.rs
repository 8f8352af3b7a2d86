//! The contract of a rig, kept by every profile.

mod common;

use common::{Seen, bytes, seconds, stream, workload};
use ssdgauge_core::{Access, Bytes, Direction, EndedBy, Nanos, Preparation, Rig, TargetKind};
use ssdgauge_sim::{VirtualRig, profiles};

#[test]
fn every_profile_loads_and_says_that_it_is_a_model() {
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
fn every_profile_serves_reads_and_writes_for_a_second() {
    for listed in profiles() {
        let spec = format!("{}?capacity=2GB&state=filled", listed.name);
        let mut rig = VirtualRig::open(&spec, 1).unwrap();
        let capacity = rig.drive().capacity;
        for (percent, access) in
            [(0, Access::Random), (50, Access::Sequential), (100, Access::Random)]
        {
            let mut seen = Seen::default();
            let load = workload(stream(access, 4_096, percent, 8, capacity));
            let ended = rig.run(&load, &seconds(1), &mut seen).unwrap();
            assert_eq!(ended.by, EndedBy::Time);
            assert!(ended.elapsed >= Nanos::SECOND && seen.ios() > 1_000, "{spec} {ended:?}");
        }
    }
}

#[test]
fn equal_calls_give_equal_results_to_the_last_bit_and_seeds_differ() {
    let play = |seed| {
        let mut rig = VirtualRig::open("tiny?state=steady", seed).unwrap();
        let mut seen = Seen::default();
        let capacity = rig.drive().capacity;
        let fill = Preparation::Fill {
            access: Access::Random,
            block_size: Bytes(16_384),
            offset: Bytes(0),
            span: Bytes(100_000_000),
        };
        rig.prepare(&fill, &mut seen).unwrap();
        let load = workload(stream(Access::Random, 4_096, 30, 4, capacity));
        rig.run(&load, &seconds(5), &mut seen).unwrap();
        rig.rest(Nanos::from_secs(10), &mut seen).unwrap();
        rig.run(&load, &bytes(50_000_000), &mut seen).unwrap();
        seen
    };
    assert!(play(7) == play(7));
    assert!(play(7).intervals != play(8).intervals);
}

#[test]
fn seconds_come_in_order_without_a_gap_and_the_last_may_be_short() {
    let mut rig = VirtualRig::open("tiny?state=filled", 1).unwrap();
    let mut seen = Seen::default();
    let span = rig.drive().capacity;
    let load = workload(stream(Access::Random, 4_096, 50, 32, span));
    let ended = rig.run(&load, &seconds(4), &mut seen).unwrap();
    for direction in Direction::BOTH {
        let own: Vec<_> = seen.intervals.iter().filter(|i| i.direction == direction).collect();
        assert!(own.iter().enumerate().all(|(n, i)| i.second == n as u32));
        let length: Nanos = own.iter().map(|i| i.length).sum();
        assert_eq!(length, ended.elapsed);
        assert!(own.iter().all(|i| i.ios == i.latency.count() && i.bytes == i.ios * 4_096));
    }
}
