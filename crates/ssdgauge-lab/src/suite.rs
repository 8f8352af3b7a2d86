//! Suites: protocols as data, not yet bound to a drive.

use ssdgauge_core::search::Limits;
use ssdgauge_core::{
    Access, Arrival, Bytes, Chosen, Data, Engine, Figure, Metric, Nanos, PowerSaving, Rest,
    Restart, Score, SteadyRule, WriteCache,
};

/// A protocol: some tests with their rules, not yet bound to a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Its id.
    pub id: String,
    /// Its revision.
    pub revision: u32,
    /// Its title.
    pub title: String,
    /// What it does, in a line.
    pub summary: String,
    /// Where the protocol is described.
    pub source: String,
    /// What is done once, before the first test.
    pub prepare: Vec<PrepareRule>,
    /// The tests, in order.
    pub tests: Vec<TestRule>,
}

/// A test of a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct TestRule {
    /// Its id.
    pub id: String,
    /// The file and the line that it stands in, as `own.toml:6`.
    pub place: String,
    /// Its revision.
    pub revision: u32,
    /// Its title.
    pub title: String,
    /// Where it is described.
    pub source: String,
    /// What is done before it is measured.
    pub prepare: Vec<PrepareRule>,
    /// The engine that the protocol asks for.
    pub engine: Engine,
    /// Its measured steps, in order.
    pub points: Vec<PointRule>,
    /// The search for the highest load among the points.
    pub search: Option<SearchRule>,
    /// The rounds to a steady state.
    pub rounds: Option<RoundsRule>,
    /// The rule of the headline.
    pub score: Score,
    /// Further numbers that the source takes from the same samples.
    pub also: Vec<Score>,
    /// The figures that show the test.
    pub figures: Vec<Figure>,
    /// What the source leaves unsaid.
    pub chosen: Vec<Chosen>,
    /// Where a run that was cut off goes on.
    pub restart: Restart,
}

impl TestRule {
    /// Returns whether the test chooses what the drive's write cache may do.
    pub fn sets_write_cache(&self) -> bool {
        self.prepare.iter().any(|rule| matches!(rule, PrepareRule::WriteCache(_)))
    }

    /// Returns whether the test chooses how much power the drive may save.
    pub fn sets_power(&self) -> bool {
        self.prepare.iter().any(|rule| matches!(rule, PrepareRule::Power(_)))
            || self.points.iter().any(|point| point.power.is_some())
    }
}

/// How the highest load among the points of a test is searched.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRule {
    /// How long a load is probed before it is tried in full.
    pub probe: Nanos,
    /// What is done after a load that was not borne.
    pub recondition: Vec<PrepareRule>,
    /// What a load has to meet.
    pub limits: Limits,
}

/// How often the points of a test are gone through until they are steady.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundsRule {
    /// The most rounds.
    pub at_most: u32,
    /// The label of the point whose value is tracked.
    pub tracking: String,
    /// The metric that is tracked.
    pub metric: Metric,
}

/// A step that is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct PointRule {
    /// What tells it from its neighbours.
    pub label: String,
    /// Its place on the axis of a curve.
    pub position: f64,
    /// How much of the drive is filled before it, in percent, from a purge on; `None` leaves the
    /// drive as the step before left it.
    pub full_percent: Option<u8>,
    /// How much power the drive may save from it on; `None` leaves that as it is.
    pub power: Option<PowerSaving>,
    /// How long the drive is left alone before its streams begin, unasked; a point without streams
    /// measures this time itself.
    pub idle: Option<Nanos>,
    /// Which repetition it is, from 0.
    pub turn: u32,
    /// Its streams.
    pub streams: Vec<StreamRule>,
    /// When it ends.
    pub until: UntilRule,
    /// How long the drive rests after it.
    pub rest: Rest,
}

/// When a step ends: at the first of its limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UntilRule {
    /// A time.
    pub time: Option<Nanos>,
    /// Bytes moved.
    pub bytes: Option<Bytes>,
    /// So many times the span of its first stream.
    pub passes: Option<u32>,
    /// When it is steady.
    pub steady: Option<SteadyRule>,
}

/// A stream whose span is not yet bound to a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamRule {
    /// Its name where a step has several.
    pub name: String,
    /// How offsets follow each other.
    pub access: Access,
    /// The length of each request.
    pub block_size: Bytes,
    /// The share of reads in percent.
    pub read_percent: u8,
    /// Requests in flight for each thread.
    pub queue_depth: u32,
    /// Threads.
    pub threads: u32,
    /// The part of the drive that requests fall into.
    pub span: Extent,
    /// When requests are sent.
    pub arrival: Arrival,
    /// What is written.
    pub data: Data,
    /// Whether writes survive a loss of power once they are complete.
    pub sync: bool,
}

/// A part of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// So many bytes from its start.
    Size(Bytes),
    /// So many percent of its capacity.
    Percent(u8),
}

/// Something done before a test is measured.
#[derive(Clone, Debug, PartialEq)]
pub enum PrepareRule {
    /// Make the drive as if fresh.
    Purge,
    /// Tell the drive that a part holds nothing.
    Trim(Extent),
    /// Write a part once.
    Fill {
        /// In which order.
        access: Access,
        /// The length of each write.
        block_size: Bytes,
        /// Which part.
        span: Extent,
    },
    /// Load the drive without counting what it gives.
    Precondition {
        /// The engine.
        engine: Engine,
        /// The load.
        stream: StreamRule,
        /// When it ends.
        until: UntilRule,
    },
    /// Leave the drive alone.
    Rest(Nanos),
    /// Choose how much power the drive may save, until the end of the test.
    Power(PowerSaving),
    /// Choose whether the drive may acknowledge writes from its volatile cache.
    WriteCache(WriteCache),
}
