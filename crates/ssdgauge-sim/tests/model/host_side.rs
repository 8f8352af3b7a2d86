//! The host's side of a load: time of its threads, late completions, and queues from which the drive fetches commands.

use crate::model::support::{EQUAL_PAGES, Recording, seconds, stream, workload};
use ssdgauge_core::{Access, Bytes, Engine, Histogram, Nanos, Rig, Stream, Workload};
use ssdgauge_sim::VirtualRig;

/// A drive whose controller processes 250,000 reads a second, and whose latency at QD1 has no spread.
const DRIVE: &str =
    "nvme-datacentre?capacity=4GB&state=filled&front.read_command_us=4&front.page_us=0";

fn reads(threads: u32, depth: u32) -> Stream {
    Stream { threads, ..stream(Access::Random, 4_096, 100, depth, Bytes(1 << 30)) }
}

/// Returns the rate of the reads of each stream, and their latencies.
fn run(keys: &str, streams: Vec<Stream>) -> Vec<(f64, Histogram)> {
    let mut rig = VirtualRig::open(&format!("{DRIVE}{EQUAL_PAGES}{keys}"), 1).unwrap();
    let mut recording = Recording::default();
    let count = streams.len();
    let workload = Workload { engine: Engine::IoUring, streams };
    rig.run(&workload, &seconds(2), &mut recording).unwrap();
    let mut found = vec![(0.0, Histogram::default()); count];
    for interval in &recording.intervals {
        let (rate, latency) = &mut found[usize::from(interval.stream)];
        *rate += interval.ios as f64 / 2.0;
        latency.merge(&interval.latency);
    }
    found
}

fn mean_us(latency: &Histogram) -> f64 {
    latency.sum() as f64 / latency.count() as f64 / 1e3
}

#[test]
fn a_thread_takes_its_time_for_each_request_and_completions_wait_for_it() {
    let keys = "&effects.host_request_us=20";
    for threads in [1, 2, 4] {
        let found = &run(keys, vec![reads(threads, 32)])[0];
        let expected = f64::from(threads) / 20e-6;
        assert!((found.0 / expected - 1.0).abs() < 0.001, "{threads}: {}", found.0);
        // 31 others are seen before it, each in its time.
        let latency = mean_us(&found.1);
        assert!((latency - 31.0 * 20.0).abs() < 1.0, "{threads}: {latency} us");
    }
    // At QD1 nothing waits: only the time between two requests grows.
    let (with, without) = (&run(keys, vec![reads(1, 1)])[0], &run("", vec![reads(1, 1)])[0]);
    assert_eq!((with.1.min(), with.1.max()), (without.1.min(), without.1.max()));
    assert!((1e6 / with.0 - 1e6 / without.0 - 20.0).abs() < 0.1);
}

#[test]
fn late_completions_have_an_exponential_spread_at_qd1() {
    let constant = &run("", vec![reads(1, 1)])[0].1;
    assert_eq!(constant.min(), constant.max());
    let late = &run("&effects.host_jitter_us=10", vec![reads(1, 1)])[0].1;
    let least = constant.min().unwrap() as f64 / 1e3;
    assert!((mean_us(late) - least - 10.0).abs() < 0.3, "{}", mean_us(late));
    for share in [0.5, 0.9, 0.99, 0.999f64] {
        let found = late.percentile(share).unwrap() as f64 / 1e3 - least;
        let expected = -10.0 * (1.0 - share).ln();
        // Four standard errors of a quantile of 16,000 values, and a bin of the histogram.
        let error = 40.0 * (share / (1.0 - share) / 16e3).sqrt() + 0.02 * (least + expected);
        assert!((found - expected).abs() < error, "{share}: {found} us, {expected} us");
    }
}

#[test]
fn a_reader_waits_for_the_commands_that_were_fetched_not_for_those_in_other_queues() {
    let both = || vec![reads(1, 1), reads(8, 64)];
    // All in one queue: each waits for the 512 others at 250,000 a second.
    let found = run("", both());
    assert!((mean_us(&found[0].1) - 513.0 * 4.0).abs() < 20.0, "{}", mean_us(&found[0].1));
    let limited = run("&effects.fetched_commands=100", both());
    // For the 99 others that the drive holds, and for at most one of each of the eight queues.
    let reader = mean_us(&limited[0].1);
    assert!((400.0..100.0 * 4.0 + 9.0 * 4.0).contains(&reader), "{reader} us");
    // The rate is that of the controller all the same, and nothing is lost or done twice.
    let rates = [&found, &limited].map(|found| found[0].0 + found[1].0);
    assert!((rates[1] / rates[0] - 1.0).abs() < 0.001, "{rates:?}");
    let others = mean_us(&limited[1].1);
    assert!((others * limited[1].0 / 1e6 - 512.0).abs() < 1.0, "Little's law: {others} us");
}

#[test]
fn queues_are_fetched_from_in_turn() {
    let keys = "&effects.fetched_commands=16";
    let found = run(keys, vec![reads(1, 128), reads(1, 32)]);
    // Both always have commands waiting: equal rates, whatever their depths.
    assert!((found[0].0 / found[1].0 - 1.0).abs() < 0.01, "{} {}", found[0].0, found[1].0);
    // Without queues of their own, in proportion to the depths.
    let found = run("", vec![reads(1, 128), reads(1, 32)]);
    assert!((found[0].0 / found[1].0 - 4.0).abs() < 0.05, "{} {}", found[0].0, found[1].0);
}

#[test]
fn equal_seeds_give_equal_latencies_and_a_drive_that_disappears_loses_no_request() {
    let keys = "&effects.host_request_us=3&effects.host_jitter_us=2&effects.fetched_commands=8";
    assert!(run(keys, vec![reads(2, 16)])[0].1 == run(keys, vec![reads(2, 16)])[0].1);
    let gone = format!("{DRIVE}{keys}&fault.gone_at_s=1");
    let mut rig = VirtualRig::open(&gone, 1).unwrap();
    let mut recording = Recording::default();
    rig.run(&workload(reads(2, 16)), &seconds(2), &mut recording).unwrap();
    let errors: u64 = recording.intervals.iter().map(|interval| interval.errors).sum();
    assert_eq!(errors, 32);
    assert_eq!(recording.intervals.iter().map(|i| i.length).max(), Some(Nanos::SECOND));
}
