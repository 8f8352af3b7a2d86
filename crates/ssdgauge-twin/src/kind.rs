//! Kinds of load: what is left out together, and has one band.

use serde::{Deserialize, Serialize};
use ssdgauge_core::{Distribution, Stream, Workload};

/// A kind of load, in a state of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Random reads at a queue depth.
    RandomReads,
    /// Sequential reads at a queue depth.
    SequentialReads,
    /// Random reads at a rate.
    OfferedReads,
    /// Sequential writes, the fill of a drive among them.
    SequentialWrites,
    /// Random writes that end before a drive is in its steady state.
    RandomWrites,
    /// Random reads and writes at a queue depth, before the steady state.
    Mixes,
    /// Random reads and writes at a rate, before the steady state.
    OfferedMixes,
    /// Random writes on a drive that was overwritten at random until nothing changed.
    SteadyWrites,
    /// Random reads and writes at a queue depth, in that state.
    SteadyMixes,
}

/// The group of figures that a kind decides, in the order in which they are fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    Reads,
    Sequential,
    Writes,
    Steady,
    Mixes,
}

impl Group {
    pub(crate) const ALL: [Group; 5] =
        [Group::Reads, Group::Sequential, Group::Writes, Group::Steady, Group::Mixes];
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 9] = [
        Kind::RandomReads,
        Kind::SequentialReads,
        Kind::OfferedReads,
        Kind::SequentialWrites,
        Kind::RandomWrites,
        Kind::Mixes,
        Kind::OfferedMixes,
        Kind::SteadyWrites,
        Kind::SteadyMixes,
    ];

    /// Returns the kind of `workload` on a drive that is, or is not, in its steady state; `None` for loads that a twin
    /// does not predict: several streams, requests of several sizes, uneven addresses, pauses, flushes, trims.
    pub fn of(workload: &Workload, is_steady: bool) -> Option<Kind> {
        let [stream] = workload.streams.as_slice() else { return None };
        let is_plain = stream.operation.is_transfer()
            && !stream.has_sizes()
            && stream.stride.is_none()
            && !stream.pauses()
            && !stream.sync
            && stream.flush_every.is_none()
            && !stream.flush_at_end
            && matches!(stream.distribution, Distribution::Uniform);
        let is_offered = stream.arrival.per_second().is_some();
        match (stream.reads(), stream.writes(), stream.is_random(), is_offered, is_steady) {
            _ if !is_plain || !(stream.is_random() || stream.is_sequential()) => None,
            (true, false, true, false, _) => Some(Kind::RandomReads),
            (true, false, true, true, _) => Some(Kind::OfferedReads),
            (true, false, false, false, _) => Some(Kind::SequentialReads),
            (false, true, false, false, false) => Some(Kind::SequentialWrites),
            (false, true, true, false, false) => Some(Kind::RandomWrites),
            (false, true, true, false, true) => Some(Kind::SteadyWrites),
            (true, true, true, false, false) => Some(Kind::Mixes),
            (true, true, true, true, false) => Some(Kind::OfferedMixes),
            (true, true, true, false, true) => Some(Kind::SteadyMixes),
            _ => None,
        }
    }

    pub(crate) fn group(self) -> Group {
        match self {
            Kind::RandomReads | Kind::OfferedReads => Group::Reads,
            Kind::SequentialReads => Group::Sequential,
            Kind::SequentialWrites | Kind::RandomWrites => Group::Writes,
            Kind::SteadyWrites => Group::Steady,
            Kind::Mixes | Kind::OfferedMixes | Kind::SteadyMixes => Group::Mixes,
        }
    }

    /// Returns the kind in words, such as `random reads at a rate`.
    pub fn words(self) -> &'static str {
        match self {
            Kind::RandomReads => "random reads at a queue depth",
            Kind::SequentialReads => "sequential reads",
            Kind::OfferedReads => "random reads at a rate",
            Kind::SequentialWrites => "sequential writes",
            Kind::RandomWrites => "random writes before the steady state",
            Kind::Mixes => "random mixes at a queue depth",
            Kind::OfferedMixes => "random mixes at a rate",
            Kind::SteadyWrites => "random writes in the steady state",
            Kind::SteadyMixes => "random mixes in the steady state",
        }
    }

    /// Returns the suite, and the test of it, that have loads of this kind.
    pub fn suite_and_test(self) -> (&'static str, Option<&'static str>) {
        match self {
            Kind::RandomReads => ("client-2018", Some("sustained-random-read")),
            Kind::SequentialReads => ("client-2018", Some("sustained-sequential-read")),
            Kind::OfferedReads => ("load-curve", Some("random-read")),
            Kind::SequentialWrites => ("client-2018", Some("whole-drive-fill")),
            Kind::RandomWrites => ("client-2018", Some("sustained-random-write")),
            Kind::Mixes => ("client-2018", Some("mixed-random")),
            Kind::OfferedMixes => ("load-curve", Some("mixed-random")),
            Kind::SteadyWrites => ("consistency-2016", None),
            Kind::SteadyMixes => ("enterprise-2019", Some("mixed-random-qd32")),
        }
    }

    /// Returns the command whose run has loads of this kind.
    pub fn run_that_settles(self) -> String {
        match self.suite_and_test() {
            (suite, Some(test)) => format!("run {suite} DRIVE --test {test}"),
            (suite, None) => format!("run {suite} DRIVE"),
        }
    }

    /// Returns the kinds whose loads decide figures that this one depends on, itself first.
    pub fn rests_on(self) -> &'static [Kind] {
        use Kind::*;
        match self {
            RandomReads => &[RandomReads],
            OfferedReads => &[OfferedReads, RandomReads],
            SequentialReads => &[SequentialReads, RandomReads],
            SequentialWrites => &[SequentialWrites, SequentialReads],
            RandomWrites => &[RandomWrites, SequentialWrites],
            Mixes => &[Mixes, RandomReads, RandomWrites, SequentialWrites],
            OfferedMixes => &[OfferedMixes, RandomReads, RandomWrites, SequentialWrites],
            SteadyWrites => &[SteadyWrites, SequentialWrites],
            SteadyMixes => &[SteadyMixes, RandomReads, SteadyWrites, SequentialWrites],
        }
    }
}

/// Returns the only stream of `workload`.
pub(crate) fn only_stream(workload: &Workload) -> Option<&Stream> {
    match workload.streams.as_slice() {
        [stream] => Some(stream),
        _ => None,
    }
}
