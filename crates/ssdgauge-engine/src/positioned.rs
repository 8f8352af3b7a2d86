//! Threads that send positioned requests outside of the measured loads of the engine: each carries out a
//! body, which sends one request, waits for it, and counts it.
//!
//! `timed`, `stamped` and `verification` have the bodies. The caller sends no request itself, so that a
//! drive that hangs cannot block it.

mod silence;
pub mod stamped;
pub mod timed;
pub mod transfer;

use crate::request_error::RequestError;
use silence::Silence;
use ssdgauge_core::Bytes;
use ssdgauge_os::thread;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The time without a completed request after which a drive counts as hung: the limit of a flush, twice the limit of
/// any other request, as Linux allows SCSI drives (`SD_FLUSH_TIMEOUT_MULTIPLIER`).
pub const FLUSH_LIMIT: Duration = Duration::from_secs(60);

/// What the threads of a body share. Nothing of it is ordered with the requests, so that counting
/// them costs a thread no wait.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// The number of the next piece of work.
    next: AtomicU64,
    /// What has completed, in the unit of the body.
    done: AtomicU64,
    stops: AtomicBool,
}

impl Shared {
    /// Returns the number of the next piece of work, from 0 on; `None` once the threads have to end.
    pub(crate) fn next(&self) -> Option<u64> {
        (!self.stops()).then(|| self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Counts `amount` as completed: a drive that completes nothing for long counts as hung.
    pub(crate) fn completed(&self, amount: u64) {
        self.done.fetch_add(amount, Ordering::Relaxed);
    }

    /// Returns whether the threads have to end.
    pub(crate) fn stops(&self) -> bool {
        self.stops.load(Ordering::Relaxed)
    }

    /// Ends all threads, each after its request in flight.
    pub(crate) fn stop(&self) {
        self.stops.store(true, Ordering::Relaxed);
    }
}

/// What the threads of a body returned.
pub(crate) struct Ended<T> {
    /// The results, by the number of the thread.
    pub(crate) parts: Vec<T>,
    /// Whether `go_on` ended them.
    pub(crate) stopped: bool,
}

impl<T> Ended<T> {
    /// Returns the results; `None` where `go_on` ended the threads.
    pub(crate) fn unless_stopped(self) -> Option<Vec<T>> {
        (!self.stopped).then_some(self.parts)
    }
}

/// Carries out `body` in `threads` threads, at least one, each with its number; the first error ends all of
/// them. `go_on` takes what has completed fifty times a second, and returns false to end them.
///
/// # Errors
/// That of a body; [`RequestError::Hung`] where nothing completes for `limit`.
pub(crate) fn carry_out<T: Send + 'static>(
    file: &Arc<File>,
    threads: u64,
    limit: Duration,
    go_on: &mut dyn FnMut(u64) -> bool,
    body: impl Fn(&File, &Shared, u64) -> Result<T, RequestError> + Send + Sync + 'static,
) -> Result<Ended<T>, RequestError> {
    let shared = Arc::new(Shared::default());
    let of_threads = Arc::clone(&shared);
    let work = move |file: &File| {
        Ok(side_by_side(threads, |slot| body(file, &of_threads, slot), &of_threads))
    };
    let mut silence = Silence::begin(limit);
    let mut stopped = false;
    let waits = || {
        let done = shared.done.load(Ordering::Relaxed);
        silence.note(done);
        if !stopped && !go_on(done) {
            stopped = true;
            shared.stop();
            silence.stop();
        }
        silence.is_short()
    };
    // A request to a drive that hangs cannot be cancelled: the threads are then left behind, with
    // references of their own to all that they use.
    match thread::within_while(file, work, waits) {
        None => {
            // Those that do not hang must not send more.
            shared.stop();
            Err(RequestError::Hung(silence.length()))
        }
        Some(Err(cause)) => Err(RequestError::NotSent { what: "no threads", cause }),
        Some(Ok(parts)) => Ok(Ended { parts: parts?, stopped }),
    }
}

/// Calls `body` for each slot in a thread of its own: the last one in this thread. Where a thread cannot be
/// started, those that run are ended.
fn side_by_side<T: Send>(
    threads: u64,
    body: impl Fn(u64) -> Result<T, RequestError> + Sync,
    shared: &Shared,
) -> Result<Vec<T>, RequestError> {
    let body = |slot| {
        body(slot).inspect_err(|_| {
            // The first error ends the others.
            shared.stop();
        })
    };
    std::thread::scope(|scope| {
        let last = threads.max(1) - 1;
        let body = &body;
        let start = |slot| std::thread::Builder::new().spawn_scoped(scope, move || body(slot));
        let mut others = Vec::new();
        let mut own = None;
        for slot in 0..last {
            match start(slot) {
                Ok(other) => others.push(other),
                Err(cause) => {
                    shared.stop();
                    own = Some(Err(RequestError::NotSent { what: "no threads", cause }));
                    break;
                }
            }
        }
        let own = own.unwrap_or_else(|| body(last));
        let joined = others.into_iter().map(|other| match other.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        // All are joined before the first error is returned.
        joined.chain([own]).collect::<Vec<_>>().into_iter().collect()
    })
}

/// Flushes `file`, and waits for it as long as `limit`. `go_on` returns false to shorten the wait: a flush
/// cannot be recalled.
///
/// # Errors
/// The flush fails, or does not complete in time.
pub fn flush(
    file: &Arc<File>,
    limit: Duration,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(), RequestError> {
    let body = |file: &File, _: &Shared, _| transfer::flush(file);
    carry_out(file, 1, limit, &mut |_| go_on(), body).map(|_| ())
}

/// Returns how many of the blocks of `length` bytes at `places` hold only zeros, read one by one within
/// `limit`.
///
/// # Errors
/// A read fails, or all of them take longer.
pub fn count_zero_blocks(
    file: &Arc<File>,
    length: Bytes,
    places: Vec<u64>,
    limit: Duration,
) -> Result<u64, RequestError> {
    let body = move |file: &File, _: &Shared, _| {
        let mut region = transfer::buffer(length.0 as usize)?;
        let mut count = 0;
        for place in &places {
            transfer::read(file, &region, length.0 as usize, *place)?;
            count += u64::from(region.bytes().iter().all(|byte| *byte == 0));
        }
        Ok(count)
    };
    let ended = carry_out(file, 1, limit, &mut |_| true, body)?;
    Ok(ended.parts.into_iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Direction;

    fn file() -> Arc<File> {
        Arc::new(tempfile::tempfile().unwrap())
    }

    fn failed() -> RequestError {
        let cause = std::io::Error::from_raw_os_error(libc::EIO);
        RequestError::Failed { direction: Direction::Read, offset: 7, cause }
    }

    #[test]
    fn the_results_have_the_order_of_the_threads_and_each_piece_is_carried_out_once() {
        let body = |_: &File, shared: &Shared, slot| {
            let pieces: Vec<u64> =
                std::iter::from_fn(|| shared.next().filter(|piece| *piece < 1_000)).collect();
            Ok((slot, pieces))
        };
        let ended = carry_out(&file(), 5, Duration::from_secs(60), &mut |_| true, body).unwrap();
        assert!(!ended.stopped);
        assert!(ended.parts.iter().map(|(slot, _)| *slot).eq(0..5));
        let mut pieces: Vec<u64> = ended.parts.into_iter().flat_map(|(_, pieces)| pieces).collect();
        pieces.sort_unstable();
        assert!(pieces.into_iter().eq(0..1_000));
    }

    #[test]
    fn the_first_error_ends_the_others_and_is_returned() {
        let body = |_: &File, shared: &Shared, slot| {
            if slot == 2 {
                return Err(failed());
            }
            while !shared.stops() {
                std::thread::yield_now();
            }
            Ok(())
        };
        let ended = carry_out(&file(), 4, Duration::from_secs(60), &mut |_| true, body);
        assert!(matches!(ended, Err(RequestError::Failed { offset: 7, .. })));
    }

    #[test]
    fn a_request_that_hangs_leaves_its_thread_behind_and_ends_the_others() {
        let ends = Arc::new(AtomicBool::new(false));
        let (end, others) = (Arc::clone(&ends), Arc::new(AtomicU64::new(0)));
        let ended_others = Arc::clone(&others);
        let body = move |_: &File, shared: &Shared, slot| {
            // Thread 0 is in a request that does not return.
            while if slot == 0 { !end.load(Ordering::Relaxed) } else { !shared.stops() } {
                std::thread::yield_now();
            }
            ended_others.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        let limit = Duration::from_millis(50);
        let ended = carry_out(&file(), 3, limit, &mut |_| true, body);
        assert!(matches!(ended, Err(RequestError::Hung(silence)) if silence.0 >= 50_000_000));
        while others.load(Ordering::Relaxed) < 2 {
            std::thread::yield_now();
        }
        ends.store(true, Ordering::Relaxed);
    }

    #[test]
    fn a_stop_ends_the_threads_and_is_reported() {
        let body = |_: &File, shared: &Shared, _| {
            while !shared.stops() {
                std::thread::yield_now();
            }
            Ok(())
        };
        let ended = carry_out(&file(), 3, Duration::from_secs(60), &mut |_| false, body).unwrap();
        assert!(ended.unless_stopped().is_none());
    }
}
