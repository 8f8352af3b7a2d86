//! Reads of pages that hold no data: the model completes them from its map, as a drive does.

use crate::ftl::{Ftl, UNMAPPED};
use crate::profile::PAGE;
use ssdgauge_core::{Finding, Stream, Workload, unwritten_sample};

/// Returns a finding for each span that `workload` reads and of which a sample holds no data.
pub(super) fn find(ftl: &Ftl, workload: &Workload) -> Vec<Finding> {
    let entries = ftl.entries();
    let is_unmapped =
        |at: &u64| entries.get((at / PAGE) as usize).is_some_and(|one| *one == UNMAPPED);
    let mut spans: Vec<_> = Vec::new();
    for stream in workload.streams.iter().filter(|stream| Stream::reads(stream)) {
        let span = (stream.offset, stream.span);
        if !spans.contains(&span) {
            spans.push(span);
        }
    }
    let found = spans.into_iter().filter_map(|(offset, span)| {
        let empty = unwritten_sample::offsets(offset, span).filter(is_unmapped).count() as u64;
        unwritten_sample::finding(empty, "hold no data")
    });
    found.collect()
}
