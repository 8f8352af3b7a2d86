//! Reads everything that a run wrote, and compares every byte of it.
//!
//! Four threads read 1 MiB at a time in ascending order and compare it; a fifth, that of the caller,
//! counts, and ends the wait for a drive that does not respond. No request of a load may be in flight.

use super::contents::{Contents, Verdict};
use super::written::Part;
use super::{HEADER_SPACING, Verification};
use crate::io_errors;
use crate::pool::Pool;
use ssdgauge_core::{Bytes, LostWrite, Nanos, Verified};
use ssdgauge_os::file_io::read_at;
use ssdgauge_os::memory::Region;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The length of a read, in bytes, and the number of reads in flight. Chosen: a drive reaches its rate
/// of sequential reads with 4 MiB in flight, and a slow one still shows progress.
const CHUNK: u64 = 1 << 20;
const THREADS: usize = 4;
/// The time without a completed read after which a drive counts as hung, as for a load; with a read of
/// 1 MiB that the kernel splits.
const SILENCE: Duration = Duration::from_secs(30);
/// The same once a stop was requested.
const STOP_TIMEOUT: Duration = Duration::from_secs(4);
/// The interval between two reports of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// The reads that may fail, of a block each: further ones would damage a failing drive and prove nothing
/// more.
const MAX_UNREADABLE: u64 = 100;

/// Why a verification has no verdict.
#[derive(Debug)]
pub enum VerifyError {
    /// No read was completed for this time.
    Hung(Nanos),
    /// Reads failed: the error of the first, or of the one too many.
    Io(io::Error),
}

/// A range that one read covers, and the part that it lies in.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    from: u64,
    to: u64,
    part: Part,
}

/// What the blocks of a chunk hold.
#[derive(Debug, Default)]
struct Counts {
    read: u64,
    bytes: u64,
    blocks: u64,
    skipped: u64,
    unreadable: u64,
    wrong: u64,
    /// The first wrong blocks.
    first: Vec<LostWrite>,
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
) -> Result<Option<Verified>, VerifyError> {
    let since = Instant::now();
    let parts: Arc<[Part]> = verification.parts(end).into();
    if parts.is_empty() {
        return Ok(None);
    }
    let total = parts.iter().map(|part| part.to - part.from).sum();
    let used = pool.written().map_or(0, |region| region.length());
    let length = pool_length.max(used);
    let contents = Contents::new(verification.clone(), pool.seed(), length, end);
    let readers = Readers {
        file: file.clone(),
        parts,
        contents: Arc::new(contents),
        next: Arc::default(),
        stops: Arc::default(),
    };
    let mut verified = readers.run(Bytes(total), progress)?;
    verified.elapsed = Nanos(since.elapsed().as_nanos() as u64);
    Ok(Some(verified))
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

/// What the reading threads share.
#[derive(Clone)]
struct Readers {
    file: Arc<File>,
    parts: Arc<[Part]>,
    contents: Arc<Contents>,
    /// The number of the next chunk.
    next: Arc<AtomicU64>,
    stops: Arc<AtomicBool>,
}

impl Readers {
    fn run(
        &self,
        total: Bytes,
        progress: &mut dyn FnMut(Bytes, Bytes) -> bool,
    ) -> Result<Verified, VerifyError> {
        let (sender, counted) = channel();
        for _ in 0..THREADS {
            let (readers, sender) = (self.clone(), sender.clone());
            let body = move || readers.read(&sender);
            // Threads that hang in a read are left behind, with their own references.
            let thread = std::thread::Builder::new().name("ssdgauge-verify".into());
            thread.spawn(body).map_err(VerifyError::Io)?;
        }
        drop(sender);
        let (mut sum, mut first) = (Counts::default(), BTreeMap::new());
        let (mut heard, mut shown) = (Instant::now(), None);
        loop {
            if shown.is_none_or(|at: Instant| at.elapsed() >= PROGRESS_INTERVAL) {
                shown = Some(Instant::now());
                if !progress(Bytes(sum.read), total) {
                    self.stops.store(true, Ordering::Relaxed);
                }
            }
            let limit = if self.stops.load(Ordering::Relaxed) { STOP_TIMEOUT } else { SILENCE };
            match counted.recv_timeout(PROGRESS_INTERVAL) {
                Ok(Ok(counts)) => {
                    heard = Instant::now();
                    add(&mut sum, &mut first, counts);
                    if sum.unreadable > MAX_UNREADABLE {
                        self.stops.store(true, Ordering::Relaxed);
                        let text = format!("{} blocks could not be read", sum.unreadable);
                        return Err(VerifyError::Io(io::Error::other(text)));
                    }
                }
                Ok(Err(error)) => {
                    self.stops.store(true, Ordering::Relaxed);
                    return Err(VerifyError::Io(error));
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if heard.elapsed() < limit => {}
                Err(RecvTimeoutError::Timeout) => {
                    self.stops.store(true, Ordering::Relaxed);
                    return Err(VerifyError::Hung(Nanos(heard.elapsed().as_nanos() as u64)));
                }
            }
        }
        progress(Bytes(sum.read), total);
        let Counts { bytes, blocks, skipped, wrong, .. } = sum;
        let first = first.into_iter().map(|(offset, found)| LostWrite { offset, found }).collect();
        let stopped = sum.read < total.0;
        Ok(Verified { bytes, blocks, skipped, wrong, first, elapsed: Nanos::ZERO, stopped })
    }

    /// Reads and compares chunks until none is left.
    fn read(&self, sender: &Sender<io::Result<Counts>>) {
        let mut region = match Region::new(CHUNK as usize) {
            Ok(region) => region,
            Err(error) => {
                let _ = sender.send(Err(error));
                return;
            }
        };
        while !self.stops.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = chunk_at(&self.parts, number) else { return };
            let result = self.compare(&mut region, &chunk);
            // Without a receiver the verification has ended.
            if sender.send(result).is_err() {
                return;
            }
        }
    }

    fn compare(&self, region: &mut Region, chunk: &Chunk) -> io::Result<Counts> {
        let length = (chunk.to - chunk.from) as usize;
        let mut counts = Counts { read: length as u64, ..Counts::default() };
        let whole = read_whole(&self.file, region, length, chunk.from);
        let is_readable = whole.is_ok();
        whole.or_else(only_media)?;
        for from in (chunk.from..chunk.to).step_by(HEADER_SPACING as usize) {
            let length = (chunk.to - from).min(HEADER_SPACING) as usize;
            let at = (from - chunk.from) as usize;
            let verdict = match is_readable {
                true => self.contents.judge(
                    &region.words_mut()[at / 8..(at + length) / 8],
                    from,
                    &chunk.part,
                ),
                // A failed read says nothing about the other blocks: each is read on its own.
                false => match read_whole(&self.file, region, length, from) {
                    Ok(()) => {
                        self.contents.judge(&region.words_mut()[..length / 8], from, &chunk.part)
                    }
                    Err(error) => {
                        let text = format!("nothing that can be read: {error}");
                        only_media(error)?;
                        counts.unreadable += 1;
                        Verdict::Wrong(text)
                    }
                },
            };
            counts.add(verdict, from, length as u64);
        }
        Ok(counts)
    }
}

impl Counts {
    fn add(&mut self, verdict: Verdict, offset: u64, length: u64) {
        match verdict {
            Verdict::Skipped => {
                self.skipped += 1;
                return;
            }
            Verdict::Right => {}
            Verdict::Wrong(found) => {
                self.wrong += 1;
                if self.first.len() < Verified::PLACES {
                    self.first.push(LostWrite { offset, found });
                }
            }
        }
        self.blocks += 1;
        self.bytes += length;
    }
}

/// Adds the counts of a chunk. Chunks end in any order, and the first places are those of the lowest
/// offsets.
fn add(sum: &mut Counts, first: &mut BTreeMap<u64, String>, counts: Counts) {
    sum.read += counts.read;
    sum.bytes += counts.bytes;
    sum.blocks += counts.blocks;
    sum.skipped += counts.skipped;
    sum.unreadable += counts.unreadable;
    sum.wrong += counts.wrong;
    first.extend(counts.first.into_iter().map(|place| (place.offset, place.found)));
    while first.len() > Verified::PLACES {
        first.pop_last();
    }
}

/// Returns the error unless it concerns the addressed blocks alone.
fn only_media(error: io::Error) -> io::Result<()> {
    match io_errors::concerns_one_address(&error) {
        true => Ok(()),
        false => Err(error),
    }
}

/// Reads `length` bytes; the rest behind a short read is read again, and a signal before any byte was
/// transferred is not an error of the drive.
fn read_whole(file: &File, region: &Region, length: usize, offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < length {
        match read_at(file, region.at(done), length - done, offset + done as u64) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => done += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
