//! The state of a thread that stops sending at times: for flushes after its writes, or for pauses.

use ssdgauge_core::{Pulse, Stream};

/// The state of a thread whose writes are flushed, or that pauses.
pub(super) struct Commits {
    /// The writes between two flushes; `u32::MAX` where there are none.
    pub(super) every: u32,
    /// The writes since the last flush.
    pub(super) unflushed: u32,
    /// The requests of the thread in flight, a flush among them.
    pub(super) in_flight: u32,
    /// The slots that wait for the flush, or for the requests before it, or for the end of a pause.
    pub(super) held: Vec<usize>,
    /// The requests after which a think time follows, the time in nanoseconds, and the requests since the
    /// last one.
    pub(super) think: Option<(u32, u64)>,
    pub(super) sent: u32,
    /// The times in which requests are sent.
    pub(super) pulse: Option<Pulse>,
    /// Whether the end of a pause is in the queue of completions.
    pub(super) is_waiting: bool,
}

impl Commits {
    /// Returns the state of a thread of `stream` with `depth` requests in flight; `None` where no flush
    /// follows its writes and it does not pause.
    pub(super) fn new(stream: &Stream, depth: u32) -> Option<Box<Commits>> {
        let every = stream.flush_every.filter(|_| stream.writes());
        let is_closed = stream.arrival.per_second().is_none();
        (every.is_some() || (is_closed && stream.pauses())).then(|| {
            Box::new(Commits {
                every: every.unwrap_or(u32::MAX),
                unflushed: 0,
                in_flight: 0,
                held: Vec::new(),
                think: stream.think_time.map(|time| (depth, time.0)),
                sent: 0,
                pulse: stream.pulse.filter(|_| is_closed),
                is_waiting: false,
            })
        })
    }
}
