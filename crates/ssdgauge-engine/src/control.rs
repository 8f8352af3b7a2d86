//! The control thread: starts the I/O threads, merges their seconds and enforces every limit.
//!
//! It never sends a request: with a drive that hangs, seconds are still recorded, stops are still
//! carried out, and the run still ends. `start` starts the threads, `watch` runs until all of them
//! have ended, `conclude` makes the outcome.

mod conclude;
mod io_threads;
mod replaying;
pub(crate) mod ring_tuning;
mod sizing;
mod start;
mod watch;
mod write_data;

pub use replaying::{ReplayLoad, run_replay};

use crate::load::Load;
use crate::load::ring_flags::RingFlags;
use crate::recorder::outcome::Outcome;
use ssdgauge_core::{Engine, Finding, FindingKind, Severity, Sink};
use start::{SpawnError, start};
use std::io;

/// Runs a load until the first of its limits. Where the kernel refuses io_uring, synchronous
/// threads are used instead, and a finding reports it; polled completions and
/// pass-through have no such replacement.
///
/// # Errors
/// The cause in words, where the threads or their memory could not be had. No request was sent.
pub fn run(mut load: Load<'_>, sink: &mut dyn Sink) -> Result<Outcome, String> {
    // The control thread interrupts waiting threads by a signal whose default action is to end the
    // process.
    ssdgauge_os::thread::install_interrupt_handler();
    if let Some(log) = &mut load.log {
        log.begin(load.workload);
    }
    let requested = load.workload.engine;
    let (mut io_threads, engine) = match (start(&load, requested), requested) {
        (Ok(io_threads), engine) => (io_threads, engine),
        // No fallback: with interrupts, or through the block layer below, the results would be
        // those of another request path.
        (Err(SpawnError::Ring(cause)), _) if matches!(load.ring_flags, RingFlags::Polled(_)) => {
            return Err(format!("the kernel refuses a polled ring of io_uring ({cause})"));
        }
        (Err(SpawnError::Ring(cause)), _) if load.pass_through.is_some() => {
            return Err(format!("the kernel refuses a ring for NVMe commands ({cause})"));
        }
        (Err(SpawnError::Ring(cause)), Engine::IoUring) => {
            sink.finding(without_rings(&cause));
            let io_threads =
                start(&load, Engine::Synchronous).map_err(|error| error.to_string())?;
            (io_threads, Engine::Synchronous)
        }
        (Err(cause), Engine::IoUring | Engine::Synchronous) => return Err(cause.to_string()),
    };
    io_threads.watch(sink);
    if let Some(log) = load.log {
        io_threads.end_log(log, sink);
    }
    Ok(io_threads.conclude(engine, sink))
}

/// Returns the finding of a load that asks for io_uring where the kernel has none for this process; `None`
/// where it has. No request is sent.
pub fn check_rings() -> Option<Finding> {
    crate::loops::ring::try_one().err().map(|cause| without_rings(&cause))
}

fn without_rings(cause: &io::Error) -> Finding {
    let advice = ring_advice(cause);
    Finding::new(
        FindingKind::EngineFallback,
        Severity::Warning,
        format!("io_uring is not available ({cause}); synchronous threads are used instead"),
        format!("{advice}; results of the two engines are not comparable"),
    )
}

/// Returns which setting to change where the kernel refuses io_uring with this error.
fn ring_advice(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        // Before Linux 5.12, the memory of rings counts as locked memory of the user.
        Some(libc::ENOMEM) => "raise the limit of locked memory (ulimit -l)",
        Some(libc::ENOSYS) => "boot a kernel with io_uring, Linux 5.11 or later",
        Some(libc::EMFILE | libc::ENFILE) => "raise the limit of open files (ulimit -n)",
        Some(_) | None => {
            "allow io_uring (sysctl kernel.io_uring_disabled=0; in a container also its seccomp \
             profile)"
        }
    }
}
