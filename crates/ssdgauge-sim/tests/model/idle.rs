//! Idle time: background work and power states go by virtual time, wherever it passes.

use crate::model::support::{Recording, bytes, seconds, stream, workload};
use ssdgauge_core::{Access, Arrival, Bytes, Direction, Nanos, Rig, Workload};
use ssdgauge_sim::{GroundTruth, VirtualRig, Work};

/// Drives with a cache that is folded, with collection while idle, with both, and with neither.
const DRIVES: [&str; 6] = [
    "tlc-client?capacity=16GB",
    "tlc-client?capacity=16GB&state=steady",
    "qlc-client?capacity=16GB&state=filled",
    "mlc-client?capacity=8GB&state=steady&gc.idle_superblocks=60",
    "tiny?state=filled&gc.policy=fifo",
    "nvme-datacentre?capacity=16GB&state=steady",
];

/// Returns the load of random reads that arrive `per_second`, the first after a random gap.
fn arrivals(arrival: Arrival) -> Workload {
    let mut reads = stream(Access::Random, 4_096, 100, 1, Bytes(1 << 30));
    reads.arrival = arrival;
    reads.span = Bytes(900_000_000);
    workload(reads)
}

/// Returns a load whose first request is due after days.
fn no_requests() -> Workload {
    arrivals(Arrival::Poisson { per_second: 1e-9 })
}

fn sequential_writes(rig: &mut VirtualRig, total: u64) -> Recording {
    let load = workload(stream(Access::Sequential, 131_072, 0, 8, rig.drive().capacity));
    let mut recording = Recording::default();
    rig.run(&load, &bytes(total), &mut recording).unwrap();
    recording
}

/// Returns `spec` after sequential writes of a tenth and random writes of a quarter of its capacity.
fn loaded(spec: &str, seed: u64) -> VirtualRig {
    let mut rig = VirtualRig::open(spec, seed).unwrap();
    let capacity = rig.drive().capacity;
    sequential_writes(&mut rig, capacity.0 / 10);
    let load = workload(stream(Access::Random, 4_096, 0, 32, capacity));
    rig.run(&load, &bytes(capacity.0 / 4), &mut Recording::brief()).unwrap();
    rig
}

/// What a drive has done, and how it behaves afterwards.
#[derive(Debug, PartialEq)]
struct Outcome {
    truth: GroundTruth,
    work: Work,
    /// Requests and latencies of sequential writes after the idle time.
    burst: Vec<ssdgauge_core::Interval>,
}

fn outcome(mut rig: VirtualRig) -> Outcome {
    let (truth, work) = (rig.ground_truth(), rig.work());
    let burst = sequential_writes(&mut rig, 500_000_000);
    Outcome { truth, work, burst: burst.intervals }
}

/// Lets 60 s pass in pauses of `length`; returns power and temperature of each second.
fn rests(rig: &mut VirtualRig, length: Nanos) -> Vec<f64> {
    let mut recording = Recording::brief();
    for _ in 0..60 * Nanos::SECOND.0 / length.0 {
        rig.rest(length, &mut recording).unwrap();
    }
    physics(&recording)
}

fn physics(recording: &Recording) -> Vec<f64> {
    ["power_w", "temperature_c", "slc_occupancy_bytes"]
        .iter()
        .flat_map(|quantity| recording.values(quantity))
        .collect()
}

#[test]
fn idle_work_depends_on_the_time_and_not_on_its_division_into_calls() {
    for spec in DRIVES {
        for seed in 0..3 {
            let drive = loaded(spec, seed);
            let (mut whole, mut parts, mut step) = (drive.clone(), drive.clone(), drive.clone());
            let expected = rests(&mut whole, Nanos::from_secs(60));
            assert_eq!(rests(&mut parts, Nanos::SECOND), expected, "{spec} {seed}");
            let mut recording = Recording::brief();
            step.run(&no_requests(), &seconds(60), &mut recording).unwrap();
            assert_eq!(recording.ios(), 0);
            assert_eq!(physics(&recording), expected, "{spec} {seed}");
            // The power of a part of a second differs from that of the second, and with it the
            // temperature; what the drive does is the same.
            let mut short = drive.clone();
            rests(&mut short, Nanos(7_500_000));
            let expected = outcome(whole);
            assert!(outcome(parts) == expected, "{spec} {seed}: 60 rests");
            assert!(outcome(step) == expected, "{spec} {seed}: a step");
            assert!(outcome(short) == expected, "{spec} {seed}: 8,000 rests");
            let idle = outcome(drive);
            let works = idle.work != expected.work;
            assert_eq!(works, !spec.starts_with("nvme-datacentre"), "{spec} {seed}");
        }
    }
}

#[test]
fn a_quiet_step_restores_as_much_of_the_cache_as_a_rest() {
    let recovered = |quiet: &dyn Fn(&mut VirtualRig)| {
        let mut rig = VirtualRig::open("tlc-client?capacity=64GB", 1).unwrap();
        sequential_writes(&mut rig, 8_000_000_000);
        quiet(&mut rig);
        sequential_writes(&mut rig, 8_000_000_000).last("slc_exhausted_bytes").unwrap()
    };
    let after_rest = recovered(&|rig| {
        rig.rest(Nanos::from_secs(5), &mut Recording::brief()).unwrap();
    });
    let after_step = recovered(&|rig| {
        let load = arrivals(Arrival::Uniform { per_second: 1.0 });
        rig.run(&load, &seconds(5), &mut Recording::brief()).unwrap();
    });
    let rig = VirtualRig::open("tlc-client?capacity=64GB", 1).unwrap();
    let native: f64 = rig.drive().details["superblock_bytes"].parse().unwrap();
    let superblock = native / f64::from(rig.profile().nand.bits);
    // 5 s at 300 MB/s; a superblock that is folded in part frees nothing.
    for freed in [after_rest, after_step] {
        assert!((freed - 1.5e9).abs() < superblock, "{freed} {superblock}");
    }
}

#[test]
fn a_drive_sleeps_between_rare_requests() {
    let mut rig = VirtualRig::open("tlc-client?capacity=4GB&state=filled", 1).unwrap();
    let power = rig.profile().power.clone();
    let load = arrivals(Arrival::Uniform { per_second: 1.0 / 3.0 });
    let mut recording = Recording::default();
    rig.run(&load, &seconds(60), &mut recording).unwrap();
    let us = |ns: Option<u64>| ns.unwrap() as f64 / 1e3;
    let reads: Vec<_> = recording.intervals.iter().filter(|i| i.ios > 0).collect();
    assert_eq!(reads.len(), 20);
    for (n, second) in reads.iter().enumerate() {
        // The first read finds the drive active.
        let exit_us = if n == 0 { 0.0 } else { power.states[1].exit_us };
        let slowest = us(second.latency.max());
        assert!((exit_us + 50.0..exit_us + 100.0).contains(&slowest), "{n}: {slowest}");
    }
    // Each read keeps the drive awake for 0.5 s and the entry latency; after 2 s it goes deeper.
    let [light, deep] = &power.states[..] else { panic!("{power:?}") };
    let after = |state: &ssdgauge_sim::PowerState| state.after_ms / 1e3 + state.entry_us / 1e6;
    let active = after(light) + deep.exit_us / 1e6;
    let cycle = power.idle_w * active
        + light.w * (after(deep) - after(light))
        + deep.w * (3.0 - after(deep) - deep.exit_us / 1e6);
    let mean = recording.last("energy_j").unwrap() / 60.0;
    assert!((mean / (cycle / 3.0) - 1.0).abs() < 0.01, "{mean} {}", cycle / 3.0);
    // Seconds 0, 3, 6 have the reads; the drive is active in the first half of them.
    let watts = recording.values("power_w");
    assert_eq!(watts.len(), 60);
    let half = power.idle_w * active + light.w * (1.0 - active);
    assert!((watts[3] / half - 1.0).abs() < 0.01 && (watts[4] - light.w).abs() < 1e-6, "{watts:?}");
}

#[test]
fn the_first_writes_after_a_pause_do_not_wait_for_the_work_of_the_pause() {
    let spec = "tlc-client?capacity=64GB&state=steady&slc.fixed_gb=0&slc.dynamic_gb=0";
    let mut rig = VirtualRig::open(spec, 1).unwrap();
    let load = workload(stream(Access::Random, 4_096, 0, 32, rig.drive().capacity));
    let mut before = Recording::default();
    rig.run(&load, &seconds(10), &mut before).unwrap();
    rig.rest(Nanos::SECOND, &mut Recording::brief()).unwrap();
    let mut after = Recording::default();
    rig.run(&load, &seconds(1), &mut after).unwrap();
    let slowest = |recording: &Recording| {
        recording.intervals.iter().filter_map(|second| second.latency.max()).max().unwrap()
    };
    // Two program operations on a die, and what the load itself brings about.
    let limit = slowest(&before) + (2.0 * rig.profile().nand.t_prog_us * 1e3) as u64;
    assert!(slowest(&after) <= limit, "{} {limit}", slowest(&after));
    let usual = before.rates(Direction::Write)[1..10].iter().sum::<u64>() / 9;
    let rate = after.rates(Direction::Write)[0];
    assert!(rate >= usual, "{rate} {usual}");
}

#[test]
fn idle_collection_keeps_the_dies_busy_and_asks_no_more_of_them_than_they_can_do() {
    let spec = "sata-datacentre?capacity=64GB&state=steady&gc.idle_superblocks=60";
    let mut rig = VirtualRig::open(spec, 1).unwrap();
    // Writes that begin collection.
    sequential_writes(&mut rig, 300_000_000);
    rig.rest(Nanos::from_secs(1), &mut Recording::brief()).unwrap();
    let nand = rig.profile().nand.clone();
    for seconds in [1, 3] {
        let before = rig.work().flash;
        rig.rest(Nanos::from_secs(seconds), &mut Recording::brief()).unwrap();
        let after = rig.work().flash;
        let us = (after.programs - before.programs) as f64 * nand.t_prog_us
            + (after.senses - before.senses) as f64 * nand.t_r_us
            + (after.erases - before.erases) as f64 * nand.t_bers_us;
        let busy = us / 1e6 / f64::from(nand.dies) / seconds as f64;
        // The work that a second leaves is done in the next one: four operations at most.
        let ahead = 4.0 * nand.t_prog_us / 1e6 / seconds as f64;
        assert!((0.95..1.0 + ahead).contains(&busy), "{seconds} s: {busy}");
    }
}

#[test]
fn an_idle_drive_that_disappears_ends_its_step_then() {
    let mut rig = VirtualRig::open("tiny?fault.gone_at_s=2.5", 1).unwrap();
    let mut recording = Recording::default();
    let ended = rig.run(&no_requests(), &seconds(10), &mut recording).unwrap();
    assert_eq!(ended.elapsed, Nanos::from_secs(10), "nothing was asked of the drive");
    let mut rig = VirtualRig::open("tiny?fault.gone_at_s=2.5", 1).unwrap();
    let load = arrivals(Arrival::Uniform { per_second: 0.25 });
    let ended = rig.run(&load, &seconds(10), &mut recording).unwrap();
    assert_eq!(ended.elapsed, Nanos(2_500_000_000));
    assert_eq!(ended.by, ssdgauge_core::EndedBy::Faults);
}

#[test]
fn a_step_of_rare_requests_stops_within_a_second() {
    let mut rig = VirtualRig::open("tiny", 1).unwrap();
    let load = arrivals(Arrival::Uniform { per_second: 0.01 });
    let mut recording = Recording { stop_after: 3, ..Recording::default() };
    let ended = rig.run(&load, &seconds(1_000), &mut recording).unwrap();
    assert_eq!(ended.by, ssdgauge_core::EndedBy::Stop);
    assert_eq!(ended.elapsed, Nanos::from_secs(3));
}
