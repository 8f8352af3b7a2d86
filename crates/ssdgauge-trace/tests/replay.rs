//! The due times, places and sums of a replay.

#![allow(clippy::unwrap_used)]

use ssdgauge_core::{Bytes, Direction, Nanos, RecordedRequest, RecordedTime};
use ssdgauge_trace::{ReplayRequests, ReplayTarget, ReplayTotals, Routes, Trace};
use std::io::Cursor;

/// Returns the requests of a text for a target of 1 MiB, and their sums.
fn replay(
    text: &str,
    has_responses: bool,
    block: u64,
    cut: Option<u64>,
) -> (Vec<RecordedRequest>, ReplayTotals) {
    routed(text, (has_responses, block, cut.map(Nanos)), Routes::Trace { has_trim: true })
}

fn routed(
    text: &str,
    (has_responses, block, cut): (bool, u64, Option<Nanos>),
    routes: Routes,
) -> (Vec<RecordedRequest>, ReplayTotals) {
    let trace = Trace::open(Cursor::new(text.as_bytes().to_vec()), None).unwrap();
    let target = ReplayTarget { range: Bytes(1 << 20), block: Bytes(block) };
    let replay = ReplayRequests::new(trace, has_responses, target, routes, cut, u64::MAX);
    let mut replay = replay.unwrap();
    let requests = std::iter::from_fn(|| replay.read().unwrap()).collect();
    (requests, replay.totals().clone())
}

fn times(requests: &[RecordedRequest]) -> Vec<RecordedTime> {
    requests.iter().map(|request| request.time).collect()
}

const fn after(nanos: u64) -> RecordedTime {
    RecordedTime::AfterCompletion(Nanos(nanos))
}

const fn within(nanos: u64) -> RecordedTime {
    RecordedTime::InBurst(Nanos(nanos))
}

#[test]
fn requests_that_follow_a_completion_begin_a_burst() {
    // Response times of 100, 50 and 20 µs: the second overlaps the first, the third follows both.
    let text = "0,a,0,Read,0,4096,1000\n500,a,0,Write,0,4096,600\n2000,a,0,Read,0,4096,200\n";
    let (requests, totals) = replay(text, true, 512, None);
    assert_eq!(times(&requests), [after(0), within(50_000), after(90_000)]);
    assert_eq!(
        (totals.recorded, totals.after_cut, totals.bursts),
        (Nanos(220_000), Nanos(220_000), 2)
    );
    let (requests, totals) = replay(text, true, 512, Some(25_000));
    assert_eq!(times(&requests), [after(0), within(50_000), after(25_000)]);
    assert_eq!((totals.recorded, totals.after_cut), (Nanos(220_000), Nanos(155_000)));
}

#[test]
fn without_response_times_all_is_one_burst_and_idle_times_are_cut() {
    let text = "0 0 0 8 1\n1000 0 0 8 1\n901000 0 0 8 0\n902000 0 0 8 0\n";
    let (requests, totals) = replay(text, false, 512, None);
    assert_eq!(times(&requests), [after(0), within(1_000), within(901_000), within(902_000)]);
    assert_eq!((totals.requests, totals.bytes), ([2, 2], [8_192, 8_192]));
    let (requests, totals) = replay(text, false, 512, Some(10_000));
    assert_eq!(times(&requests), [after(0), within(1_000), within(11_000), within(12_000)]);
    assert_eq!((totals.recorded, totals.after_cut), (Nanos(902_000), Nanos(12_000)));
}

#[test]
fn requests_are_aligned_and_folded_into_the_target() {
    let text = "0 0 1 1 1\n1 0 2048 8 1\n2 0 2044 8 1\n3 0 100000 8 0\n";
    let (requests, totals) = replay(text, false, 4_096, None);
    let places: Vec<(u64, u64)> = requests.iter().map(|one| (one.offset, one.length)).collect();
    assert_eq!(places, [(0, 4_096), (0, 4_096), (1_040_384, 8_192), (868_352, 4_096)]);
    assert_eq!((totals.folded, totals.end), (3, 1 << 20));
}

/// Discards (D) and flushes (F) among transfers, as blkparse prints them; sectors and lengths in sectors.
const COMMANDS: &str = "  8,0    0        1     0.000000000   100  D   W 0 + 8 [a]
  8,0    0        2     0.000100000     0  C   W 0 + 8 [0]
  8,0    0        3     0.001000000   100  D   D 3 + 30 [a]
  8,0    0        4     0.001400000     0  C   D 3 + 30 [0]
  8,0    0        5     0.002000000   100  D   D 1 + 6 [a]
  8,0    0        6     0.002100000     0  C   D 1 + 6 [0]
  8,0    0        7     0.003000000   100  D   D 1024 + 4096 [a]
  8,0    0        8     0.003500000     0  C   D 1024 + 4096 [0]
  8,0    0        9     0.004000000   100  D  FN [a]
  8,0    0       10     0.004200000     0  C  FN 0 [0]
";

#[test]
fn discards_become_trims_of_the_whole_blocks_in_them_and_flushes_stay() {
    let (requests, totals) = replay(COMMANDS, true, 4_096, None);
    let seen: Vec<(Direction, u64, u64)> =
        requests.iter().map(|one| (one.direction, one.offset, one.length)).collect();
    let (trim, flush) = (Direction::Trim, Direction::Flush);
    // Sectors 3 to 33 hold the blocks 1 to 3; 1 to 7 hold none; the last one is longer than the target.
    let wanted =
        [(Direction::Write, 0, 4_096), (trim, 4_096, 12_288), (trim, 0, 1 << 20), (flush, 0, 0)];
    assert_eq!(seen, wanted);
    assert_eq!(
        (totals.trims.requests, totals.trims.bytes, totals.flushes),
        (2, 12_288 + (1 << 20), 1)
    );
    assert_eq!((totals.left_out, totals.folded), ([1, 0], 1));
    assert_eq!(totals.end, 4_096, "the end of reads and writes alone");
    // Each of them begins a burst after the completion of the one before.
    assert_eq!(requests[1].time, after(900_000));
}

#[test]
fn discards_are_left_out_where_the_target_has_no_trim() {
    let routes = Routes::Trace { has_trim: false };
    let (requests, totals) = routed(COMMANDS, (true, 512, None), routes);
    assert!(requests.iter().all(|one| one.direction != Direction::Trim));
    assert_eq!((totals.left_out, totals.flushes), ([3, 0], 1));
}

#[test]
fn requests_go_to_the_streams_of_the_workload() {
    // Three disks; the second has a stream of its own, the others share one.
    let text = "0,a,0,Read,0,4096,10\n500,a,1,Read,0,4096,10\n900,a,2,Write,0,4096,10\n";
    let routes = Routes::Workload {
        own: [(1, 0)].into_iter().collect(),
        others: 1,
        trims: None,
        flushes: None,
    };
    let (requests, totals) = routed(text, (true, 512, None), routes);
    let streams: Vec<u16> = requests.iter().map(|one| one.stream).collect();
    assert_eq!(streams, [1, 0, 1]);
    assert_eq!(totals.streams[&1].requests, [1, 1]);
    assert_eq!(totals.streams[&0].requests, [1, 0]);
}
