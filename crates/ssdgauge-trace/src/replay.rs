//! The requests of a trace for a replay on a target.
//!
//! A request that was submitted while others were in flight is part of their burst, and due at its
//! recorded time from the start of the burst. One that was submitted after the completion of all others
//! begins a burst, and is due after their completion in the replay and its think time. A trace without
//! response times is one burst. Idle times longer than the cut are shortened to it.
//!
//! Discards become trims of the whole blocks in them: a drive deallocates no part of a block. Flushes
//! have no place and no length.

use crate::error::TraceError;
use crate::reader::Trace;
use crate::record::{Kind, TraceRecord};
use crate::routes::Routes;
use ssdgauge_core::{Bytes, Direction, Nanos, RecordedRequest, RecordedRequests, RecordedTime};
use std::collections::BTreeMap;

/// The target of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayTarget {
    /// The length of the addressed range.
    pub range: Bytes,
    /// The logical block.
    pub block: Bytes,
}

/// The requests of a trace for one target.
#[derive(Debug)]
pub struct ReplayRequests {
    trace: Trace,
    /// The length of the addressed range of the target, in whole blocks.
    range: u64,
    /// The logical block of the target.
    block: u64,
    idle_cut: Option<Nanos>,
    has_responses: bool,
    /// The requests that are left, where only the first ones are replayed.
    left: u64,
    totals: ReplayTotals,
    routes: Routes,
    begun: bool,
    burst: u64,
    /// The last completion by the recorded times, and the last submission.
    busy_until: u64,
    last: u64,
    /// The time that was cut so far, and before the current burst.
    cut: u64,
    cut_before: u64,
}

/// The sums of the requests that a replay was given so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayTotals {
    /// Reads and writes.
    pub requests: [u64; 2],
    /// Their bytes, after alignment to the blocks of the target.
    pub bytes: [u64; 2],
    /// Reads and writes by the number of their stream.
    pub streams: BTreeMap<u16, StreamTotals>,
    /// Trims.
    pub trims: CommandTotals,
    /// Flushes.
    pub flushes: u64,
    /// Discards and flushes that are left out.
    pub left_out: [u64; 2],
    /// Requests beyond the target, which are folded into it.
    pub folded: u64,
    /// Requests that were extended to whole blocks of the target.
    pub aligned: u64,
    /// The longest read or write, in bytes.
    pub longest: u64,
    /// The end of the range of the target that reads and writes address, in bytes.
    pub end: u64,
    /// The recorded time: from its start to the last completion, or to the last submission where the
    /// trace has no response times.
    pub recorded: Nanos,
    /// The same after the cut of idle times.
    pub after_cut: Nanos,
    /// Requests that begin a burst.
    pub bursts: u64,
}

/// The sums of the reads and writes of one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamTotals {
    /// Reads and writes.
    pub requests: [u64; 2],
    /// Their bytes.
    pub bytes: u64,
    /// The end of the range that they address, in bytes.
    pub end: u64,
}

/// The sums of trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandTotals {
    /// Their number.
    pub requests: u64,
    /// The bytes that they deallocate.
    pub bytes: u64,
    /// The end of the range that they address, in bytes.
    pub end: u64,
}

impl ReplayRequests {
    /// Returns the requests of `trace`, which `has_responses` or not, for `target` and in the streams of
    /// `routes`; at most the first `most` reads and writes.
    ///
    /// # Errors
    /// A target without a whole block.
    pub fn new(
        trace: Trace,
        has_responses: bool,
        target: ReplayTarget,
        routes: Routes,
        idle_cut: Option<Nanos>,
        most: u64,
    ) -> Result<ReplayRequests, TraceError> {
        let block = target.block.0.max(1);
        let range = target.range.0 / block * block;
        if range == 0 {
            return Err(TraceError::new("the target is empty", "name another target"));
        }
        Ok(ReplayRequests {
            trace,
            range,
            block,
            idle_cut,
            has_responses,
            left: most,
            totals: ReplayTotals::default(),
            routes,
            begun: false,
            burst: 0,
            busy_until: 0,
            last: 0,
            cut: 0,
            cut_before: 0,
        })
    }

    /// Returns the sums so far.
    pub fn totals(&self) -> &ReplayTotals {
        &self.totals
    }

    /// Returns the next request; `None` after the last one.
    ///
    /// # Errors
    /// Those of the trace, and a request longer than the target.
    pub fn read(&mut self) -> Result<Option<RecordedRequest>, TraceError> {
        while self.left > 0 {
            let Some(record) = self.trace.read()? else { return Ok(None) };
            let request = match record.kind {
                Kind::Read => Some(self.transfer(&record, Direction::Read)?),
                Kind::Write => Some(self.transfer(&record, Direction::Write)?),
                Kind::Discard => self.trim(&record),
                Kind::Flush => self.flush(&record),
            };
            if request.is_some() {
                return Ok(request);
            }
        }
        Ok(None)
    }

    fn transfer(
        &mut self,
        record: &TraceRecord,
        direction: Direction,
    ) -> Result<RecordedRequest, TraceError> {
        self.left -= 1;
        let time = self.time_of(record);
        let (offset, length) = self.place(record)?;
        let stream = self.routes.transfers(record.stream);
        let totals = &mut self.totals;
        totals.requests[direction as usize] += 1;
        totals.bytes[direction as usize] += length;
        totals.longest = totals.longest.max(length);
        totals.end = totals.end.max(offset + length);
        let of_stream = totals.streams.entry(stream).or_default();
        of_stream.requests[direction as usize] += 1;
        of_stream.bytes += length;
        of_stream.end = of_stream.end.max(offset + length);
        Ok(RecordedRequest { time, direction, stream, offset, length })
    }

    /// Returns the trim of the whole blocks of a discard; `None` where there are none, or the target has
    /// no trim.
    fn trim(&mut self, record: &TraceRecord) -> Option<RecordedRequest> {
        let place = self.routes.trims().zip(self.whole_blocks(record));
        let Some((stream, (offset, length))) = place else {
            self.totals.left_out[0] += 1;
            return None;
        };
        let time = self.time_of(record);
        let trims = &mut self.totals.trims;
        trims.requests += 1;
        trims.bytes = trims.bytes.saturating_add(length);
        trims.end = trims.end.max(offset + length);
        Some(RecordedRequest { time, direction: Direction::Trim, stream, offset, length })
    }

    fn flush(&mut self, record: &TraceRecord) -> Option<RecordedRequest> {
        let Some(stream) = self.routes.flushes() else {
            self.totals.left_out[1] += 1;
            return None;
        };
        let time = self.time_of(record);
        self.totals.flushes += 1;
        let direction = Direction::Flush;
        Some(RecordedRequest { time, direction, stream, offset: 0, length: 0 })
    }

    /// Returns when a request is due.
    fn time_of(&mut self, record: &TraceRecord) -> RecordedTime {
        let at = record.at.0;
        let cut_to = self.idle_cut.map_or(u64::MAX, |cut| cut.0);
        let begins = !self.begun || (self.has_responses && at >= self.busy_until);
        let idle =
            if self.has_responses { at.saturating_sub(self.busy_until) } else { at - self.last };
        let kept = idle.min(cut_to);
        self.cut += idle - kept;
        self.begun = true;
        let time = match begins {
            true => {
                (self.burst, self.cut_before) = (at, self.cut);
                self.totals.bursts += 1;
                RecordedTime::AfterCompletion(Nanos(kept))
            }
            // Within a burst of a trace with response times nothing is idle, so nothing is cut.
            false if self.has_responses => RecordedTime::InBurst(Nanos(at - self.burst)),
            // The one burst begins at the first request, whose own idle time may be cut.
            false => RecordedTime::InBurst(Nanos(at - self.burst - (self.cut - self.cut_before))),
        };
        self.last = at;
        self.busy_until =
            self.busy_until.max(at.saturating_add(record.response.unwrap_or_default().0));
        self.totals.recorded = Nanos(self.busy_until);
        self.totals.after_cut = Nanos(self.busy_until - self.cut);
        time
    }

    fn place(&mut self, record: &TraceRecord) -> Result<(u64, u64), TraceError> {
        let (range, block) = (self.range, self.block);
        let mut offset = record.offset.0 / block * block;
        let mut length = record.end().0.div_ceil(block) * block - offset;
        self.totals.aligned += u64::from((offset, length) != (record.offset.0, record.length.0));
        if length > range {
            let what = format!("a request of {} exceeds the target", Bytes(length).about());
            return Err(TraceError::new(what, "use a larger target"));
        }
        if offset + length > range {
            self.totals.folded += 1;
            offset = (offset % range).min(range - length);
            length = length.min(range);
        }
        Ok((offset, length))
    }
}

impl ReplayRequests {
    /// Returns offset and length of the whole blocks within a discard, folded into the target and not
    /// longer than it.
    fn whole_blocks(&mut self, record: &TraceRecord) -> Option<(u64, u64)> {
        let (range, block) = (self.range, self.block);
        let mut offset = record.offset.0.div_ceil(block) * block;
        let end = record.end().0 / block * block;
        let mut length = end.checked_sub(offset).filter(|length| *length > 0)?;
        self.totals.aligned += u64::from((offset, length) != (record.offset.0, record.length.0));
        if length > range || offset > range - length {
            self.totals.folded += 1;
            length = length.min(range);
            offset = (offset % range).min(range - length);
        }
        Some((offset, length))
    }
}

impl RecordedRequests for ReplayRequests {
    fn next_request(&mut self) -> Result<Option<RecordedRequest>, String> {
        self.read().map_err(|error| error.to_string())
    }
}
