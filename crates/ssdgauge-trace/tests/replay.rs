//! The due times, places and sums of a replay.

#![allow(clippy::unwrap_used)]

use ssdgauge_core::{Bytes, Nanos, RecordedRequest, RecordedTime};
use ssdgauge_trace::{ReplayRequests, ReplayTotals, Trace};
use std::io::Cursor;

/// Returns the requests of a text for a target of 1 MiB, and their sums.
fn replay(
    text: &str,
    has_responses: bool,
    block: u64,
    cut: Option<u64>,
) -> (Vec<RecordedRequest>, ReplayTotals) {
    let trace = Trace::open(Cursor::new(text.as_bytes().to_vec()), None).unwrap();
    let target = (Bytes(1 << 20), Bytes(block));
    let mut replay =
        ReplayRequests::new(trace, has_responses, target, cut.map(Nanos), u64::MAX).unwrap();
    let requests = std::iter::from_fn(|| replay.read().unwrap()).collect();
    (requests, replay.totals())
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
    let places: Vec<(u64, u32)> = requests.iter().map(|one| (one.offset, one.length)).collect();
    assert_eq!(places, [(0, 4_096), (0, 4_096), (1_040_384, 8_192), (868_352, 4_096)]);
    assert_eq!((totals.folded, totals.end), (3, 1 << 20));
}
