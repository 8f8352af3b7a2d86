//! The SLC cache: its size, its recovery while the host is idle, and the rate after it is full.

use crate::model::support::{Recording, bytes, random_profile, seconds, stream, workload};
use ssdgauge_core::{Access, Bytes, Direction, Nanos, Random, Rig};
use ssdgauge_sim::VirtualRig;

/// Writes `total` bytes, and returns after how many of them the cache was full.
fn exhausted_after(rig: &mut VirtualRig, access: Access, total: u64) -> Option<f64> {
    let load = workload(stream(access, 131_072, 0, 8, rig.drive().capacity));
    let mut recording = Recording::brief();
    rig.run(&load, &bytes(total), &mut recording).unwrap();
    recording.last("slc_exhausted_bytes")
}

/// Returns the bytes of a superblock in SLC mode.
fn cache_superblock(rig: &VirtualRig) -> f64 {
    let native: f64 = rig.drive().details["superblock_bytes"].parse().unwrap();
    native / f64::from(rig.profile().nand.bits)
}

/// Opens random drive number `seed` with a random cache.
fn with_cache(seed: u64, overflow: &str) -> VirtualRig {
    let mut random = Random::new(seed, 0xcac4e);
    let text = random_profile(seed);
    let plain = VirtualRig::from_toml("random", &text, "", seed).unwrap();
    // At most a third of what the empty drive could lend to the cache.
    let most = plain.drive().capacity.0 as f64 / 1e9 / 4.0 / 3.0;
    let fixed = most * random.unit();
    let dynamic = most * random.unit();
    let rate = 20.0 + 300.0 * random.unit();
    let query = format!(
        "slc.fixed_gb={fixed}&slc.dynamic_gb={dynamic}&slc.fold_mb_s={rate}&\
         slc.overflow={overflow}&slc.fold_under_load_mb_s=0&nand.t_prog_us=100&nand.t_r_us=3&nand.t_bers_us=0"
    );
    VirtualRig::from_toml("random", &text, &query, seed).unwrap()
}

#[test]
fn the_cache_of_two_hundred_random_drives_has_its_configured_size() {
    for seed in 0..200 {
        let mut rig = with_cache(seed, ["direct", "fold-first"][seed as usize % 2]);
        let slc = rig.profile().slc.clone();
        let size = (slc.fixed_gb + slc.dynamic_gb) * 1e9;
        let full = exhausted_after(&mut rig, Access::Sequential, (size * 1.2) as u64 + (64 << 20));
        let Some(full) = full else {
            panic!("seed {seed} never full: {:?} {:?}", rig.profile(), rig.drive())
        };
        let off = (full - size) / cache_superblock(&rig);
        assert!(off.abs() <= 1.0, "seed {seed}: {off:.2} superblocks off");
    }
}

#[test]
fn an_idle_drive_recovers_as_much_cache_as_it_can_fold() {
    for seed in 0..200 {
        let mut rig = with_cache(seed, "direct");
        let slc = rig.profile().slc.clone();
        let size = (slc.fixed_gb + slc.dynamic_gb) * 1e9;
        let enough = (size * 1.2) as u64 + (64 << 20);
        let full = exhausted_after(&mut rig, Access::Sequential, enough).unwrap();
        let rest = 1 + seed % 3;
        rig.rest(Nanos::from_secs(rest), &mut Recording::brief()).unwrap();
        let again = exhausted_after(&mut rig, Access::Sequential, enough).unwrap();
        let rate = slc.fold_mb_s.min(copies_mb_s(&rig));
        // Folding begins after 10 ms.
        let folded = rate * 1e6 * (rest as f64 - 0.01);
        let off = (again - full.min(folded)) / cache_superblock(&rig);
        // A superblock that is folded in part frees nothing, or one more where it was borrowed; the
        // request that finds the cache full counts as written.
        let limit = 1.0 + 131_072.0 / cache_superblock(&rig);
        assert!(off.abs() <= limit, "seed {seed}: {off:.2} superblocks off");
    }
}

/// Returns how many megabytes a second the dies and the channels of `rig` can copy.
fn copies_mb_s(rig: &VirtualRig) -> f64 {
    let nand = &rig.profile().nand;
    let bytes = f64::from(nand.program_kib) * 1_024.0;
    let senses = (f64::from(nand.program_kib) / f64::from(nand.page_kib)).ceil();
    let dies = f64::from(nand.dies) * bytes / (nand.t_prog_us + senses * nand.t_r_us);
    // Each byte crosses its channel twice.
    dies.min(f64::from(nand.channels) * nand.channel_mb_s / 2.0)
}

#[test]
fn tlc_client_writes_at_the_published_rates_within_and_beyond_its_cache() {
    let mut rig = VirtualRig::open("tlc-client", 1).unwrap();
    let load = workload(stream(Access::Sequential, 131_072, 0, 8, rig.drive().capacity));
    let mut recording = Recording::default();
    rig.run(&load, &bytes(60_000_000_000), &mut recording).unwrap();
    let full = recording.last("slc_exhausted_bytes").unwrap();
    assert!((full - 22e9).abs() < 135e6, "{full}");
    let rate = |second: usize| recording.rates(Direction::Write)[second] as f64 * 131_072.0 / 1e6;
    // Published: above 2 GB/s up to about 22 GB, then 600 to 700 MB/s.
    assert!((2_000.0..2_700.0).contains(&rate(3)), "{}", rate(3));
    assert!((600.0..750.0).contains(&rate(25)), "{}", rate(25));
}

#[test]
fn a_full_drive_lends_less_to_the_cache_and_a_worn_in_one_nothing() {
    let size = |state: &str| {
        let spec = format!("tlc-client?capacity=20GB&state={state}");
        let mut rig = VirtualRig::open(&spec, 1).unwrap();
        (exhausted_after(&mut rig, Access::Random, 4_000_000_000), rig.profile().slc.clone())
    };
    let (fresh, slc) = size("fresh");
    let (filled, _) = size("filled");
    let (steady, _) = size("steady");
    let all = (slc.fixed_gb + slc.dynamic_gb) * 1e9;
    assert!((fresh.unwrap() / all - 1.0).abs() < 0.1, "{fresh:?} {all}");
    assert!(filled.unwrap() < 0.95 * all && filled.unwrap() > 0.5 * all, "{filled:?} {all}");
    assert!((steady.unwrap() / (slc.fixed_gb * 1e9) - 1.0).abs() < 0.25, "{steady:?}");
}

#[test]
fn cache_occupancy_rises_with_writes_and_falls_while_idle() {
    let mut rig = VirtualRig::open("tiny", 1).unwrap();
    let load = workload(stream(Access::Random, 4_096, 0, 4, Bytes(200_000_000)));
    rig.run(&load, &bytes(40_000_000), &mut Recording::brief()).unwrap();
    let mut recording = Recording::brief();
    rig.rest(Nanos::from_secs(10), &mut recording).unwrap();
    let occupancy = recording.values("slc_occupancy_bytes");
    assert!(occupancy[0] > 15e6, "{occupancy:?}");
    assert!(occupancy.windows(2).all(|pair| pair[1] <= pair[0]), "{occupancy:?}");
    assert!(*occupancy.last().unwrap() < 1e6, "{occupancy:?}");
    // Folding takes energy.
    let power = recording.values("power_w");
    assert!(power[0] > *power.last().unwrap(), "{power:?}");
}

#[test]
fn folding_under_load_extends_the_cache_by_what_it_frees() {
    let after = |rate: f64| {
        // The link limits the host to a rate far below that of the dies.
        let spec =
            format!("tlc-client?capacity=64GB&front.link_mb_s=200&slc.fold_under_load_mb_s={rate}");
        let mut rig = VirtualRig::open(&spec, 1).unwrap();
        exhausted_after(&mut rig, Access::Sequential, 12_000_000_000).unwrap()
    };
    let (without, with) = (after(0.0), after(100.0));
    // A cache of C bytes is full after C / (w - f) seconds, in which w C / (w - f) bytes are written.
    let expected = without * 200.0 / (200.0 - 100.0);
    assert!((with / expected - 1.0).abs() < 0.05, "{with} {expected}");
}

#[test]
fn a_write_after_long_reads_does_not_wait_for_the_folding_of_that_time() {
    // It hardly folds when idle, so that a full cache lasts through the reads.
    let spec = "tlc-client?capacity=64GB&slc.fold_mb_s=1&slc.fold_under_load_mb_s=100";
    let mut rig = VirtualRig::open(spec, 1).unwrap();
    let mut run = |reads, until| {
        let load = workload(stream(Access::Random, 4_096, reads, 1, Bytes(1_000_000_000)));
        let mut recording = Recording::default();
        rig.run(&load, &until, &mut recording).unwrap();
        recording.intervals.iter().filter_map(|second| second.latency.max()).max().unwrap()
    };
    run(0, bytes(2_000_000_000));
    run(100, seconds(60));
    let slowest = run(0, bytes(200_000_000));
    // 6 GB would be due after a minute; what may be made up is 1 MB.
    assert!(slowest < 50_000_000, "{slowest:?}");
}
