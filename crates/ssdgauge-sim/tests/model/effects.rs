//! The effects of single drives: each against its own arithmetic, and none where all are off.

use crate::model::support::{EQUAL_PAGES, Recording, bytes, seconds, stream, workload};
use ssdgauge_core::{Access, Arrival, Bytes, Direction, Engine, Nanos, Rig, Stream, Workload};
use ssdgauge_sim::VirtualRig;

/// A drive of 4 GB without a cache whose buffer is safe, filled; with [`EQUAL_PAGES`].
const DRIVE: &str = "nvme-datacentre?capacity=4GB&state=filled";

/// The digests of the classes without effects, recorded with the model before it had any.
const KNOWN_DIGESTS: [(&str, &str); 8] = [
    ("tlc-client", "2787d09f9a2dc927"),
    ("mlc-client", "6c67e61290923593"),
    ("qlc-client", "f4105d59ccb5bb02"),
    ("sata-datacentre", "e95a751254dcdaaa"),
    ("nvme-datacentre", "d208ba2cdcc45d0e"),
    ("slc-low-latency", "cdc45ff9427cb517"),
    ("xpoint-like", "9ffc6cbceeca2c93"),
    ("tiny", "725c5f5f2f7b4264"),
];

/// Runs `stream` for two seconds on [`DRIVE`] with the keys `keys`.
fn run(keys: &str, stream: Stream) -> Recording {
    let mut rig = VirtualRig::open(&format!("{DRIVE}{EQUAL_PAGES}{keys}"), 1).unwrap();
    let mut recording = Recording::default();
    rig.run(&workload(stream), &seconds(2), &mut recording).unwrap();
    recording
}

fn random(read_percent: u8) -> Stream {
    stream(Access::Random, 4_096, read_percent, 1, Bytes(1 << 30))
}

/// Returns the mean time of a request at QD1, in microseconds.
fn cycle_us(recording: &Recording) -> f64 {
    recording.latency_sum as f64 / recording.ios() as f64 / 1e3
}

/// Returns the shortest and the longest latency of the requests in `direction`, in microseconds.
fn ends_us(recording: &Recording, direction: Direction) -> (f64, f64) {
    let latencies = recording.intervals.iter().filter(|i| i.direction == direction && i.ios > 0);
    latencies.fold((f64::MAX, 0.0), |(low, high), interval| {
        let us = |ns: Option<u64>| ns.unwrap() as f64 / 1e3;
        (us(interval.latency.min()).min(low), us(interval.latency.max()).max(high))
    })
}

#[test]
fn a_drive_without_effects_has_the_identity_and_the_numbers_that_it_had_before() {
    let digest = |spec: &str| {
        let rig = VirtualRig::open(spec, 1).unwrap();
        rig.drive().details["profile_digest"].clone()
    };
    for (profile, known) in KNOWN_DIGESTS {
        let off = format!("{profile}?effects.journal_ms=0{EQUAL_PAGES}");
        assert_eq!(digest(&off), known, "{profile}");
        assert_ne!(digest(&format!("{off}&effects.copy_us=1")), known, "{profile}");
    }
    // Effects that are set and have nothing to do change no latency.
    let idle = "&effects.sync_write_us=50&effects.journal_every_mib=100000";
    assert!(run(idle, random(50)) == run("", random(50)));
}

#[test]
fn each_change_of_direction_takes_its_time() {
    let cycle = |keys| cycle_us(&run(keys, random(50)));
    // A deck of 100 cards with 50 reads changes at 2 × 50 × 50 ÷ (100 × 99) of its places.
    let expected = 40.0 * 2.0 * 50.0 * 50.0 / (100.0 * 99.0);
    let found = cycle("&effects.direction_change_us=40") - cycle("");
    assert!((found - expected).abs() < 0.03 * expected, "{found} us, {expected} us");
    let reads = |keys| run(keys, random(100));
    assert!(reads("&effects.direction_change_us=40") == reads(""));
}

#[test]
fn a_synchronous_write_occupies_the_controller_and_another_one_does_not() {
    let sync = |sync| Stream { sync, ..random(0) };
    let keys = "&effects.sync_write_us=100";
    let found = cycle_us(&run(keys, sync(true))) - cycle_us(&run("", sync(true)));
    assert!((found - 100.0).abs() < 1.0, "{found}");
    assert!(run(keys, sync(false)) == run("", sync(false)));
}

#[test]
fn a_write_of_the_map_stops_the_drive_once_for_so_much_programmed_flash() {
    // A small buffer, or the dies would work it off while the controller stops.
    let small = "&front.buffer_kib=512";
    let journal = format!("{small}&effects.journal_every_mib=32&effects.journal_ms=20");
    let writes = |keys: &str| run(keys, stream(Access::Sequential, 131_072, 0, 8, Bytes(3 << 30)));
    let rate = |recording: &Recording| recording.ios() as f64 * 131_072.0 / 2.0;
    let (free, stopped) = (writes(small), writes(&journal));
    let expected = 1.0 / (1.0 / rate(&free) + 0.020 / f64::from(32u32 << 20));
    let found = rate(&stopped);
    assert!((found / expected - 1.0).abs() < 0.05, "{found} {expected} {}", rate(&free));
    let longest = ends_us(&stopped, Direction::Write).1;
    assert!(longest > 19_000.0, "{longest}");
}

#[test]
fn the_controllers_own_work_delays_a_request_by_its_duration_at_most() {
    let keys = "&effects.housekeeping_every_ms=100&effects.housekeeping_us=28";
    let (low, high) = ends_us(&run(keys, random(100)), Direction::Read);
    let (free_low, free_high) = ends_us(&run("", random(100)), Direction::Read);
    assert_eq!(low, free_low);
    assert!(high > free_high + 5.0 && high <= free_high + 28.5, "{high} {free_high}");
    // 20 interruptions of 28 us in 2 s: the mean moves by less than their share.
    let (mean, free) = (cycle_us(&run(keys, random(100))), cycle_us(&run("", random(100))));
    assert!(mean >= free && mean < free * (1.0 + 3.0 * 28.0 / 100_000.0), "{mean} {free}");
}

#[test]
fn each_copied_page_takes_its_time_of_the_controller() {
    // Flash that takes no time: the controller alone limits the drive, at 1.9 us a write.
    let flash = "capacity=4GB&state=steady&nand.t_prog_us=0&nand.t_bers_us=0&nand.t_r_us=0\
                 &nand.channel_mb_s=1000000";
    let writes = |keys: &str| {
        let mut rig = VirtualRig::open(&format!("nvme-datacentre?{flash}{keys}"), 1).unwrap();
        let load = workload(stream(Access::Random, 4_096, 0, 32, rig.drive().capacity));
        let mut recording = Recording::brief();
        rig.run(&load, &bytes(4_000_000_000), &mut recording).unwrap();
        let before = rig.ground_truth();
        let mut recording = Recording::brief();
        let ended = rig.run(&load, &bytes(4_000_000_000), &mut recording).unwrap();
        let copies = rig.ground_truth().moved_pages - before.moved_pages;
        let ios = recording.ios() as f64;
        (ended.elapsed.0 as f64 / 1e3 / ios, copies as f64 / ios)
    };
    let (free, copies) = writes("");
    assert!(copies > 2.0, "{copies}");
    let (found, with) = writes("&effects.copy_us=10");
    assert_eq!(with, copies, "the copies are the same");
    let expected = free + 10.0 * copies;
    assert!((found / expected - 1.0).abs() < 0.01, "{found} us, {expected} us");
}

#[test]
fn copies_of_an_idle_drive_take_no_time_of_the_controller() {
    let cycle = |keys: &str| {
        let text = format!("tlc-client?capacity=16GB&slc.fold_under_load_mb_s=0{keys}");
        let mut rig = VirtualRig::open(&text, 1).unwrap();
        let mut recording = Recording::default();
        // 200 MB fit the fast cache, and are folded in the pause.
        let load = workload(stream(Access::Sequential, 131_072, 0, 4, rig.drive().capacity));
        rig.run(&load, &bytes(200_000_000), &mut recording).unwrap();
        let before = rig.ground_truth().folded_pages;
        rig.rest(Nanos::from_secs(60), &mut recording).unwrap();
        assert!(rig.ground_truth().folded_pages > before);
        rig.run(&load, &bytes(200_000_000), &mut recording).unwrap();
        recording
    };
    assert!(cycle("&effects.copy_us=10") == cycle(""));
}

#[test]
fn folding_between_two_levels_of_the_cache_has_the_period_of_their_arithmetic() {
    // 8 GB of cache that is folded between a half and a quarter of it: the share of 62.5 GB that a
    // drive of 64 instead of 500 GB keeps.
    let text = "tlc-client?capacity=64GB&slc.fixed_gb=0&slc.dynamic_gb=62.5\
                &slc.fold_under_load_mb_s=500&effects.fold_from_share=0.5\
                &effects.fold_until_share=0.25";
    let mut rig = VirtualRig::open(text, 1).unwrap();
    let (written, folded) = (0.2, 0.5);
    let arrival = Arrival::Uniform { per_second: written * 1e9 / 131_072.0 };
    let span = rig.drive().capacity;
    let writes = Stream { arrival, ..stream(Access::Sequential, 131_072, 0, 8, span) };
    let mut recording = Recording::brief();
    rig.run(&workload(writes), &seconds(100), &mut recording).unwrap();
    let used: Vec<f64> =
        recording.values("slc_occupancy_bytes").iter().map(|bytes| bytes / 1e9).collect();
    let is_peak = |at: &usize| used[at - 1] < used[*at] && used[*at] > used[at + 1];
    let peaks: Vec<usize> = (1..used.len() - 1).filter(is_peak).collect();
    assert!(peaks.len() >= 4, "{peaks:?}");
    assert!(peaks[0].abs_diff(20) <= 1, "4 GB at 0.2 GB/s: {peaks:?}");
    // 2 GB are folded at 0.5 − 0.2 GB/s, and written again at 0.2 GB/s.
    let expected = 2.0 / (folded - written) + 2.0 / written;
    let period = (peaks[peaks.len() - 1] - peaks[0]) as f64 / (peaks.len() - 1) as f64;
    assert!((period / expected - 1.0).abs() < 0.05, "{period} s, {expected} s");
    let (low, high) = (used[peaks[0]..].iter())
        .fold((8.0, 0.0), |(low, high), level| (f64::min(low, *level), f64::max(high, *level)));
    assert!((1.8..2.4).contains(&low) && (3.7..4.2).contains(&high), "{low} {high}");
}

#[test]
fn reads_between_writes_are_read_ahead_as_often_as_two_reads_precede_them() {
    // Programs and transfers to the dies take no time: no read waits for one.
    let flash = "&nand.t_prog_us=0&nand.t_bers_us=0&nand.channel_mb_s=1000000";
    let read_us = |percent, keys: &str| {
        let mixed = stream(Access::Sequential, 131_072, percent, 1, Bytes(2 << 30));
        let intervals = run(&format!("{flash}{keys}"), mixed).intervals;
        let reads: Vec<_> = intervals.iter().filter(|i| i.direction == Direction::Read).collect();
        let sum: u128 = reads.iter().map(|interval| interval.latency.sum()).sum();
        sum as f64 / reads.iter().map(|interval| interval.ios).sum::<u64>() as f64 / 1e3
    };
    let (effect, never) = ("&effects.write_ends_read_ahead=true", "&front.read_ahead=false");
    let (hit, miss) = (read_us(100, ""), read_us(100, never));
    assert_eq!(read_us(100, effect), hit);
    for percent in [90, 70, 50] {
        let r = f64::from(percent) / 100.0;
        let expected = r * r * hit + (1.0 - r * r) * miss;
        let found = read_us(percent, effect);
        assert!((found / expected - 1.0).abs() < 0.08, "{found} {expected}: {hit} {miss}");
    }
}

#[test]
fn a_cap_holds_the_power_of_state_0() {
    let power = |keys: &str| {
        let writes = stream(Access::Sequential, 131_072, 0, 32, Bytes(3 << 30));
        *run(keys, writes).values("power_w").last().unwrap()
    };
    let free = power("");
    let capped = power("&power.max_w=5&effects.power_cap=true");
    assert!(free > 5.15, "{free}");
    assert!((capped / 5.0 - 1.0).abs() < 0.02, "{capped}");
}

#[test]
fn repeated_reads_add_their_share_and_follow_from_the_seed() {
    let keys = "&effects.read_retry_share=0.1&effects.read_retry_us=100";
    // Half of the repetitions need another one, up to eight: 1 + 1/2 + … + 1/128 of them on average.
    let expected = 0.1 * 100.0 * (2.0 - 0.5f64.powi(7));
    let retried = run(keys, random(100));
    let found = cycle_us(&retried) - cycle_us(&run("", random(100)));
    assert!((found / expected - 1.0).abs() < 0.08, "{found} us, {expected} us");
    assert!(run(keys, random(100)) == retried);
    assert!(run(&format!("{keys}&seed=2"), random(100)) != retried);
}

#[test]
fn a_drive_that_follows_one_stream_reads_ahead_of_one_reader_and_not_of_two() {
    let half = |number: u64| Stream {
        name: number.to_string(),
        offset: Bytes(number << 30),
        ..stream(Access::Sequential, 131_072, 100, 1, Bytes(1 << 30))
    };
    let readers = |keys: &str, streams: &[u64]| {
        let mut rig = VirtualRig::open(&format!("{DRIVE}{keys}"), 1).unwrap();
        let mut recording = Recording::default();
        let streams = streams.iter().map(|number| half(*number)).collect();
        let load = Workload { engine: Engine::IoUring, streams };
        rig.run(&load, &seconds(2), &mut recording).unwrap();
        cycle_us(&recording)
    };
    let (one, never) = ("&effects.read_streams=1", "&front.read_ahead=false");
    assert_eq!(readers(one, &[0]), readers("", &[0]));
    assert!(readers("", &[0, 1]) < 0.9 * readers(never, &[0, 1]));
    let (found, expected) = (readers(one, &[0, 1]), readers(never, &[0, 1]));
    assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
}

#[test]
fn collection_between_watermarks_has_the_period_and_the_depth_of_their_arithmetic() {
    // Slow programs: a period takes seconds. Sense and erase operations take no time. Small blocks: the
    // watermarks are a small part of the spare area. The buffer keeps all dies busy.
    let slow = "capacity=4GB&state=steady&nand.block_mib=0.1&nand.t_prog_us=20000\
                &nand.t_r_us=0&nand.t_bers_us=0&front.buffer_kib=8192";
    let writes = |keys: &str| {
        let mut rig = VirtualRig::open(&format!("nvme-datacentre?{slow}{keys}"), 1).unwrap();
        let superblock: f64 = rig.drive().details["superblock_bytes"].parse().unwrap();
        let mut recording = Recording::brief();
        let span = rig.drive().capacity;
        let load = workload(stream(Access::Random, 4_096, 0, 8, span));
        rig.run(&load, &seconds(300), &mut recording).unwrap();
        let writes: Vec<f64> = recording.writes.iter().map(|writes| *writes as f64).collect();
        (writes, superblock / 4_096.0)
    };
    let (even, ..) = writes("");
    let (found, size) = writes("&effects.watermark_superblocks=64&effects.watermark_pace=6");
    let most = found.iter().copied().fold(0.0, f64::max);
    let starts: Vec<usize> = (1..found.len())
        .filter(|at| found[*at] > most / 2.0 && found[at - 1] <= most / 2.0)
        .collect();
    assert!(starts.len() >= 8, "{starts:?}");
    // While it collects, each page that is written gains 6 − 1 pages; then 64 superblocks are written.
    let (first, last) = (starts[0], starts[starts.len() - 1]);
    let period = found[first..last].iter().sum::<f64>() / (starts.len() - 1) as f64;
    let expected = 64.0 * size * 6.0 / 5.0;
    assert!((period / expected - 1.0).abs() < 0.06, "{period} {expected}");
    // All copies of a period fall into a sixth of its writes.
    let is_slow = |at: &usize| found[at - 1..=at + 1].iter().all(|rate| *rate < most / 4.0);
    let slow: Vec<f64> = (first..last).filter(is_slow).map(|at| found[at]).collect();
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    let (slow, all) = (mean(&slow), mean(&found[first..last]));
    // The dies are always busy: without copies they reach `most`.
    let depth = 1.0 + 6.0 * (most / all - 1.0);
    assert!((most / slow / depth - 1.0).abs() < 0.1, "{most} {slow} {depth}");
    // The work is the same; the free superblocks, 32 of them on average, hold no data meanwhile.
    let ratio = all / mean(&even);
    assert!((0.8..1.02).contains(&ratio), "{ratio}");
}

#[test]
fn a_read_after_a_write_waits_until_the_buffer_is_programmed() {
    // No collection, no suspended operation; a drive of its own, so that what it wrote can be counted.
    let text = "nvme-datacentre?capacity=4GB&state=filled&over_provisioning=90%&nand.t_prog_us=500&nand.t_bers_us=0\
                &nand.channel_mb_s=1000000&nand.program_kib=64";
    let mixed = |keys: &str| {
        let mut rig = VirtualRig::open(&format!("{text}{keys}"), 1).unwrap();
        let mut recording = Recording::default();
        rig.run(&workload(random(50)), &seconds(4), &mut recording).unwrap();
        (recording, rig.ground_truth())
    };
    let (free, before) = mixed("");
    let (flushed, truth) = mixed("&effects.read_flushes_buffer=true");
    assert_eq!(before.unused_pages, 0);
    // Of a deck of 100 cards with 50 reads, 50 × 50 ÷ (100 × 99) of the places have a read after a write.
    let after = 50.0 * 50.0 / (100.0 * 99.0);
    let found = cycle_us(&flushed) - cycle_us(&free);
    let expected = after * 500.0;
    assert!((found / expected - 1.0).abs() < 0.03, "{found} us, {expected} us");
    // Each time a unit of 16 pages is programmed, of which the writes since the last one are used.
    let ios = flushed.ios() as f64;
    let unused = 16.0 * after * ios - ios / 2.0;
    let found = truth.unused_pages as f64;
    assert!((found / unused - 1.0).abs() < 0.03, "{found} pages, {unused} pages");
    assert_eq!(truth.nand_bytes(), 4_096 * (truth.host_pages + truth.unused_pages));
    // Without writes there is nothing to wait for.
    let effect = "&effects.read_flushes_buffer=true";
    assert!(run(effect, random(100)) == run("", random(100)));
}

#[test]
fn a_recalibration_stops_the_drive_each_time_its_temperature_has_changed_by_so_much() {
    let keys = "&thermal.c_j_per_c=2&thermal.throttle_c=120&thermal.resume_c=110";
    let effect = format!("{keys}&effects.recalibrate_k=2&effects.recalibrate_ms=30");
    let text = |keys: &str| format!("nvme-datacentre?capacity=4GB&state=filled{keys}");
    let heated = |keys: &str| {
        let mut rig = VirtualRig::open(&text(keys), 1).unwrap();
        let reads = stream(Access::Random, 4_096, 100, 32, Bytes(1 << 30));
        let mut recording = Recording::default();
        rig.run(&workload(reads), &seconds(120), &mut recording).unwrap();
        recording
    };
    let recording = heated(&effect);
    let stalls = |recording: &Recording| {
        let is_long = |ns: Option<u64>| ns.is_some_and(|ns| (29_000_000..33_000_000).contains(&ns));
        recording.intervals.iter().filter(|second| is_long(second.latency.max())).count()
    };
    assert_eq!(stalls(&heated(keys)), 0);
    let mut calibrated = f64::NAN;
    let mut expected = 0;
    for body in recording.values("temperature_c") {
        // The first reading differs from the temperature of the idle drive by less than a step.
        if calibrated.is_nan() {
            calibrated = body;
        }
        if (body - calibrated).abs() >= 2.0 {
            calibrated = body;
            expected += 1;
        }
    }
    let found = stalls(&recording);
    assert!(expected >= 3 && found.abs_diff(expected) <= 1, "{found} stops, {expected} expected");
}

#[test]
fn counters_of_media_writes_repeat_the_ground_truth_in_granules_and_change_nothing_else() {
    let spec = DRIVE;
    let plain = VirtualRig::open(spec, 1).unwrap();
    let off = VirtualRig::open(&format!("{spec}&effects.media_counter_kib=0"), 1).unwrap();
    assert_eq!(
        off.drive(),
        &ssdgauge_core::DriveInfo { target: off.drive().target.clone(), ..plain.drive().clone() }
    );
    let run = |mut rig: VirtualRig| {
        let load = workload(stream(Access::Random, 4_096, 0, 32, Bytes(2 << 30)));
        let mut recording = Recording::default();
        for _ in 0..2 {
            rig.run(&load, &bytes(1 << 30), &mut recording).unwrap();
        }
        (recording, rig)
    };
    let (without, _) = run(plain);
    let counting = VirtualRig::open(&format!("{spec}&effects.media_counter_kib=512"), 1).unwrap();
    let (with, mut rig) = run(counting);
    assert_eq!(with.intervals, without.intervals);
    let of = |recording: &Recording, quantity: &str| -> Vec<f64> {
        let all = recording.readings.iter().filter(|one| one.quantity == quantity);
        all.map(|one| one.value).collect()
    };
    let [media, granule, host, _] = ssdgauge_core::MediaWrites::BYTES.map(|name| of(&with, name));
    assert!(of(&without, "step_media_bytes").is_empty());
    assert_eq!((media.len(), granule[0]), (2, 524_288.0));
    let truth = rig.ground_truth();
    let sum = |amounts: &[f64]| amounts.iter().sum::<f64>();
    for (counted, exact) in [(sum(&media), truth.nand_bytes()), (sum(&host), truth.host_bytes)] {
        let missing = exact as f64 - counted;
        assert!((0.0..524_288.0).contains(&missing), "{counted} of {exact}");
        assert_eq!(counted % 524_288.0, 0.0);
    }
    // A purge resets no counter.
    rig.prepare(&ssdgauge_core::Preparation::Purge, &mut Recording::default()).unwrap();
    let between = rig.media_writes(&mut Recording::default()).unwrap();
    assert_eq!((between.media.amount, between.host.amount), (0.0, 0.0));
    let load = workload(stream(Access::Random, 4_096, 0, 32, Bytes(2 << 30)));
    rig.run(&load, &bytes(1 << 28), &mut Recording::default()).unwrap();
    assert_eq!(rig.ground_truth().host_bytes, 1 << 28);
}

#[test]
fn a_drive_that_reports_heat_counts_the_throttling_that_its_readings_show_and_behaves_alike() {
    let hot = "tlc-client?capacity=4GB&state=filled&thermal.c_j_per_c=4&thermal.throttle_c=52&thermal.resume_c=50";
    let throttled = |rig: &mut VirtualRig| {
        let mut recording = Recording::default();
        let reads = workload(stream(Access::Sequential, 1 << 20, 100, 8, Bytes(1 << 30)));
        rig.run(&reads, &seconds(60), &mut recording).unwrap();
        rig.rest(Nanos::from_secs(300), &mut recording).unwrap();
        rig.run(&reads, &seconds(60), &mut recording).unwrap();
        let throttled = recording.readings.iter().filter(|one| one.quantity == "throttled");
        throttled.map(|one| one.value).collect::<Vec<f64>>()
    };
    let mut rig = VirtualRig::open(&format!("{hot}&effects.reports_heat=true"), 1).unwrap();
    let before = rig.thermal_report().unwrap();
    assert_eq!((before.limit_c, before.transitions), (Some(52.0), Some(0)));
    let seen = throttled(&mut rig);
    let begins = seen.windows(2).filter(|pair| pair[0] < pair[1]).count() as u64;
    let report = rig.thermal_report().unwrap();
    assert!(begins >= 2, "{seen:?}");
    assert_eq!(report.transitions, Some(begins));
    // A reading that ends throttled stands for the second before it or after it.
    let whole: f64 = seen.iter().sum();
    let counted = report.throttled_s.unwrap() as f64;
    assert!((counted - whole).abs() <= 2.0 * begins as f64, "{counted} {whole}");
    let mut silent = VirtualRig::open(hot, 1).unwrap();
    assert_eq!(silent.thermal_report(), None);
    assert_eq!(throttled(&mut silent), seen);
}

/// Returns the mean time that retries add to a read at QD1 on a drive with `keys`, after a rest of `rest_s` seconds.
fn retries_us(keys: &str, rest_s: u64) -> f64 {
    let cycle = |keys: &str| {
        let mut rig = VirtualRig::open(&format!("{DRIVE}{keys}"), 1).unwrap();
        rig.rest(Nanos::from_secs(rest_s), &mut Recording::default()).unwrap();
        let mut recording = Recording::default();
        rig.run(&workload(random(100)), &seconds(4), &mut recording).unwrap();
        cycle_us(&recording)
    };
    cycle(&format!("&effects.read_retry_share=0.05&effects.read_retry_us=100{keys}")) - cycle("")
}

#[test]
fn the_share_of_retries_grows_with_wear_and_age_and_differs_between_blocks() {
    let new = 0.05 * 100.0 * (2.0 - 0.5f64.powi(7));
    let cases = [
        ("&effects.retry_cycles=1000", 0, 1.0),
        ("&effects.retry_cycles=1000&effects.worn_cycles=1000", 0, 2.0),
        ("&effects.retry_cycles=1000&effects.worn_cycles=3000", 0, 4.0),
        // Filled at the start of its time, 1,000 s before.
        ("&effects.retry_age_s=100", 1_000, 1.0 + 11f64.ln()),
        ("&effects.retry_spread=0.25", 0, 1.0),
    ];
    for (keys, rest_s, factor) in cases {
        let found = retries_us(keys, rest_s);
        assert!((found / (new * factor) - 1.0).abs() < 0.08, "{keys}: {found} us");
    }
}

#[test]
fn data_that_was_just_written_has_the_share_of_new_data() {
    let mut rig = VirtualRig::open(
        &format!("{DRIVE}&effects.read_retry_share=0.05&effects.read_retry_us=100&effects.retry_age_s=100"),
        1,
    )
    .unwrap();
    rig.rest(Nanos::from_secs(10_000), &mut Recording::default()).unwrap();
    let write = stream(Access::Sequential, 1 << 20, 0, 8, Bytes(1 << 30));
    let once = ssdgauge_core::Until { time: None, bytes: Some(Bytes(1 << 30)) };
    rig.run(&workload(write), &once, &mut Recording::default()).unwrap();
    let mut recording = Recording::default();
    rig.run(&workload(random(100)), &seconds(4), &mut recording).unwrap();
    let found = cycle_us(&recording) - cycle_us(&run("", random(100)));
    let new = 0.05 * 100.0 * (2.0 - 0.5f64.powi(7));
    // 11.2 where it would be as old as the drive; 1.03 at most after four seconds.
    assert!((found / new - 1.0).abs() < 0.12, "{found} us, {new} us");
}
