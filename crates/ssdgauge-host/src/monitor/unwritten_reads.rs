//! Reads of unwritten blocks: a drive completes them from its mapping table without reading flash,
//! far faster than reads of data.
//!
//! Before a step reads a span, a sample of it is read. Spans that this run has filled are left out:
//! each of their reads is checked by its verification header. This module only reads.

use ssdgauge_core::{Finding, FindingKind, Severity, Stream, Workload};
use ssdgauge_engine::Verification;
use ssdgauge_guard::OpenTarget;
use ssdgauge_os::memory::Region;
use ssdgauge_os::thread::within;
use std::fs::File;
use std::time::Duration;

/// The number of blocks of a sample.
const SAMPLES: u64 = 64;
/// The size of a block, in bytes.
const BLOCK: u64 = 4_096;
/// The most blocks of zeros without a finding: files contain some as well.
const MAX_EMPTY: u64 = SAMPLES / 10;
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
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for stream in workload.streams.iter().filter(is_unverified) {
        let span = (stream.offset.0, stream.span.0);
        if !spans.contains(&span) && span.1 >= BLOCK {
            spans.push(span);
        }
    }
    let found = spans.into_iter().filter_map(|(offset, span)| {
        let count =
            within(SAMPLE_TIMEOUT, drive.file(), move |file| count_empty(file, offset, span));
        let empty = count?.ok().filter(|empty| *empty > MAX_EMPTY)?;
        Some(Finding::new(
            FindingKind::Unwritten,
            Severity::Warning,
            format!(
                "{empty} of {SAMPLES} sampled blocks hold only zeros: the drive may complete such \
                 reads without reading flash"
            ),
            "fill the span before it is read, or treat the result as that of an empty drive",
        ))
    });
    found.collect()
}

/// Returns the number of sampled blocks that hold only zeros.
fn count_empty(file: &File, offset: u64, span: u64) -> std::io::Result<u64> {
    let mut region = Region::new(BLOCK as usize)?;
    let mut empty = 0;
    for sample in 0..SAMPLES {
        // Evenly spread over the span, on block boundaries.
        let at = u128::from(span - BLOCK) * u128::from(sample) / u128::from(SAMPLES - 1);
        let at = at as u64;
        let at = offset + at - at % BLOCK;
        let length = ssdgauge_os::file_io::read_at(file, region.at(0), BLOCK as usize, at)?;
        empty += u64::from(length > 0 && region.bytes()[..length].iter().all(|byte| *byte == 0));
    }
    Ok(empty)
}
