//! The request log of this program (`--log-ios`).
//!
//! A log counts the times of each load from its start. Several loads of one log follow each other: each
//! begins at the last completion of the load before.

use super::{Event, LeftOut, Source};
use crate::binary_input::{CUT, Filled, fill, long};
use crate::error::TraceError;
use crate::record::{Kind, TraceRecord, whole_sectors};
use ssdgauge_core::io_log::{Frame, FrameKind, RECORD, Record, Version};
use ssdgauge_core::{Bytes, Direction, Nanos, Workload};
use std::io::{BufRead, Read};

/// The largest accepted description of a workload, in bytes.
const MAX_DESCRIPTION: u64 = 16 << 20;

/// The reader of a request log.
pub(crate) struct RequestLogSource<R> {
    input: R,
    version: Version,
    /// The frame whose records are read, and how many are left.
    frame: Option<(Frame, u32)>,
    number: u64,
    /// The workload of the current load, where it is stated in JSON.
    workload: Option<Workload>,
    /// The lengths of the requests of the current frame, where its stream has several.
    sizes: Vec<u32>,
    /// The start of the current load, and the last completion so far.
    begin: u64,
    end: u64,
    load: Option<u32>,
    left_out: LeftOut,
}

impl<R: BufRead> RequestLogSource<R> {
    /// Reads the first bytes of a log.
    pub(crate) fn new(mut input: R) -> Result<RequestLogSource<R>, TraceError> {
        let mut magic = [0; 8];
        let version = match fill(&mut input, &mut magic)? {
            Filled::Whole => Version::from_magic(magic),
            Filled::End | Filled::Cut => None,
        };
        let Some(version) = version else {
            let hint = "name a file that `--log-ios` wrote, or another --format";
            return Err(TraceError::new("it is not a request log of version 1 or 2", hint));
        };
        let left_out = LeftOut::default();
        let (frame, number, begin, end, load) = (None, 0, 0, 0, None);
        let (workload, sizes) = (None, Vec::new());
        Ok(RequestLogSource {
            input,
            version,
            frame,
            number,
            workload,
            sizes,
            begin,
            end,
            load,
            left_out,
        })
    }

    fn cut(&self) -> TraceError {
        TraceError::at_record(self.number + 1, "the file ends within a frame", CUT)
    }

    /// Reads the header of the next frame; returns false at the end of the log.
    fn next_frame(&mut self) -> Result<bool, TraceError> {
        let mut head = [0; Frame::LENGTH];
        match fill(&mut self.input, &mut head)? {
            Filled::Whole => {}
            Filled::End => return Ok(false),
            Filled::Cut => return Err(self.cut()),
        }
        let Some(frame) = Frame::unpack(&head) else {
            let what = "it follows an invalid frame header";
            return Err(TraceError::at_record(self.number + 1, what, "the file is damaged"));
        };
        match frame.kind {
            FrameKind::Records => {
                let mut streams = self.workload.iter().flat_map(|workload| &workload.streams);
                let stream = streams.nth(usize::from(frame.stream));
                let stream = stream.filter(|stream| stream.sizes.defect(false).is_none());
                self.sizes = stream.map_or(Vec::new(), |stream| stream.sizes.lengths());
                self.frame = Some((frame, frame.count));
            }
            FrameKind::End => self.left_out.lost = self.left_out.lost.saturating_add(frame.lost),
            FrameKind::Load => {
                if self.load.replace(frame.load).is_some() {
                    self.begin = self.end;
                }
                let length = frame.payload().min(MAX_DESCRIPTION);
                let mut text = Vec::new();
                let read = (&mut self.input).take(length).read_to_end(&mut text);
                if (read.map_err(|error| TraceError::from_io(&error))? as u64) < frame.payload() {
                    return Err(self.cut());
                }
                self.workload = serde_json::from_slice(&text).ok();
            }
        }
        Ok(true)
    }

    fn record(&mut self, frame: &Frame) -> Result<TraceRecord, TraceError> {
        let mut bytes = [0; RECORD];
        match fill(&mut self.input, &mut bytes)? {
            Filled::Whole => {}
            Filled::End | Filled::Cut => return Err(self.cut()),
        }
        self.number += 1;
        let damaged =
            |what: String| TraceError::at_record(self.number, what, "the file is damaged");
        if frame.block_size == 0 {
            return Err(damaged("its frame states no length".into()));
        }
        let words = [long(&bytes, 0), long(&bytes, 8)];
        let lengths = (frame.block_size, self.sizes.as_slice());
        let record = Record::unpack(words, self.version, lengths)
            .ok_or_else(|| damaged("it has an unknown form".into()))?;
        let kind = match record.request.direction {
            Direction::Read => Kind::Read,
            Direction::Write => Kind::Write,
            Direction::Flush => Kind::Flush,
            Direction::Trim => Kind::Discard,
        };
        let (offset, length) = match kind {
            Kind::Flush => (Bytes(0), Bytes(0)),
            Kind::Read | Kind::Write | Kind::Discard => {
                whole_sectors(kind, record.request.offset, u64::from(record.request.length))
                    .map_err(damaged)?
            }
        };
        let end = frame.base.checked_add(u64::from(record.after));
        let end = end.and_then(|end| end.checked_add(self.begin)).filter(|end| *end < 1 << 62);
        let Some(end) = end else { return Err(damaged("its time is too large".into())) };
        self.end = self.end.max(end);
        let at = Nanos(end.saturating_sub(record.latency).max(self.begin));
        let response = Some(Nanos(end - at.0));
        Ok(TraceRecord { at, kind, stream: frame.stream, offset, length, response })
    }
}

impl<R: BufRead> Source for RequestLogSource<R> {
    fn next(&mut self) -> Result<Option<Event>, TraceError> {
        loop {
            match self.frame {
                Some((frame, left)) if left > 0 => {
                    self.frame = Some((frame, left - 1));
                    return self.record(&frame).map(|record| Some(Event::Request(record)));
                }
                Some(_) | None => self.frame = None,
            }
            if !self.next_frame()? {
                return Ok(None);
            }
        }
    }

    fn left_out(&self) -> LeftOut {
        self.left_out
    }
}
