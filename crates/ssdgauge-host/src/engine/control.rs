//! The control thread: starts the I/O threads, merges their seconds, and owns every limit.
//!
//! It never touches the drive: whatever the drive does, seconds are recorded, stops are honoured
//! and the run goes on to its end or to a clear error.

use super::pace::{self, Lag};
use super::tally::{Book, Fault, Message, Tally};
use super::uring::{self, Ring};
use super::{Assignment, Budget, Device, Order, synchronous, write_data};
use crate::clock::{Clock, MOST_DRIFT};
use crate::sys;
use rustix::time::{ClockId, clock_gettime};
use ssdgauge_core::{
    Access, Direction, EndedBy, Engine, EngineReport, Finding, FindingKind, Histogram, Interval,
    Nanos, OpenLoop, OpenLoopCount, RequestSource, Schedule, Severity, Sink, Stream, Until,
    Workload,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How often the control thread looks around when nobody tells it anything.
const LOOK: Duration = Duration::from_millis(20);
/// How long a drive may be silent before it is given up.
const SILENCE: Duration = Duration::from_secs(30);
/// How long a drive may take to finish what is in flight after a stop.
const DRAIN: Duration = Duration::from_secs(4);
/// The most faults that are kept with their places.
const MOST_KEPT: usize = 1_000;
/// How late a thread may be with its second before it is woken.
const LATE: Duration = Duration::from_millis(50);

/// What a workload came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) by: EndedBy,
    pub(crate) elapsed: Nanos,
    pub(crate) report: EngineReport,
    pub(crate) ios: [u64; 2],
    /// The first faults, each with its second.
    pub(crate) faults: Vec<(u32, Fault)>,
    /// The drive did not answer for this long and was given up.
    pub(crate) silence: Option<Nanos>,
}

/// Runs `workload` on `device` to the first limit of `until`.
///
/// `covering` replaces random offsets by a permutation that leaves no block out. Where the kernel
/// has no ring to give, the synchronous engine stands in, with a finding.
pub(crate) fn run(
    device: &Device,
    workload: &Workload,
    until: &Until,
    seed: u64,
    covering: bool,
    sink: &mut dyn Sink,
) -> Result<Outcome, String> {
    sys::allow_kicks();
    let started = start(device, workload, workload.engine, until, seed, covering);
    let (mut crew, engine) = match (started, workload.engine) {
        (Ok(crew), engine) => (crew, engine),
        (Err(cause), Engine::Synchronous) => return Err(cause),
        (Err(cause), Engine::IoUring) => {
            sink.finding(Finding::new(
                FindingKind::EngineFallback,
                Severity::Warning,
                format!("io_uring is not available ({cause}); synchronous threads stood in"),
                "allow io_uring (sysctl kernel.io_uring_disabled=0), or raise the limit of locked \
                 memory; results of the two engines are not comparable",
            ));
            let crew = start(device, workload, Engine::Synchronous, until, seed, covering)?;
            (crew, Engine::Synchronous)
        }
    };
    crew.watch(sink);
    Ok(crew.conclude(engine, sink))
}

/// The I/O threads of a workload and what is known of them.
struct Crew {
    clock: Clock,
    start: u64,
    clock_pair: (u64, u64),
    processor_time: u64,
    order: Arc<Order>,
    messages: Receiver<Message>,
    threads: Vec<Thread>,
    streams: Vec<Stream>,
    setup: String,
    is_null: bool,
    pending: BTreeMap<u32, Vec<[Page; 2]>>,
    emitted: u32,
    ios: [u64; 2],
    busy: u128,
    faults: Vec<(u32, Fault)>,
    counts: Vec<OpenLoopCount>,
    /// The latencies of open-loop streams over the whole step.
    responses: Vec<Histogram>,
    silent_for: Duration,
    silence: Option<Nanos>,
    stopped: bool,
    punted: bool,
}

/// One second of one stream and direction while threads still add to it.
#[derive(Clone, Default)]
struct Page {
    latency: Histogram,
    errors: u64,
}

struct Thread {
    stream: usize,
    id: i32,
    kickable: bool,
    front: u32,
    back: Sender<Box<Tally>>,
    ended: Option<End>,
}

struct End {
    enters: u64,
    tick: u64,
    failure: Option<String>,
    used_up: bool,
    lag: Option<Lag>,
}

/// What a thread says when it is ready to begin.
struct Ready {
    id: i32,
    setup: Result<String, String>,
}

fn start(
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
        processor_time: processor_time(),
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

impl Crew {
    /// Takes in what the threads report until all of them have ended, or the drive is given up.
    fn watch(&mut self, sink: &mut dyn Sink) {
        let mut looked = Instant::now();
        let mut stop_since: Option<Instant> = None;
        while self.threads.iter().any(|thread| thread.ended.is_none()) {
            match self.messages.recv_timeout(LOOK) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let since = looked.elapsed();
            if since < LOOK {
                continue;
            }
            looked = Instant::now();
            self.note_silence(since);
            self.emit(sink);
            self.wake_late_threads();
            if !self.stopped && sink.stop() {
                self.stopped = true;
                stop_since = Some(looked);
                self.order.stop();
                self.wake_all();
            }
            let overdue = stop_since.is_some_and(|since| since.elapsed() > DRAIN);
            if self.silent_for > SILENCE || overdue {
                self.give_up();
                return;
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Second { thread, second, front, mut tally } => {
                let streams = self.streams.len();
                let pages = self
                    .pending
                    .entry(second)
                    .or_insert_with(|| vec![<[Page; 2]>::default(); streams]);
                let pages = &mut pages[self.threads[thread].stream];
                let mut seen = 0;
                for (page, side) in pages.iter_mut().zip(&mut tally.sides) {
                    seen += side.latency.count() + side.errors;
                    side.latency.drain_into(&mut page.latency);
                    page.errors += std::mem::take(&mut side.errors);
                }
                if let Some(beside) = &mut tally.beside {
                    beside.drain_into(&mut self.counts[self.threads[thread].stream]);
                }
                if seen > 0 {
                    self.silent_for = Duration::ZERO;
                }
                self.threads[thread].front = front;
                // A thread that has ended does not want its tally back.
                let _ = self.threads[thread].back.send(tally);
            }
            Message::Fault { second, fault } => {
                if self.faults.len() < MOST_KEPT {
                    self.faults.push((second, fault));
                }
            }
            Message::Done { thread, enters, end, failure, used_up, pace } => {
                let count = &mut self.counts[self.threads[thread].stream];
                count.sent += pace.sent;
                count.unsent += pace.unsent;
                let end = End { enters, tick: end, failure, used_up, lag: pace.lag };
                self.threads[thread].ended = Some(end);
            }
        }
    }

    /// Counts silence by the turns of this loop, so that a stopped process blames no drive.
    fn note_silence(&mut self, since: Duration) {
        self.silent_for += since.min(Duration::from_secs(1));
    }

    fn front(&self) -> u32 {
        self.threads.iter().map(|thread| thread.front).min().unwrap_or(0)
    }

    /// Hands every second to the sink that all threads have passed.
    fn emit(&mut self, sink: &mut dyn Sink) {
        let front = match self.front() {
            u32::MAX => self.pending.last_key_value().map_or(0, |(second, _)| *second),
            front => front,
        };
        while self.emitted < front {
            self.emit_second(Nanos::SECOND, sink);
        }
        if self.emitted >= 1 && !self.punted {
            self.punted = punts();
        }
    }

    fn emit_second(&mut self, length: Nanos, sink: &mut dyn Sink) {
        let second = self.emitted;
        let mut pages = self.pending.remove(&second).unwrap_or_default();
        pages.resize(self.streams.len(), Default::default());
        for ((number, stream), sides) in self.streams.iter().enumerate().zip(pages) {
            for (direction, page) in Direction::BOTH.into_iter().zip(sides) {
                let takes_part = match direction {
                    Direction::Read => stream.reads(),
                    Direction::Write => stream.writes(),
                };
                if !takes_part {
                    continue;
                }
                let ios = page.latency.count();
                self.ios[direction as usize] += ios;
                self.busy += page.latency.sum();
                if stream.arrival.per_second().is_some() {
                    self.responses[number].merge(&page.latency);
                }
                sink.interval(&Interval {
                    second,
                    stream: number as u16,
                    direction,
                    length,
                    ios,
                    bytes: ios * stream.block_size.0,
                    errors: page.errors,
                    latency: page.latency,
                });
            }
        }
        self.emitted += 1;
    }

    /// Wakes threads that wait in the kernel beyond the end of their second.
    fn wake_late_threads(&self) {
        let now = self.clock.nanos(self.clock.now() - self.start);
        let due = Duration::from_nanos(now).saturating_sub(LATE).as_secs() as u32;
        let late = |thread: &&Thread| thread.kickable && thread.front < due;
        self.threads.iter().filter(late).for_each(|thread| sys::kick(thread.id));
    }

    fn wake_all(&self) {
        let waiting = |thread: &&Thread| thread.kickable && thread.ended.is_none();
        self.threads.iter().filter(waiting).for_each(|thread| sys::kick(thread.id));
    }

    /// Leaves a drive that does not answer, with whatever its threads still say within a second.
    fn give_up(&mut self) {
        self.silence = Some(Nanos(self.silent_for.max(DRAIN).as_nanos() as u64));
        self.order.abandon();
        let since = Instant::now();
        while since.elapsed() < Duration::from_secs(1) {
            self.wake_all();
            while let Ok(message) = self.messages.try_recv() {
                self.take(message);
            }
            if self.threads.iter().all(|thread| thread.ended.is_some()) {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    fn conclude(mut self, engine: Engine, sink: &mut dyn Sink) -> Outcome {
        while let Ok(message) = self.messages.try_recv() {
            self.take(message);
        }
        let last = self.threads.iter().filter_map(|thread| thread.ended.as_ref().map(|e| e.tick));
        let last = last.max().unwrap_or(self.start).max(self.start);
        let end = if self.silence.is_some() { self.clock.now() } else { last };
        let elapsed = Nanos(self.clock.nanos(end - self.start));
        self.finish_seconds(elapsed, sink);
        self.tell(elapsed, sink);
        let used = processor_time().saturating_sub(self.processor_time);
        let ios = self.ios;
        let all: u64 = ios.iter().sum();
        let ended: Vec<&End> = self.threads.iter().filter_map(|t| t.ended.as_ref()).collect();
        let enters: u64 = ended.iter().map(|end| end.enters).sum();
        let errors = self.faults.len() as u64;
        let failed = ended.iter().any(|end| end.failure.is_some()) || self.silence.is_some();
        let by = if self.stopped {
            EndedBy::Stop
        } else if failed || errors > 0 {
            EndedBy::Faults
        } else if ended.iter().any(|end| end.lag == Some(Lag::Host)) {
            EndedBy::HostLag
        } else if ended.iter().any(|end| end.lag == Some(Lag::Device)) {
            EndedBy::DeviceLag
        } else if ended.iter().any(|end| end.used_up) {
            EndedBy::Bytes
        } else {
            EndedBy::Time
        };
        let report = EngineReport {
            engine: engine.name().into(),
            setup: self.setup.clone(),
            in_flight_asked: self.closed_depth(),
            ios_per_enter: (enters > 0).then(|| all as f64 / enters as f64),
            cpu_per_io: (all > 0).then(|| Nanos(used / all)),
            clock: self.clock.name().into(),
            open_loop: self.tell_open_loops(elapsed, sink),
        };
        Outcome { by, elapsed, report, ios, faults: self.faults, silence: self.silence }
    }

    /// Returns the requests that closed loops keep in flight.
    fn closed_depth(&self) -> u32 {
        let closed = self.streams.iter().filter(|stream| stream.arrival.per_second().is_none());
        closed.map(Stream::total_depth).sum()
    }

    /// Returns the figures of every open-loop stream, and tells what bears on them.
    fn tell_open_loops(&self, elapsed: Nanos, sink: &mut dyn Sink) -> Vec<OpenLoop> {
        let mut open_loops = Vec::new();
        for ((stream, count), response) in
            self.streams.iter().zip(&self.counts).zip(&self.responses)
        {
            if stream.arrival.per_second().is_some() {
                let open = OpenLoop::of(stream, elapsed, count);
                let p99 = response.percentile(0.99).map(|nanos| nanos as f64 / 1e3);
                open.finding(p99).into_iter().for_each(|finding| sink.finding(finding));
                open_loops.push(open);
            }
        }
        open_loops
    }

    /// Emits the seconds that are left, the last one with its true length.
    fn finish_seconds(&mut self, elapsed: Nanos, sink: &mut dyn Sink) {
        let whole = (elapsed.0 / Nanos::SECOND.0) as u32;
        while self.emitted < whole {
            self.emit_second(Nanos::SECOND, sink);
        }
        let rest = Nanos(elapsed.0 - u64::from(whole) * Nanos::SECOND.0);
        if rest > Nanos::ZERO || !self.pending.is_empty() {
            self.emit_second(rest, sink);
        }
    }

    /// Tells what bears on the numbers.
    fn tell(&self, elapsed: Nanos, sink: &mut dyn Sink) {
        let mut tell = |kind, severity, text: String, advice: &str| {
            sink.finding(Finding::new(kind, severity, text, advice));
        };
        for failure in
            self.threads.iter().filter_map(|thread| thread.ended.as_ref()?.failure.as_ref())
        {
            let text = format!("an I/O thread ended early: {failure}");
            tell(FindingKind::Faults, Severity::Invalid, text, "see the kernel's log");
        }
        let drift = self.clock.drift_since(self.clock_pair);
        if drift > MOST_DRIFT {
            let text = format!("the clock drifted by {:.0} millionths", drift * 1e6);
            tell(FindingKind::Disturbed, Severity::Invalid, text, "run the step again");
        }
        if self.punted {
            let text = "the kernel handed requests to worker threads: the target cannot take them \
                        without blocking";
            let advice = "the synchronous engine costs less processor time on such a target";
            tell(FindingKind::Punted, Severity::Note, text.into(), advice);
        }
        let asked = self.closed_depth();
        let is_closed = self.streams.iter().all(|stream| stream.arrival.per_second().is_none());
        let reached = self.busy as f64 / elapsed.0.max(1) as f64;
        let long_enough = elapsed >= Nanos::SECOND && !self.stopped;
        if is_closed && long_enough && !self.is_null && reached < 0.95 * f64::from(asked) {
            let text = format!("{reached:.1} of {asked} requests were in flight on average");
            let advice = "the host, not the drive, limits this step";
            tell(FindingKind::QueueNotReached, Severity::Note, text, advice);
        }
    }
}

/// Returns whether the kernel runs workers of io_uring for this process.
fn punts() -> bool {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return false };
    tasks.flatten().any(|task| {
        let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        name.starts_with("iou-wrk-")
    })
}

/// Returns the processor time of the whole process so far, in nanoseconds, workers included.
fn processor_time() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
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
