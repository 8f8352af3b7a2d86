//! Writes and reads of blocks with a stamp, by positioned calls of a few threads.
//!
//! It takes open files, and must never open one for writing.

use crate::silence::Silence;
use ssdgauge_core::Nanos;
use ssdgauge_core::proof::{Content, Found, PROOF_BLOCK, Stamp, WORDS_PER_BLOCK};
use ssdgauge_os::memory::Region;
use ssdgauge_os::{file_io, thread};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// The most blocks of one request: 1 MiB.
const REQUEST_BLOCKS: u64 = 256;
/// The requests in flight. Chosen: enough for a drive whose link is faster than its latency.
const THREADS: usize = 4;
/// The most blocks of one operation that fail before it ends. Chosen: a drive may take seconds for each.
const MOST_UNREADABLE: u64 = 256;

/// Why an operation ended.
#[derive(Debug, Error)]
pub enum StampError {
    /// A request failed.
    #[error("{what} {block}: {cause}")]
    Io {
        /// What was done to the block.
        what: &'static str,
        /// The number of the block.
        block: u64,
        /// The error of the kernel.
        cause: io::Error,
        /// Whether the kernel reports that there is no device.
        is_gone: bool,
    },
    /// No request completed.
    #[error("no request completed for {}", _0.about())]
    Hung(Nanos),
}

impl StampError {
    fn new(what: &'static str, block: u64, cause: io::Error) -> StampError {
        let is_gone = matches!(cause.raw_os_error(), Some(libc::ENODEV | libc::ENXIO));
        StampError::Io { what, block, cause, is_gone }
    }
}

/// Writes `ranges` of blocks with `stamp` and flushes; returns false where `go_on` ended it.
///
/// # Errors
/// A request failed, or the drive does not respond.
pub fn write(
    file: &Arc<File>,
    stamp: Stamp,
    ranges: &[(u64, u64)],
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<bool, StampError> {
    let body = move |file: &File, shared: &Shared| -> Result<(), StampError> {
        let mut region = region()?;
        while let Some((first, blocks)) = shared.next() {
            let words = &mut region.words_mut()[..blocks as usize * WORDS_PER_BLOCK];
            for (block, words) in (first..).zip(words.chunks_exact_mut(WORDS_PER_BLOCK)) {
                stamp.fill(block, words);
            }
            write_whole(file, &region, first, blocks)
                .map_err(|cause| StampError::new("write of block", first, cause))?;
            shared.completed(blocks);
        }
        Ok(())
    };
    let end = |file: &File, shared: &Shared| match shared.stops() {
        true => Ok(()),
        false => {
            file_io::flush(file).map_err(|cause| StampError::new("flush behind block", 0, cause))
        }
    };
    carry_out(file, ranges, go_on, body, end).map(|found| found.is_some())
}

/// Reads `ranges` of blocks by a proof with `tag`; `None` where `go_on` ended it.
///
/// # Errors
/// As [`write`]; single blocks that cannot be read are none.
pub fn read(
    file: &Arc<File>,
    tag: u64,
    ranges: &[(u64, u64)],
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Vec<Found>>, StampError> {
    let body = move |file: &File, shared: &Shared| -> Result<(), StampError> {
        let mut region = region()?;
        while let Some((first, blocks)) = shared.next() {
            let mut contents = Vec::with_capacity(blocks as usize);
            match read_whole(file, &region, first, blocks) {
                Ok(()) => identify(&mut region, blocks, tag, &mut contents),
                Err(error) => {
                    let error = StampError::new("read of block", first, error);
                    if matches!(error, StampError::Io { is_gone: true, .. }) {
                        return Err(error);
                    }
                    for block in first..first + blocks {
                        match read_whole(file, &region, block, 1) {
                            Ok(()) => identify(&mut region, 1, tag, &mut contents),
                            Err(cause) => {
                                if shared.unreadable.fetch_add(1, Ordering::Relaxed)
                                    >= MOST_UNREADABLE
                                {
                                    return Err(StampError::new("read of block", block, cause));
                                }
                                contents.push(Content::Unreadable);
                            }
                        }
                    }
                }
            }
            shared.add(first, contents);
            shared.completed(blocks);
        }
        Ok(())
    };
    let Some(mut runs) = carry_out(file, ranges, go_on, body, |_, _| Ok(()))? else {
        return Ok(None);
    };
    // Threads complete in any order; the caller expects that of its ranges.
    let place = |run: &(u64, Vec<Content>)| ranges_index(ranges, run.0);
    runs.sort_by_cached_key(|run| (place(run), run.0));
    let mut found = Vec::new();
    for (first, contents) in runs {
        for (block, content) in (first..).zip(contents) {
            Found::append(&mut found, block, content);
        }
    }
    Ok(Some(found))
}

fn ranges_index(ranges: &[(u64, u64)], block: u64) -> Option<usize> {
    ranges.iter().position(|(first, blocks)| (*first..first + blocks).contains(&block))
}

/// The contents of consecutive blocks, each by its first one.
type Runs = Vec<(u64, Vec<Content>)>;

/// What the threads of an operation share.
struct Shared {
    requests: Vec<(u64, u64)>,
    next: AtomicUsize,
    done: AtomicU64,
    unreadable: AtomicU64,
    stops: AtomicBool,
    found: Mutex<Runs>,
}

impl Shared {
    fn new(ranges: &[(u64, u64)]) -> Shared {
        let divide = |&(first, blocks): &(u64, u64)| {
            let starts = (0..blocks).step_by(REQUEST_BLOCKS as usize);
            starts.map(move |from| (first + from, REQUEST_BLOCKS.min(blocks - from)))
        };
        Shared {
            requests: ranges.iter().flat_map(divide).collect(),
            next: AtomicUsize::new(0),
            done: AtomicU64::new(0),
            unreadable: AtomicU64::new(0),
            stops: AtomicBool::new(false),
            found: Mutex::new(Vec::new()),
        }
    }

    fn next(&self) -> Option<(u64, u64)> {
        match self.stops() {
            true => None,
            false => self.requests.get(self.next.fetch_add(1, Ordering::Relaxed)).copied(),
        }
    }

    fn stops(&self) -> bool {
        self.stops.load(Ordering::Relaxed)
    }

    fn completed(&self, blocks: u64) {
        self.done.fetch_add(blocks, Ordering::Relaxed);
    }

    fn add(&self, first: u64, contents: Vec<Content>) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).push((first, contents));
    }
}

/// Carries out `body` in a few threads and `end` behind them; `None` where `go_on` ended it. A request
/// to a drive that hangs cannot be cancelled, so the threads are then left behind.
fn carry_out(
    file: &Arc<File>,
    ranges: &[(u64, u64)],
    go_on: &mut dyn FnMut(u64) -> bool,
    body: impl Fn(&File, &Shared) -> Result<(), StampError> + Send + Sync + 'static,
    end: impl FnOnce(&File, &Shared) -> Result<(), StampError> + Send + 'static,
) -> Result<Option<Runs>, StampError> {
    let shared = Arc::new(Shared::new(ranges));
    let of_threads = Arc::clone(&shared);
    let work = move |file: &File| {
        let threads = THREADS.min(of_threads.requests.len());
        let result = std::thread::scope(|scope| {
            let spawn = |_| {
                let (body, shared) = (&body, &of_threads);
                scope.spawn(move || {
                    let result = body(file, shared);
                    // The first error ends the others.
                    if result.is_err() {
                        shared.stops.store(true, Ordering::Relaxed);
                    }
                    result
                })
            };
            let handles: Vec<_> = (0..threads).map(spawn).collect();
            let results = handles.into_iter().map(|handle| match handle.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            results.collect::<Vec<_>>().into_iter().collect::<Result<(), StampError>>()
        });
        Ok(result.and_then(|()| end(file, &of_threads)))
    };
    let mut silence = Silence::begin();
    let waits = || {
        let done = shared.done.load(Ordering::Relaxed);
        silence.note(done);
        if !shared.stops() && !go_on(done) {
            shared.stops.store(true, Ordering::Relaxed);
            silence.stop();
        }
        silence.is_short()
    };
    let result = thread::within_while(file, work, waits);
    match result {
        None => Err(StampError::Hung(silence.length())),
        Some(Err(cause)) => Err(StampError::new("threads for block", 0, cause)),
        Some(Ok(Err(error))) => Err(error),
        Some(Ok(Ok(()))) if shared.stops() => Ok(None),
        Some(Ok(Ok(()))) => {
            let mut found = shared.found.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(Some(std::mem::take(&mut *found)))
        }
    }
}

fn region() -> Result<Region, StampError> {
    let length = (REQUEST_BLOCKS * PROOF_BLOCK.0) as usize;
    Region::new(length).map_err(|cause| StampError::new("memory for block", 0, cause))
}

fn identify(region: &mut Region, blocks: u64, tag: u64, contents: &mut Vec<Content>) {
    let words = &region.words_mut()[..blocks as usize * WORDS_PER_BLOCK];
    contents.extend(words.chunks_exact(WORDS_PER_BLOCK).map(|block| Stamp::identify(tag, block)));
}

fn write_whole(file: &File, region: &Region, first: u64, blocks: u64) -> io::Result<()> {
    whole(first, blocks, io::ErrorKind::WriteZero, |at, length, offset| {
        file_io::write_at(file, region.at(at), length, offset)
    })
}

fn read_whole(file: &File, region: &Region, first: u64, blocks: u64) -> io::Result<()> {
    whole(first, blocks, io::ErrorKind::UnexpectedEof, |at, length, offset| {
        file_io::read_at(file, region.at(at), length, offset)
    })
}

/// Repeats `transfer` of a part of the blocks until all of them are transferred.
fn whole(
    first: u64,
    blocks: u64,
    none: io::ErrorKind,
    transfer: impl Fn(usize, usize, u64) -> io::Result<usize>,
) -> io::Result<()> {
    let length = (blocks * PROOF_BLOCK.0) as usize;
    let mut done = 0;
    while done < length {
        match transfer(done, length - done, first * PROOF_BLOCK.0 + done as u64) {
            Ok(0) => return Err(none.into()),
            Ok(bytes) => done += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
