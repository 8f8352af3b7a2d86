//! The state of a thread that sends a flush after every so many writes.

use ssdgauge_core::Stream;

/// The state of a thread whose writes are flushed.
pub(super) struct Commits {
    /// The writes between two flushes.
    pub(super) every: u32,
    /// The writes since the last flush.
    pub(super) unflushed: u32,
    /// The requests of the thread in flight, a flush among them.
    pub(super) in_flight: u32,
    /// The slots that wait for the flush, or for the requests before it.
    pub(super) held: Vec<usize>,
}

impl Commits {
    /// Returns the state of a thread of `stream`; `None` where no flush follows its writes.
    pub(super) fn new(stream: &Stream) -> Option<Box<Commits>> {
        let every = stream.flush_every.filter(|_| stream.writes())?;
        Some(Box::new(Commits { every, unflushed: 0, in_flight: 0, held: Vec::new() }))
    }
}
