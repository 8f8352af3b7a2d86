//! The packed form of a trace: 16 bytes a request, 24 with response times.
//!
//! A file begins with [`PACKED_MARK`], a word of flags (bit 0: response times), and 20 bytes of zero.
//! Records follow, little endian. First word: the time since the record before in nanoseconds (32 bits),
//! the stream (16), the low 16 bits of the length in sectors of 512 bytes. Second word: the high 18 bits
//! of the length, the kind (2 bits: read, write, discard, flush), the offset in sectors (44 bits). Third
//! word, with response times: the response time in nanoseconds plus 1, or 0 where it is not known. A
//! flush with an offset is not a request: time passes, 2^32 ns for each sector of the offset. Two words with all
//! bits set end the trace.

use crate::binary_input::{CUT, Filled, fill, long, word};
use crate::error::TraceError;
use crate::formats::{Event, LeftOut, Source};
use crate::record::{Kind, MAX_LENGTH, MAX_SECTORS, SECTOR, TraceRecord};
use ssdgauge_core::{Bytes, Nanos};
use std::io::{self, BufRead, Write};

/// The first bytes of a file in the packed form; the last of them is its version.
pub(crate) const MAGIC: [u8; 8] = *b"SSDGTRC1";

/// The first bytes of a file in the packed form.
pub const PACKED_MARK: &[u8] = &MAGIC;

/// The length of the header after the mark, in bytes.
const HEADER: usize = 24;
/// The flag of response times.
const HAS_RESPONSES: u32 = 1;
/// The end of a trace.
const END: [u64; 2] = [u64::MAX; 2];
/// The bits of a time.
const TIME_BITS: u32 = 32;
/// The latest time of a record, in nanoseconds: 146 years.
const LATEST: u64 = 1 << 62;

/// Writes a trace in the packed form.
#[derive(Debug)]
pub struct PackedWriter<W> {
    output: W,
    has_responses: bool,
    last: Nanos,
}

impl<W: Write> PackedWriter<W> {
    /// Begins a file, with response times or without them.
    ///
    /// # Errors
    /// That of the output.
    pub fn new(mut output: W, has_responses: bool) -> io::Result<PackedWriter<W>> {
        let flags = if has_responses { HAS_RESPONSES } else { 0 };
        output.write_all(&MAGIC)?;
        output.write_all(&flags.to_le_bytes())?;
        output.write_all(&[0; HEADER - 4])?;
        Ok(PackedWriter { output, has_responses, last: Nanos::ZERO })
    }

    /// Appends a record, which does not precede the one before.
    ///
    /// # Errors
    /// That of the output.
    pub fn push(&mut self, record: &TraceRecord) -> io::Result<()> {
        debug_assert!(record.at >= self.last, "records are in the order of time");
        let passed = record.at.0.saturating_sub(self.last.0);
        self.last = record.at;
        let long = passed >> TIME_BITS;
        if long > 0 {
            self.words([0, (Kind::Flush as u64) << 18 | long << 20], None)?;
        }
        let sectors = record.length.0 / SECTOR;
        let time = passed & (u64::from(u32::MAX));
        let low = time | u64::from(record.stream) << 32 | sectors << 48;
        let high = (sectors >> 16 & 0x3_ffff)
            | (record.kind as u64) << 18
            | ((record.offset.0 / SECTOR) << 20);
        self.words([low, high], record.response)
    }

    fn words(&mut self, words: [u64; 2], response: Option<Nanos>) -> io::Result<()> {
        self.output.write_all(&words[0].to_le_bytes())?;
        self.output.write_all(&words[1].to_le_bytes())?;
        match self.has_responses {
            true => {
                let stored = response.map_or(0, |response| response.0.saturating_add(1));
                self.output.write_all(&stored.to_le_bytes())
            }
            false => Ok(()),
        }
    }

    /// Ends the trace and returns the output.
    ///
    /// # Errors
    /// That of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.words(END, None)?;
        self.output.flush()?;
        Ok(self.output)
    }
}

/// The reader of the packed form.
pub(crate) struct PackedSource<R> {
    input: R,
    has_responses: bool,
    number: u64,
    now: u64,
}

impl<R: BufRead> PackedSource<R> {
    /// Reads the header.
    pub(crate) fn new(mut input: R) -> Result<PackedSource<R>, TraceError> {
        let mut head = [0; MAGIC.len() + HEADER];
        let is_whole = matches!(fill(&mut input, &mut head)?, Filled::Whole);
        let flags = word(&head, MAGIC.len());
        let is_known = flags & !HAS_RESPONSES == 0 && head[MAGIC.len() + 4..] == [0; HEADER - 4];
        if !is_whole || !head.starts_with(&MAGIC) || !is_known {
            let hint = "name a file that `ssdgauge trace convert` wrote, or another --format";
            return Err(TraceError::new("it is not a trace in the packed form, version 1", hint));
        }
        Ok(PackedSource { input, has_responses: flags & HAS_RESPONSES != 0, number: 0, now: 0 })
    }
}

impl<R: BufRead> Source for PackedSource<R> {
    fn next(&mut self) -> Result<Option<Event>, TraceError> {
        loop {
            let mut bytes = [0; 24];
            let length = if self.has_responses { 24 } else { 16 };
            self.number += 1;
            if !matches!(fill(&mut self.input, &mut bytes[..length])?, Filled::Whole) {
                let what = "the file ends before the end of the trace";
                return Err(TraceError::at_record(self.number, what, CUT));
            }
            let [low, high] = [long(&bytes, 0), long(&bytes, 8)];
            if [low, high] == END {
                return Ok(None);
            }
            let kind = Kind::ALL[(high >> 18 & 3) as usize];
            let offset = high >> 20;
            let is_pause = kind == Kind::Flush && offset > 0;
            let passed = if is_pause { offset << TIME_BITS } else { low & u64::from(u32::MAX) };
            // 2^44 pauses of 2^32 ns exceed the range of times.
            let is_valid = !is_pause || offset < LATEST >> TIME_BITS;
            self.now = self.now.saturating_add(if is_valid { passed } else { LATEST });
            let (what, hint) =
                ("its time, its offset or its length is too large", "the file is damaged");
            let sectors = low >> 48 | (high & 0x3_ffff) << 16;
            let is_long = kind.direction().is_some() && sectors * SECTOR > MAX_LENGTH;
            let is_empty = kind != Kind::Flush && sectors == 0;
            if self.now >= LATEST
                || (!is_pause && (offset + sectors >= MAX_SECTORS || is_long || is_empty))
            {
                return Err(TraceError::at_record(self.number, what, hint));
            }
            if is_pause {
                continue;
            }
            let stored = if self.has_responses { long(&bytes, 16) } else { 0 };
            return Ok(Some(Event::Request(TraceRecord {
                at: Nanos(self.now),
                kind,
                stream: (low >> 32) as u16,
                offset: Bytes(offset * SECTOR),
                length: Bytes(sectors * SECTOR),
                response: stored.checked_sub(1).map(Nanos).filter(|response| response.0 < LATEST),
            })));
        }
    }

    fn left_out(&self) -> LeftOut {
        LeftOut::default()
    }
}
