//! Suites: protocols as data, independent of a drive.

use serde::{Deserialize, Serialize};
use ssdgauge_core::search::Limits;
use ssdgauge_core::{
    Access, Bytes, Chart, Chosen, Deviation, Engine, Metric, Nanos, PowerSaving, Rest, Restart,
    Score, Stream, WriteCache,
};

/// A protocol: tests with their rules, not yet bound to a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suite {
    /// Its id.
    pub id: String,
    /// Its revision.
    pub revision: u32,
    /// Its title.
    pub title: String,
    /// Summary in one line.
    pub summary: String,
    /// Reference of the protocol.
    pub source: String,
    /// Preparation of the run: executed once, before the first test.
    pub prepare: Vec<PrepareRule>,
    /// The tests, in order.
    pub tests: Vec<TestRule>,
}

/// A test of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestRule {
    /// Its id.
    pub id: String,
    /// File and line of its definition, such as `own.toml:6`.
    pub place: String,
    /// Its revision.
    pub revision: u32,
    /// Its title.
    pub title: String,
    /// Reference of the test.
    pub source: String,
    /// Preparation of the test, not measured.
    pub prepare: Vec<PrepareRule>,
    /// Preparation before each further point, where a point changes the state of the drive.
    pub prepare_each: Vec<PrepareRule>,
    /// Time without load after the preparation, and after each change of the fill level, in which
    /// the drive finishes its background work.
    pub settle: Nanos,
    /// The I/O engine that the protocol specifies.
    pub engine: Engine,
    /// Its measured steps, in order.
    pub points: Vec<PointRule>,
    /// Whether the first point is measured again at the end, in no score.
    pub return_to_first: bool,
    /// The search for the highest passing load among the points.
    pub search: Option<SearchRule>,
    /// The rounds to a steady state.
    pub rounds: Option<RoundsRule>,
    /// The rule of the headline.
    pub score: Score,
    /// Further scores that the source computes from the same samples.
    pub also: Vec<Score>,
    /// The figures that show the test.
    pub figures: Vec<Chart>,
    /// Values that the source does not specify, with the ones chosen here.
    pub chosen: Vec<Chosen>,
    /// Values that differ from those that the source specifies, with the reasons.
    pub deviations: Vec<Deviation>,
    /// The point at which an interrupted run continues.
    pub restart: Restart,
}

impl TestRule {
    /// Returns whether the test sets the volatile write cache.
    pub fn sets_write_cache(&self) -> bool {
        self.prepare.iter().any(|rule| matches!(rule, PrepareRule::WriteCache(_)))
    }

    /// Returns whether the test sets a power state, in its preparation or in a sweep.
    pub fn sets_power(&self) -> bool {
        self.prepare.iter().any(|rule| matches!(rule, PrepareRule::Power(_)))
            || self.points.iter().any(|point| point.power.is_some())
    }
}

/// Search for the highest passing load among the points of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRule {
    /// Duration of a probe: the short attempt that precedes one of full length.
    pub probe: Nanos,
    /// The latency limits of a passing load.
    pub limits: Limits,
}

/// Repetition of all points of a test in rounds until a steady state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundsRule {
    /// Maximum number of rounds.
    pub at_most: u32,
    /// Label of the point whose value is tracked from round to round.
    pub tracking: String,
    /// The tracked metric.
    pub metric: Metric,
}

/// A measured step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointRule {
    /// Label, distinct within the test: swept values and repetition.
    pub label: String,
    /// Position on the axis of a curve.
    pub position: f64,
    /// Fill level before the step in percent of the capacity, written after a purge; `None` does
    /// not change the content.
    pub full_percent: Option<u8>,
    /// Power saving from this step on; `None` does not change it.
    pub power: Option<PowerSaving>,
    /// Idle time before the streams start, without I/O and without queries; a point without streams
    /// and without `trim` measures this idle time itself.
    pub idle: Option<Nanos>,
    /// The range that the step deallocates, instead of streams.
    pub trim: Option<Extent>,
    /// The published sums of the trace that the step replays, instead of streams.
    pub trace: Option<TraceRule>,
    /// Number of the repetition, from 0.
    pub turn: u32,
    /// Its streams.
    pub streams: Vec<StreamRule>,
    /// Its limits.
    pub until: UntilRule,
    /// The pause after it.
    pub rest: Rest,
}

/// The published sums of a trace of which the requests are generated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceRule {
    /// Its name.
    pub name: String,
    /// Reads and writes.
    pub requests: [u64; 2],
    /// Their bytes.
    pub bytes: [Bytes; 2],
    /// Lengths and their shares of the requests in percent; the rest has other lengths.
    pub sizes: Vec<(Bytes, f64)>,
    /// Whether the source states these shares.
    pub has_published_sizes: bool,
    /// The requests in flight at the submission of a request.
    pub depth: DepthRule,
    /// The share of the requests that continue the one before in their direction, in percent.
    pub sequential_percent: f64,
    /// The length to which idle times are cut.
    pub idle_cut: Nanos,
    /// The share of the bursts that follow such an idle time, in percent.
    pub idle_percent: f64,
    /// The addressed range.
    pub span: Extent,
    /// The minimum capacity of a target that gets all requests; a smaller one gets its share.
    pub whole_from: Bytes,
    /// The seed of the requests.
    pub seed: u64,
}

/// The requests in flight at the submission of a request of a trace, itself included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DepthRule {
    /// Their mean.
    Mean(f64),
    /// A table.
    Shares {
        /// The first and the last depth of each class, and its share of the requests in percent.
        classes: Vec<(u32, u32, f64)>,
        /// The mean that the source states next to it.
        mean: f64,
    },
}

/// Limits of a step: it ends at the first one that is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UntilRule {
    /// Duration.
    pub time: Option<Nanos>,
    /// Bytes transferred.
    pub bytes: Option<Bytes>,
    /// Bytes transferred, as a multiple of the span of the first stream.
    pub passes: Option<u32>,
    /// Steady state by this rule.
    pub steady: Option<SteadyUntil>,
}

/// The rule of the SNIA Performance Test Specification for the end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyUntil {
    /// The tracked metric; one that adds up over seconds.
    pub metric: Metric,
    /// The minimum length of a round, in whole seconds.
    pub round: Nanos,
    /// The minimum amount of data of a round, as a multiple of the span of the stream.
    pub round_passes: f64,
    /// The minimum amount of data before a window may end, as a multiple of the span.
    pub least_passes: f64,
}

/// A stream whose range is not yet bound to a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamRule {
    /// Its requests. A plan binds the rest to the drive: the range, and what the drive or the options of a
    /// run change.
    pub requests: Stream,
    /// The start of the range that requests address; `None` for that of the drive.
    pub offset: Option<Extent>,
    /// The length of the range that requests address; all of it is what follows the offset.
    pub span: Extent,
}

/// A range of a drive, from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Extent {
    /// Length in bytes.
    Size(Bytes),
    /// Length in percent of the capacity.
    Percent(u8),
}

/// A preparation before a test is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PrepareRule {
    /// Return the drive to the state after a purge (SNIA: fresh out of the box).
    Purge,
    /// Deallocate a range (NVMe DSM deallocate, ATA TRIM).
    Trim(Extent),
    /// Write a range once.
    Fill {
        /// Order of the offsets.
        access: Access,
        /// Length of each write.
        block_size: Bytes,
        /// The range.
        span: Extent,
    },
    /// Run a workload whose samples are not scored.
    Precondition {
        /// The engine.
        engine: Engine,
        /// The workload.
        stream: Box<StreamRule>,
        /// Its limits.
        until: UntilRule,
    },
    /// Pause without I/O; instruments continue to poll.
    Rest(Nanos),
    /// Set the power saving until the end of the test.
    Power(PowerSaving),
    /// Switch the volatile write cache until the end of the test.
    WriteCache(WriteCache),
}
