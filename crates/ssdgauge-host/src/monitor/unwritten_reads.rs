//! Reads of what nobody wrote: a drive answers them from its map, without its memory, and far too
//! fast. A sample of the span is looked at before a step reads it.
//!
//! It only reads, a few blocks, and leaves out what this run has filled: every read of that is
//! checked by its stamp.

use ssdgauge_core::{Finding, FindingKind, Severity, Stream, Workload};
use ssdgauge_engine::Verification;
use ssdgauge_guard::OpenTarget;
use ssdgauge_os::memory::Region;
use ssdgauge_os::thread::within;
use std::fs::File;
use std::time::Duration;

/// The blocks of a sample, and their size.
const PLACES: u64 = 64;
const BLOCK: u64 = 4_096;
/// A used drive has some blocks of zeros; more than one in ten is told.
const MOST_EMPTY: u64 = PLACES / 10;
/// A drive that needs longer for the sample is left to the watch over the step itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// Returns what is found where `workload` reads, and this run has not written it.
pub(crate) fn look(
    place: &OpenTarget,
    verification: &Verification,
    workload: &Workload,
) -> Vec<Finding> {
    let OpenTarget::Drive(drive) = place else { return Vec::new() };
    let is_unknown = |stream: &&Stream| {
        let (from, to) = (stream.offset.0, (stream.offset + stream.span).0);
        stream.reads() && !verification.expect(from, to).is_some_and(|known| known.covers(from, to))
    };
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for stream in workload.streams.iter().filter(is_unknown) {
        let span = (stream.offset.0, stream.span.0);
        if !spans.contains(&span) && span.1 >= BLOCK {
            spans.push(span);
        }
    }
    let found = spans.into_iter().filter_map(|(offset, span)| {
        let answer = within(PATIENCE, drive.file(), move |file| empty_in(file, offset, span));
        let empty = answer?.ok().filter(|empty| *empty > MOST_EMPTY)?;
        Some(Finding::new(
            FindingKind::Unwritten,
            Severity::Warning,
            format!(
                "{empty} of {PLACES} sampled blocks of what is read hold only zeros: such reads \
                 may never reach the drive's memory"
            ),
            "fill the span before you read it, or take the number for that of an empty drive",
        ))
    });
    found.collect()
}

/// Returns how many of the sampled blocks hold only zeros.
fn empty_in(file: &File, offset: u64, span: u64) -> std::io::Result<u64> {
    let mut region = Region::new(BLOCK as usize)?;
    let mut empty = 0;
    for place in 0..PLACES {
        // Evenly spread, on the grid of blocks.
        let within = (u128::from(span - BLOCK) * u128::from(place) / u128::from(PLACES - 1)) as u64;
        let at = offset + within - within % BLOCK;
        let length = ssdgauge_os::file_io::read_at(file, region.at(0), BLOCK as usize, at)?;
        empty += u64::from(length > 0 && region.bytes()[..length].iter().all(|byte| *byte == 0));
    }
    Ok(empty)
}
