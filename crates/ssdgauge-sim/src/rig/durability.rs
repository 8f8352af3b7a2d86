//! Durability of what was written to the virtual drive: flushes, and pages that are read back.
//!
//! Neither changes the drive, or lets virtual time pass: the host flushes where no load follows, so
//! the write buffer is written to flash in the rest after the flush as it is without one.

use super::VirtualRig;
use crate::profile::PAGE;
use ssdgauge_core::{
    Bytes, Finding, FindingKind, Flush, LostWrite, Nanos, ReadBack, RigError, Severity, Sink,
    Verified, Workload,
};

/// The pages between two reports of progress. Chosen: some milliseconds.
const PAGES_PER_PROGRESS: u64 = 1 << 16;

impl VirtualRig {
    /// Returns the flush of everything that was written so far.
    pub(super) fn flush_drive(&mut self, sink: &mut dyn Sink) -> Result<Flush, RigError> {
        self.check_gone(self.now)?;
        if self.faults.flush_fails {
            sink.finding(Finding::new(
                FindingKind::FlushFailed,
                Severity::Invalid,
                "a flush failed; data that was written may not be on the drive",
                "the fault was injected on request: leave it out of the target to run without it",
            ));
            let what = format!("cannot flush {}", self.info.target);
            return Err(RigError::System { what, cause: "the drive failed the command".into() });
        }
        let elapsed = Nanos(self.drive.flush_time(self.now));
        self.drive.record_flush(self.now + elapsed.0);
        Ok(Flush { sent: 1, elapsed, device: Some("virtual".into()), counted: Some(1) })
    }

    /// Records that the requests at `offsets` were the last ones of a step that wrote.
    pub(super) fn record_written(&mut self, offsets: Vec<u64>) {
        let most = ReadBack::BLOCKS;
        // Evenly spread over the last requests of a step that has many.
        let step = offsets.len().div_ceil(most).max(1);
        let pages = offsets.iter().rev().step_by(step).map(|offset| (offset / PAGE) as u32);
        self.written.extend(pages.collect::<Vec<_>>().into_iter().rev());
        self.written.drain(..self.written.len().saturating_sub(most));
    }

    /// Compares what the pages that were written last hold with what was written; `None` where the
    /// contents of no page are known.
    pub(super) fn find_lost_writes(&self) -> Option<ReadBack> {
        let mut pages = self.written.clone();
        pages.sort_unstable();
        pages.dedup();
        let lost = pages.iter().filter_map(|&page| {
            let found = self.drive.lost_write(page, self.now)?.to_owned();
            Some(LostWrite { offset: u64::from(page) * PAGE, found })
        });
        let (read, lost) = (pages.len() as u64, lost.collect());
        (read > 0).then_some(ReadBack { read, lost, foreign_at: None })
    }

    /// Records that pages in the spans that `workload` trims may be deallocated: what they hold is no
    /// longer verified. To be called after the workload.
    pub(super) fn record_trims(&mut self, workload: &Workload) {
        for stream in workload.streams.iter().filter(|stream| stream.trims()) {
            let (from, to) = (stream.offset.0, (stream.offset + stream.span).0);
            self.filled.remove(from, to);
            self.reached.remove(from, to);
            let pages = from / PAGE..to.div_ceil(PAGE);
            self.written.retain(|page| !pages.contains(&u64::from(*page)));
        }
    }

    /// Records the spans that `workload` writes.
    pub(super) fn record_spans(&mut self, workload: &Workload) {
        for stream in workload.streams.iter().filter(|stream| stream.writes()) {
            let (from, to) = (stream.offset.0, (stream.offset + stream.span).0);
            match stream.data.is_verified() {
                true => self.reached.insert(from, to),
                // As on a real drive, blocks without a header are not verified.
                false => {
                    self.filled.remove(from, to);
                    self.reached.remove(from, to);
                }
            }
        }
    }

    /// Checks that each page that was written holds the write that was acknowledged last. The model
    /// keeps no contents: it knows which pages are mapped, and which writes were damaged.
    pub(super) fn verify_pages(
        &self,
        progress: &mut dyn FnMut(Bytes, Bytes) -> bool,
    ) -> Option<Verified> {
        let mut all = self.filled.clone();
        self.reached.ranges().iter().for_each(|&(from, to)| all.insert(from, to));
        let total = Bytes(all.bytes());
        let mut verified = Verified::default();
        let pages = all.ranges().iter().flat_map(|&(from, to)| from / PAGE..to.div_ceil(PAGE));
        for (number, page) in (0..).zip(pages) {
            let read = Bytes((number * PAGE).min(total.0));
            if number.is_multiple_of(PAGES_PER_PROGRESS) && !progress(read, total) {
                verified.stopped = true;
                return Some(verified);
            }
            let offset = page * PAGE;
            let is_filled = self.filled.contains(offset, offset + PAGE);
            // Never written, or trimmed: requests other than fills reach only some pages of their
            // range.
            if !is_filled && !self.drive.ftl.holds(page as u32) {
                verified.skipped += 1;
                continue;
            }
            verified.blocks += 1;
            verified.bytes += PAGE;
            if let Some(found) = self.drive.wrong_contents(page as u32, self.now) {
                verified.wrong += 1;
                if verified.first.len() < Verified::PLACES {
                    verified.first.push(LostWrite { offset, found: found.to_owned() });
                }
            }
        }
        progress(total, total);
        (total > Bytes(0)).then_some(verified)
    }
}
