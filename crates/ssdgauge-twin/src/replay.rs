//! The acts of a test on a virtual drive of smaller size: spans, bytes and rests in proportion, rates as they were.
//!
//! What fills, empties and wears then takes the same share of the load. What does not follow the size, such as the
//! latency of a request, does not change.

use crate::evidence::{Act, COURSE, Load, Measured, Start};
use crate::kind::only_stream;
use crate::number::Number;
use ssdgauge_core::{
    Bytes, Direction, Engine, Finding, Histogram, Interval, Nanos, Preparation, Reading, Rig, Sink,
    Stream, Until, Workload,
};
use ssdgauge_sim::VirtualRig;
use std::collections::BTreeMap;

/// Capacity of the virtual drive that loads are repeated on.
const SMALL: u64 = 4_000_000_000;
/// That of one whose data is only read: where data lies does not follow from its amount.
const SMALL_READ: u64 = 1_000_000_000;
/// The seed of every such drive.
const SEED: u64 = 1;
/// Spans are not made smaller than this.
const LEAST_SPAN: u64 = 32 << 20;
/// Requests for the percentiles of a load, of small blocks and of large ones.
const REQUESTS: [u64; 2] = [4_000, 400];
/// Requests in the steady state: collection comes and goes with each superblock, of which these fill several.
const STEADY: u64 = 65_536;
/// Bytes of a block from which it is a large one.
const LARGE: u64 = 64 << 10;
/// Requests before those that count, for each request in flight.
const WARM_UP: u64 = 3;
/// Block of the writes that fill the cache.
const CACHED: u64 = 4_096;
/// Virtual time after which a load of the fit ends whatever it transferred.
const LONGEST: Nanos = Nanos::from_secs(600);
/// How often a load is repeated that overwrites its span: further on nothing changes.
const PASSES: f64 = 2.0;

/// The numbers of a load that was repeated.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Repeated {
    pub(crate) numbers: BTreeMap<Number, f64>,
    pub(crate) course: Vec<f64>,
}

/// A profile as text, with the figures that differ from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) profile: &'a str,
    /// `&KEY=VALUE` for each figure.
    pub(crate) figures: &'a str,
    /// Capacity of the drive itself.
    pub(crate) capacity: Bytes,
    /// Its fast cache, fixed and borrowed.
    pub(crate) cache: Bytes,
}

/// Adds up the latencies of a load.
#[derive(Default)]
pub(crate) struct Latencies {
    read: Histogram,
    write: Histogram,
}

impl Sink for Latencies {
    fn interval(&mut self, interval: &Interval) {
        match interval.direction {
            Direction::Read => self.read.merge(&interval.latency),
            Direction::Write => self.write.merge(&interval.latency),
            Direction::Flush | Direction::Trim => {}
        }
    }
    fn reading(&mut self, _: &Reading) {}
    fn finding(&mut self, _: Finding) {}
    fn announce(&mut self, _: Finding) -> bool {
        true
    }
    fn stop(&mut self) -> bool {
        false
    }
}

/// Returns how much smaller the virtual drive is than one of `capacity`.
pub(crate) fn ratio(capacity: Bytes) -> f64 {
    (SMALL as f64 / capacity.0 as f64).min(1.0)
}

/// Opens the drive of `candidate` in the proportion `ratio`.
pub(crate) fn open(candidate: &Candidate<'_>, start: Start, ratio: f64) -> Option<VirtualRig> {
    let capacity = (candidate.capacity.0 as f64 * ratio) as u64;
    let state = match start {
        Start::Fresh => "fresh",
        Start::Filled => "filled",
        Start::Steady => "steady",
    };
    let query = format!("capacity={capacity}&state={state}{}", candidate.figures);
    let mut rig = VirtualRig::from_toml("twin", candidate.profile, &query, SEED).ok()?;
    if start == Start::Steady {
        fill_cache(&mut rig, (candidate.cache.0 as f64 * ratio) as u64)?;
    }
    Some(rig)
}

/// Overwrites data at random until the fast cache is full: a virtual drive that begins in its steady state has an empty
/// one, and a drive that was overwritten has not.
fn fill_cache(rig: &mut VirtualRig, cache: u64) -> Option<()> {
    let bytes = (1.2 * cache as f64) as u64 / CACHED * CACHED;
    if bytes == 0 {
        return Some(());
    }
    let span = Bytes(rig.drive().capacity.0 / CACHED * CACHED);
    let stream = Stream {
        block_size: Bytes(CACHED),
        read_percent: 0,
        queue_depth: 32,
        span,
        ..Stream::default()
    };
    let workload = Workload { engine: Engine::IoUring, streams: vec![stream] };
    let until = Until { time: Some(LONGEST), bytes: Some(Bytes(bytes)) };
    rig.run(&workload, &until, &mut Latencies::default()).ok()?;
    Some(())
}

/// Repeats `test` on the drive of `candidate`; returns the numbers of its loads, in order. `None` where no drive has
/// these figures, or where it cannot carry the test out.
pub(crate) fn repeat(candidate: &Candidate<'_>, test: &Measured) -> Option<Vec<Repeated>> {
    let is_read = test.start == Start::Filled && test.loads().all(|one| !one.workload.writes());
    let smaller = (SMALL_READ as f64 / candidate.capacity.0 as f64).min(1.0);
    let opened = Some(smaller).filter(|_| is_read).and_then(|ratio| {
        // A small drive may have no room for the units of all dies.
        Some((open(candidate, test.start, ratio)?, ratio))
    });
    let (mut rig, ratio) = match opened {
        Some(opened) => opened,
        None => {
            let ratio = ratio(candidate.capacity);
            (open(candidate, test.start, ratio)?, ratio)
        }
    };
    let mut all = Vec::new();
    // What follows the last load with numbers says nothing.
    let last =
        test.acts.iter().rposition(|act| matches!(act, Act::Load(load) if load.has_numbers()))?;
    for act in &test.acts[..=last] {
        match act {
            Act::Prepare(preparation) => prepare(&mut rig, *preparation, ratio)?,
            Act::Rest(time) => {
                let time = Nanos((time.0 as f64 * ratio) as u64);
                rig.rest(time, &mut Latencies::default()).ok()?;
            }
            Act::Load(load) => all.push(repeat_load(&mut rig, load, ratio)?),
        }
    }
    all.resize(test.loads().count(), Repeated::default());
    Some(all)
}

/// Returns `bytes` in proportion, as a multiple of `unit`.
fn scaled(bytes: u64, ratio: f64, unit: u64) -> u64 {
    let small = (bytes as f64 * ratio).max(bytes.min(LEAST_SPAN) as f64) as u64;
    (small / unit).max(1) * unit
}

fn prepare(rig: &mut VirtualRig, preparation: Preparation, ratio: f64) -> Option<()> {
    let capacity = rig.drive().capacity.0;
    let preparation = match preparation {
        Preparation::Fill { access, block_size, offset, span } => {
            let offset = (offset.0 as f64 * ratio) as u64 / block_size.0 * block_size.0;
            let span = scaled(span.0, ratio, block_size.0).min(capacity - offset);
            Preparation::Fill { access, block_size, offset: Bytes(offset), span: Bytes(span) }
        }
        Preparation::Trim { offset, span } => Preparation::Trim {
            offset: Bytes((offset.0 as f64 * ratio) as u64 / 4_096 * 4_096),
            span: Bytes(scaled(span.0, ratio, 4_096).min(capacity)),
        },
        other => other,
    };
    rig.prepare(&preparation, &mut Latencies::default()).ok()?;
    Some(())
}

/// Returns the stream of `load` in proportion.
fn small_stream(stream: &Stream, ratio: f64, capacity: u64) -> Stream {
    let unit = stream.block_size.0 * u64::from(stream.threads.max(1));
    let offset =
        (stream.offset.0 as f64 * ratio) as u64 / stream.block_size.0 * stream.block_size.0;
    let span = scaled(stream.span.0, ratio, unit).min((capacity - offset) / unit * unit);
    Stream { offset: Bytes(offset), span: Bytes(span), ..stream.clone() }
}

fn repeat_load(rig: &mut VirtualRig, load: &Load, ratio: f64) -> Option<Repeated> {
    let capacity = rig.drive().capacity.0;
    let streams = load.workload.streams.iter().map(|one| small_stream(one, ratio, capacity));
    let workload = Workload { streams: streams.collect(), ..load.workload.clone() };
    let Some(stream) = only_stream(&workload).cloned() else {
        let small = |bytes: Bytes| Bytes(((bytes.0 as f64 * ratio) as u64).max(1 << 20));
        let time = load.until.time.map(|time| Nanos((time.0 as f64 * ratio) as u64));
        let until = Until { time, bytes: load.until.bytes.map(small) };
        rig.run(&workload, &until, &mut Latencies::default()).ok()?;
        return Some(Repeated::default());
    };
    let block = stream.block_size.0;
    let whole = load.until.bytes.unwrap_or(Bytes(u64::MAX)).0;
    let time = load.until.time.map(|time| Nanos((time.0 as f64 * ratio) as u64));
    let share = match whole {
        u64::MAX => u64::MAX,
        bytes => ((bytes as f64 * ratio) as u64 / block).max(1) * block,
    };
    if !load.course.is_empty() {
        return repeat_course(rig, load, (&workload, &stream), share);
    }
    let requests = REQUESTS[usize::from(block >= LARGE)];
    let least = requests * block;
    let mut measured = Repeated::default();
    if load.has_numbers() {
        // Reads change nothing: as many as the percentiles need. Writes that exceed their share are tried on a copy.
        let bytes = if stream.writes() { share.max(least.min(whole)) } else { least };
        if !stream.writes() || bytes <= share {
            let found = timed(rig, &workload, (Some(bytes), None), !stream.writes())?;
            measured.numbers = numbers(load, &found);
            return Some(measured);
        }
        let found = timed(&mut rig.clone(), &workload, (Some(bytes), None), true)?;
        measured.numbers = numbers(load, &found);
    }
    if stream.writes() && (share != u64::MAX || time.is_some()) {
        timed(rig, &workload, (Some(share).filter(|one| *one != u64::MAX), time), false)?;
    }
    Some(measured)
}

/// Repeats a load that changes, in the parts of its course.
fn repeat_course(
    rig: &mut VirtualRig,
    load: &Load,
    (workload, stream): (&Workload, &Stream),
    share: u64,
) -> Option<Repeated> {
    let block = stream.block_size.0;
    let part = (share / COURSE as u64 / block).max(1) * block;
    let span = stream.span.0;
    let mut repeated = Repeated::default();
    let mut all = (Latencies::default(), 0.0);
    for number in 0..COURSE as u64 {
        // On the way to the steady state each part counts; afterwards they are alike.
        let done = number as f64 * part as f64 / span as f64;
        if done >= PASSES && stream.is_random() {
            let last = *repeated.course.last()?;
            repeated.course.push(last);
            continue;
        }
        let mut workload = workload.clone();
        if stream.is_sequential() {
            let offset = (number * part) % span;
            let stream = &mut workload.streams[0];
            stream.offset = Bytes(stream.offset.0 + offset);
            let unit = block * u64::from(stream.threads.max(1));
            stream.span = Bytes(((span - offset).min(part) / unit).max(1) * unit);
        }
        let bytes = part.min((PASSES * span as f64 - number as f64 * part as f64) as u64);
        let bytes = if stream.is_random() { (bytes / block).max(1) * block } else { part };
        let (latencies, seconds) = timed(rig, &workload, (Some(bytes), None), false)?;
        repeated.course.push(Number::Rate.of_latencies(
            &latencies.read,
            &latencies.write,
            seconds,
        )?);
        all.0.read.merge(&latencies.read);
        all.0.write.merge(&latencies.write);
        all.1 += seconds;
    }
    repeated.numbers = numbers(load, &all);
    Some(repeated)
}

/// Returns the latencies and the time of `workload` up to the limits of bytes and time.
fn timed(
    rig: &mut VirtualRig,
    workload: &Workload,
    (bytes, time): (Option<u64>, Option<Nanos>),
    warms_up: bool,
) -> Option<(Latencies, f64)> {
    let stream = only_stream(workload)?;
    if warms_up && stream.arrival.per_second().is_none() {
        let bytes = (WARM_UP * u64::from(stream.total_depth()) + 50) * stream.block_size.0;
        let until = Until { time: Some(LONGEST), bytes: Some(Bytes(bytes)) };
        rig.run(workload, &until, &mut Latencies::default()).ok()?;
    }
    let until = Until { time: Some(time.unwrap_or(LONGEST)), bytes: bytes.map(Bytes) };
    let mut latencies = Latencies::default();
    let ended = rig.run(workload, &until, &mut latencies).ok()?;
    Some((latencies, ended.elapsed.as_secs_f64()))
}

/// Returns those numbers of a repeated load that were measured.
fn numbers(load: &Load, (latencies, seconds): &(Latencies, f64)) -> BTreeMap<Number, f64> {
    let number = |number: &Number| {
        Some((*number, number.of_latencies(&latencies.read, &latencies.write, *seconds)?))
    };
    load.numbers.keys().filter_map(number).collect()
}

/// Returns what a load is on the whole: every number of `workload`, which has one stream.
pub(crate) fn predict(
    rig: &mut VirtualRig,
    workload: &Workload,
    is_steady: bool,
) -> Option<BTreeMap<Number, f64>> {
    let stream = only_stream(workload)?;
    let requests = match is_steady && stream.writes() {
        true => STEADY,
        false => 4 * REQUESTS[usize::from(stream.block_size.0 >= LARGE)],
    };
    let bytes = requests * stream.block_size.0;
    let (latencies, seconds) = timed(rig, workload, (Some(bytes), None), true)?;
    let number = |number: Number| {
        Some((number, number.of_latencies(&latencies.read, &latencies.write, seconds)?))
    };
    Some(Number::ALL.into_iter().filter_map(number).collect())
}
