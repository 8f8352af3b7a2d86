//! A host with several drives: processes spread their requests over them in turn, as fio does over several files.
//!
//! Processes on one core share its time and its queue on each drive. Each drive holds a number of commands, which it
//! fetches from its queues in turn. One of the drives may be slower than the others: requests pile up there.

use super::curves::Curve;
use super::family::Family;
use ssdgauge_core::{Bytes, Histogram, Nanos, Random};
use ssdgauge_sim::{ServedCommand, ServedDrive, VirtualRig};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::error::Error;

/// Cores of the host: the folders of fig-11 say `10_cpu`, and in fig-1 more than ten processes are no faster than ten.
const CORES: usize = 10;
/// Requests in flight of each process that shares the drives with a reader.
const DEPTH: u32 = 128;
/// Requests that are measured: of a reader, and of others.
const READER: u64 = 3_000;
const OTHERS: u64 = 150_000;
/// The maximum number of requests of a run.
const MOST: u64 = 4_000_000;
/// Completions before a measurement, in multiples of the requests in flight, and at least.
const WARM_UP: (u64, u64) = (20, 40_000);

/// A process: one slot for each request in flight.
struct Process {
    block: u64,
    command: ServedCommand,
    depth: u32,
    is_measured: bool,
    next_drive: usize,
}

struct Slot {
    process: usize,
    drive: usize,
    submitted: u64,
}

/// A drive, with its queues.
struct Target {
    drive: ServedDrive,
    fetched: usize,
    queues: Vec<VecDeque<usize>>,
    next: usize,
}

/// What happens to the request of a slot, in the order of time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Completed,
    Sent,
}

struct Host {
    processes: Vec<Process>,
    slots: Vec<Slot>,
    targets: Vec<Target>,
    cores: Vec<u64>,
    events: BinaryHeap<Reverse<(u64, Event, usize)>>,
    request: u64,
    jitter: f64,
    most_fetched: usize,
    random: Random,
}

/// Returns the latencies of the measured processes at `point` of `curve`.
pub(crate) fn run(
    family: &Family,
    curve: &Curve,
    point: u32,
    seed: u64,
) -> Result<Histogram, Box<dyn Error>> {
    let ns = |key: &str| family.of_host(key).unwrap_or(0.0) * 1e3;
    let host = Host {
        processes: processes(curve, point),
        slots: Vec::new(),
        targets: (0..curve.drives)
            .map(|number| target(family, seed + u64::from(number), number == 0))
            .collect::<Result<_, _>>()?,
        cores: vec![0; CORES],
        events: BinaryHeap::new(),
        request: ns("host_request_us") as u64,
        jitter: ns("host_jitter_us"),
        most_fetched: family.of_host("fetched_commands").map_or(usize::MAX, |most| most as usize),
        random: Random::new(seed, 0),
    };
    Ok(host.run(curve.load.starts_with("reader")))
}

fn processes(curve: &Curve, point: u32) -> Vec<Process> {
    let process = |block, is_write, depth, is_measured, number: u32| Process {
        block,
        command: if is_write { ServedCommand::Write { sync: false } } else { ServedCommand::Read },
        depth,
        is_measured,
        next_drive: number as usize % curve.drives as usize,
    };
    let block = u64::from(curve.block);
    if !curve.has_reader() {
        return (0..curve.processes).map(|i| process(block, false, point, true, i)).collect();
    }
    let is_reader_measured = curve.load.starts_with("reader");
    let reader = process(4_096, false, 1, is_reader_measured, 0);
    let is_write = curve.load.contains("write");
    let others = (0..point).map(|i| process(block, is_write, DEPTH, !is_reader_measured, i + 1));
    std::iter::once(reader).chain(others).collect()
}

fn target(family: &Family, seed: u64, is_slowest: bool) -> Result<Target, Box<dyn Error>> {
    let mut query = family.query();
    if let Some(factor) = family.of_host("slowest").filter(|_| is_slowest) {
        let rig = VirtualRig::from_toml("curves", family.profile, &query, seed)?;
        let figures = rig.profile();
        query = format!(
            "{query}&front.link_mb_s={}&nand.channel_mb_s={}",
            figures.host_interface.link_mb_s * factor,
            figures.nand.channel_mb_s * factor
        );
    }
    let rig = VirtualRig::from_toml("curves", family.profile, &query, seed)?;
    let queues = (0..CORES).map(|_| VecDeque::new()).collect();
    Ok(Target { drive: ServedDrive::new(rig), fetched: 0, queues, next: 0 })
}

impl Host {
    fn run(mut self, is_reader: bool) -> Histogram {
        for process in 0..self.processes.len() {
            for _ in 0..self.processes[process].depth {
                let slot = self.slots.len();
                self.slots.push(Slot { process, drive: 0, submitted: 0 });
                self.events.push(Reverse((slot as u64, Event::Sent, slot)));
            }
        }
        let warm_up = (self.slots.len() as u64 * WARM_UP.0).max(WARM_UP.1);
        let wanted = if is_reader { READER } else { OTHERS };
        let (mut latencies, mut completed) = (Histogram::default(), 0);
        while let Some(Reverse((now, event, slot))) = self.events.pop() {
            match event {
                Event::Sent => self.send(now, slot),
                Event::Completed => {
                    completed += 1;
                    let latency = self.complete(now, slot);
                    let is_measured = self.processes[self.slots[slot].process].is_measured;
                    if is_measured && completed > warm_up {
                        latencies.record(latency);
                    }
                    if latencies.count() >= wanted || completed >= MOST {
                        break;
                    }
                }
            }
        }
        latencies
    }

    /// Sends the next request of `slot`, to the drive after that of the last one of its process.
    fn send(&mut self, now: u64, slot: usize) {
        let number = self.slots[slot].process;
        let process = &mut self.processes[number];
        let drive = process.next_drive;
        process.next_drive = (drive + 1) % self.targets.len();
        self.slots[slot] = Slot { process: number, drive, submitted: now };
        let target = &mut self.targets[drive];
        match target.fetched < self.most_fetched {
            true => self.start(now, slot),
            false => target.queues[number % CORES].push_back(slot),
        }
    }

    fn start(&mut self, now: u64, slot: usize) {
        let Slot { process, drive, .. } = self.slots[slot];
        let Process { block, command, .. } = self.processes[process];
        let target = &mut self.targets[drive];
        target.fetched += 1;
        target.drive.advance(Nanos(now));
        let blocks = target.drive.info().capacity.0 / block;
        let offset = Bytes(self.random.below(blocks) * block);
        let end = target.drive.submit(Nanos(now), command, offset, Bytes(block)).at;
        self.events.push(Reverse((end.0, Event::Completed, slot)));
    }

    /// Lets the process of `slot` see its completion; returns the latency.
    fn complete(&mut self, now: u64, slot: usize) -> u64 {
        let Slot { process, drive, submitted } = self.slots[slot];
        let late = match self.jitter > 0.0 {
            true => (self.random.exponential() * self.jitter) as u64,
            false => 0,
        };
        let core = &mut self.cores[process % CORES];
        let seen = (now + late).max(*core);
        *core = seen + self.request;
        self.events.push(Reverse((*core, Event::Sent, slot)));
        let target = &mut self.targets[drive];
        target.fetched -= 1;
        let waiting = (0..CORES).map(|i| (target.next + i) % CORES);
        if let Some(queue) = waiting.into_iter().find(|queue| !target.queues[*queue].is_empty()) {
            target.next = (queue + 1) % CORES;
            if let Some(next) = target.queues[queue].pop_front() {
                self.start(now, next);
            }
        }
        seen - submitted
    }
}
