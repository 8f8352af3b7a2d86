//! A trace as records in the order of their submission.

use crate::error::TraceError;
use crate::format::Format;
use crate::formats::blktrace::BlktraceSource;
use crate::formats::request_log::RequestLogSource;
use crate::formats::text::TextSource;
use crate::formats::vscsi::VscsiSource;
use crate::formats::{Event, Source};
use crate::order::InOrder;
use crate::packed::PackedSource;
use crate::pairing::Pairing;
use crate::recognition::recognise;
use crate::record::TraceRecord;
use ssdgauge_core::Nanos;
use std::io::{BufRead, BufReader, Cursor, Read};

/// The first bytes of a trace, by which its format is recognised.
const HEAD: u64 = 64 << 10;
/// The maximum number of records that are held back to put them in order, 64 bytes each. In a request log the records
/// of each thread are in frames of 32,768.
const WINDOW: usize = 1 << 16;
const LOG_WINDOW: usize = 1 << 19;

/// A trace that is being read.
pub struct Trace {
    format: Format,
    source: Box<dyn Source + Send>,
    pairing: Option<Pairing>,
    order: InOrder,
    /// The time that counts as 0.
    origin: Option<Nanos>,
    has_ended: bool,
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Trace").field("format", &self.format).finish_non_exhaustive()
    }
}

/// What a reader left out so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Lines or records that hold no request.
    pub ignored: u64,
    /// Requests that the trace says it lacks.
    pub lost: u64,
    /// Requests that were rounded outward to whole sectors of 512 bytes.
    pub rounded: u64,
}

impl Trace {
    /// Begins to read a trace in `format`; without it the format is recognised by the first 64 KiB.
    ///
    /// # Errors
    /// The input cannot be read, its format is not recognised, or it is not one of `format`.
    pub fn open(
        mut input: impl BufRead + Send + 'static,
        format: Option<Format>,
    ) -> Result<Trace, TraceError> {
        let mut head = Vec::new();
        let read = (&mut input).take(HEAD).read_to_end(&mut head);
        read.map_err(|error| TraceError::from_io(&error))?;
        if head.is_empty() {
            return Err(TraceError::new("it is empty", "name a trace with requests"));
        }
        let is_all = (head.len() as u64) < HEAD;
        let Some(format) = format.or_else(|| recognise(&head, is_all)) else {
            let names = Format::ALL.map(Format::name).join(", ");
            return Err(TraceError::new(
                "its format is not recognised",
                format!("name it with --format; the formats are {names}"),
            ));
        };
        let whole = BufReader::with_capacity(HEAD as usize, Cursor::new(head.clone()).chain(input));
        let source: Box<dyn Source + Send> = match format {
            Format::Packed => Box::new(PackedSource::new(whole)?),
            Format::RequestLog => Box::new(RequestLogSource::new(whole)?),
            Format::Blktrace => Box::new(BlktraceSource::new(whole, &head)),
            Format::Vscsi => Box::new(VscsiSource::new(whole, &head)?),
            Format::FioIolog
            | Format::Blkparse
            | Format::Msr
            | Format::Alibaba
            | Format::Tencent
            | Format::Systor
            | Format::Mqsim
            | Format::CloudPhysics
            | Format::VscsiCsv => {
                let source = TextSource::new(whole, format, &head);
                Box::new(source.expect("the other formats are texts"))
            }
        };
        let is_paired = matches!(format, Format::Blkparse | Format::Blktrace);
        // A request log counts from the start of its load, and the packed form from its origin.
        let is_relative = matches!(format, Format::RequestLog | Format::Packed);
        Ok(Trace {
            format,
            source,
            pairing: is_paired.then(Pairing::default),
            order: InOrder::new(match format {
                Format::RequestLog => LOG_WINDOW,
                Format::Packed => 0,
                _ => WINDOW,
            }),
            origin: is_relative.then_some(Nanos::ZERO),
            has_ended: false,
        })
    }

    /// Returns the format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns what was left out so far.
    pub fn notes(&self) -> Notes {
        let left_out = self.source.left_out();
        Notes { ignored: left_out.ignored, lost: left_out.lost, rounded: left_out.rounded }
    }

    /// Returns the next request in the order of submission; `None` at the end of the trace.
    ///
    /// # Errors
    /// A line or record that is not valid, a trace that was cut off, and records that are not nearly in
    /// the order of time. The trace ends with the first error.
    pub fn read(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        while !self.has_ended {
            match self.next_in_file() {
                Ok(Some(record)) => {
                    if let Some(first) = self.order.push(record)? {
                        return Ok(Some(self.since_origin(first)));
                    }
                }
                Ok(None) => self.has_ended = true,
                Err(error) => {
                    self.has_ended = true;
                    return Err(error);
                }
            }
        }
        Ok(self.order.pop().map(|record| self.since_origin(record)))
    }

    /// Returns the next request in the order of the file.
    fn next_in_file(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        loop {
            if let Some(record) = self.pairing.as_mut().and_then(|pairing| pairing.pop(false)) {
                return Ok(Some(record));
            }
            match (self.source.next()?, &mut self.pairing) {
                (Some(event), Some(pairing)) => pairing.push(event),
                (Some(Event::Request(record)), None) => return Ok(Some(record)),
                (Some(Event::Completion { .. }), None) => {}
                (None, Some(pairing)) => return Ok(pairing.pop(true)),
                (None, None) => return Ok(None),
            }
        }
    }

    fn since_origin(&mut self, record: TraceRecord) -> TraceRecord {
        let origin = *self.origin.get_or_insert(record.at);
        TraceRecord { at: record.at.saturating_sub(origin), ..record }
    }
}
