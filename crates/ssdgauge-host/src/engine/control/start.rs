//! How the crew of a workload is made: a thread for each ring, or for each request in flight.

use super::{Crew, Thread};
use crate::clock::Clock;
use crate::engine::pace;
use crate::engine::tally::{Book, Message, Tally};
use crate::engine::uring::{self, Ring};
use crate::engine::{Assignment, Budget, Device, Order, synchronous, write_data};
use crate::sys;
use ssdgauge_core::{
    Access, Engine, Histogram, OpenLoopCount, RequestSource, Schedule, Stream, Until, Workload,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// What a thread says when it is ready to begin.
struct Ready {
    id: i32,
    setup: Result<String, String>,
}
/// Starts the threads of `workload` on `device`, all at one moment.
pub(super) fn start(
    device: &Device,
    workload: &Workload,
    engine: Engine,
    until: &Until,
    seed: u64,
    covering: bool,
) -> Result<Crew, String> {
    let clock = Clock::best();
    let order = Arc::new(Order::default());
    let (sender, messages) = channel();
    let mut threads = Vec::new();
    let mut gates = Vec::new();
    let mut setup = String::new();
    let mut counts = vec![OpenLoopCount::default(); workload.streams.len()];
    let processors = processors();
    let total: u32 = workload.streams.iter().map(|stream| crew_size(stream, engine)).sum();
    for (number, stream) in workload.streams.iter().enumerate() {
        let lane = seed ^ (number as u64) << 32;
        let writes = write_data(stream)?;
        let budget = budget(workload, until, stream);
        let size = crew_size(stream, engine);
        let depth = pace::slots(stream, size)
            .filter(|_| engine == Engine::IoUring)
            .unwrap_or(stream.total_depth() / size);
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
                writes: writes.clone(),
                order: order.clone(),
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
            let place = Place { thread: threads.len(), sender: sender.clone(), returned };
            spawn(assignment, engine, place, ready, opened)?;
            let answer = is_ready.recv().map_err(|_| "an I/O thread died".to_owned())?;
            setup = answer.setup?;
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
    let start = clock.now();
    let deadline = until.time.map_or(u64::MAX, |time| start + clock.ticks(time));
    for gate in gates {
        gate.send((start, deadline)).map_err(|_| "an I/O thread died".to_owned())?;
    }
    Ok(Crew {
        clock,
        start,
        clock_pair,
        processor_time: super::conclude::processor_time(),
        order,
        messages,
        threads,
        streams: workload.streams.clone(),
        setup,
        is_null: matches!(device, Device::Null),
        pending: BTreeMap::new(),
        emitted: 0,
        ios: [0; 2],
        busy: 0,
        faults: Vec::new(),
        counts,
        responses: vec![Histogram::default(); workload.streams.len()],
        silent_for: Duration::ZERO,
        silence: None,
        stopped: false,
        punted: false,
        stood_still: Duration::ZERO,
    })
}

/// The threads that a stream needs: one for each of its own, or for each request in flight.
fn crew_size(stream: &Stream, engine: Engine) -> u32 {
    match engine {
        Engine::IoUring => stream.threads,
        Engine::Synchronous => stream.total_depth(),
    }
}

fn budget(workload: &Workload, until: &Until, stream: &Stream) -> Option<Arc<Budget>> {
    // The planner allows a byte limit for single streams only.
    let bytes = until.bytes.filter(|_| workload.streams.len() == 1)?;
    let requests = bytes.0.div_ceil(stream.block_size.0);
    Some(Arc::new(Budget(AtomicU64::new(requests))))
}

struct Place {
    thread: usize,
    sender: Sender<Message>,
    returned: Receiver<Box<Tally>>,
}

fn spawn(
    mut assignment: Assignment,
    engine: Engine,
    place: Place,
    ready: Sender<Ready>,
    gate: Receiver<(u64, u64)>,
) -> Result<(), String> {
    let body = move || {
        pin(assignment.processor);
        let id = sys::thread_id();
        let ring = match engine {
            Engine::IoUring => match Ring::new(&assignment) {
                Ok(ring) => Some(ring),
                Err(error) => {
                    let _ = ready.send(Ready { id, setup: Err(error.to_string()) });
                    return;
                }
            },
            Engine::Synchronous => None,
        };
        let setup = ring.as_ref().map_or("one thread for each request".into(), Ring::setup);
        let _ = ready.send(Ready { id, setup: Ok(setup) });
        // A closed gate means that a sister could not start.
        let Ok((start, deadline)) = gate.recv() else { return };
        (assignment.start, assignment.deadline) = (start, deadline);
        let Place { thread, sender, returned } = place;
        let book = Book::open(thread, assignment.clock, start, sender, returned);
        match ring {
            Some(ring) => uring::run(assignment, ring, book),
            None => synchronous::run(assignment, book),
        }
    };
    std::thread::Builder::new()
        .name("ssdgauge-io".into())
        .stack_size(256 << 10)
        .spawn(body)
        .map(|_| ())
        .map_err(|error| format!("cannot start an I/O thread: {error}"))
}

/// Returns the processors that this process may use.
fn processors() -> Vec<usize> {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap_or_default();
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect()
}

fn pin(processor: Option<usize>) {
    if let Some(processor) = processor {
        let mut one = rustix::thread::CpuSet::new();
        one.set(processor);
        // A thread that cannot be pinned runs all the same.
        let _ = rustix::thread::sched_setaffinity(None, &one);
    }
}
