//! Traces of block requests: readers of the formats in which they are published and recorded, their
//! summary, a packed form of their own, and their requests for a replay.
//!
//! A trace is untrusted and may be larger than the memory: readers take bytes from a [`std::io::BufRead`]
//! and return one record at a time, with limits on the length of a line, the length of a request and the
//! records that are held back. This crate opens no file.

mod binary_input;
mod error;
mod format;
mod formats;
mod lines;
mod order;
mod packed;
mod pairing;
mod reader;
mod recognition;
mod record;
mod replay;
mod routes;
mod sizes;
mod summary;
mod working_set;

pub use error::TraceError;
pub use format::Format;
pub use packed::{PACKED_MARK, PackedWriter};
pub use reader::{Notes, Trace};
pub use record::{Kind, TraceRecord};
pub use replay::{CommandTotals, ReplayRequests, ReplayTarget, ReplayTotals, StreamTotals};
pub use routes::Routes;
pub use summary::{DirectionSummary, IdleSummary, SizeShare, Summary};
