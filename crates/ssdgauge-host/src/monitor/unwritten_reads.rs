//! Reads of unwritten blocks: a drive completes them from its mapping table without reading flash,
//! far faster than reads of data.
//!
//! Before a step reads a span, a sample of it is read. Spans that this run has filled are left out:
//! each of their reads is checked by its verification header. This module only reads.

use ssdgauge_core::unwritten_sample::{self, BLOCK};
use ssdgauge_core::{Bytes, Finding, Stream, Workload};
use ssdgauge_engine::Verification;
use ssdgauge_guard::OpenTarget;
use ssdgauge_os::memory::Region;
use ssdgauge_os::thread::within;
use std::fs::File;
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
        let count =
            within(SAMPLE_TIMEOUT, drive.file(), move |file| count_empty(file, offset, span));
        unwritten_sample::finding(count?.ok()?, "hold only zeros")
    });
    found.collect()
}

/// Returns the number of sampled blocks that hold only zeros.
fn count_empty(file: &File, offset: Bytes, span: Bytes) -> std::io::Result<u64> {
    let length = BLOCK.0 as usize;
    let mut region = Region::new(length)?;
    let mut empty = 0;
    for at in unwritten_sample::offsets(offset, span) {
        let length = ssdgauge_os::file_io::read_at(file, region.at(0), length, at)?;
        empty += u64::from(length > 0 && region.bytes()[..length].iter().all(|byte| *byte == 0));
    }
    Ok(empty)
}
