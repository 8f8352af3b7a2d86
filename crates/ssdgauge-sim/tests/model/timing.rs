//! Rates and latencies against queueing theory.

use crate::model::support::{Recording, bytes, seconds, stream, workload};
use ssdgauge_core::{Access, Direction, Rig, Until};
use ssdgauge_sim::VirtualRig;

/// Returns the requests per second of uniform random 4 KiB requests.
fn rate(rig: &mut VirtualRig, read_percent: u8, depth: u32, until: &Until) -> f64 {
    let load = workload(stream(Access::Random, 4_096, read_percent, depth, rig.drive().capacity));
    let mut recording = Recording::brief();
    let ended = rig.run(&load, until, &mut recording).unwrap();
    recording.ios() as f64 / ended.elapsed.as_secs_f64()
}

const DIES: f64 = 16.0;
const SENSE_US: f64 = 60.0;
const FIXED_US: f64 = 17.5;

/// Returns a drive of sixteen dies and a fixed delay, whose other times are negligible.
fn sixteen_dies() -> VirtualRig {
    let text = "
        inherits = 'nvme-datacentre'
        [drive]
        class = 'sixteen-dies'
        capacity_gb = 4
        raw_gib = 4.3
        [nand]
        dies = 16
        t_r_us = 60
        channel_mb_s = 1e6
        [front]
        link_mb_s = 1e6
        read_command_us = 0.01
        read_delay_us = 17.478
        max_queue_depth = 4096
    ";
    VirtualRig::from_toml("sixteen-dies", text, "state=filled", 1).unwrap()
}

/// Returns the throughput of `depth` requests on exponential dies with a fixed delay, by mean-value
/// analysis of a closed network (Reiser and Lavenberg, JACM 1980).
fn lower_bound(depth: u32) -> f64 {
    let (mut queued, mut throughput) = (0.0, 0.0);
    for n in 1..=depth {
        let response = SENSE_US * (1.0 + queued / DIES);
        throughput = f64::from(n) / (FIXED_US + response);
        queued = throughput * response;
    }
    throughput * 1e6
}

#[test]
fn reads_lie_between_exponential_dies_and_the_upper_bound_at_every_depth() {
    let mut rig = sixteen_dies();
    for depth in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024] {
        let measured = rate(&mut rig, 100, depth, &seconds(2));
        let lower = lower_bound(depth);
        let upper = (f64::from(depth) / (FIXED_US + SENSE_US) * 1e6).min(DIES / SENSE_US * 1e6);
        assert!(
            measured > lower * 0.999 && measured < upper * 1.001,
            "depth {depth}: {measured:.0} outside {lower:.0} to {upper:.0}"
        );
    }
}

#[test]
fn a_single_read_takes_the_sum_of_its_parts() {
    let mut rig = sixteen_dies();
    let measured = rate(&mut rig, 100, 1, &seconds(1));
    assert!((measured - 1e6 / (SENSE_US + FIXED_US)).abs() < 20.0, "{measured}");
}

/// Returns the rate of steady random writes that the dies allow: each page of the host costs its
/// program operations, the sense operations of its copies, and its share of the erase.
fn die_bound(rig: &VirtualRig, wa: f64) -> f64 {
    let nand = &rig.profile().nand;
    let superblock: f64 = rig.drive().details["superblock_bytes"].parse().unwrap();
    let block_pages = superblock / 4_096.0 / f64::from(nand.dies);
    let valid: f64 = 1.0 - 1.0 / wa;
    // A sense brings all valid pages of its group; a group without any is not sensed.
    let group = f64::from(nand.page_kib) / 4.0;
    let per_sense = group * valid / (1.0 - (1.0 - valid).powf(group));
    f64::from(nand.dies) * 1e6
        / (wa * nand.t_prog_us / (f64::from(nand.program_kib) / 4.0)
            + (wa - 1.0) * nand.t_r_us / per_sense
            + wa * nand.t_bers_us / block_pages)
}

#[test]
fn steady_random_writes_reach_the_rate_that_the_dies_allow() {
    for class in ["tlc-client", "sata-datacentre", "nvme-datacentre"] {
        let measure = |unused: &str| {
            // Controller and link are so fast that the dies limit the rate.
            let query = "capacity=32GB&state=steady&slc.fixed_gb=0&slc.dynamic_gb=0&\
                         front.write_command_us=0.1&front.link_mb_s=5000";
            let spec = format!("{class}?{query}&unused={unused}");
            let mut rig = VirtualRig::open(&spec, 1).unwrap();
            rate(&mut rig, 0, 64, &bytes(16_000_000_000));
            let load = workload(stream(Access::Random, 4_096, 0, 64, rig.drive().capacity));
            let mut recording = Recording::brief();
            let ended = rig.run(&load, &bytes(32_000_000_000), &mut recording).unwrap();
            let measured = recording.ios() as f64 / ended.elapsed.as_secs_f64();
            let wa = recording.last("write_amplification").unwrap();
            (measured, die_bound(&rig, wa))
        };
        let (all, part) = (measure("0"), measure("25%"));
        println!("{class} {all:?} {:.4} {part:?} {:.4}", all.0 / all.1, part.0 / part.1);
        for (measured, bound) in [all, part] {
            let share = measured / bound;
            assert!((0.92..1.01).contains(&share), "{class}: {share:.3} of the bound");
        }
        let off = part.0 / all.0 / (part.1 / all.1) - 1.0;
        assert!(off.abs() < 0.03, "{class}: the ratio is {:.2} % off", off * 100.0);
    }
}

#[test]
fn a_sata_drive_is_no_faster_at_depths_beyond_its_queue() {
    let mut rig = VirtualRig::open("sata-datacentre?capacity=4GB&state=filled", 1).unwrap();
    let at = |rig: &mut VirtualRig, depth| {
        let load = workload(stream(Access::Random, 4_096, 100, depth, rig.drive().capacity));
        let mut recording = Recording::default();
        rig.run(&load, &seconds(2), &mut recording).unwrap();
        (recording.ios(), recording.intervals[1].latency.mean().unwrap())
    };
    let (few, _) = at(&mut rig, 32);
    let (many, mean) = at(&mut rig, 256);
    assert!((many as f64 / few as f64 - 1.0).abs() < 0.02, "{few} {many}");
    // Further requests wait in the host; their latency counts from submission.
    let little = 256.0 * 2e9 / many as f64;
    assert!((mean / little - 1.0).abs() < 0.02, "{mean} {little}");
}

#[test]
fn burst_collection_keeps_the_throughput_and_lengthens_the_tail() {
    let measure = |pacing: &str| {
        let spec = format!("sata-datacentre?capacity=8GB&state=steady&gc.pacing={pacing}");
        let mut rig = VirtualRig::open(&spec, 1).unwrap();
        let load = workload(stream(Access::Random, 4_096, 70, 8, rig.drive().capacity));
        rig.run(&load, &seconds(60), &mut Recording::brief()).unwrap();
        let mut recording = Recording::default();
        rig.run(&load, &seconds(60), &mut recording).unwrap();
        let mut reads = ssdgauge_core::Histogram::default();
        let own = recording.intervals.iter().filter(|i| i.direction == Direction::Read);
        own.for_each(|interval| reads.merge(&interval.latency));
        (
            recording.ios() as f64,
            recording.intervals.iter().map(|i| i.latency.max().unwrap_or(0)).max(),
        )
    };
    let (even, even_tail) = measure("proportional");
    let (uneven, uneven_tail) = measure("burst");
    println!("{even} {even_tail:?} {uneven} {uneven_tail:?}");
    assert!((uneven / even - 1.0).abs() < 0.1, "{even} {uneven}");
    assert!(uneven_tail > even_tail.map(|tail| tail * 2), "{even_tail:?} {uneven_tail:?}");
}

#[test]
fn the_classes_reproduce_published_numbers() {
    // Name, measured and published rate, and the relative deviation allowed.
    let check = |name: &str, measured: f64, published: f64, share: f64| {
        println!("{name}: {measured:.0} for {published:.0}");
        let off = measured / published - 1.0;
        assert!(off.abs() < share, "{name}: {measured:.0} for {published:.0}");
    };
    let reads = |class: &str, depth| {
        let spec = format!("{class}?capacity=16GB&state=filled");
        rate(&mut VirtualRig::open(&spec, 1).unwrap(), 100, depth, &seconds(1))
    };
    let writes = |class: &str, depth| {
        let spec = format!("{class}?capacity=16GB");
        rate(&mut VirtualRig::open(&spec, 1).unwrap(), 0, depth, &bytes(200_000_000))
    };
    check("tlc-client reads, 128 deep", reads("tlc-client", 128), 366_000.0, 0.15);
    check("tlc-client reads, 1 deep", reads("tlc-client", 1), 14_000.0, 0.15);
    check("tlc-client writes, 1 deep", writes("tlc-client", 1), 50_000.0, 0.15);
    check("sata-datacentre reads, 1 deep", reads("sata-datacentre", 1), 8_500.0, 0.15);
    check("slc-low-latency reads, 64 deep", reads("slc-low-latency", 64), 775_000.0, 0.1);
    check("slc-low-latency reads, 1 deep", reads("slc-low-latency", 1), 62_500.0, 0.1);
    check("xpoint-like reads, 16 deep", reads("xpoint-like", 16), 584_800.0, 0.05);
    check("xpoint-like reads, 1 deep", reads("xpoint-like", 1), 112_000.0, 0.05);
    check("xpoint-like writes, 16 deep", writes("xpoint-like", 16), 550_000.0, 0.1);
}

/// Returns the rate of 128 KiB reads in 10^6 bytes per second.
fn read_rate(spec: &str, access: Access, depth: u32) -> f64 {
    let mut rig = VirtualRig::open(spec, 1).unwrap();
    let load = workload(stream(access, 131_072, 100, depth, rig.drive().capacity));
    let mut recording = Recording::brief();
    let ended = rig.run(&load, &seconds(1), &mut recording).unwrap();
    recording.ios() as f64 * 131_072.0 / 1e6 / ended.elapsed.as_secs_f64()
}

#[test]
fn sequential_reads_are_read_ahead_and_no_read_exceeds_the_link() {
    let spec = "tlc-client?capacity=16GB&state=filled";
    let link = VirtualRig::open(spec, 1).unwrap().profile().host_interface.link_mb_s;
    let single = |access| read_rate(spec, access, 1);
    assert!(single(Access::Sequential) > 1.2 * single(Access::Random));
    for depth in [4, 32] {
        let rate = read_rate(spec, Access::Sequential, depth);
        assert!((0.9 * link..1.001 * link).contains(&rate), "depth {depth}: {rate} of {link}");
    }
    let without = read_rate(&format!("{spec}&front.read_ahead=false"), Access::Sequential, 1);
    assert!(single(Access::Sequential) > 1.2 * without);
}

#[test]
fn reads_of_unmapped_pages_do_not_use_the_dies() {
    let rate = |state: &str| {
        let spec = format!("tlc-client?capacity=4GB&state={state}");
        rate(&mut VirtualRig::open(&spec, 1).unwrap(), 100, 1, &seconds(1))
    };
    assert!(rate("fresh") > 2.0 * rate("filled"));
}

#[test]
fn both_directions_share_a_half_duplex_link() {
    let total = |class: &str| {
        let spec = format!("{class}?capacity=4GB&state=filled");
        let mut rig = VirtualRig::open(&spec, 1).unwrap();
        let load = workload(stream(Access::Sequential, 131_072, 50, 16, rig.drive().capacity));
        let mut recording = Recording::brief();
        let ended = rig.run(&load, &bytes(1_000_000_000), &mut recording).unwrap();
        let link = rig.profile().host_interface.link_mb_s;
        recording.ios() as f64 * 131_072.0 / 1e6 / ended.elapsed.as_secs_f64() / link
    };
    let share = total("sata-datacentre");
    assert!((0.8..1.001).contains(&share), "{share}");
}
