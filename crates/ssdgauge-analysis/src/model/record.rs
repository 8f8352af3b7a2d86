//! A run file as it was recorded: samples and findings, without any number made of them.

use crate::model::run::{Durability, PointRun, Proof, StepFinding};
use crate::model::tracked::Tracked;
use crate::model::wear::Wear;
use ssdgauge_core::{Finding, Test, Totals};
use ssdgauge_runfile::{Head, Outcome};
use std::collections::BTreeMap;

/// One run file, read.
#[derive(Debug)]
pub(crate) struct RecordedRun {
    /// The head of the run file: plan, drive, environment.
    pub(crate) head: Head,
    /// The name of the run file, without its folder.
    pub(crate) file_name: Option<String>,
    /// The tests in the order of the plan.
    pub(crate) tests: Vec<RecordedTest>,
    /// The findings that belong to the whole run.
    pub(crate) findings: Vec<Finding>,
    /// True if every step that the run needs has finished, and what it wrote was flushed.
    pub(crate) complete: bool,
    /// How the process that carried it out ended it.
    pub(crate) recorded_outcome: Option<Outcome>,
    /// True if only the flush after the last step is missing.
    pub(crate) awaits_flush: bool,
    /// The repetitions after which the run has ended by its rule; `None` without a rule, and while it
    /// continues.
    pub(crate) ended_after: Option<u32>,
    /// Flushes and blocks that were read back; `None` where the run file holds none.
    pub(crate) durability: Option<Durability>,
    /// The proof of the capacity; `None` where the run is none.
    pub(crate) proof: Option<Proof>,
    /// The counters of wear of the drive.
    pub(crate) wear: Wear,
}

/// One test with all of its repetitions.
#[derive(Debug)]
pub(crate) struct RecordedTest {
    /// The repetitions in their order; never empty.
    pub(crate) repetitions: Vec<RecordedRepetition>,
    /// The samples of all repetitions together, by the number of the measured step; empty where there
    /// is one.
    pub(crate) totals: BTreeMap<usize, Totals>,
}

/// One repetition of a test, as recorded.
#[derive(Debug)]
pub(crate) struct RecordedRepetition {
    /// The test as planned.
    pub(crate) test: Test,
    /// The finished steps of all measure phases, in the order of the plan.
    pub(crate) points: Vec<PointRun>,
    /// The points that were measured again to see whether the drive changed.
    pub(crate) checks: Vec<PointRun>,
    /// The steps of measure phases in the plan.
    pub(crate) planned: usize,
    /// The findings of the steps.
    pub(crate) findings: Vec<StepFinding>,
    /// True if every step of the test has finished.
    pub(crate) complete: bool,
    /// True if the search of the test has ended, or the test has none.
    pub(crate) is_searched: bool,
    /// The values that were tracked from round to round.
    pub(crate) tracked: Vec<Tracked>,
}
