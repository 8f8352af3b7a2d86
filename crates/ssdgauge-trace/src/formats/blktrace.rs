//! The records of blktrace: 48 bytes each, followed by data that is not read (`blktrace_api.h` of Linux).

use super::{Event, LeftOut, Source};
use crate::binary_input::{CUT, Filled, fill, long, word};
use crate::error::TraceError;
use crate::record::{Kind, SECTOR, TraceRecord, whole_sectors};
use ssdgauge_core::Nanos;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

/// The length of a record, in bytes.
const RECORD: usize = 48;
/// The upper three bytes of the magic number; the version lies below.
const MAGIC: u32 = 0x6561_7400;
/// The version that Linux writes.
const VERSION: u32 = 7;
/// Actions: the lower half of the word.
const QUEUE: u32 = 1;
const ISSUE: u32 = 7;
const COMPLETE: u32 = 8;
/// Categories: bits of the upper half of the word.
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;

/// The reader of blktrace records.
pub(crate) struct BlktraceSource<R> {
    input: R,
    /// The action that counts as a request.
    submission: u32,
    number: u64,
    streams: BTreeMap<u32, u16>,
    left_out: LeftOut,
}

impl<R: BufRead> BlktraceSource<R> {
    /// Returns the reader of a file that begins with `head`: requests are those that the drive
    /// received, and where there are none of them those that programs sent.
    pub(crate) fn new(input: R, head: &[u8]) -> BlktraceSource<R> {
        let mut submission = QUEUE;
        let mut at = 0;
        while let Some(record) = head.get(at..at + RECORD) {
            if word(record, 28) & 0xffff == ISSUE && word(record, 28) & NOTIFY == 0 {
                submission = ISSUE;
            }
            at += RECORD + usize::from(u16::from_le_bytes([record[46], record[47]]));
        }
        let (streams, left_out) = (BTreeMap::new(), LeftOut::default());
        BlktraceSource { input, submission, number: 0, streams, left_out }
    }

    fn event(&mut self, record: &[u8]) -> Result<Option<Event>, String> {
        let action = word(record, 28);
        let completes = action & 0xffff == COMPLETE;
        if action & NOTIFY != 0 || (!completes && action & 0xffff != self.submission) {
            return Ok(None);
        }
        let sector = long(record, 16);
        let (length, device) = (u64::from(word(record, 24)), word(record, 36));
        let kind = match action {
            _ if action & DISCARD != 0 => Kind::Discard,
            _ if action & FLUSH != 0 && length == 0 => Kind::Flush,
            _ if action & WRITE != 0 => Kind::Write,
            _ => Kind::Read,
        };
        let offset = match kind {
            Kind::Flush => 0,
            Kind::Read | Kind::Write | Kind::Discard => sector
                .checked_mul(SECTOR)
                .ok_or_else(|| format!("sector {sector} exceeds every drive"))?,
        };
        let known = self.streams.len().min(usize::from(u16::MAX)) as u16;
        let stream = *self.streams.entry(device).or_insert(known);
        let at = long(record, 8);
        if completes {
            return Ok(Some(Event::Completion { stream, kind, offset, at }));
        }
        if length == 0 && kind != Kind::Flush {
            return Ok(None);
        }
        let (offset, whole) = whole_sectors(kind, offset, length)?;
        self.left_out.rounded += u64::from(whole.0 != length);
        let record =
            TraceRecord { at: Nanos(at), kind, stream, offset, length: whole, response: None };
        Ok(Some(Event::Request(record)))
    }
}

impl<R: BufRead> Source for BlktraceSource<R> {
    fn next(&mut self) -> Result<Option<Event>, TraceError> {
        loop {
            let mut record = [0; RECORD];
            self.number += 1;
            match fill(&mut self.input, &mut record)? {
                Filled::Whole => {}
                Filled::End => return Ok(None),
                Filled::Cut => {
                    let what = "the file ends within it";
                    return Err(TraceError::at_record(self.number, what, CUT));
                }
            }
            let magic = word(&record, 0);
            if magic != MAGIC | VERSION {
                let (what, hint) = match magic.swap_bytes() & !0xff == MAGIC {
                    true => ("its bytes are in the order of another machine", "use blkparse there"),
                    false => ("it is not a record of blktrace version 7", "the file is damaged"),
                };
                return Err(TraceError::at_record(self.number, what, hint));
            }
            let after = u64::from(u16::from_le_bytes([record[46], record[47]]));
            let skipped = std::io::copy(&mut (&mut self.input).take(after), &mut std::io::sink());
            if skipped.map_err(|error| TraceError::from_io(&error))? < after {
                let what = "the file ends within its data";
                return Err(TraceError::at_record(self.number, what, CUT));
            }
            let event = self.event(&record);
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
