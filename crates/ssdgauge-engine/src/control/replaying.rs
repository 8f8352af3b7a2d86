//! Start of a replay: one I/O thread, supervised like those of a load.

use super::io_threads::{IoThread, IoThreads};
use crate::load::ring_flags::RingFlags;
use crate::load::{Device, StopSignal};
use crate::loops::replay::{self, Commands, ReplayAssignment, ReplayRing, SLOTS};
use crate::pool::Pool;
use crate::recorder::ThreadRecorder;
use crate::recorder::outcome::{Outcome, SentBy};
use crate::verification::Verification;
use ssdgauge_core::{Engine, OpenLoopCount, RecordedRequests, Replay, Sink};
use ssdgauge_os::clock::Clock;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;

/// The replay of a trace, its target, and what it needs.
#[derive(Debug)]
pub struct ReplayLoad<'a> {
    /// The target of the requests.
    pub device: &'a Device,
    /// The replay.
    pub replay: &'a Replay,
    /// The random data for writes.
    pub pool: &'a Pool,
    /// The numbers of the headers of writes.
    pub verification: &'a Verification,
    /// Set by the program to stop the whole run.
    pub stop_requested: &'a Arc<AtomicBool>,
}

/// Replays `requests` to their end.
///
/// # Errors
/// The cause in words, where the thread, its ring or its memory could not be had. No request was sent.
pub fn run_replay(
    load: &ReplayLoad<'_>,
    requests: Box<dyn RecordedRequests>,
    sink: &mut dyn Sink,
) -> Result<Outcome, String> {
    ssdgauge_os::thread::install_interrupt_handler();
    let mut io_threads = start(load, requests)?;
    io_threads.watch(sink);
    Ok(io_threads.conclude(Engine::IoUring, sink))
}

fn start(load: &ReplayLoad<'_>, requests: Box<dyn RecordedRequests>) -> Result<IoThreads, String> {
    let clock = Clock::best();
    let stop_signal = Arc::new(StopSignal::new(load.stop_requested));
    let longest = load.replay.longest.0.max(4_096) as usize;
    let writes = load.replay.workload.writes() && matches!(load.device, Device::File(_));
    // Twice the longest write, so that the next one finds room next to it.
    let pool = match writes {
        true => Some(load.pool.get(2 * longest.next_multiple_of(4_096))?),
        false => None,
    };
    let batches = replay::fetch(requests)
        .map_err(|error| format!("the thread that reads the trace cannot be started: {error}"))?;
    let mut assignment = ReplayAssignment {
        device: load.device.clone(),
        clock,
        batches,
        first: None,
        stop_signal: stop_signal.clone(),
        longest,
        end: load.replay.workload.end().0,
        pool,
        headers: load.verification.header_writer(0),
        start: 0,
    };
    let streams = &load.replay.workload.streams;
    let has_commands = streams.iter().any(|stream| !stream.operation.is_transfer());
    let commands = match load.device {
        Device::File(_) if has_commands => {
            let commands = Commands::start(load.device, clock);
            Some(commands.map_err(|error| format!("the threads of flushes and trims: {error}"))?)
        }
        Device::File(_) | Device::Null => None,
    };
    let (messages, received) = channel();
    let (returns, returned): (Vec<_>, Vec<_>) = streams.iter().map(|_| channel()).unzip();
    let (ready, is_ready) = channel();
    let (open_gate, gate) = channel::<u64>();
    let body = move || {
        // It spins before each due time, so that it keeps one processor; the last, as threads of
        // loads do.
        if let Some(processor) = ssdgauge_os::thread::allowed_processors().last() {
            ssdgauge_os::thread::pin(*processor);
        }
        assignment.first = assignment.batches.recv().ok();
        // After the first batch has been parsed: parsing takes no time of the replay.
        let ring = ReplayRing::new(&assignment.device, longest);
        let (ring, error) = match ring {
            Ok(ring) => (Some(ring), None),
            Err(error) => (None, Some(error)),
        };
        let _ = ready.send((ssdgauge_os::thread::thread_id(), error));
        let (Some(ring), Ok(start)) = (ring, gate.recv()) else { return };
        assignment.start = start;
        let recorders = returned.into_iter().enumerate().map(|(number, returned)| {
            ThreadRecorder::new(number, clock, start, messages.clone(), returned, None)
        });
        let recorders = recorders.collect();
        // The channel ends with the recorders.
        drop(messages);
        replay::run(assignment, ring, commands, recorders);
    };
    let thread = std::thread::Builder::new().name("ssdgauge-io".into());
    thread.spawn(body).map_err(|error| format!("the I/O thread cannot be started: {error}"))?;
    let (id, error) = is_ready.recv().map_err(|_| "an I/O thread panicked".to_owned())?;
    if let Some(error) = error {
        return Err(format!(
            "io_uring is not available ({error}), and no other engine replays traces"
        ));
    }
    let clock_pair = clock.pair();
    let processor_time = ssdgauge_os::process::cpu_time();
    let start = clock.now();
    open_gate.send(start).map_err(|_| "an I/O thread panicked".to_owned())?;
    // One thread records each stream as a thread of its own would.
    let threads = returns.into_iter().enumerate().map(|(stream, returns)| IoThread {
        stream,
        id,
        has_ring: true,
        watermark: 0,
        returns,
        ended: None,
    });
    let threads = threads.collect();
    let count = OpenLoopCount { slots: SLOTS, ..OpenLoopCount::default() };
    let commands = if has_commands { "; flushes and trims by threads of their own" } else { "" };
    Ok(IoThreads {
        processor_time,
        sent_by: SentBy::Ring(RingFlags::Plain),
        setup: format!("replay of a trace: plain flags, plain buffers, one thread{commands}"),
        open_loop_counts: vec![count; streams.len()],
        ..IoThreads::new((clock, start, clock_pair), stop_signal, received, threads, streams)
    })
}
