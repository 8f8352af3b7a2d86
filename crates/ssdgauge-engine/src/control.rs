//! The control thread: starts the I/O threads, merges their seconds, and owns every limit.
//!
//! It never touches the drive: whatever the drive does, seconds are recorded, stops are honoured
//! and the run goes on to its end or to a clear error. `start` makes the io_threads, `watch` goes on
//! until all of it has ended, `conclude` says what came of it.

mod conclude;
mod start;
mod watch;

use crate::load::Load;
use crate::load::StopSignal;
use crate::pace::Lag;
use crate::recorder::{Fault, IntervalRecord, Message};
use crate::request_log::Log;
use ssdgauge_core::{
    EndedBy, Engine, EngineReport, Finding, FindingKind, Histogram, Nanos, OpenLoopCount, Severity,
    Sink, Stream,
};
use ssdgauge_os::clock::Clock;
use start::{SpawnError, start};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

/// What a workload came to.
#[derive(Debug)]
pub struct Outcome {
    /// The limit that ended it.
    pub by: EndedBy,
    /// From the first submission to the last completion.
    pub elapsed: Nanos,
    /// How the engine was set up and what it achieved.
    pub report: EngineReport,
    /// Completed reads and writes.
    pub ios: [u64; 2],
    /// The first faults, each with its second.
    pub faults: Vec<(u32, Fault)>,
    /// The drive did not answer for this long and was given up.
    pub silence: Option<Nanos>,
}

/// Runs a load to the first of its limits. Where the kernel has no ring to give, the synchronous
/// engine stands in, with a finding.
pub fn run(mut load: Load<'_>, sink: &mut dyn Sink) -> Result<Outcome, String> {
    ssdgauge_os::thread::allow_kicks();
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

/// The I/O threads of a workload and what is known of them.
struct IoThreads {
    clock: Clock,
    start: u64,
    clock_pair: (u64, u64),
    processor_time: u64,
    stop_signal: Arc<StopSignal>,
    messages: Receiver<Message>,
    threads: Vec<Thread>,
    streams: Vec<Stream>,
    setup: String,
    refusal: Option<String>,
    pending: BTreeMap<u32, Vec<[IntervalBucket; 2]>>,
    emitted: u32,
    ios: [u64; 2],
    busy: u128,
    faults: Vec<(u32, Fault)>,
    counts: Vec<OpenLoopCount>,
    /// The latencies of open-loop streams over the whole step.
    responses: Vec<Histogram>,
    silent_for: Duration,
    silence: Option<Nanos>,
    /// Requests that could not be logged.
    unlogged: u64,
    stopped: bool,
    punted: bool,
}

/// One second of one stream and direction while threads still add to it.
#[derive(Clone, Default)]
struct IntervalBucket {
    latency: Histogram,
    errors: u64,
}

struct Thread {
    stream: usize,
    id: i32,
    kickable: bool,
    front: u32,
    back: Sender<Box<IntervalRecord>>,
    ended: Option<End>,
}

struct End {
    enters: u64,
    tick: u64,
    failure: Option<String>,
    used_up: bool,
    lag: Option<Lag>,
}
