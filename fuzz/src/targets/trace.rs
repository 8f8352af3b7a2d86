//! Traces: read in every format, and turned into the requests of a replay.

use ssdgauge_core::{Bytes, Nanos};
use ssdgauge_trace::{Format, ReplayRequests, Summary, Trace};
use std::io::Cursor;

/// The target of the replay: smaller than most traces, with blocks of 4 KiB.
const TARGET: (Bytes, Bytes) = (Bytes(256 << 20), Bytes(4_096));

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
    let replay = ReplayRequests::new(again, summary.has_response_times, TARGET, cut, u64::MAX);
    let Ok(mut replay) = replay else { return false };
    while let Ok(Some(request)) = replay.read() {
        let end = request.offset + u64::from(request.length);
        assert!(request.length > 0 && end <= TARGET.0.0, "{request:?} exceeds the target");
    }
    let totals = replay.totals();
    assert!(totals.after_cut <= totals.recorded, "{totals:?}");
    true
}
