//! The traces of virtual SCSI disks that CloudPhysics recorded: records of 32 bytes (version 1) or 40 bytes
//! (version 2), as the reader of libCacheSim has them (`customizedReader/vscsi.h`).
//!
//! Numbers are little-endian. Version 1: serial number, length in bytes and number of segments (32 bits
//! each), command and version (16), first sector and time in µs (64). Version 2: command, version, serial
//! number, length, number of segments, first sector, time, and a response time, whose unit no source
//! states: it is not read.

use super::{Event, LeftOut, Source};
use crate::binary_input::{CUT, Filled, fill, long, word};
use crate::error::TraceError;
use crate::record::{Kind, SECTOR, TraceRecord, whole_sectors};
use ssdgauge_core::Nanos;
use std::io::BufRead;

/// The records that recognition reads.
const TRIED: usize = 16;

/// Where a version of the record has its fields.
#[derive(Clone, Copy)]
struct Layout {
    /// The version in the upper byte of its field.
    version: u8,
    record: usize,
    /// The command, followed by the version.
    command: usize,
    length: usize,
    sector: usize,
    time: usize,
}

const LAYOUTS: [Layout; 2] = [
    Layout { version: 1, record: 32, command: 12, length: 4, sector: 16, time: 24 },
    Layout { version: 2, record: 40, command: 0, length: 8, sector: 16, time: 24 },
];

/// The longest record.
const MAX_RECORD: usize = 40;

impl Layout {
    /// Returns the layout of a trace that begins with `head`; `None` where it is not one.
    fn of(head: &[u8]) -> Option<Layout> {
        let fits = |layout: &Layout| {
            let mut records = head.chunks_exact(layout.record).take(TRIED).peekable();
            records.peek().is_some() && records.all(|record| layout.fits(record))
        };
        LAYOUTS.into_iter().find(fits)
    }

    /// Returns whether the version of `record` is this one, and its command one of a byte.
    fn fits(&self, record: &[u8]) -> bool {
        record[self.command + 3] == self.version && record[self.command + 1] == 0
    }
}

/// Returns what the SCSI command `code` does (T10, operation codes); `None` where it transfers no data of
/// the disk, or the length in a trace is not that of the range (UNMAP, WRITE SAME).
pub(crate) fn kind_of(code: u8) -> Option<Kind> {
    match code {
        // READ (6), (10), (16), (12).
        0x08 | 0x28 | 0x88 | 0xa8 => Some(Kind::Read),
        // WRITE (6), (10), (16), (12), and WRITE AND VERIFY (10), (16), (12).
        0x0a | 0x2a | 0x8a | 0xaa | 0x2e | 0x8e | 0xae => Some(Kind::Write),
        // SYNCHRONIZE CACHE (10), (16).
        0x35 | 0x91 => Some(Kind::Flush),
        _ => None,
    }
}

/// Returns whether a trace that begins with `head` has such records.
pub(crate) fn is_vscsi(head: &[u8]) -> bool {
    Layout::of(head).is_some()
}

/// The reader of the records.
pub(crate) struct VscsiSource<R> {
    input: R,
    layout: Layout,
    number: u64,
    left_out: LeftOut,
}

impl<R: BufRead> VscsiSource<R> {
    /// Returns the reader of a file that begins with `head`.
    pub(crate) fn new(input: R, head: &[u8]) -> Result<VscsiSource<R>, TraceError> {
        let Some(layout) = Layout::of(head) else {
            let what = "it has no records of vscsi version 1 or 2";
            return Err(TraceError::new(what, "name its format with --format"));
        };
        Ok(VscsiSource { input, layout, number: 0, left_out: LeftOut::default() })
    }

    fn event(&mut self, record: &[u8]) -> Result<Option<Event>, String> {
        let Layout { version, command, length, sector, time, .. } = self.layout;
        if !self.layout.fits(record) {
            return Err(format!("it is not a record of vscsi version {version}"));
        }
        let Some(kind) = kind_of(record[command]) else { return Ok(None) };
        let (length, sector) = (u64::from(word(record, length)), long(record, sector));
        let (offset, length) = match kind {
            Kind::Flush => (0, 0),
            Kind::Read | Kind::Write | Kind::Discard if length == 0 => return Ok(None),
            Kind::Read | Kind::Write | Kind::Discard => {
                let offset = sector.checked_mul(SECTOR);
                let wrong = || format!("sector {sector} exceeds every drive");
                (offset.ok_or_else(wrong)?, length)
            }
        };
        let (first, whole) = whole_sectors(kind, offset, length)?;
        self.left_out.rounded += u64::from(whole.0 != length);
        let at = long(record, time).checked_mul(1_000);
        let at = Nanos(at.ok_or("its time is beyond 584 years")?);
        let (offset, length) = (first, whole);
        let record = TraceRecord { at, kind, stream: 0, offset, length, response: None };
        Ok(Some(Event::Request(record)))
    }
}

impl<R: BufRead> Source for VscsiSource<R> {
    fn next(&mut self) -> Result<Option<Event>, TraceError> {
        loop {
            let mut bytes = [0; MAX_RECORD];
            let record = &mut bytes[..self.layout.record];
            self.number += 1;
            match fill(&mut self.input, record)? {
                Filled::Whole => {}
                Filled::End => return Ok(None),
                Filled::Cut => {
                    let what = "the file ends within it";
                    return Err(TraceError::at_record(self.number, what, CUT));
                }
            }
            let event = self.event(&bytes[..self.layout.record]);
            let hint = "the file is damaged";
            match event.map_err(|what| TraceError::at_record(self.number, what, hint))? {
                Some(event) => return Ok(Some(event)),
                None => self.left_out.ignored += 1,
            }
        }
    }

    fn left_out(&self) -> LeftOut {
        self.left_out
    }
}
