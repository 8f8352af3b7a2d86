//! Reads of pages that hold no data: the model completes them from its map, as a drive does.

use crate::ftl::{Ftl, UNMAPPED};
use crate::profile::PAGE;
use ssdgauge_core::{Finding, Workload, unwritten_sample};

/// Returns a finding for each span that `workload` reads and of which a sample holds no data. A drive that
/// overwrites in place has no map and none, nor has one of several volumes.
pub(super) fn find(ftl: &Ftl, workload: &Workload) -> Vec<Finding> {
    let entries = ftl.entries();
    let is_unmapped =
        |at: &u64| entries.get((at / PAGE) as usize).is_some_and(|one| *one == UNMAPPED);
    let reading = workload.streams.iter().filter(|stream| stream.reads());
    let found = unwritten_sample::spans(reading).into_iter().filter_map(|(offset, span)| {
        let empty = unwritten_sample::offsets(offset, span).filter(is_unmapped).count() as u64;
        unwritten_sample::finding(empty, "hold no data")
    });
    found.collect()
}
