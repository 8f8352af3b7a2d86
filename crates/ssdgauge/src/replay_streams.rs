//! The streams of a replay: those of the trace with most requests, that of all others, trims and flushes.

use ssdgauge_core::{
    Access, Arrival, BLOCK_SIZES, Bytes, DriveInfo, Engine, Operation, Replay, Stream, Workload,
};
use ssdgauge_trace::{ReplayTotals, StreamTotals};
use std::cmp::Reverse;

/// The requests of a replay in sum.
pub(crate) struct ReplayStreams {
    pub(crate) workload: Workload,
    /// The streams of the trace that are streams of the replay; empty where all are one.
    pub(crate) own: Vec<u16>,
    /// The other streams of the trace.
    pub(crate) shared: u64,
}

impl ReplayStreams {
    /// Returns the streams of a replay with `totals` on `drive`.
    pub(crate) fn of(totals: &ReplayTotals, drive: &DriveInfo) -> ReplayStreams {
        let seconds = totals.after_cut.as_secs_f64().max(1e-6);
        let block = drive.logical_block.0.max(512);
        let stream = |name: String, operation, requests: u64, bytes: u64, end: u64| {
            let mean = (bytes / requests.max(1) / block).max(1) * block;
            Stream {
                name,
                operation,
                access: Access::Random,
                block_size: Bytes(mean).min(*BLOCK_SIZES.end()),
                read_percent: 0,
                span: Bytes(end.max(mean)),
                arrival: Arrival::Recorded { per_second: (requests as f64 / seconds).min(1e9) },
                ..Stream::default()
            }
        };
        let transfers = |name: String, sums: StreamTotals| {
            let [reads, writes] = sums.requests;
            let all = reads + writes;
            let least =
                |share: u64| if reads > 0 && writes > 0 { share.clamp(1, 99) } else { share };
            let read_percent = least(100 * reads / all.max(1)) as u8;
            let stream = stream(name, Operation::Transfer, all, sums.bytes, sums.end);
            Stream { read_percent, ..stream }
        };
        let (own, others) = split(totals);
        let is_one = own.len() == 1;
        let name = |number: u16| match is_one {
            true => "trace".to_owned(),
            false => format!("stream {number}"),
        };
        let mut streams: Vec<Stream> =
            own.iter().map(|&(number, sums)| transfers(name(number), sums)).collect();
        if let Some(sums) = others.sums {
            streams.push(transfers("other streams".to_owned(), sums));
        }
        let trims = totals.trims;
        if trims.requests > 0 {
            let (requests, bytes, end) = (trims.requests, trims.bytes, trims.end);
            streams.push(stream("trims".to_owned(), Operation::Trim, requests, bytes, end));
        }
        if totals.flushes > 0 {
            let name = "flushes".to_owned();
            streams.push(stream(name, Operation::Flush, totals.flushes, 0, 0));
        }
        ReplayStreams {
            workload: Workload { engine: Engine::IoUring, streams },
            own: match is_one {
                true => Vec::new(),
                false => own.into_iter().map(|(number, _)| number).collect(),
            },
            shared: others.count,
        }
    }
}

/// The streams of a trace that share one of the replay.
struct Others {
    count: u64,
    sums: Option<StreamTotals>,
}

/// Returns the streams with most requests, by their numbers, and the others in sum.
fn split(totals: &ReplayTotals) -> (Vec<(u16, StreamTotals)>, Others) {
    let mut own: Vec<(u16, StreamTotals)> =
        totals.streams.iter().map(|(&number, &sums)| (number, sums)).collect();
    own.sort_by_key(|(number, sums)| (Reverse(sums.requests.iter().sum::<u64>()), *number));
    let rest = own.split_off(own.len().min(Replay::OWN_STREAMS));
    own.sort_by_key(|(number, _)| *number);
    let sums = rest.iter().map(|(_, sums)| *sums).reduce(|a, b| StreamTotals {
        requests: [a.requests[0] + b.requests[0], a.requests[1] + b.requests[1]],
        bytes: a.bytes + b.bytes,
        end: a.end.max(b.end),
    });
    (own, Others { count: rest.len() as u64, sums })
}
