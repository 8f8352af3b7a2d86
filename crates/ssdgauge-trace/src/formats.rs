//! The readers, one file for each family of formats.

pub(crate) mod blktrace;
pub(crate) mod fields;
pub(crate) mod number;
pub(crate) mod request_log;
pub(crate) mod text;
pub(crate) mod vscsi;

use crate::error::TraceError;
use crate::record::{Kind, TraceRecord};

/// What a reader found next. Times are absolute.
pub(crate) enum Event {
    /// A request.
    Request(TraceRecord),
    /// The completion of the request of this stream, kind and offset, at this time in nanoseconds.
    Completion { stream: u16, kind: Kind, offset: u64, at: u64 },
}

/// A reader of one format.
pub(crate) trait Source {
    /// Returns what comes next; `None` at the end of the trace.
    fn next(&mut self) -> Result<Option<Event>, TraceError>;

    /// Returns the number of lines or records that hold no request, and of requests that the trace
    /// says it lacks.
    fn left_out(&self) -> LeftOut;
}

/// What a reader left out so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeftOut {
    /// Lines or records without a request.
    pub(crate) ignored: u64,
    /// Requests that were not recorded, by the trace itself.
    pub(crate) lost: u64,
    /// Requests that were rounded outward to whole sectors.
    pub(crate) rounded: u64,
}
