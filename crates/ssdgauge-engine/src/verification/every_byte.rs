//! Reads everything that a run wrote, and compares every byte of it.
//!
//! Four threads read 1 MiB at a time in ascending order and compare it. No request of a load may be in
//! flight.

use super::contents::{BlockState, Contents};
use super::written::Part;
use super::{HEADER_SPACING, Verification};
use crate::pool::Pool;
use crate::positioned::transfer;
use crate::positioned::{Shared, carry_out};
use crate::request_error::{RequestError, concerns_one_address};
use ssdgauge_core::{Bytes, LostWrite, Nanos, Verified};
use ssdgauge_os::memory::Region;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The length of a read, in bytes, and the number of reads in flight. Chosen: a drive reaches its rate
/// of sequential reads with 4 MiB in flight, and a slow one still shows progress.
const CHUNK: u64 = 1 << 20;
const THREADS: u64 = 4;
/// The time without a completed read after which a drive counts as hung, as for a load; with a read of
/// 1 MiB that the kernel splits.
const SILENCE: Duration = Duration::from_secs(30);
/// The reads that may fail, of a block each: further ones would damage a failing drive and prove nothing
/// more.
const MAX_UNREADABLE: u64 = 100;

/// A range that one read covers, and the part that it lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chunk {
    from: u64,
    to: u64,
    part: Part,
}

/// What the blocks of some chunks hold.
#[derive(Debug, Default)]
struct Counts {
    read: u64,
    bytes: u64,
    blocks: u64,
    skipped: u64,
    wrong: u64,
    /// The first wrong blocks: what each holds, by its offset.
    first: BTreeMap<u64, String>,
}

/// Verifies what the run wrote below byte `end` of `file`, with data from `pool`; `None` where it wrote
/// nothing. `pool_length` is the length that earlier processes of the run may have used. `progress` takes
/// the bytes that were read and their total, and returns false to stop.
///
/// # Errors
/// The drive does not respond or disappears, or more reads fail than a verdict needs.
pub fn verify(
    file: &Arc<File>,
    verification: &Verification,
    (pool, pool_length): (&Pool, usize),
    end: u64,
    progress: &mut dyn FnMut(Bytes, Bytes) -> bool,
) -> Result<Option<Verified>, RequestError> {
    let since = Instant::now();
    let parts = verification.parts(end);
    if parts.is_empty() {
        return Ok(None);
    }
    let total = Bytes(parts.iter().map(|part| part.to - part.from).sum());
    let used = pool.written().map_or(0, |region| region.length());
    let length = pool_length.max(used);
    let contents = Contents::new(verification.clone(), pool.seed(), length, end);
    let unreadable = AtomicU64::new(0);
    let body = move |file: &File, shared: &Shared, _| {
        let mut region = transfer::buffer(CHUNK as usize)?;
        let mut counts = Counts::default();
        while let Some(chunk) = shared.next().and_then(|number| chunk_at(&parts, number)) {
            compare(file, &mut region, &contents, &chunk, &unreadable, &mut counts)?;
            shared.completed(chunk.to - chunk.from);
        }
        Ok(counts)
    };
    let mut go_on = |read| progress(Bytes(read), total);
    let ended = carry_out(file, THREADS, SILENCE, &mut go_on, body)?;
    let mut sum = Counts::default();
    ended.parts.into_iter().for_each(|counts| sum.merge(counts));
    progress(Bytes(sum.read), total);
    let Counts { read, bytes, blocks, skipped, wrong, first } = sum;
    Ok(Some(Verified {
        bytes,
        blocks,
        skipped,
        wrong,
        first: first.into_iter().map(|(offset, found)| LostWrite { offset, found }).collect(),
        elapsed: Nanos(since.elapsed().as_nanos() as u64),
        // A stop after the last read has stopped nothing.
        stopped: read < total.0,
    }))
}

/// Returns chunk `number` of `parts`, in ascending order: a list of those of a large drive would take
/// hundreds of megabytes.
fn chunk_at(parts: &[Part], mut number: u64) -> Option<Chunk> {
    for &part in parts {
        let count = (part.to - part.from).div_ceil(CHUNK);
        if number < count {
            let from = part.from + number * CHUNK;
            return Some(Chunk { from, to: part.to.min(from + CHUNK), part });
        }
        number -= count;
    }
    None
}

/// Reads `chunk` and compares its blocks. Where it cannot be read as a whole, each block is read on its
/// own: a failed read says nothing about the other blocks.
fn compare(
    file: &File,
    region: &mut Region,
    contents: &Contents,
    chunk: &Chunk,
    unreadable: &AtomicU64,
    counts: &mut Counts,
) -> Result<(), RequestError> {
    let is_readable =
        match transfer::read(file, region, (chunk.to - chunk.from) as usize, chunk.from) {
            Ok(()) => true,
            Err(RequestError::Failed { cause, .. }) if concerns_one_address(&cause) => false,
            Err(error) => return Err(error),
        };
    // Readable or not: progress counts what was looked at.
    counts.read += chunk.to - chunk.from;
    for from in (chunk.from..chunk.to).step_by(HEADER_SPACING as usize) {
        let length = (chunk.to - from).min(HEADER_SPACING) as usize;
        let (at, read) = match is_readable {
            true => ((from - chunk.from) as usize, Ok(())),
            false => (0, transfer::read(file, region, length, from)),
        };
        let verdict = match read {
            Ok(()) => {
                let words = &region.words_mut()[at / 8..(at + length) / 8];
                contents.judge(words, from, &chunk.part)
            }
            Err(RequestError::Failed { cause, .. }) if concerns_one_address(&cause) => {
                let failed = unreadable.fetch_add(1, Ordering::Relaxed) + 1;
                if failed > MAX_UNREADABLE {
                    return Err(RequestError::Unreadable(failed));
                }
                BlockState::Wrong(format!("nothing that can be read: {cause}"))
            }
            Err(error) => return Err(error),
        };
        counts.add(verdict, from, length as u64);
    }
    Ok(())
}

impl Counts {
    fn add(&mut self, verdict: BlockState, offset: u64, length: u64) {
        match verdict {
            BlockState::Skipped => {
                self.skipped += 1;
                return;
            }
            BlockState::Right => {}
            BlockState::Wrong(found) => {
                self.wrong += 1;
                self.first.insert(offset, found);
                self.keep_first();
            }
        }
        self.blocks += 1;
        self.bytes += length;
    }

    fn merge(&mut self, other: Counts) {
        self.read += other.read;
        self.bytes += other.bytes;
        self.blocks += other.blocks;
        self.skipped += other.skipped;
        self.wrong += other.wrong;
        self.first.extend(other.first);
        self.keep_first();
    }

    /// Chunks end in any order, and the first places are those of the lowest offsets.
    fn keep_first(&mut self) {
        while self.first.len() > Verified::PLACES {
            self.first.pop_last();
        }
    }
}

#[cfg(test)]
mod tests;
