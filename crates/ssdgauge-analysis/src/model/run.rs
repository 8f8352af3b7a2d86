//! A run, recomputed: the points, headlines and findings of every test of its plan.

use crate::model::tracked::Tracked;
use crate::model::wear::Wear;
use ssdgauge_core::proof::{Conclusion, PROOF_BLOCK};
use ssdgauge_core::{
    Bytes, ConfidenceInterval, Direction, Finding, FindingKind, Flush, Headline, KernelQueue,
    LatencyMap, Metric, Nanos, OpenLoop, Point, Scope, Test, Workload,
};
use ssdgauge_runfile::{Head, Outcome};
use ssdgauge_statistics::cache::Edge;
use ssdgauge_statistics::separation::Separation;
use std::collections::{BTreeMap, BTreeSet};

/// One run file, recomputed.
#[derive(Clone, Debug)]
pub struct Run {
    /// The head of the run file: plan, drive, environment.
    pub head: Head,
    /// The name of the run file, without its folder; `None` where it cannot be shown.
    pub file_name: Option<String>,
    /// The tests in the order of the plan; the repetitions of one test are one of these.
    pub tests: Vec<TestRun>,
    /// The findings that belong to the whole run.
    pub findings: Vec<Finding>,
    /// True if every step that the run needs has finished, and what it wrote was flushed.
    pub complete: bool,
    /// How the process that carried it out ended it; `None` where it was killed, is still running, or is of a format
    /// that records none.
    pub recorded_outcome: Option<Outcome>,
    /// True if only the flush after the last step is missing: the run was killed there.
    pub awaits_flush: bool,
    /// The repetitions after which the run has ended by its rule; `None` without a rule, and while it
    /// continues.
    pub ended_after: Option<u32>,
    /// Flushes and blocks that were read back; `None` where the run file holds none.
    pub durability: Option<Durability>,
    /// The proof of the capacity; `None` where the run is none.
    pub proof: Option<Proof>,
    /// The counters of wear of the drive.
    pub wear: Wear,
}

/// A proof of the capacity of a drive, which has no steps and no measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Whether it has ended, with whatever verdict.
    pub has_ended: bool,
    /// What it shows; `None` before its end, and where the record cannot be read.
    pub verdict: Option<Conclusion>,
}

impl Proof {
    /// Returns what it shows in words, such as `stores 2.00 GB of what it states`.
    pub fn describe(&self) -> String {
        let size = |blocks: u64| Bytes(blocks.saturating_mul(PROOF_BLOCK.0)).about();
        match (self.has_ended, self.verdict) {
            (false, _) => "not complete".to_owned(),
            (true, None) => "ended; its verdict cannot be read".to_owned(),
            (true, Some(Conclusion::Untested)) => "nothing was read back".to_owned(),
            (true, Some(Conclusion::Holds)) => {
                "every block that was read held what was written there".to_owned()
            }
            (true, Some(Conclusion::Wraps { period, .. })) => {
                format!("stores at most {} of what it states", size(period))
            }
            (true, Some(Conclusion::Ends { least, most })) => {
                format!("stores {} to {} of what it states", size(least), size(most))
            }
            (true, Some(Conclusion::Damaged)) => "blocks did not hold what was written".to_owned(),
        }
    }
}

/// The durability of what a run wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Durability {
    /// The flushes that were requested from the kernel.
    pub flushes: u64,
    /// The flushes that the devices completed meanwhile, by the counters of the kernel; `None` where
    /// they are not known for each of them.
    pub counted: Option<u64>,
    /// The time of the longest flush.
    pub longest: Nanos,
    /// The blocks that were read back.
    pub read_back: u64,
    /// Those of them that did not hold the data that was written last.
    pub lost: u64,
    /// The verification of everything that the run wrote; `None` where there was none.
    pub verified: Option<VerifiedRun>,
}

/// The verification of everything that a run wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifiedRun {
    /// The bytes that were compared.
    pub bytes: u64,
    /// The same in blocks of 4 KiB.
    pub blocks: u64,
    /// Those of the blocks that did not hold what was written.
    pub wrong: u64,
    /// The duration.
    pub elapsed: Nanos,
}

impl VerifiedRun {
    /// Returns the result in words, such as `4.3 GB, every byte`. A virtual drive (`is_model`) keeps no
    /// contents: its map says which data it would return.
    pub fn describe(&self, is_model: bool) -> String {
        let bytes = Bytes(self.bytes).about();
        match self.wrong {
            0 if is_model => format!("{bytes}, by the map of the virtual drive"),
            0 => format!("{bytes}, every byte"),
            wrong => format!("{bytes}: {wrong} of {} blocks are wrong", self.blocks),
        }
    }
}

/// The result of one test.
#[derive(Clone, Debug)]
pub struct TestRun {
    /// The test as planned.
    pub test: Test,
    /// The headline; its value is `None` until every step that it needs has finished.
    pub headline: Headline,
    /// Further numbers by the other rules of the test, in its order.
    pub also: Vec<Headline>,
    /// The finished steps of all measure phases, in the order of the plan.
    pub points: Vec<PointRun>,
    /// The points that were measured again at the end, to see whether the drive changed; they count
    /// in no score.
    pub checks: Vec<PointRun>,
    /// The steps of measure phases in the plan.
    pub planned: usize,
    /// The findings that belong to the steps of this test, and what this crate found missing.
    pub findings: Vec<StepFinding>,
    /// True if every step of the test has finished.
    pub complete: bool,
    /// The repetitions of a test that was carried out several times, in their order; empty where
    /// it was carried out once. The headlines above are then the means of these, and the seconds
    /// of the points are those of the repetition in the middle.
    pub repetitions: Vec<Repetition>,
    /// What was tracked from round to round by the rule of the SNIA Performance Test
    /// Specification, in the order of the plan.
    pub tracked: Vec<Tracked>,
    /// Whether the drive separates hot and cold writes; `None` where the run does not show it.
    pub separation: Option<Separation>,
}

/// One repetition of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Repetition {
    /// Its own headline, with the interval within it.
    pub headline: Headline,
    /// The further numbers of the test.
    pub also: Vec<Headline>,
}

/// The samples of one measured step.
#[derive(Clone, Debug)]
pub struct PointRun {
    /// Label, position and all samples. The seconds carry sums without histogram buckets.
    pub point: Point,
    /// The latencies over time; `None` for a step of less than a minute, and for an imported one.
    pub latency_map: Option<LatencyMap>,
    /// The workload of the step.
    pub workload: Workload,
    /// The instruments that read each quantity, such as `power_w`.
    pub instruments: BTreeMap<String, BTreeSet<String>>,
    /// The place of its first record among all records of the run file, which are in the order of
    /// execution: a search tries its loads in another order than that of the plan.
    pub order: i64,
    /// The limit that ended the step.
    pub ended_by: String,
    /// The figures of each open-loop stream, without histograms; those of the last round where the
    /// step has several.
    pub open_loop: Vec<OpenLoop>,
    /// The use of the device by the counters of the kernel; `None` where it is not known.
    pub kernel: Option<KernelQueue>,
    /// The flush after the step; `None` where none was sent.
    pub flush: Option<Flush>,
    /// The position of a step that writes, relative to the SLC cache; `None` where no fill of the
    /// same run shows one.
    pub cache: Option<CachePlace>,
    /// The lasting falls of the write speed of a step that only writes, in their order.
    pub falls: Vec<SpeedFall>,
    /// The two levels of a step that changes in its middle; `None` where there is one.
    pub levels: Option<StepLevels>,
    /// The 95 % intervals between the repetitions of the step; `None` where it was carried out once.
    pub between: Option<BTreeMap<(Metric, Scope), (f64, f64)>>,
}

/// A lasting fall of the write speed within one step, and what caused it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedFall {
    /// Where it is, in bytes from the start of the step, and the bytes of a second before and after it.
    pub edge: Edge,
    /// The 95 % interval of the bytes of a second before it; `None` where too few seconds are.
    pub before_interval: Option<(f64, f64)>,
    /// The same after it.
    pub after_interval: Option<(f64, f64)>,
    /// What caused it.
    pub cause: FallCause,
}

/// What caused a fall of the write speed, as far as a run shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FallCause {
    /// The SLC cache was full.
    Cache,
    /// The drive was throttled by heat.
    Heat,
    /// The spare area was used up, and garbage collection began.
    SpareArea,
    /// Free space ended, and a dynamic cache had to give back what it had borrowed.
    GiveBack,
    /// The run does not show it.
    Unknown,
}

impl FallCause {
    /// Every cause.
    pub const ALL: [FallCause; 5] = [
        FallCause::Cache,
        FallCause::Heat,
        FallCause::SpareArea,
        FallCause::GiveBack,
        FallCause::Unknown,
    ];

    /// Returns the word used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FallCause::Cache => "cache",
            FallCause::Heat => "heat",
            FallCause::SpareArea => "spare-area",
            FallCause::GiveBack => "give-back",
            FallCause::Unknown => "unknown",
        }
    }
}

/// Two levels within one step, and the amount of data between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLevels {
    /// The metric of the levels.
    pub metric: Metric,
    /// The mean of the full seconds before the change.
    pub before: f64,
    /// The mean of the full seconds after the change.
    pub after: f64,
    /// The bytes transferred before the change.
    pub bytes: u64,
    /// The smallest and the largest amount, at 95 % confidence.
    pub bytes_interval: (u64, u64),
}

/// The position of a step that writes, relative to the SLC cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePlace {
    /// Everything that it wrote fitted into the cache, whatever its uncertainty.
    Inside,
    /// It began inside and ended beyond, whatever its uncertainty.
    Crossing,
    /// The cache was full before it began.
    Beyond,
    /// The uncertainty of the size of the cache leaves it open.
    Unknown,
}

impl CachePlace {
    /// Every position, in the order of pages.
    pub const ALL: [CachePlace; 4] =
        [CachePlace::Inside, CachePlace::Crossing, CachePlace::Beyond, CachePlace::Unknown];

    /// Returns the word used in JSON and on pages.
    pub fn name(self) -> &'static str {
        match self {
            CachePlace::Inside => "inside",
            CachePlace::Crossing => "crossing",
            CachePlace::Beyond => "beyond",
            CachePlace::Unknown => "unknown",
        }
    }
}

/// A finding with the step that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct StepFinding {
    /// The label of the step; `None` for the whole test.
    pub step: Option<String>,
    /// The keys of the metrics that it explains; empty for a finding of the run file.
    pub metrics: Vec<String>,
    /// The finding.
    pub finding: Finding,
}

/// A finding with everything that it touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocatedFinding<'a> {
    /// The test; `None` for the whole run.
    pub test: Option<&'a Test>,
    /// The label of the step; `None` for the whole test.
    pub step: Option<&'a str>,
    /// The keys of the metrics that it explains; empty for a finding of the run file.
    pub metrics: &'a [String],
    /// The finding.
    pub finding: &'a Finding,
}

impl PointRun {
    /// Returns the interval of `metric`: between the repetitions where there are any, else over the
    /// seconds of the step.
    pub fn interval(&self, metric: Metric, scope: Scope) -> ConfidenceInterval {
        match &self.between {
            Some(between) => match between.get(&(metric, scope)) {
                Some((low, high)) => {
                    ConfidenceInterval::BetweenRepetitions { low: *low, high: *high }
                }
                None => ConfidenceInterval::Undefined,
            },
            None => self.point.interval(metric, scope),
        }
    }

    /// Returns whether intervals of `scope` say more than those of all requests: not those of the
    /// only direction.
    pub fn has_own_intervals(&self, scope: Scope) -> bool {
        scope == Scope::All || self.workload.directions().len() > 1
    }

    /// Returns the directions that the workload has, reads first.
    pub fn directions(&self) -> Vec<Direction> {
        self.workload.directions()
    }
}

impl Run {
    /// Returns how far the run has come: whether it has ended, and its steps.
    pub(crate) fn extent(&self) -> (bool, usize) {
        (self.complete, self.tests.iter().map(|test| test.points.len()).sum())
    }

    /// Returns whether all results are those of a model.
    pub fn is_model(&self) -> bool {
        self.head.drive.is_model()
    }

    /// Returns whether a test of the run was carried out several times.
    pub fn is_repeated(&self) -> bool {
        self.tests.iter().any(|test| test.repetitions.len() > 1)
    }

    /// Returns the finding on the width of the intervals between repetitions, where a run ended by it.
    pub fn width_verdict(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| {
            let kinds = [FindingKind::IntervalReached, FindingKind::IntervalNotReached];
            kinds.contains(&finding.kind)
        })
    }

    /// Returns whether all durations and byte limits were divided for a trial.
    pub fn is_shortened(&self) -> bool {
        self.head.plan.shortened > 1
    }

    /// Returns every finding with the test and step that it touches, those of the run first.
    pub fn all_findings(&self) -> Vec<LocatedFinding<'_>> {
        let of_run = self.findings.iter().map(|finding| LocatedFinding {
            test: None,
            step: None,
            metrics: &[],
            finding,
        });
        let of_tests = self.tests.iter().flat_map(|run| {
            run.findings.iter().map(move |of_step| LocatedFinding {
                test: Some(&run.test),
                step: of_step.step.as_deref(),
                metrics: &of_step.metrics,
                finding: &of_step.finding,
            })
        });
        of_run.chain(of_tests).collect()
    }
}
