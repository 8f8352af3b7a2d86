//! The result of another program: a plan that does the same work, and its samples.

use ssdgauge_core::{DriveInfo, EngineReport, Finding, Interval, Nanos, Plan, Reading};

/// A result of another program.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The program, such as `fio-3.33`.
    pub program: String,
    /// When the load ended, in milliseconds since 1970 (UTC); 0 where it is not known.
    pub ended_unix_ms: i64,
    /// The plan that does the same work, as far as a plan can express it.
    pub plan: Plan,
    /// What the program states about the target.
    pub drive: DriveInfo,
    /// The measured step of each test, in the order of the plan.
    pub steps: Vec<ImportedStep>,
    /// The findings about the whole result.
    pub findings: Vec<Finding>,
}

/// The samples of one step.
#[derive(Clone, Debug)]
pub struct ImportedStep {
    /// The duration: the longest of the jobs.
    pub elapsed: Nanos,
    /// One interval for each stream and direction, over the time that it ran.
    pub intervals: Vec<Interval>,
    /// Values that the other program computed from more than the intervals.
    pub readings: Vec<Reading>,
    /// The engine, as fio names it.
    pub report: EngineReport,
    /// The findings about this step.
    pub findings: Vec<Finding>,
}
