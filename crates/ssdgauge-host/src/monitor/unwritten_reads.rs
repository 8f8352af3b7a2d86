//! Reads of unwritten blocks: a drive completes them from its mapping table without reading flash,
//! far faster than reads of data.
//!
//! Before a step reads a span, a sample of it is read. Spans that this run has filled are left out:
//! each of their reads is checked by its verification header. This module only reads.

use ssdgauge_core::unwritten_sample::{self, BLOCK};
use ssdgauge_core::{Finding, Stream, Workload};
use ssdgauge_engine::{Verification, count_zero_blocks};
use ssdgauge_guard::OpenTarget;
use std::time::Duration;

/// The limit of the sample: the watchdog of the step itself reports a drive that hangs.
const SAMPLE_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns a finding for each span that `workload` reads, that this run has not filled, and whose
/// sample holds mostly zeros.
pub(crate) fn find_unwritten_reads(
    target: &OpenTarget,
    verification: &Verification,
    workload: &Workload,
) -> Vec<Finding> {
    let OpenTarget::Drive(drive) = target else { return Vec::new() };
    let is_unverified = |stream: &&Stream| {
        let (from, to) = (stream.offset.0, (stream.offset + stream.span).0);
        stream.reads() && !verification.expect(from, to).is_some_and(|known| known.covers(from, to))
    };
    let spans = unwritten_sample::spans(workload.streams.iter().filter(is_unverified));
    let found = spans.into_iter().filter_map(|(offset, span)| {
        let places = unwritten_sample::offsets(offset, span).collect();
        let count = count_zero_blocks(drive.file(), BLOCK, places, SAMPLE_TIMEOUT).ok()?;
        unwritten_sample::finding(count, "hold only zeros")
    });
    found.collect()
}
