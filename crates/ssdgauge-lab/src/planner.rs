//! The planner: binds a suite to a drive. The plan lists every step of the run before it begins.

mod binder;
mod filled;
mod generated;
mod replay;

pub use replay::{REPLAY_SUITE, plan_replay};

use crate::repeat::{Repeat, RepeatError};
use crate::suite::{Extent, PrepareRule, StreamRule, Suite, TestRule};
use binder::{Binder, cache_phase};
use ssdgauge_core::{
    Bytes, DriveInfo, Phase, Plan, PurgeMethod, SuiteIdentity, TargetKind, Test, WriteCache,
};
use thiserror::Error;

/// Options of the user for a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Ids of the tests to run; all tests where it is empty.
    pub only: Vec<String>,
    /// Divisor of all durations and byte limits; 1 is the full length.
    pub shorten: u32,
    /// Whether spans are reduced to a target that is too small; the run is then marked.
    pub scale_spans: bool,
    /// The seed of all randomness in the run.
    pub seed: u64,
    /// How often each test is carried out.
    pub repeat: Repeat,
    /// The purge method; `None` for the best one of the drive.
    pub purge: Option<PurgeMethod>,
    /// Whether everything that the run wrote is verified at its end.
    pub verify: bool,
    /// Whether completions are polled.
    pub polled: bool,
    /// Whether requests are passed through as NVMe commands.
    pub pass_through: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            only: Vec::new(),
            shorten: 1,
            scale_spans: false,
            seed: 1,
            repeat: Repeat::Times(1),
            purge: None,
            verify: false,
            polled: false,
            pass_through: false,
        }
    }
}

/// Refusal to plan a suite for a drive. Nothing was written.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PlanError {
    /// The suite has no test with this id.
    #[error("suite {suite} has no test '{test}'")]
    UnknownTest {
        /// Id of the suite.
        suite: String,
        /// The unknown id.
        test: String,
        /// Ids of its tests.
        known: String,
    },
    /// The target is smaller than the span of a test.
    #[error("{what} needs {}; {target} has {}", span.about(), capacity.about())]
    TooSmall {
        /// The test, or the preparation.
        what: String,
        /// The span that it needs.
        span: Bytes,
        /// The target.
        target: String,
        /// Capacity of the target.
        capacity: Bytes,
    },
    /// The block size of a test is not a multiple of the logical block of the target.
    #[error(
        "{what} sends requests of {}; {target} has logical blocks of {}",
        block_size.as_block(), logical_block.as_block()
    )]
    Misaligned {
        /// The test.
        what: String,
        /// Block size of its requests.
        block_size: Bytes,
        /// The target.
        target: String,
        /// Logical block size of the target.
        logical_block: Bytes,
    },
    /// A stream trims, and the target has no trim.
    #[error("{what} has the stream '{stream}' of trims; {target} does not support them")]
    NoTrim {
        /// The test, or the preparation.
        what: String,
        /// The stream.
        stream: String,
        /// The target.
        target: String,
    },
    /// The second request of a stream with a stride would lie beyond its span.
    #[error("{what} has a stride of {} in a span of {}: all requests would read or write one block", stride.about(), span.about())]
    LongStride {
        /// The test, or the preparation.
        what: String,
        /// The stride.
        stride: Bytes,
        /// The span.
        span: Bytes,
    },
    /// A zone of a stream has less than one block.
    #[error(
        "{what} has the stream '{stream}' with a zone of {} of its {blocks} blocks: less than one",
        ssdgauge_core::rounded::number(*share * 100.0) + " %"
    )]
    SmallZone {
        /// The test, or the preparation.
        what: String,
        /// The stream.
        stream: String,
        /// The share of the blocks.
        share: f64,
        /// The blocks of its span.
        blocks: u64,
    },
    /// The range of a stream ends beyond the target.
    #[error(
        "{what} has the stream '{stream}' from {} to {}; {target} ends at {}",
        offset.about(), end.about(), capacity.about()
    )]
    Beyond {
        /// The test, or the preparation.
        what: String,
        /// The stream.
        stream: String,
        /// The start of its range.
        offset: Bytes,
        /// The end of its range.
        end: Bytes,
        /// The target.
        target: String,
        /// Capacity of the target.
        capacity: Bytes,
    },
    /// A step reads a scratch file where no fill of the run has written it.
    #[error(
        "step '{step}' of {test} reads up to {}; the run fills the scratch file up to {}",
        end.about(), filled_to.about()
    )]
    Unfilled {
        /// The test.
        test: String,
        /// The step.
        step: String,
        /// The end of what it reads.
        end: Bytes,
        /// The end of what is filled before it.
        filled_to: Bytes,
    },
    /// The divisor of durations is 0.
    #[error("durations cannot be divided by {0}")]
    Shorten(u32),
    /// The number of repetitions is not possible.
    #[error(transparent)]
    Repeat(#[from] RepeatError),
}

/// Returns the largest span that `suite` gives in bytes, which a scratch file must hold; `None`
/// where every span is a share of the target.
pub fn needed_span(suite: &Suite, only: &[String]) -> Option<Bytes> {
    let size = |extent: Extent| match extent {
        Extent::Size(bytes) => Some(bytes),
        Extent::Percent(_) => None,
    };
    let needed = |stream: &StreamRule| {
        let offset = stream.offset.and_then(size);
        let span = size(stream.span);
        let sum = Bytes(offset.unwrap_or_default().0.saturating_add(span.unwrap_or_default().0));
        offset.or(span).map(|_| sum)
    };
    let prepared = |rules: &[PrepareRule]| -> Option<Bytes> {
        let sizes = rules.iter().filter_map(|rule| match rule {
            PrepareRule::Fill { span, .. } | PrepareRule::Trim(span) => size(*span),
            PrepareRule::Precondition { stream, .. } => needed(stream),
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
        let streams = streams.filter_map(needed);
        let trims = test.points.iter().filter_map(|point| point.trim.and_then(size));
        streams.chain(trims).chain(prepared(&test.prepare)).chain(prepared(&test.prepare_each))
    });
    tests.chain(prepared(&suite.prepare)).max()
}

/// Binds `suite` to `drive`.
///
/// # Errors
///
/// [`PlanError::Shorten`], [`PlanError::Repeat`] or [`PlanError::UnknownTest`] by the options;
/// [`PlanError::TooSmall`] or [`PlanError::Misaligned`] where a test does not fit the drive;
/// [`PlanError::Unfilled`] where it reads a scratch file beyond its fills.
pub fn plan(suite: &Suite, drive: &DriveInfo, options: &Options) -> Result<Plan, PlanError> {
    if options.shorten == 0 {
        return Err(PlanError::Shorten(0));
    }
    let repeat = options.repeat.check()?;
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
    // All tests once, then all of them again: a drift of drive or host over the run then affects
    // every test alike, instead of appearing as a difference between tests.
    let turns = (1..=repeat.at_most()).flat_map(|turn| suite.tests.iter().map(move |t| (turn, t)));
    for (repetition, rule) in turns {
        if !options.only.is_empty() && !options.only.contains(&rule.id) {
            continue;
        }
        let mut test = Test { repetition, ..binder.test(rule)? };
        let sets = rule.sets_write_cache();
        if switched && !sets {
            // The test before switched the cache. After the last test the rig restores it.
            begin_with(&mut test, vec![cache_phase(WriteCache::AsFound)]);
        }
        switched = sets;
        if tests.is_empty() {
            let first = binder.prepare(&suite.id, &suite.prepare)?;
            begin_with(&mut test, first);
        }
        tests.push(test);
    }
    if drive.kind == TargetKind::File {
        filled::check_reads(&tests)?;
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
        repeat_until: repeat.rule(),
        verify: options.verify,
        polled: options.polled,
        pass_through: options.pass_through,
    })
}

/// Inserts `first` before all phases of `test`; rounds and search refer to phases by number.
fn begin_with(test: &mut Test, first: Vec<Phase>) {
    let shift = first.len();
    test.phases.splice(0..0, first);
    if let Some(rounds) = &mut test.rounds {
        rounds.phase += shift;
    }
    if let Some(search) = &mut test.search {
        search.probes += shift;
        search.attempts += shift;
        search.recondition.iter_mut().for_each(|phase| *phase += shift);
    }
}
