//! The uses of a drive that the tests of a report stand for: the sections of the page.

use crate::model::plan::measured_steps;
use ssdgauge_core::{Bytes, Family, Nanos, PhaseKind, Step, Stream, Test};

/// A step of writes at least this long stands for sustained writing. Chosen: the sustained tests of the
/// client reviews of 2017 to 2020 take a minute for each queue depth.
const LONG: Nanos = Nanos::from_secs(60);

/// A step of writes that may write this much stands for sustained writing. Chosen: more than most
/// copies, and more than the smallest caches hold.
const MUCH: Bytes = Bytes(8_000_000_000);

/// Requests above this length stand for the transfer of whole files. Chosen: file systems and databases send
/// up to 128 KiB.
const LARGE: Bytes = Bytes(128 << 10);

/// What a drive is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Writes that outlast a cache.
    Sustained,
    /// Reads, and writes in bursts.
    Everyday,
    /// Files, models and checkpoints as a whole.
    Transfers,
    /// Writes of which each is durable before the next.
    Durable,
    /// Reads and writes in several proportions.
    Mixed,
    /// Response times, under a fixed load too.
    Latency,
    /// Power and what it buys.
    Power,
}

impl Use {
    /// Every use, in the order of the page.
    pub const ALL: [Use; 7] = [
        Use::Sustained,
        Use::Everyday,
        Use::Transfers,
        Use::Durable,
        Use::Mixed,
        Use::Latency,
        Use::Power,
    ];

    /// What decides which drive is best for a database, the first that was measured: a database waits for its commits, then for
    /// its slowest requests.
    pub const FOR_DATABASES: [Use; 3] = [Use::Durable, Use::Latency, Use::Mixed];

    /// Returns the question that its charts answer about one drive.
    pub fn question(self) -> &'static str {
        match self {
            Use::Sustained => "Does the speed last?",
            Use::Everyday => "How fast is everyday work?",
            Use::Transfers => "How fast are large transfers?",
            Use::Durable => "How fast are commits?",
            Use::Mixed => "How fast are reads and writes together?",
            Use::Latency => "How long does a program wait?",
            Use::Power => "What does it cost in power?",
        }
    }

    /// Returns the anchor of its section.
    pub fn anchor(self) -> &'static str {
        match self {
            Use::Sustained => "sustained",
            Use::Everyday => "everyday",
            Use::Transfers => "transfers",
            Use::Durable => "durable",
            Use::Mixed => "mixed",
            Use::Latency => "latency",
            Use::Power => "power",
        }
    }

    /// Returns its name in the contents.
    pub fn name(self) -> &'static str {
        match self {
            Use::Sustained => "Sustained",
            Use::Everyday => "Everyday",
            Use::Transfers => "Transfers",
            Use::Durable => "Commits",
            Use::Mixed => "Mixed",
            Use::Latency => "Latency",
            Use::Power => "Power",
        }
    }

    /// Returns the title of its section.
    pub fn title(self) -> &'static str {
        match self {
            Use::Sustained => "Sustained writing",
            Use::Everyday => "Everyday",
            Use::Transfers => "Large transfers",
            Use::Durable => "Commits",
            Use::Mixed => "Mixed",
            Use::Latency => "Latency",
            Use::Power => "Power",
        }
    }

    /// Returns the sentence below the title.
    pub fn sentence(self) -> &'static str {
        match self {
            Use::Sustained => {
                "Sustained writes beyond the cache: their speed, their power, and how the drive gets there."
            }
            Use::Everyday => "Reads and short bursts of writes, up to 128\u{a0}KiB each.",
            Use::Transfers => "Files, models and checkpoints, read or written as a whole.",
            Use::Durable => {
                "Writes of which each is durable, by a flush or at once, before the next."
            }
            Use::Mixed => "Reads and writes together, in several proportions.",
            Use::Latency => {
                "Response times of the slowest requests, and the load that a drive carries."
            }
            Use::Power => "Power, and the work that it pays for.",
        }
    }
}

/// Returns the use that `test` stands for, by its plan alone.
pub(crate) fn classify(test: &Test) -> Use {
    let metric = test.score.metric();
    let streams = scored_streams(test);
    let is_large = !streams.is_empty() && streams.iter().all(|stream| stream.block_size > LARGE);
    let is_open = streams.iter().any(|stream| stream.arrival.per_second().is_some());
    match metric.family() {
        Family::Power => return Use::Power,
        Family::Duration if is_large => return Use::Transfers,
        Family::Duration | Family::Trim => return Use::Everyday,
        Family::Latency | Family::Stall => return Use::Latency,
        Family::Cost | Family::Spare => return Use::Sustained,
        Family::Rate | Family::Efficiency | Family::Queue | Family::Judgement => {}
    }
    if test.search.is_some() || is_open {
        return Use::Latency;
    }
    let is_durable = |stream: &&Stream| stream.flush_every.is_some() || stream.sync;
    if streams.iter().any(is_durable) {
        return Use::Durable;
    }
    let mixes = |step: &Step| {
        let streams = step.action.workload().map_or(&[][..], |load| &load.streams);
        streams.iter().any(Stream::reads) && streams.iter().any(Stream::writes)
    };
    let has_reads = streams.iter().any(|stream| stream.reads());
    match (scored(test).any(mixes), has_reads) {
        (true, _) if measured_steps(test).count() == 1 => Use::Latency,
        (true, _) => Use::Mixed,
        (false, false) if is_sustained(test) => Use::Sustained,
        (false, _) if is_large => Use::Transfers,
        (false, _) => Use::Everyday,
    }
}

/// Returns the measured steps of `test` that its headline counts.
fn scored(test: &Test) -> impl Iterator<Item = &Step> {
    measured_steps(test).filter(|step| test.score.needs(step.position))
}

/// Returns the streams that address blocks of the steps that the headline of `test` counts.
fn scored_streams(test: &Test) -> Vec<&Stream> {
    let workloads = scored(test).filter_map(|step| step.action.workload());
    workloads.flat_map(|workload| &workload.streams).filter(|one| one.addresses()).collect()
}

/// Returns the streams of all measured steps of `test`.
pub fn streams(test: &Test) -> Vec<&Stream> {
    let workloads = measured_steps(test).filter_map(|step| step.action.workload());
    workloads.flat_map(|workload| &workload.streams).collect()
}

/// Returns whether all of the requests of `test` are sequential.
pub fn is_sequential(test: &Test) -> bool {
    let streams = streams(test);
    !streams.is_empty() && streams.iter().all(|stream| stream.is_sequential())
}

/// Returns the largest number of requests in flight of the steps that the headline of `test` counts.
pub(crate) fn deepest_scored(test: &Test) -> u32 {
    let streams =
        scored(test).filter_map(|step| step.action.workload()).flat_map(|load| &load.streams);
    streams.map(Stream::total_depth).max().unwrap_or(0)
}

/// Returns whether `test` begins in a steady state that a preconditioning of its own has reached.
pub(crate) fn is_preconditioned(test: &Test) -> bool {
    test.phases.iter().any(|phase| phase.kind == PhaseKind::Precondition)
}

/// Returns whether the writes of `test` outlast a cache: by its score, its preparation, or its length.
fn is_sustained(test: &Test) -> bool {
    let is_long = |step: &Step| {
        step.action.until().is_some_and(|until| match (until.time, until.bytes) {
            (_, Some(bytes)) => bytes >= MUCH,
            (Some(time), None) => time >= LONG,
            (None, None) => true,
        })
    };
    is_preconditioned(test)
        || test.rounds.is_some()
        || test.score.last_part().is_some()
        || measured_steps(test).any(is_long)
}
