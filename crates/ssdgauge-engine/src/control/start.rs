//! Start of the I/O threads: one per ring, or one per request in flight.
//!
//! Each thread allocates its ring and buffers first and then waits at a gate. The clock starts when
//! all of them are ready, so set-up time is in no result.

use super::io_threads::{IoThread, IoThreads};
use super::sizing::Sizing;
use super::write_data::WriteData;
use crate::load::namespace::Namespace;
use crate::load::pauses::Pauses;
use crate::load::request_log::ThreadLog;
use crate::load::{Assignment, Device, Load, RequestBudget, StopSignal};
use crate::loops::pass_through::{self, CommandRing};
use crate::loops::ring::Ring;
use crate::loops::synchronous;
use crate::loops::uring;
use crate::recorder::outcome::SentBy;
use crate::recorder::{IntervalRecord, Message, ThreadRecorder};
use crate::verification::Expected;
use ssdgauge_core::{Engine, OpenLoopCount, RequestSource, Schedule, Stream};
use ssdgauge_os::clock::Clock;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Why the I/O threads could not be started.
pub(super) enum SpawnError {
    /// The kernel refused a ring; the synchronous engine may still work.
    Ring(io::Error),
    /// A cause that affects either engine, in words.
    Other(String),
}

impl From<String> for SpawnError {
    fn from(cause: String) -> SpawnError {
        SpawnError::Other(cause)
    }
}

impl fmt::Display for SpawnError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpawnError::Ring(error) => error.fmt(formatter),
            SpawnError::Other(cause) => cause.fmt(formatter),
        }
    }
}

/// The report of a thread that is set up.
struct Ready {
    id: i32,
    setup: io::Result<(SentBy, String)>,
    /// Why buffers could not be registered.
    registration_error: Option<String>,
}

/// The channels and the log of one thread.
struct ThreadChannels {
    /// The number of the thread.
    thread: usize,
    messages: Sender<Message>,
    /// Emptied records, to be filled again.
    returned: Receiver<Box<IntervalRecord>>,
    log: Option<ThreadLog>,
    ready: Sender<Ready>,
    /// Start and deadline, in ticks.
    gate: Receiver<(u64, u64)>,
}

/// What the threads of a stream have in common.
struct StreamShare<'a> {
    stream: &'a Stream,
    /// The stream with the threads and slots that the engine gives it.
    sized: Stream,
    seed: u64,
    budget: Option<Arc<RequestBudget>>,
    expected: Option<Expected>,
    is_block: bool,
    /// Whether its requests are passed through.
    passes: bool,
}

impl<'a> StreamShare<'a> {
    fn new(
        load: &Load<'_>,
        (number, stream): (usize, &'a Stream),
        sizing: Sizing,
        budget: &Option<Arc<RequestBudget>>,
    ) -> StreamShare<'a> {
        let (threads, queue_depth) = (sizing.threads(stream), sizing.slots(stream));
        StreamShare {
            stream,
            sized: Stream { threads, queue_depth, ..stream.clone() },
            // Streams draw different numbers, whatever the numbers of their threads are.
            seed: load.seed ^ (number as u64) << 32,
            budget: budget.clone(),
            is_block: load.device.is_block(),
            passes: sizing.passes(stream),
            expected: load
                .verification
                .expect(stream.offset.0, (stream.offset + stream.span).0)
                .filter(|_| stream.reads() && matches!(load.device, Device::File(_))),
        }
    }

    /// Returns the assignment of thread `member` of the stream.
    fn assignment(
        &self,
        load: &Load<'_>,
        member: u32,
        clock: Clock,
        stop_signal: &Arc<StopSignal>,
        write_data: &mut WriteData<'_>,
    ) -> Assignment {
        let StreamShare { stream, sized, seed, .. } = self;
        let depth = sized.queue_depth as usize;
        Assignment {
            device: load.device.clone(),
            clock,
            source: match load.covering {
                true => RequestSource::covering(sized, *seed),
                false => RequestSource::new(sized, member, *seed),
            },
            block_size: stream.block_size.0 as usize,
            has_sizes: stream.has_sizes(),
            span_end: (stream.offset + stream.span).0,
            depth,
            read_slots: match load.device {
                Device::File(_) if stream.reads() => depth,
                Device::File(_) | Device::Null => 0,
            },
            sequential: stream.is_sequential(),
            write_buffer: write_data.next(stream, depth),
            expected: self.expected,
            ring_flags: load.ring_flags.for_stream(stream),
            namespace: load.pass_through.filter(|_| self.passes).cloned(),
            stop_signal: stop_signal.clone(),
            budget: self.budget.clone(),
            // Set when the gate opens.
            start: 0,
            deadline: 0,
            schedule: Schedule::new(sized, member, *seed)
                .zip(stream.arrival.per_second().map(|rate| rate / f64::from(sized.threads))),
            latency_clock: stream.clock,
            sync: stream.sync,
            commits: stream.flush_every.is_some() && stream.writes(),
            pauses: Pauses::new(stream, sized.queue_depth, clock),
            operation: stream.operation,
            is_block: self.is_block,
            processor: None,
        }
    }
}

/// Starts the threads of `load` with `engine`, all at one moment.
pub(super) fn start(load: &Load<'_>, engine: Engine) -> Result<IoThreads, SpawnError> {
    let streams = &load.workload.streams;
    let clock = Clock::best();
    let stop_signal = Arc::new(StopSignal::new(load.stop_requested));
    let (sender, messages) = channel();
    let (mut threads, mut gates) = (Vec::new(), Vec::new());
    let (mut sent_by, mut setup) = (SentBy::Calls, String::new());
    let mut registration_error = None;
    let sizing = Sizing::new(load, engine);
    let mut write_data = WriteData::new(load, sizing)?;
    let mut open_loop_counts = vec![OpenLoopCount::default(); streams.len()];
    let processors = ssdgauge_os::thread::allowed_processors();
    if let Some(missing) = load.workload.processor_missing(&processors) {
        return Err(SpawnError::Other(missing));
    }
    let has_chosen = streams.iter().any(|stream| !stream.cpus.is_empty());
    let total: u32 = streams.iter().map(|stream| sizing.threads(stream)).sum();
    let limit = load.until.bytes;
    let budget = limit.map(|bytes| Arc::new(RequestBudget::new(load.workload, bytes)));
    for (number, stream) in streams.iter().enumerate() {
        let share = StreamShare::new(load, (number, stream), sizing, &budget);
        let engine = sizing.engine(stream);
        open_loop_counts[number].slots = share.sized.queue_depth * share.sized.threads;
        for member in 0..share.sized.threads {
            let thread = threads.len();
            let mut assignment =
                share.assignment(load, member, clock, &stop_signal, &mut write_data);
            // Without a choice, pinned only where each thread has its own processor, from the last one
            // down, so that processor 0 is used last.
            let own = !has_chosen && total as usize <= processors.len();
            let own = own.then(|| processors[processors.len() - 1 - thread]);
            assignment.processor = stream.cpus.of_thread(member).or(own);
            let (returns, returned) = channel();
            let (open_gate, gate) = channel();
            let (ready, is_ready) = channel();
            let log = load.log.as_ref().map(|log| log.thread(number as u16, thread as u16, stream));
            let messages = sender.clone();
            let channels = ThreadChannels { thread, messages, returned, log, ready, gate };
            spawn(assignment, engine, channels).map_err(|error| {
                format!(
                    "only {thread} of {total} I/O threads could be started ({error}); allow more \
                     (ulimit -u, ulimit -v, the limit of the container) or request fewer"
                )
            })?;
            // One after the other: where a ring is refused, no further thread allocates its memory.
            let report = is_ready.recv().map_err(|_| "an I/O thread panicked".to_owned())?;
            // One of a ring states more than one of a thread that waits for each request.
            let report_of_thread = report.setup.map_err(SpawnError::Ring)?;
            if setup.is_empty() || engine == Engine::IoUring {
                (sent_by, setup) = report_of_thread;
            }
            registration_error = registration_error.or(report.registration_error);
            gates.push(open_gate);
            threads.push(IoThread {
                stream: number,
                id: report.id,
                has_ring: engine == Engine::IoUring,
                watermark: 0,
                returns,
                ended: None,
            });
        }
    }
    assert_eq!(threads.len(), total as usize, "one gate for each thread");
    // Every thread is at its gate: allocation and registration are over, and in no result.
    let clock_pair = clock.pair();
    // Before the first gate opens: with many threads, the first may end before the last starts.
    let processor_time = ssdgauge_os::process::cpu_time();
    let start = clock.now();
    let deadline = load.until.time.map_or(u64::MAX, |time| start + clock.ticks(time));
    for gate in gates {
        gate.send((start, deadline)).map_err(|_| "an I/O thread panicked".to_owned())?;
    }
    Ok(IoThreads {
        processor_time,
        sent_by,
        setup,
        registration_error,
        open_loop_counts,
        ..IoThreads::new((clock, start, clock_pair), stop_signal, messages, threads, streams)
    })
}

/// How a thread sends its requests.
enum Way {
    /// Through the block layer, by a ring.
    Ring(Ring),
    /// As commands to a namespace, by a ring.
    Commands(CommandRing, Namespace),
    /// By system calls that wait.
    Calls,
}

impl Way {
    /// Sets up what the thread of `assignment` sends its requests with.
    fn new(assignment: &mut Assignment, engine: Engine) -> io::Result<Way> {
        match (engine, assignment.namespace.take()) {
            (Engine::IoUring, None) => Ring::new(assignment).map(Way::Ring),
            (Engine::IoUring, Some(namespace)) => {
                let ring = CommandRing::new(assignment, &namespace)?;
                Ok(Way::Commands(ring, namespace))
            }
            (Engine::Synchronous, _) => Ok(Way::Calls),
        }
    }

    /// Returns what it is, and the setup for the engine report.
    fn setup(&self) -> (SentBy, String) {
        match self {
            Way::Ring(ring) => (SentBy::Ring(ring.flags()), ring.setup()),
            Way::Commands(ring, _) => (SentBy::Commands, ring.setup()),
            Way::Calls => (SentBy::Calls, "one thread per request in flight".into()),
        }
    }

    /// Returns why buffers could not be registered.
    fn registration_error(&self) -> Option<String> {
        match self {
            Way::Ring(ring) => ring.registration_error(),
            Way::Commands(..) | Way::Calls => None,
        }
    }
}

/// Starts one thread, which sets itself up, reports, and waits at its gate.
fn spawn(mut assignment: Assignment, engine: Engine, channels: ThreadChannels) -> io::Result<()> {
    let ThreadChannels { thread, messages, returned, log, ready, gate } = channels;
    let body = move || {
        if let Some(processor) = assignment.processor {
            ssdgauge_os::thread::pin(processor);
        }
        let id = ssdgauge_os::thread::thread_id();
        let way = match Way::new(&mut assignment, engine) {
            Ok(way) => way,
            Err(error) => {
                let _ = ready.send(Ready { id, setup: Err(error), registration_error: None });
                return;
            }
        };
        let registration_error = way.registration_error();
        let _ = ready.send(Ready { id, setup: Ok(way.setup()), registration_error });
        // A closed gate means that another thread could not start.
        let Ok((start, deadline)) = gate.recv() else { return };
        (assignment.start, assignment.deadline) = (start, deadline);
        let recorder =
            ThreadRecorder::new(thread, assignment.clock, start, messages, returned, log);
        match way {
            Way::Ring(ring) => uring::run(assignment, ring, recorder),
            Way::Commands(ring, namespace) => {
                pass_through::run(assignment, namespace, ring, recorder);
            }
            Way::Calls => synchronous::run(assignment, recorder),
        }
    };
    std::thread::Builder::new()
        .name("ssdgauge-io".into())
        // With the default of 2 MiB, hundreds of threads reach a limit of address space.
        .stack_size(256 << 10)
        .spawn(body)
        .map(|_| ())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::control::run;
    use crate::load::{Device, Load};
    use crate::{Pool, RingFlags, Verification};
    use ssdgauge_core::{Bytes, Engine, Nanos, Recording, Stream, Until, Workload};
    use std::fs;
    use std::sync::Arc;

    /// Runs three threads on `cpus` for half a second without a drive.
    fn run_on(cpus: &str) -> Result<u64, String> {
        let cpus = cpus.parse().unwrap();
        let stream = Stream { threads: 3, span: Bytes(1 << 20), cpus, ..Stream::default() };
        let load = Load {
            device: &Device::Null,
            workload: &Workload { engine: Engine::IoUring, streams: vec![stream] },
            until: &Until { time: Some(Nanos(500_000_000)), bytes: None },
            seed: 1,
            covering: false,
            pool: &Pool::default(),
            verification: &Verification::new(1),
            ring_flags: RingFlags::Plain,
            pass_through: None,
            stop_requested: &Arc::default(),
            log: None,
        };
        let outcome = run(load, &mut Recording::default());
        outcome.map(|outcome| outcome.ios[0]).map_err(|error| error.to_string())
    }

    /// Returns the I/O threads of this process that may run on `processor` only.
    fn pinned_to(processor: &str) -> usize {
        let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
        let statuses = tasks.filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
        let list = format!("\nCpus_allowed_list:\t{processor}\n");
        statuses.filter(|one| one.contains("ssdgauge-io") && one.contains(&list)).count()
    }

    #[test]
    fn threads_run_on_the_processors_of_their_stream_and_one_that_is_missing_is_named() {
        // Without a choice it is used last, and by one thread of a load at most.
        let first = ssdgauge_os::thread::allowed_processors()[0].to_string();
        let most = std::thread::scope(|scope| {
            let load = scope.spawn(|| run_on(&first));
            let mut most = 0;
            while !load.is_finished() {
                most = most.max(pinned_to(&first));
            }
            assert!(load.join().unwrap().unwrap() > 0);
            most
        });
        assert!(most >= 3, "{most} threads on processor {first}");
        let refused = run_on(&format!("{first},8191")).unwrap_err();
        assert!(refused.contains("'main' run on processor 8191"), "{refused}");
    }
}
