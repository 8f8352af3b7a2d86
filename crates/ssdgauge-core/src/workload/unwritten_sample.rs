//! A sample of the blocks of a span, which shows whether data were written there: a drive completes reads
//! of other blocks from its map, without reading flash.

use crate::finding::{Finding, FindingKind, Severity};
use crate::units::Bytes;
use crate::workload::Stream;

/// The number of blocks of a sample.
pub const SAMPLES: u64 = 64;

/// The size of a sampled block.
pub const BLOCK: Bytes = Bytes(4_096);

/// The maximum number of blocks without data that cause no finding: files contain zeros as well.
const MAX_EMPTY: u64 = SAMPLES / 10;

/// Returns the offsets of the blocks of the sample, evenly spread over the span and on block boundaries;
/// none where the span is shorter than a block.
pub fn offsets(offset: Bytes, span: Bytes) -> impl Iterator<Item = u64> {
    let room = span.0.checked_sub(BLOCK.0);
    room.into_iter().flat_map(move |room| {
        (0..SAMPLES).map(move |sample| {
            let at = u128::from(room) * u128::from(sample) / u128::from(SAMPLES - 1);
            offset.0 + at as u64 - at as u64 % BLOCK.0
        })
    })
}

/// Returns offset and span of each of `streams`, equal ones once.
pub fn spans<'a>(streams: impl Iterator<Item = &'a Stream>) -> Vec<(Bytes, Bytes)> {
    let mut spans = Vec::new();
    for span in streams.map(|stream| (stream.offset, stream.span)) {
        if !spans.contains(&span) {
            spans.push(span);
        }
    }
    spans
}

/// Returns the finding on a sample of which `empty` blocks are `what`, such as "hold only zeros"; `None`
/// where they are few.
pub fn finding(empty: u64, what: &str) -> Option<Finding> {
    (empty > MAX_EMPTY).then(|| {
        Finding::new(
            FindingKind::Unwritten,
            Severity::Warning,
            format!(
                "{empty} of {SAMPLES} sampled blocks {what}: the drive may complete such reads without \
                 reading flash"
            ),
            "fill the span before it is read, or treat the result as that of an empty drive",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_the_first_and_the_last_block_of_the_span() {
        let found: Vec<u64> = offsets(Bytes(8_192), Bytes(1 << 20)).collect();
        assert_eq!(found.len() as u64, SAMPLES);
        assert_eq!((found[0], found[63]), (8_192, 8_192 + (1 << 20) - 4_096));
        assert!(found.iter().all(|at| at % 4_096 == 0));
        assert_eq!(offsets(Bytes(0), Bytes(512)).count(), 0);
    }

    #[test]
    fn few_blocks_without_data_are_not_a_finding() {
        assert_eq!(finding(6, "hold only zeros"), None);
        assert!(finding(7, "hold only zeros").is_some_and(|one| one.text.starts_with("7 of 64")));
    }
}
