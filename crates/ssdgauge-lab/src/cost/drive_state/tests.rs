//! The expected state of a drive whose rates are easy to compute with.

use super::*;
use crate::cost::rates::assumed_rates;
use ssdgauge_core::{Arrival, Data, DriveInfo, Engine, TargetKind};

const GB: u64 = 1_000_000_000;

/// A drive with rates that are easy to compute with: 100 MB/s beyond a cache of 10 GB that takes
/// 1,000 MB/s, of 100 GB with as much spare area.
fn drive() -> DriveState {
    let unknown = DriveInfo {
        kind: TargetKind::Block,
        target: "drive".into(),
        model: None,
        serial: None,
        firmware: None,
        capacity: Bytes(100 * GB),
        logical_block: Bytes(512),
        physical_block: Bytes(4_096),
        details: Default::default(),
    };
    let rates = AssumedRates {
        large_write_mb_s: 100.0,
        cached_write_mb_s: 1_000.0,
        cache_share: 0.1,
        refill_mb_s: 50.0,
        flash_write_mb_s: 100.0,
        large_read_mb_s: 1_000.0,
        spare: 1.0 / USABLE_SPARE,
        ..assumed_rates(&unknown)
    };
    DriveState::new(&rates, unknown.capacity)
}

fn fill(drive: &mut DriveState, bytes: u64) -> f64 {
    let (access, block_size) = (Access::Sequential, Bytes(131_072));
    let fill = Preparation::Fill { access, block_size, offset: Bytes(0), span: Bytes(bytes) };
    drive.prepare(&fill).seconds
}

fn stream(access: Access, read_percent: u8, arrival: Arrival) -> Workload {
    let stream = Stream {
        name: String::new(),
        access,
        block_size: Bytes(4_096),
        read_percent,
        queue_depth: 32,
        threads: 1,
        offset: Bytes(0),
        span: Bytes(100 * GB),
        arrival,
        data: Data::Incompressible,
        sync: false,
        ..Stream::default()
    };
    Workload { engine: Engine::IoUring, streams: vec![stream] }
}

fn until(seconds: Option<u64>, bytes: Option<u64>) -> Until {
    Until { time: seconds.map(Nanos::from_secs), bytes: bytes.map(Bytes) }
}

fn near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 0.01, "{value}, not {expected}");
}

#[test]
fn a_fill_runs_through_the_cache_and_a_rest_empties_it() {
    let mut drive = drive();
    near(fill(&mut drive, 20 * GB), 10.0 + 100.0);
    drive.rest(100.0);
    near(fill(&mut drive, 5 * GB), 5.0);
    near(fill(&mut drive, GB), 10.0);
}

#[test]
fn random_writes_slow_down_once_all_flash_was_written() {
    let mut drive = drive();
    fill(&mut drive, 100 * GB);
    let writes = stream(Access::Random, 0, Arrival::Closed);
    // 100 GB of spare area are free: 1,000 s at 100 MB/s.
    near(drive.run(&writes, &until(Some(900), None)).written, 90e9);
    drive.run(&writes, &until(Some(200), None));
    // Spare area as large as the data: a write amplification of 1.255.
    near(drive.run(&writes, &until(Some(100), None)).written, 10e9 / 1.255);
    drive.prepare(&Preparation::Purge);
    near(drive.run(&writes, &until(Some(5), None)).written, 5e9);
}

#[test]
fn the_first_limit_ends_a_step() {
    let reads = stream(Access::Random, 100, Arrival::Closed);
    let by_time = drive().run(&reads, &until(Some(10), None));
    assert_eq!((by_time.seconds, by_time.written), (10.0, 0.0));
    let half = (by_time.moved / 2.0) as u64;
    near(drive().run(&reads, &until(Some(10), Some(half))).seconds, 5.0);
}

#[test]
fn an_open_loop_that_cannot_be_served_ends_at_its_lag() {
    let offered = |per_second| stream(Access::Random, 100, Arrival::Poisson { per_second });
    // The link is the limit.
    let most = 1e9 / 4_096.0;
    let served = drive().run(&offered(most / 2.0), &until(Some(60), None));
    near(served.seconds, 60.0);
    // At twice the rate half of the load waits: 10 s behind after 20 s.
    let late = drive().run(&offered(most * 2.0), &until(Some(60), None));
    near(late.seconds, 20.0);
    assert!(drive().utilisation(&offered(most * 2.0), Nanos::SECOND) > 1.0);
}

#[test]
fn the_write_amplification_is_that_of_the_published_formula() {
    for (spare, expected) in [(0.07, 7.817), (0.12, 4.846), (0.28, 2.481), (1.0, 1.255)] {
        near(write_amplification(spare), expected);
    }
}

#[test]
fn a_share_of_random_reads_takes_its_part_of_the_time_between_random_and_sequential_ones() {
    let seconds = |access, random_percent| {
        let mut workload = stream(access, 100, Arrival::Closed);
        let requests = &mut workload.streams[0];
        (requests.queue_depth, requests.random_percent) = (1, random_percent);
        drive().run(&workload, &until(None, Some(GB))).seconds
    };
    let (sequential, random) = (seconds(Access::Sequential, 100), seconds(Access::Random, 100));
    assert!(sequential < 0.9 * random, "{sequential} {random}");
    near(seconds(Access::Random, 25), 0.75 * sequential + 0.25 * random);
}

#[test]
fn a_burst_before_a_think_time_longer_than_the_step_counts_whole() {
    let mut workload = stream(Access::Random, 0, Arrival::Closed);
    workload.streams[0].think_time = Some(Nanos(10_000_000_000));
    let burst = 32.0 * 4_096.0;
    let effort = drive().run(&workload, &until(Some(5), None));
    assert!((effort.written - burst).abs() < 1.0, "{effort:?}");
    // Three bursts in 25 s; two where 64 requests are allowed.
    let effort = drive().run(&workload, &until(Some(25), None));
    assert!((effort.written - 3.0 * burst).abs() < 1.0, "{effort:?}");
    let effort = drive().run(&workload, &until(Some(25), Some(64 * 4_096)));
    assert!((effort.moved - 2.0 * burst).abs() < 1.0, "{effort:?}");
}
