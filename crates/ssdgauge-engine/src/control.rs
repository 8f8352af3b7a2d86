//! The control thread: starts the I/O threads, merges their seconds, and owns every limit.
//!
//! It never touches the drive: whatever the drive does, seconds are recorded, stops are honoured
//! and the run goes on to its end or to a clear error. `start` makes the io_threads, `watch` goes on
//! until all of it has ended, `conclude` says what came of it.

mod conclude;
mod io_threads;
mod sizing;
mod start;
mod watch;
mod write_data;

use crate::load::Load;
use crate::outcome::Outcome;
use ssdgauge_core::{Engine, Finding, FindingKind, Severity, Sink};
use start::{SpawnError, start};
use std::io;

/// Runs a load to the first of its limits. Where the kernel has no ring to give, the synchronous
/// engine stands in, with a finding.
pub fn run(mut load: Load<'_>, sink: &mut dyn Sink) -> Result<Outcome, String> {
    ssdgauge_os::thread::install_interrupt_handler();
    if let Some(log) = &mut load.log {
        log.begin(load.workload);
    }
    let asked = load.workload.engine;
    let (mut io_threads, engine) = match (start(&load, asked), asked) {
        (Ok(io_threads), engine) => (io_threads, engine),
        (Err(SpawnError::Ring(cause)), Engine::IoUring) => {
            let advice = what_to_change(&cause);
            sink.finding(Finding::new(
                FindingKind::EngineFallback,
                Severity::Warning,
                format!("io_uring is not available ({cause}); synchronous threads stood in"),
                format!("{advice}; results of the two engines are not comparable"),
            ));
            let io_threads = start(&load, Engine::Synchronous).map_err(SpawnError::words)?;
            (io_threads, Engine::Synchronous)
        }
        (Err(cause), Engine::IoUring | Engine::Synchronous) => return Err(cause.words()),
    };
    io_threads.watch(sink);
    if let Some(log) = load.log {
        io_threads.tell_log(log, sink);
    }
    Ok(io_threads.conclude(engine, sink))
}

/// Returns what to change where the kernel gives no ring.
fn what_to_change(refusal: &io::Error) -> &'static str {
    match refusal.raw_os_error() {
        Some(libc::ENOMEM) => "raise the limit of locked memory (ulimit -l)",
        Some(libc::ENOSYS) => "boot a kernel with io_uring, Linux 5.11 or later",
        Some(libc::EMFILE | libc::ENFILE) => "raise the limit of open files (ulimit -n)",
        Some(_) | None => {
            "allow io_uring (sysctl kernel.io_uring_disabled=0; in a container also its seccomp \
             profile)"
        }
    }
}
