//! The ranges that a run may have written, and what each block in them must hold.
//!
//! Nothing is recorded in the loop over requests: the ranges are those of the streams. Whether a block
//! in them was written is known from its header, and in filled ranges from the fill.

use super::{HEADER_SPACING, Verification, WriteBuffer, WrittenRange};
use crate::pool::Pool;
use crate::positioned::transfer;
use crate::request_error::RequestError;
use ssdgauge_core::{Data, Extents, Stream, Workload};
use ssdgauge_os::memory::Region;
use std::sync::Arc;

/// A range whose blocks are verified alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) from: u64,
    pub(super) to: u64,
    /// The epoch of the fill that wrote every block; `None` where blocks may hold earlier contents.
    pub(super) filled: Option<u32>,
    pub(super) splits: bool,
    pub(super) overlaps: bool,
}

impl Verification {
    /// Records that the current workload writes, `covering` each block of its spans once.
    pub fn write(&mut self, workload: &Workload, covering: bool) {
        let writers = || workload.streams.iter().filter(|stream| stream.writes());
        let several = writers().count() > 1;
        for stream in writers().filter(|stream| stream.data == Data::Incompressible) {
            let (from, to) = (stream.offset.0, (stream.offset + stream.span).0);
            let overlaps = !covering && (several || may_overlap(stream));
            self.add_written(WrittenRange { from, to, splits: splits(stream), overlaps });
        }
    }

    /// Expects nothing of the ranges that the current workload trims: a block in them is deallocated or
    /// not, and a write to it may come before or after a trim. To be called after [`Self::write`].
    pub fn trim(&mut self, workload: &Workload) {
        for stream in workload.streams.iter().filter(|stream| stream.trims()) {
            self.invalidate(stream.offset.0, (stream.offset + stream.span).0);
        }
    }

    /// Records that an earlier process of the run has carried out `workload`; where it was killed
    /// meanwhile, a block may hold a mixture of two writes.
    pub fn write_earlier(&mut self, workload: &Workload, is_finished: bool) {
        for stream in workload.streams.iter().filter(|stream| stream.writes()) {
            // What was unknown before may be known again; the numbers of the workloads are not.
            let (from, to) = (stream.offset.0, (stream.offset + stream.span).0);
            let outside = |&(begin, end, since): &(u64, u64, u32)| {
                let parts = [(begin, end.min(from), since), (begin.max(to), end, since)];
                parts.into_iter().filter(|(begin, end, _)| begin < end)
            };
            if stream.data == Data::Incompressible {
                self.unknown = self.unknown.iter().flat_map(outside).collect();
            }
        }
        self.write(workload, false);
        self.trim(workload);
        if !is_finished {
            self.written.iter_mut().for_each(|range| range.overlaps = true);
        }
    }

    /// Records that what was written to the range counts no more: it was filled again, or its contents
    /// became unknown.
    pub(super) fn forget_written(&mut self, from: u64, to: u64) {
        let outside = |&range: &WrittenRange| {
            let before = WrittenRange { to: range.to.min(from), ..range };
            let after = WrittenRange { from: range.from.max(to), ..range };
            [before, after].into_iter().filter(|range| range.from < range.to)
        };
        if from < to {
            self.written = self.written.iter().flat_map(outside).collect();
        }
    }

    fn add_written(&mut self, range: WrittenRange) {
        let same = |one: &&mut WrittenRange| (one.from, one.to) == (range.from, range.to);
        match self.written.iter_mut().find(same) {
            Some(one) => {
                one.splits |= range.splits;
                one.overlaps |= range.overlaps;
            }
            None => self.written.push(range),
        }
    }

    /// Returns the parts below byte `end` that this run may have written, in ascending order; they
    /// begin on blocks of 4 KiB.
    pub(super) fn parts(&self, end: u64) -> Vec<Part> {
        let down = |at: u64| at / HEADER_SPACING * HEADER_SPACING;
        let up = |at: u64| at.min(end).next_multiple_of(HEADER_SPACING).min(end);
        let mut all = Extents::default();
        let mut borders = Vec::new();
        for range in &self.written {
            all.insert(down(range.from), up(range.to));
            borders.extend([down(range.from), up(range.to)]);
        }
        for &(from, to, _) in &self.filled {
            all.insert(down(from), up(to));
            // A block that was filled in part may hold earlier contents.
            let whole = if to >= end { end } else { down(to) };
            borders.extend([down(from), from.next_multiple_of(HEADER_SPACING), whole, up(to)]);
        }
        let inside = |&(from, to): &(u64, u64)| from < to && all.contains(from, to);
        borders.retain(|border| *border <= end);
        borders.sort_unstable();
        borders.dedup();
        let pairs = borders.windows(2).map(|pair| (pair[0], pair[1]));
        pairs.filter(inside).map(|(from, to)| self.part(from, to)).collect()
    }

    fn part(&self, from: u64, to: u64) -> Part {
        let covers = |&&(begin, end, _): &&(u64, u64, u32)| begin <= from && to <= end;
        let filled = self.filled.iter().find(covers).map(|(_, _, epoch)| *epoch);
        let touching = || self.written.iter().filter(|one| one.from < to && from < one.to);
        // Requests that begin or end within a block.
        let is_cut = self.filled.iter().any(|&(begin, end, _)| {
            [begin, end]
                .iter()
                .any(|at| !at.is_multiple_of(HEADER_SPACING) && from <= *at && *at < to)
        });
        Part {
            from,
            to,
            filled,
            splits: is_cut || touching().any(|one| one.splits),
            overlaps: touching().any(|one| one.overlaps),
        }
    }

    /// Returns data of `length` bytes for a single write at byte `offset`, with the headers of the
    /// current workload.
    ///
    /// # Errors
    /// [`RequestError::NotSent`] without memory.
    pub fn data_for(
        &self,
        pool: &Pool,
        offset: u64,
        length: usize,
    ) -> Result<Arc<Region>, RequestError> {
        let mut region = transfer::buffer(length)?;
        let words = Pool::words(pool.seed(), length);
        region.words_mut().copy_from_slice(&words[..length / 8]);
        let region = Arc::new(region);
        // No thread of a load has this number, so no two writes have equal headers.
        let writer = self.header_writer(u8::MAX.into());
        WriteBuffer::new(region.clone(), 0..length, length, 1, writer).prepare(
            0,
            offset,
            length as u32,
        );
        Ok(region)
    }
}

/// Returns whether requests of `stream` can write a part of a block of 4 KiB.
fn splits(stream: &Stream) -> bool {
    // Every size is a multiple of the smallest.
    !(stream.offset.0 | stream.smallest_size().0).is_multiple_of(HEADER_SPACING)
}

/// Returns whether `stream` can have two requests to one block in flight: also a sequential one, where a
/// request takes so long that the others have wrapped at the end of the span.
fn may_overlap(stream: &Stream) -> bool {
    stream.total_depth() > 1 || stream.arrival.per_second().is_some()
}
