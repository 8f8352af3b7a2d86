//! Writes and reads of blocks with a stamp, by positioned calls of a few threads.
//!
//! It takes open files, and must never open one for writing.

use crate::positioned::transfer;
use crate::positioned::{FLUSH_LIMIT, Shared, carry_out, flush};
use crate::request_error::RequestError;
use ssdgauge_core::proof::{Content, Found, PROOF_BLOCK, Stamp, WORDS_PER_BLOCK};
use ssdgauge_os::memory::Region;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The maximum number of blocks per request: 1 MiB.
const REQUEST_BLOCKS: u64 = 256;
/// The requests in flight. Chosen: enough for a drive whose link is faster than its latency.
const THREADS: u64 = 4;
/// The number of unreadable blocks that an operation tolerates. Chosen: a drive may take seconds for each.
const MOST_UNREADABLE: u64 = 256;

/// Writes `ranges` of blocks with `stamp` and flushes; returns false where `go_on` ended it.
///
/// # Errors
/// A request failed, or the drive does not respond.
pub fn write(
    file: &Arc<File>,
    stamp: Stamp,
    ranges: &[(u64, u64)],
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<bool, RequestError> {
    let requests = requests(ranges);
    let threads = THREADS.min(requests.len() as u64);
    let body = move |file: &File, shared: &Shared, _| {
        let mut region = buffer()?;
        while let Some(&(first, blocks)) =
            shared.next().and_then(|next| requests.get(next as usize))
        {
            let words = region.words_mut().chunks_exact_mut(WORDS_PER_BLOCK);
            (first..first + blocks).zip(words).for_each(|(block, words)| stamp.fill(block, words));
            transfer::write(file, &region, length(blocks), first * PROOF_BLOCK.0)?;
            shared.completed(blocks);
        }
        Ok(())
    };
    if carry_out(file, threads, FLUSH_LIMIT, go_on, body)?.stopped {
        return Ok(false);
    }
    // A stop during the flush leaves it undecided whether what was written is durable.
    let total = ranges.iter().map(|(_, blocks)| blocks).sum();
    let mut stopped = false;
    flush(file, FLUSH_LIMIT, &mut || {
        stopped |= !go_on(total);
        !stopped
    })?;
    Ok(!stopped)
}

/// Reads `ranges` of blocks by a proof with `tag`; `None` where `go_on` ended it.
///
/// # Errors
/// As [`write()`]; single blocks that cannot be read are none.
pub fn read(
    file: &Arc<File>,
    tag: u64,
    ranges: &[(u64, u64)],
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Vec<Found>>, RequestError> {
    let requests = requests(ranges);
    let threads = THREADS.min(requests.len() as u64);
    let unreadable = AtomicU64::new(0);
    let body = move |file: &File, shared: &Shared, _| {
        let mut region = buffer()?;
        let mut read = Vec::new();
        while let Some(number) = shared.next()
            && let Some(&request) = requests.get(number as usize)
        {
            let contents = contents(file, &mut region, tag, request, &unreadable)?;
            shared.completed(request.1);
            read.push((number, request.0, contents));
        }
        Ok(read)
    };
    let ended = carry_out(file, threads, FLUSH_LIMIT, go_on, body)?;
    let Some(parts) = ended.unless_stopped() else { return Ok(None) };
    let mut parts: Vec<_> = parts.into_iter().flatten().collect();
    // Threads complete in any order; the caller expects the order of its ranges.
    parts.sort_unstable_by_key(|(number, ..)| *number);
    let mut found = Vec::new();
    for (_, first, contents) in parts {
        for (block, content) in (first..).zip(contents) {
            Found::append(&mut found, block, content);
        }
    }
    Ok(Some(found))
}

/// Divides `ranges` into requests (first block, number of blocks), in their order.
fn requests(ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let divide = |&(first, blocks): &(u64, u64)| {
        let starts = (0..blocks).step_by(REQUEST_BLOCKS as usize);
        starts.map(move |from| (first + from, REQUEST_BLOCKS.min(blocks - from)))
    };
    ranges.iter().flat_map(divide).collect()
}

/// Reads `blocks` from `first` on. Where they cannot be read together, each is read on its own: a failed
/// read says nothing about the other blocks. `unreadable` counts those that cannot be read.
fn contents(
    file: &File,
    region: &mut Region,
    tag: u64,
    (first, blocks): (u64, u64),
    unreadable: &AtomicU64,
) -> Result<Vec<Content>, RequestError> {
    let mut read = |first, blocks| {
        transfer::read(file, region, length(blocks), first * PROOF_BLOCK.0)?;
        let words = region.words_mut().chunks_exact(WORDS_PER_BLOCK).take(blocks as usize);
        Ok(words.map(|block| Stamp::identify(tag, block)).collect::<Vec<Content>>())
    };
    // A drive that is gone ends the operation: block by block, each of its requests would fail
    // again.
    match read(first, blocks) {
        Err(error) if !RequestError::is_gone(&error) => {}
        result => return result,
    }
    let mut contents = Vec::with_capacity(blocks as usize);
    for block in first..first + blocks {
        match read(block, 1) {
            Ok(content) => contents.extend(content),
            Err(error) if unreadable.fetch_add(1, Ordering::Relaxed) >= MOST_UNREADABLE => {
                return Err(error);
            }
            // Whatever the error is: a fake drive may answer so beyond what it stores.
            Err(_) => contents.push(Content::Unreadable),
        }
    }
    Ok(contents)
}

fn buffer() -> Result<Region, RequestError> {
    transfer::buffer(length(REQUEST_BLOCKS))
}

fn length(blocks: u64) -> usize {
    (blocks * PROOF_BLOCK.0) as usize
}
