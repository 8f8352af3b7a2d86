//! Write amplification, the cliff and Little's law against theory, over random drives and over
//! every profile.

use crate::support::{Seen, bytes, random_profile, random_profile_of, stream, workload};
use ssdgauge_core::{Access, Bytes, Ended, Engine, Rig, Workload};
use ssdgauge_sim::mean_field::{self, Class, MeanField};
use ssdgauge_sim::{GcPolicy, VirtualRig, profiles};

const DEPTH: u32 = 32;

/// Loads `rig` with uniform random writes of `turns` times its capacity.
fn random_writes(rig: &mut VirtualRig, turns: f64) -> (Seen, Ended) {
    let capacity = rig.drive().capacity;
    let load = workload(stream(Access::Random, 4_096, 0, DEPTH, capacity));
    let mut seen = Seen::brief();
    let ended = rig.run(&load, &bytes((capacity.0 as f64 * turns) as u64), &mut seen).unwrap();
    (seen, ended)
}

/// Returns how far the write amplification that was seen lies from the formula, as a share.
fn off_formula(seen: &Seen) -> f64 {
    let wa = seen.last("write_amplification").unwrap();
    let spare = seen.last("true_over_provisioning").unwrap();
    wa / mean_field::write_amplification(1.0 + spare) - 1.0
}

#[test]
fn two_hundred_random_drives_keep_the_formula_and_littles_law() {
    for seed in 0..200 {
        let text = random_profile(seed);
        let mut rig = VirtualRig::from_toml("random", &text, "state=steady", seed).unwrap();
        random_writes(&mut rig, 0.5);
        let (seen, ended) = random_writes(&mut rig, 1.0);
        let off = off_formula(&seen);
        assert!(off.abs() < 0.01, "seed {seed}: {:.2} % off the formula", off * 100.0);
        // The requests in flight at the end are drained: half a queue of latency at most.
        let little = seen.latency_sum as f64 / ended.elapsed.0 as f64 / f64::from(DEPTH) - 1.0;
        assert!(little.abs() < 0.001, "seed {seed}: {:.3} % off Little's law", little * 100.0);
    }
}

#[test]
fn the_cliff_of_two_hundred_random_drives_lies_where_the_spare_area_ends() {
    for seed in 0..200 {
        let text = random_profile(seed);
        let mut rig = VirtualRig::from_toml("random", &text, "state=filled", seed).unwrap();
        let detail = |key: &str| rig.drive().details[key].parse::<u64>().unwrap();
        let superblock = detail("superblock_bytes");
        // The reserve is free, and the host has one more open.
        let held_back = u64::from(rig.profile().gc.reserve_superblocks) + 1;
        let spare = (detail("superblocks") - held_back) * superblock - rig.drive().capacity.0;
        let (seen, _) = random_writes(&mut rig, 0.4);
        let cliff = seen.last("write_cliff_bytes").unwrap();
        let off = (cliff - spare as f64) / superblock as f64;
        assert!(off.abs() <= 1.0, "seed {seed}: the cliff is {off:.2} superblocks away");
    }
}

#[test]
fn every_profile_amplifies_as_the_formula_says() {
    for listed in profiles() {
        let spec =
            format!("{}?capacity=4GB&state=steady&slc.fixed_gb=0&slc.dynamic_gb=0", listed.name);
        let mut rig = VirtualRig::open(&spec, 1).unwrap();
        if rig.profile().nand.in_place {
            let (seen, _) = random_writes(&mut rig, 0.5);
            assert_eq!(seen.last("write_amplification"), Some(1.0), "{spec}");
            continue;
        }
        random_writes(&mut rig, 0.5);
        let off = off_formula(&random_writes(&mut rig, 1.0).0);
        assert!(off.abs() < 0.01, "{spec}: {:.2} % off", off * 100.0);
    }
}

#[test]
fn a_quarter_left_unused_helps_as_much_as_theory_says() {
    for listed in profiles() {
        let amplification = |unused: &str| {
            let spec = format!(
                "{}?capacity=4GB&state=steady&slc.fixed_gb=0&slc.dynamic_gb=0&unused={unused}",
                listed.name
            );
            let mut rig = VirtualRig::open(&spec, 3).unwrap();
            random_writes(&mut rig, 0.5);
            let (seen, ended) = random_writes(&mut rig, 1.0);
            let spare = seen.last("true_over_provisioning");
            let rate = seen.ios() as f64 / ended.elapsed.as_secs_f64();
            (seen.last("write_amplification").unwrap(), spare, rate)
        };
        let (all, part) = (amplification("0"), amplification("25%"));
        let (Some(all_spare), Some(part_spare)) = (all.1, part.1) else { continue };
        let theory = mean_field::write_amplification(1.0 + all_spare)
            / mean_field::write_amplification(1.0 + part_spare);
        let off = all.0 / part.0 / theory - 1.0;
        assert!(off.abs() < 0.03, "{}: {:.2} % off", listed.name, off * 100.0);
        assert!(part.2 > all.2, "{}: the emptier drive is faster", listed.name);
    }
}

/// Writes hot and cold data to 200 random drives that collect in the order of writing: the fixed
/// point holds for these.
fn hot_and_cold(hot_data: f64, hot_depth: u32) {
    for seed in 0..200 {
        // The order of writing knows no luck of the draw, so small superblocks will do; but the
        // two that are open count for less the more there are.
        let text = random_profile_of(seed, 128, 600).replace("greedy", "fifo");
        let mut rig = VirtualRig::from_toml("random", &text, "state=steady", seed).unwrap();
        assert_eq!(rig.profile().gc.policy, GcPolicy::Fifo);
        let capacity = rig.drive().capacity.0;
        let hot = (capacity as f64 * hot_data) as u64 / 4_096 * 4_096;
        let mut streams = vec![
            stream(Access::Random, 4_096, 0, hot_depth, Bytes(hot)),
            stream(Access::Random, 4_096, 0, 20 - hot_depth, Bytes(capacity - hot)),
        ];
        streams[1].offset = Bytes(hot);
        let load = Workload { engine: Engine::IoUring, streams };
        // Where cold data once lies thick in the log, each turn copies it together again: only
        // overwriting it spreads it, with this time constant in turns of the capacity.
        let cold_share = f64::from(20 - hot_depth) / 20.0;
        let forgets = (1.0 - hot_data) / cold_share;
        let settle = (capacity as f64 * 0.5 * forgets) as u64;
        rig.run(&load, &bytes(settle), &mut Seen::brief()).unwrap();
        let mut seen = Seen::brief();
        rig.run(&load, &bytes(capacity * 2), &mut seen).unwrap();
        let share = seen.counted[0] as f64 / seen.ios() as f64;
        let classes =
            [Class { pages: hot_data, share }, Class { pages: 1.0 - hot_data, share: 1.0 - share }];
        let total = 1.0 + seen.last("true_over_provisioning").unwrap();
        let off =
            seen.last("write_amplification").unwrap() / mean_field::mixture(&classes, total) - 1.0;
        assert!(off.abs() < 0.02, "seed {seed}, {hot_data}: {:.2} % off", off * 100.0);
    }
}

#[test]
fn hot_data_of_a_fifth_amplifies_as_the_fixed_point_says() {
    hot_and_cold(0.2, 16);
}

#[test]
fn hot_data_of_a_tenth_amplifies_as_the_fixed_point_says() {
    hot_and_cold(0.1, 18);
}

#[test]
fn hot_data_of_a_twentieth_amplifies_as_the_fixed_point_says() {
    hot_and_cold(0.05, 19);
}

#[test]
fn a_filled_drive_comes_to_where_the_mean_field_starts_it() {
    let wa = |state: &str, turns| {
        let text = random_profile(4).replace("fifo", "greedy");
        let mut rig = VirtualRig::from_toml("random", &text, &format!("state={state}"), 1).unwrap();
        random_writes(&mut rig, turns);
        let (seen, _) = random_writes(&mut rig, 1.0);
        let spare = seen.last("true_over_provisioning").unwrap();
        (seen.last("write_amplification").unwrap(), spare)
    };
    let (filled, spare) = wa("filled", 6.0);
    let (steady, _) = wa("steady", 0.0);
    assert!((filled / steady - 1.0).abs() < 0.01, "{filled} {steady}");
    let mut field = MeanField::new(1_000, 1_000.0, 1e6 / (1.0 + spare));
    field.settle(6);
    let field = field.measure(2_000);
    assert!((filled / field - 1.0).abs() < 0.01, "{filled} {field}");
}

#[test]
fn writing_in_order_never_amplifies() {
    for listed in profiles() {
        let spec =
            format!("{}?capacity=2GB&state=filled&slc.fixed_gb=0&slc.dynamic_gb=0", listed.name);
        let mut rig = VirtualRig::open(&spec, 1).unwrap();
        let capacity = rig.drive().capacity;
        let load = workload(stream(Access::Sequential, 131_072, 0, 4, capacity));
        let mut seen = Seen::brief();
        rig.run(&load, &bytes(capacity.0 * 2), &mut seen).unwrap();
        let wa = seen.last("write_amplification").unwrap();
        // The one superblock in which the old and the new turn meet is copied in part.
        assert!((1.0..1.001).contains(&wa), "{spec}: {wa}");
    }
}
