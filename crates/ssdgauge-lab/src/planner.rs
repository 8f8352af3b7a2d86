//! The planner: binds a suite to a drive, and tells beforehand what the run will do.

use crate::suite::{Extent, PrepareRule, StreamRule, Suite, TestRule};
use ssdgauge_core::{
    Action, Arrival, Bytes, DriveInfo, Engine, Nanos, Phase, PhaseKind, Plan, Preparation, Rest,
    Step, Stream, SuiteIdentity, Test, Until, Workload,
};
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
}

impl Default for Options {
    fn default() -> Self {
        Options { only: Vec::new(), shorten: 1, scale_spans: false, seed: 1 }
    }
}

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
}

/// Returns the largest span in bytes that `suite` asks for by number, so that a scratch file can
/// be made large enough; `None` where every span is a share of the target.
pub fn needed_span(suite: &Suite, only: &[String]) -> Option<Bytes> {
    let size = |extent: Extent| match extent {
        Extent::Size(bytes) => Some(bytes),
        Extent::Percent(_) => None,
    };
    let prepared = |rules: &[PrepareRule]| -> Option<Bytes> {
        let sizes = rules.iter().filter_map(|rule| match *rule {
            PrepareRule::Fill { span, .. } | PrepareRule::Trim(span) => size(span),
            PrepareRule::Purge | PrepareRule::Rest(_) => None,
        });
        sizes.max()
    };
    let wanted = |test: &&TestRule| only.is_empty() || only.contains(&test.id);
    let tests = suite.tests.iter().filter(wanted).flat_map(|test| {
        let streams = test.points.iter().filter_map(|(_, _, stream)| size(stream.span));
        streams.chain(prepared(&test.prepare))
    });
    tests.chain(prepared(&suite.prepare)).max()
}

/// Binds `suite` to `drive`.
pub fn plan(suite: &Suite, drive: &DriveInfo, options: &Options) -> Result<Plan, PlanError> {
    if options.shorten == 0 {
        return Err(PlanError::Shorten(0));
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
    for rule in &suite.tests {
        if !options.only.is_empty() && !options.only.contains(&rule.id) {
            continue;
        }
        let mut test = binder.test(rule)?;
        if tests.is_empty() {
            let first = binder.prepare(&suite.id, &suite.prepare)?;
            test.phases.splice(0..0, first);
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

struct Binder<'a> {
    drive: &'a DriveInfo,
    options: &'a Options,
    scaled: bool,
}

impl Binder<'_> {
    fn test(&mut self, rule: &TestRule) -> Result<Test, PlanError> {
        let mut phases = self.prepare(&rule.id, &rule.prepare)?;
        let mut steps = Vec::new();
        for (label, position, stream) in &rule.points {
            steps.push(Step {
                label: label.clone(),
                position: *position,
                action: Action::Run {
                    workload: self.workload(rule, stream)?,
                    until: self.until(&rule.until, stream.block_size),
                },
                rest: self.rest(rule.rest),
            });
        }
        phases.push(Phase { kind: PhaseKind::Measure, steps });
        Ok(Test {
            id: rule.id.clone(),
            revision: rule.revision,
            title: rule.title.clone(),
            source: rule.source.clone(),
            score: rule.score.clone(),
            figures: rule.figures.clone(),
            chosen: rule.chosen.clone(),
            restart: rule.restart,
            phases,
        })
    }

    fn workload(&mut self, test: &TestRule, rule: &StreamRule) -> Result<Workload, PlanError> {
        let drive = self.drive;
        if !rule.block_size.0.is_multiple_of(drive.logical_block.0) {
            return Err(PlanError::Misaligned {
                what: format!("test {}", test.id),
                block_size: rule.block_size,
                target: drive.target.clone(),
                logical_block: drive.logical_block,
            });
        }
        let engine = test.engine;
        let span = self.span(&format!("test {}", test.id), rule.span, rule.block_size)?;
        let (queue_depth, threads) = match engine {
            Engine::IoUring => (rule.queue_depth, rule.threads),
            Engine::Synchronous => (1, rule.threads),
        };
        let stream = Stream {
            name: "main".into(),
            access: rule.access,
            block_size: rule.block_size,
            read_percent: rule.read_percent,
            queue_depth,
            threads,
            offset: Bytes(0),
            span,
            arrival: Arrival::Closed,
            data: rule.data,
        };
        Ok(Workload { engine, streams: vec![stream] })
    }

    fn prepare(&mut self, what: &str, rules: &[PrepareRule]) -> Result<Vec<Phase>, PlanError> {
        rules.iter().map(|rule| self.prepare_phase(what, *rule)).collect()
    }

    fn prepare_phase(&mut self, what: &str, rule: PrepareRule) -> Result<Phase, PlanError> {
        let what = format!("the preparation of {what}");
        let (kind, label, action) = match rule {
            PrepareRule::Purge => {
                (PhaseKind::Purge, "purge".to_owned(), Action::Prepare(Preparation::Purge))
            }
            PrepareRule::Trim(extent) => {
                let span = self.span(&what, extent, self.drive.logical_block)?;
                let trim = Preparation::Trim { offset: Bytes(0), span };
                (PhaseKind::Trim, format!("trim {span}"), Action::Prepare(trim))
            }
            PrepareRule::Fill { access, block_size, span } => {
                let span = self.span(&what, span, block_size)?;
                let fill = Preparation::Fill { access, block_size, offset: Bytes(0), span };
                (PhaseKind::Fill, format!("fill {span}"), Action::Prepare(fill))
            }
            PrepareRule::Rest(time) => {
                let time = Nanos(time.0 / u64::from(self.options.shorten));
                (PhaseKind::Rest, format!("rest {time}"), Action::Rest(time))
            }
        };
        let step = Step { label, position: 0.0, action, rest: Rest::None };
        Ok(Phase { kind, steps: vec![step] })
    }

    fn span(&mut self, what: &str, extent: Extent, block: Bytes) -> Result<Bytes, PlanError> {
        let capacity = self.drive.capacity;
        let too_small = |span| PlanError::TooSmall {
            what: what.to_owned(),
            span,
            target: self.drive.target.clone(),
            capacity,
        };
        let span = match extent {
            Extent::Size(bytes) if bytes > capacity && self.options.scale_spans => {
                self.scaled = true;
                capacity
            }
            Extent::Size(bytes) if bytes > capacity => return Err(too_small(bytes)),
            Extent::Size(bytes) => bytes,
            Extent::Percent(100) => capacity,
            Extent::Percent(percent) => {
                Bytes((u128::from(capacity.0) * u128::from(percent) / 100) as u64)
            }
        };
        // A span ends on the grid of the target.
        let span = Bytes(span.0 - span.0 % self.drive.physical_block.0.max(512));
        match span < block {
            true => Err(too_small(block)),
            false => Ok(span),
        }
    }

    fn until(&self, until: &Until, block_size: Bytes) -> Until {
        let by = u64::from(self.options.shorten);
        Until {
            time: until.time.map(|time| Nanos((time.0 / by).max(1))),
            bytes: until.bytes.map(|bytes| Bytes((bytes.0 / by).max(block_size.0))),
        }
    }

    fn rest(&self, rest: Rest) -> Rest {
        let by = u64::from(self.options.shorten);
        match rest {
            Rest::None => Rest::None,
            Rest::For(time) => Rest::For(Nanos(time.0 / by)),
            Rest::DutyCycle { busy, at_most } => {
                Rest::DutyCycle { busy, at_most: Nanos(at_most.0 / by) }
            }
        }
    }
}

/// What a plan will cost, as far as it can be known beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Time of all steps that are limited by time, with their longest rests.
    pub timed: Nanos,
    /// Bytes of all preparations, whose time depends on the drive.
    pub filled: Bytes,
    /// The most that is written by steps with a byte limit, preparations included.
    pub written_at_most: Bytes,
    /// Whether some step writes for a time and without a limit of bytes.
    pub writes_without_limit: bool,
}

/// Returns what `plan` will cost.
pub fn estimate(plan: &Plan) -> Estimate {
    let mut sum = Estimate::default();
    for (_, _, step) in plan.steps() {
        match &step.action {
            Action::Prepare(Preparation::Fill { span, .. }) => sum.filled += *span,
            Action::Prepare(Preparation::Purge | Preparation::Trim { .. }) => {}
            Action::Rest(time) => sum.timed += *time,
            Action::Run { until, .. } => {
                let time = until.time.unwrap_or_default();
                sum.timed += time + step.rest.after(time);
            }
        }
        match step.action.writes_at_most() {
            Some(bytes) => sum.written_at_most += bytes,
            None => sum.writes_without_limit = true,
        }
    }
    sum
}
