//! Traces: read in every format, and turned into the requests of a replay.

use ssdgauge_core::{Bytes, Direction, Nanos};
use ssdgauge_trace::{Format, ReplayRequests, ReplayTarget, Routes, Summary, Trace};
use std::io::Cursor;

/// The target of the replay: smaller than most traces, with blocks of 4 KiB.
const TARGET: ReplayTarget = ReplayTarget { range: Bytes(256 << 20), block: Bytes(4_096) };

/// Reads one input in the format that its first bytes show, or else in every format of text; returns
/// whether it was accepted.
pub(crate) fn run(data: &[u8]) -> bool {
    let open = |format| Trace::open(Cursor::new(data.to_vec()), format);
    let Ok(mut trace) = open(None) else {
        for format in Format::ALL {
            if let Ok(mut trace) = open(Some(format)) {
                let _ = Summary::of(&mut trace);
            }
        }
        return false;
    };
    let format = trace.format();
    let Ok(summary) = Summary::of(&mut trace) else { return false };
    let Ok(again) = open(Some(format)) else { return false };
    let cut = Some(Nanos(25_000_000));
    let routes = Routes::Trace { has_trim: true };
    let has_responses = summary.has_response_times;
    let replay = ReplayRequests::new(again, has_responses, TARGET, routes, cut, u64::MAX);
    let Ok(mut replay) = replay else { return false };
    while let Ok(Some(request)) = replay.read() {
        let end = request.offset + request.length;
        let is_empty = request.length == 0;
        assert_eq!(is_empty, request.direction == Direction::Flush, "{request:?}");
        assert!(end <= TARGET.range.0, "{request:?} exceeds the target");
    }
    let totals = replay.totals();
    assert!(totals.after_cut <= totals.recorded, "{totals:?}");
    true
}
