//! How the io_threads of a workload is made: a thread for each ring, or for each request in flight.

use super::io_threads::{IoThreads, Thread};
use super::sizing::{crew_size, slots};
use super::write_data::Inks;
use crate::load::Assignment;
use crate::load::Budget;
use crate::load::Device;
use crate::load::Load;
use crate::load::StopSignal;
use crate::recorder::{IntervalRecord, Message, ThreadRecorder};
use crate::request_log::LogPage;
use crate::ring::Ring;
use crate::ring_flags::RingFlags;
use crate::synchronous;
use crate::uring;
use ssdgauge_core::{
    Access, Arrival, Engine, Histogram, OpenLoopCount, RequestSource, Schedule, Stream, Until,
    Workload,
};
use ssdgauge_os::clock::Clock;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Why a io_threads could not be made.
pub(super) enum SpawnError {
    /// The kernel has no ring to give.
    Ring(io::Error),
    /// Whatever would stop every engine, in words.
    Other(String),
}

impl From<String> for SpawnError {
    fn from(cause: String) -> SpawnError {
        SpawnError::Other(cause)
    }
}

impl SpawnError {
    /// Returns the cause in words.
    pub(super) fn words(self) -> String {
        match self {
            SpawnError::Ring(error) => error.to_string(),
            SpawnError::Other(cause) => cause,
        }
    }
}

/// What a thread says when it is ready to begin.
struct Ready {
    id: i32,
    setup: io::Result<String>,
    /// Why buffers could not be registered.
    refusal: Option<String>,
}

/// Starts the threads of `load` with `engine`, all at one moment.
pub(super) fn start(load: &Load<'_>, engine: Engine) -> Result<IoThreads, SpawnError> {
    let Load { device, workload, until, seed, covering, .. } = *load;
    let clock = Clock::best();
    let stop_signal = Arc::new(StopSignal::new(load.stop_requested));
    let (sender, messages) = channel();
    let mut threads = Vec::new();
    let mut gates = Vec::new();
    let (mut setup, mut refusal) = (String::new(), None);
    let mut inks = Inks::new(load, engine)?;
    let mut counts = vec![OpenLoopCount::default(); workload.streams.len()];
    let processors = ssdgauge_os::thread::allowed_processors();
    let total: u32 = workload.streams.iter().map(|stream| crew_size(stream, engine)).sum();
    for (number, stream) in workload.streams.iter().enumerate() {
        let lane = seed ^ (number as u64) << 32;
        let budget = budget(workload, until, stream);
        let size = crew_size(stream, engine);
        let depth = slots(stream, engine);
        let expected = load
            .verification
            .expect(stream.offset.0, (stream.offset + stream.span).0)
            .filter(|_| stream.reads() && matches!(device, Device::File(_)));
        counts[number].slots = depth * size;
        let shared = Stream { threads: size, queue_depth: depth, ..stream.clone() };
        for member in 0..size {
            let assignment = Assignment {
                device: device.clone(),
                clock,
                source: match covering {
                    true => RequestSource::covering(&shared, lane),
                    false => RequestSource::new(&shared, member, lane),
                },
                block_size: stream.block_size.0 as usize,
                depth: depth as usize,
                sequential: stream.access == Access::Sequential,
                write_buffer: inks.next(stream, depth as usize),
                expected,
                // Deferred completions would wait for the next due time.
                ring_flags: match stream.arrival {
                    Arrival::Closed => load.ring_flags,
                    Arrival::Uniform { .. } | Arrival::Poisson { .. } => RingFlags::Plain,
                },
                stop_signal: stop_signal.clone(),
                budget: budget.clone(),
                start: 0,
                deadline: 0,
                schedule: Schedule::new(&shared, member, lane)
                    .zip(stream.arrival.per_second().map(|rate| rate / f64::from(size))),
                sync: stream.sync,
                // Pinned where each thread has a processor of its own; never shared ones.
                processor: (total as usize <= processors.len())
                    .then(|| processors[processors.len() - 1 - threads.len()]),
            };
            let (back, returned) = channel();
            let (gate, opened) = channel();
            let (ready, is_ready) = channel();
            let thread = threads.len();
            let log = load
                .log
                .as_ref()
                .map(|log| log.page(number as u16, thread as u16, stream.block_size.0 as u32));
            let place = Place { thread, sender: sender.clone(), returned, log };
            spawn(assignment, engine, place, ready, opened).map_err(|error| {
                format!(
                    "only {thread} of {total} I/O threads could be started ({error}); allow more \
                     (ulimit -u, ulimit -v, the limit of the container) or ask for fewer"
                )
            })?;
            let answer = is_ready.recv().map_err(|_| "an I/O thread died".to_owned())?;
            setup = answer.setup.map_err(SpawnError::Ring)?;
            refusal = refusal.or(answer.refusal);
            gates.push(gate);
            threads.push(Thread {
                stream: number,
                id: answer.id,
                kickable: engine == Engine::IoUring,
                front: 0,
                back,
                ended: None,
            });
        }
    }
    let clock_pair = clock.pair();
    // Before the first thread may begin: with many of them, some end before the last is let go.
    let processor_time = ssdgauge_os::process::cpu_time();
    let start = clock.now();
    let deadline = until.time.map_or(u64::MAX, |time| start + clock.ticks(time));
    for gate in gates {
        gate.send((start, deadline)).map_err(|_| "an I/O thread died".to_owned())?;
    }
    Ok(IoThreads {
        clock,
        start,
        clock_pair,
        processor_time,
        stop_signal,
        messages,
        threads,
        streams: workload.streams.clone(),
        setup,
        refusal,
        pending: BTreeMap::new(),
        emitted: 0,
        ios: [0; 2],
        busy: 0,
        faults: Vec::new(),
        counts,
        responses: vec![Histogram::default(); workload.streams.len()],
        silent_for: Duration::ZERO,
        silence: None,
        unlogged: 0,
        stopped: false,
        punted: false,
    })
}

fn budget(workload: &Workload, until: &Until, stream: &Stream) -> Option<Arc<Budget>> {
    // The planner allows a byte limit for single streams only.
    let bytes = until.bytes.filter(|_| workload.streams.len() == 1)?;
    let requests = bytes.0.div_ceil(stream.block_size.0);
    Some(Arc::new(Budget::new(requests)))
}

struct Place {
    thread: usize,
    sender: Sender<Message>,
    returned: Receiver<Box<IntervalRecord>>,
    log: Option<LogPage>,
}

fn spawn(
    mut assignment: Assignment,
    engine: Engine,
    place: Place,
    ready: Sender<Ready>,
    gate: Receiver<(u64, u64)>,
) -> io::Result<()> {
    let body = move || {
        if let Some(processor) = assignment.processor {
            ssdgauge_os::thread::pin(processor);
        }
        let id = ssdgauge_os::thread::thread_id();
        let ring = match engine {
            Engine::IoUring => match Ring::new(&assignment) {
                Ok(ring) => Some(ring),
                Err(error) => {
                    let _ = ready.send(Ready { id, setup: Err(error), refusal: None });
                    return;
                }
            },
            Engine::Synchronous => None,
        };
        let setup = ring.as_ref().map_or("one thread for each request".into(), Ring::setup);
        let refusal = ring.as_ref().and_then(Ring::refusal);
        let _ = ready.send(Ready { id, setup: Ok(setup), refusal });
        // A closed gate means that a sister could not start.
        let Ok((start, deadline)) = gate.recv() else { return };
        (assignment.start, assignment.deadline) = (start, deadline);
        let Place { thread, sender, returned, log } = place;
        let recorder = ThreadRecorder::open(thread, assignment.clock, start, sender, returned, log);
        match ring {
            Some(ring) => uring::run(assignment, ring, recorder),
            None => synchronous::run(assignment, recorder),
        }
    };
    std::thread::Builder::new()
        .name("ssdgauge-io".into())
        .stack_size(256 << 10)
        .spawn(body)
        .map(|_| ())
}
