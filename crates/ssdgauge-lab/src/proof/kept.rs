//! A later look at the blocks of a proof: which of them the drive still holds, and how old they are.

use super::event::{Recorded, What};
use super::layout::{Layout, Progress, Set};
use serde::{Deserialize, Serialize};
use ssdgauge_core::proof::{Answer, Found, PROOF_BLOCK};
use ssdgauge_core::{Bytes, RigError, StampedReads};
use std::collections::BTreeMap;

/// The state of a block at a later read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It holds what was written there last.
    Kept,
    /// It holds zeros, ones, or data that the proof never wrote.
    Lost,
    /// It holds a part of what was written there.
    Torn,
    /// It holds what was written there before.
    Stale,
    /// It holds what was written as another block.
    Misplaced,
    /// It cannot be read.
    Unreadable,
    /// The proof ended while it was written: any of its contents is possible.
    Unsettled,
}

impl Fate {
    /// Returns whether the drive lost data that it had acknowledged with a flush after it.
    pub fn is_loss(self) -> bool {
        match self {
            Fate::Kept | Fate::Unsettled => false,
            Fate::Lost | Fate::Torn | Fate::Stale | Fate::Misplaced | Fate::Unreadable => true,
        }
    }

    fn new(answer: Answer, generation: u32) -> Fate {
        match answer {
            Answer::Own => Fate::Kept,
            // Written by an operation that was never recorded: newer than what is expected.
            Answer::OldGeneration(found) if found > generation => Fate::Unsettled,
            Answer::OldGeneration(_) => Fate::Stale,
            Answer::OtherAddress(_) => Fate::Misplaced,
            Answer::Torn => Fate::Torn,
            Answer::Zeros | Answer::Ones | Answer::Foreign => Fate::Lost,
            Answer::Error => Fate::Unreadable,
        }
    }
}

/// The blocks with one fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fated {
    /// Their fate.
    pub fate: Fate,
    /// Their number.
    pub blocks: u64,
    /// The first of them.
    pub first: u64,
    /// When the first and the last of them were written, in milliseconds since 1970 (UTC).
    pub written_unix_ms: (i64, i64),
}

/// Reads every block of the `recorded` proof that was not overwritten by it, and returns them by their
/// fate. `go_on` takes the bytes that were read, and their total, several times a second; where it returns
/// false, the answer is `None`.
///
/// # Errors
/// When the drive disappears or does not respond; see [`RigError`].
pub fn read_kept(
    recorded: &Recorded,
    blocks: &mut dyn StampedReads,
    go_on: &mut dyn FnMut(Bytes, Bytes) -> bool,
) -> Result<Option<Vec<Fated>>, RigError> {
    let layout = recorded.settings.layout();
    let mut progress = Progress::default();
    let mut written = Vec::new();
    for event in &recorded.events {
        if let What::Written { set, from, to } = event.what {
            progress.record(set, to);
            written.push((set, from, to, event.unix_ms));
        }
    }
    let unsettled = match recorded.is_over() {
        true => None,
        false => unsettled(&layout, &progress),
    };
    let most: Bytes = written.iter().map(|(set, from, to, _)| layout.bytes(*set, *from, *to)).sum();
    let mut fates = BTreeMap::new();
    let mut done = 0;
    for (set, from, to, unix_ms) in written {
        let ranges = layout.ranges(set, (from, to), 0, &progress);
        let mut goes_on = |read: u64| go_on(PROOF_BLOCK * (done + read), most);
        let Some(found) = blocks.read(recorded.settings.tag, &ranges, &mut goes_on)? else {
            return Ok(None);
        };
        done += ranges.iter().map(|(_, blocks)| blocks).sum::<u64>();
        let parts = found.iter().flat_map(|run| divide(run, &layout, &progress));
        for (first, number, fate, writer) in parts {
            // A block that was overwritten later belongs to its last writer.
            if writer != set {
                continue;
            }
            let in_flight = |(from, to): &(u64, u64)| first >= *from && first < *to;
            let is_unsettled =
                unsettled.as_ref().is_some_and(|ranges| ranges.iter().any(in_flight));
            let fate = if is_unsettled { Fate::Unsettled } else { fate };
            let fated = fates.entry(fate).or_insert(Fated {
                fate,
                blocks: 0,
                first,
                written_unix_ms: (unix_ms, unix_ms),
            });
            fated.blocks += number;
            fated.first = fated.first.min(first);
            let (oldest, newest) = fated.written_unix_ms;
            fated.written_unix_ms = (oldest.min(unix_ms), newest.max(unix_ms));
        }
    }
    Ok(Some(fates.into_values().collect()))
}

/// Divides a run into parts of one expected content: first block, number, fate and writer of each.
fn divide(run: &Found, layout: &Layout, progress: &Progress) -> Vec<(u64, u64, Fate, Set)> {
    let mut parts = Vec::new();
    let mut done = 0;
    while done < run.blocks {
        let first = run.first + done;
        let expected = layout.expected(first, progress);
        let number = expected.blocks.min(run.blocks - done);
        let answer = Answer::new(first, expected.generation, run.content.at(done));
        if let Some((set, _)) = layout.writer(first, progress) {
            parts.push((first, number, Fate::new(answer, expected.generation), set));
        }
        done += number;
    }
    parts
}

/// Returns the blocks (begin, end) that an operation may have written whose record is missing.
fn unsettled(layout: &Layout, progress: &Progress) -> Option<Vec<(u64, u64)>> {
    let (set, from) = layout.next_write(progress)?;
    let round = layout.rounds(set).into_iter().find(|end| *end > from)?;
    let to = match set {
        Set::Marks => layout.operation_end(set, from, layout.count(set)),
        Set::Heads | Set::Segments | Set::Samples => layout.operation_end(set, from, round),
    };
    let ranges = layout.ranges(set, (from, to), 0, progress);
    Some(ranges.into_iter().map(|(first, blocks)| (first, first + blocks)).collect())
}
