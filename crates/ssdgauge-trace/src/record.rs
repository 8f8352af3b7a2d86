//! One request of a trace.

use ssdgauge_core::{Bytes, Direction, Nanos};

/// What a request of a trace does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// It reads.
    Read = 0,
    /// It writes.
    Write = 1,
    /// It deallocates.
    Discard = 2,
    /// It flushes the write cache, and addresses nothing.
    Flush = 3,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Kind; 4] = [Kind::Read, Kind::Write, Kind::Discard, Kind::Flush];

    /// Returns the word used in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Discard => "discard",
            Kind::Flush => "flush",
        }
    }

    /// Returns the direction of a transfer; `None` for requests that transfer no data.
    pub fn direction(self) -> Option<Direction> {
        match self {
            Kind::Read => Some(Direction::Read),
            Kind::Write => Some(Direction::Write),
            Kind::Discard | Kind::Flush => None,
        }
    }
}

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TraceRecord {
    /// The time of its submission, from the first request of the trace, or from the start of the load
    /// where the trace is a request log.
    pub at: Nanos,
    /// What it does.
    pub kind: Kind,
    /// The number of its disk, volume or stream, in the order in which they appear.
    pub stream: u16,
    /// Its start, in whole sectors of 512 bytes.
    pub offset: Bytes,
    /// Its length, in whole sectors of 512 bytes.
    pub length: Bytes,
    /// The time from its submission to its completion; `None` where the trace has none.
    pub response: Option<Nanos>,
}

impl TraceRecord {
    /// Returns the end of the request on the disk.
    pub fn end(&self) -> Bytes {
        self.offset + self.length
    }
}

/// The unit of offsets and lengths, in bytes.
pub(crate) const SECTOR: u64 = 512;

/// The maximum number of sectors of an offset or an end: 8 PiB, the range of the packed form.
pub(crate) const MAX_SECTORS: u64 = 1 << 44;

/// The longest read or write, in bytes: that of the engines.
pub(crate) const MAX_LENGTH: u64 = 64 << 20;

/// Returns offset and length of the sectors that `length` bytes from `offset` touch; an error in words
/// where no drive has them, or a request that transfers data is longer than 64 MiB.
pub(crate) fn whole_sectors(
    kind: Kind,
    offset: u64,
    length: u64,
) -> Result<(Bytes, Bytes), String> {
    let end = offset.checked_add(length).filter(|end| end.div_ceil(SECTOR) < MAX_SECTORS);
    let Some(end) = end else {
        return Err(format!("{length} bytes from byte {offset} lie beyond 8 PiB"));
    };
    let first = offset / SECTOR * SECTOR;
    let length = end.div_ceil(SECTOR) * SECTOR - first;
    if kind.direction().is_some() && length > MAX_LENGTH {
        return Err(format!("a {} of {length} bytes; at most 64 MiB are accepted", kind.name()));
    }
    Ok((Bytes(first), Bytes(length)))
}
