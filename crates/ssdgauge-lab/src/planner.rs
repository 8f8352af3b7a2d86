//! The planner: binds a suite to a drive, and tells beforehand what the run will do.

mod binder;

use crate::suite::{Extent, PrepareRule, Suite, TestRule};
use binder::{Binder, cache_phase};
use ssdgauge_core::{Bytes, DriveInfo, Phase, Plan, PurgeMethod, SuiteIdentity, Test, WriteCache};
use thiserror::Error;

/// What the user asks of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The tests to run; all of them where it is empty.
    pub only: Vec<String>,
    /// Divides all durations and byte limits; 1 is the full length.
    pub shorten: u32,
    /// Cuts spans down to a target that is too small, and marks the run.
    pub scale_spans: bool,
    /// The seed of all randomness in the run.
    pub seed: u64,
    /// How often every test is carried out; once is 1.
    pub repeat: u32,
    /// The one way in which the drive is made fresh; `None` for the best that it has.
    pub purge: Option<PurgeMethod>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            only: Vec::new(),
            shorten: 1,
            scale_spans: false,
            seed: 1,
            repeat: 1,
            purge: None,
        }
    }
}

/// The most repetitions of a test: enough for any interval, and a bound on the plan.
const MOST_REPETITIONS: u32 = 100;

/// Why a suite cannot run on a drive. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The suite has no such test.
    #[error("suite {suite} has no test '{test}'")]
    UnknownTest {
        /// The suite.
        suite: String,
        /// What was asked.
        test: String,
        /// The tests that it has.
        known: String,
    },
    /// The target is smaller than the span of a test.
    #[error("{what} needs {span}, and {target} has {}", capacity.about())]
    TooSmall {
        /// The test, or the preparation.
        what: String,
        /// The span that it needs.
        span: Bytes,
        /// The target.
        target: String,
        /// What it has.
        capacity: Bytes,
    },
    /// The requests of a test do not fit the blocks of the target.
    #[error("{what} sends requests of {block_size}, and {target} has blocks of {logical_block}")]
    Misaligned {
        /// The test.
        what: String,
        /// The size of its requests.
        block_size: Bytes,
        /// The target.
        target: String,
        /// The smallest unit of the target.
        logical_block: Bytes,
    },
    /// Durations cannot be divided by zero.
    #[error("a run cannot be shortened by {0}")]
    Shorten(u32),
    /// A test is carried out once at least.
    #[error("a test cannot be carried out {0} times")]
    Repeat(u32),
}

/// Returns the largest span in bytes that `suite` asks for by number, so that a scratch file can
/// be made large enough; `None` where every span is a share of the target.
pub fn needed_span(suite: &Suite, only: &[String]) -> Option<Bytes> {
    let size = |extent: Extent| match extent {
        Extent::Size(bytes) => Some(bytes),
        Extent::Percent(_) => None,
    };
    let prepared = |rules: &[PrepareRule]| -> Option<Bytes> {
        let sizes = rules.iter().filter_map(|rule| match rule {
            PrepareRule::Fill { span, .. } | PrepareRule::Trim(span) => size(*span),
            PrepareRule::Precondition { stream, .. } => size(stream.span),
            PrepareRule::Purge
            | PrepareRule::Rest(_)
            | PrepareRule::Power(_)
            | PrepareRule::WriteCache(_) => None,
        });
        sizes.max()
    };
    let wanted = |test: &&TestRule| only.is_empty() || only.contains(&test.id);
    let tests = suite.tests.iter().filter(wanted).flat_map(|test| {
        let streams = test.points.iter().flat_map(|point| &point.streams);
        let streams = streams.filter_map(|stream| size(stream.span));
        streams.chain(prepared(&test.prepare))
    });
    tests.chain(prepared(&suite.prepare)).max()
}

/// Binds `suite` to `drive`.
pub fn plan(suite: &Suite, drive: &DriveInfo, options: &Options) -> Result<Plan, PlanError> {
    if options.shorten == 0 {
        return Err(PlanError::Shorten(0));
    }
    if !(1..=MOST_REPETITIONS).contains(&options.repeat) {
        return Err(PlanError::Repeat(options.repeat));
    }
    let has = |id: &String| suite.tests.iter().any(|test| test.id == *id);
    if let Some(unknown) = options.only.iter().find(|id| !has(id)) {
        let known: Vec<&str> = suite.tests.iter().map(|test| test.id.as_str()).collect();
        return Err(PlanError::UnknownTest {
            suite: suite.id.clone(),
            test: unknown.clone(),
            known: known.join(", "),
        });
    }
    let mut binder = Binder { drive, options, scaled: false };
    let mut tests = Vec::new();
    let mut switched = false;
    // All tests once, then all of them again: a drift of drive or host falls on every test alike.
    let turns = (1..=options.repeat).flat_map(|turn| suite.tests.iter().map(move |t| (turn, t)));
    for (repetition, rule) in turns {
        if !options.only.is_empty() && !options.only.contains(&rule.id) {
            continue;
        }
        let mut test = Test { repetition, ..binder.test(rule)? };
        let sets = rule.sets_write_cache();
        if switched && !sets {
            // The test before switched it; behind the last one the rig puts it back.
            begin_with(&mut test, vec![cache_phase(WriteCache::AsFound)]);
        }
        switched = sets;
        if tests.is_empty() {
            let first = binder.prepare(&suite.id, &suite.prepare)?;
            begin_with(&mut test, first);
        }
        tests.push(test);
    }
    Ok(Plan {
        suite: SuiteIdentity {
            id: suite.id.clone(),
            revision: suite.revision,
            title: suite.title.clone(),
        },
        shortened: options.shorten,
        span_scaled: binder.scaled,
        seed: options.seed,
        tests,
    })
}

/// Puts `first` before all phases of `test`.
fn begin_with(test: &mut Test, first: Vec<Phase>) {
    let shift = first.len();
    test.phases.splice(0..0, first);
    if let Some(rounds) = &mut test.rounds {
        rounds.phase += shift;
    }
    if let Some(search) = &mut test.search {
        search.probes += shift;
        search.trials += shift;
        search.recondition.iter_mut().for_each(|phase| *phase += shift);
    }
}
