//! What shall happen to a drive, as plain data: printed, estimated, confirmed and stored.

use crate::metric::Metric;
use crate::phase::PhaseKind;
use crate::preparation::Preparation;
use crate::score::Score;
use crate::search::Search;
use crate::units::{Bytes, Nanos};
use crate::workload::{Rest, Until, Workload};
use serde::{Deserialize, Serialize};

/// Everything that one run does, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The protocol that it comes from.
    pub suite: SuiteIdentity,
    /// All durations and byte limits were divided by this number; 1 is the full length.
    pub shortened: u32,
    /// Whether a span was cut down to a small target, by explicit wish.
    pub span_scaled: bool,
    /// The seed of all randomness in the run.
    pub seed: u64,
    /// The tests, in order.
    pub tests: Vec<Test>,
}

/// Which protocol a plan follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteIdentity {
    /// Its id, such as `client-2018`.
    pub id: String,
    /// Its revision; a change that can move a number raises it.
    pub revision: u32,
    /// Its title for people.
    pub title: String,
}

/// One test: some phases and the rule that makes one number of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Test {
    /// Its id in the suite, such as `mixed-random`.
    pub id: String,
    /// Its revision; only equal ids and revisions are compared.
    pub revision: u32,
    /// Its title for people.
    pub title: String,
    /// Where the protocol is described.
    pub source: String,
    /// The rule that makes the headline.
    pub score: Score,
    /// Further numbers that the source takes from the same samples.
    #[serde(default)]
    pub also: Vec<Score>,
    /// The figures that show it.
    pub figures: Vec<Figure>,
    /// What the source leaves unsaid and the suite chose.
    pub chosen: Vec<Chosen>,
    /// Where a run that was cut off in this test goes on.
    pub restart: Restart,
    /// The phases, in order.
    pub phases: Vec<Phase>,
    /// The search for the highest load, where the test has one: its phases come last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// The rounds to a steady state, where the test has them: their phase comes last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Rounds>,
    /// Which repetition of the whole test this is, from 1. All repetitions bear the same id; the
    /// order in which they stand in the plan is the order in which they are carried out.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub repetition: u32,
}

fn first() -> u32 {
    1
}

fn is_first(repetition: &u32) -> bool {
    *repetition == 1
}

/// A phase that is carried out again and again until five rounds are steady by the rule of the
/// SNIA Performance Test Specification; the samples of those five are the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounds {
    /// The phase.
    pub phase: usize,
    /// The most rounds; where none of them ends a steady window, the last five are the result.
    pub at_most: u32,
    /// The step whose value is tracked.
    pub tracking: usize,
    /// The metric that is tracked.
    pub metric: Metric,
}

impl Test {
    /// Returns whether the phase of this number is carried out once, step by step, and not as
    /// a search or its rounds ask.
    pub fn is_in_order(&self, phase: usize) -> bool {
        let repeats = self.rounds.is_some_and(|rounds| rounds.phase == phase);
        !repeats
            && self.search.as_ref().is_none_or(|search| {
                phase != search.probes
                    && phase != search.trials
                    && !search.recondition.contains(&phase)
            })
    }
}

/// A value that the source does not state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// The key of the suite file.
    pub key: String,
    /// The value in words.
    pub value: String,
}

/// Where a run that was cut off goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Restart {
    /// At the first step that is not finished, after the preparation where the target lost it.
    Step,
    /// At the test's own preparation: its steps make sense only without a pause.
    Test,
}

/// A picture that shows a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// One bar a drive: the headline.
    Ranking,
    /// A curve of the points, one line a drive.
    Curve,
    /// Throughput or IOPS for every second.
    Timeline,
    /// Latency for every second.
    LatencyTimeline,
    /// Latency against percentile, on a logarithmic tail axis.
    Distribution,
}

/// A stretch of a test with one purpose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its purpose.
    pub kind: PhaseKind,
    /// Its steps, in order.
    pub steps: Vec<Step>,
}

/// One thing to do, and the rest that follows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What tells it from its neighbours, such as `70 % read` or `QD32`.
    pub label: String,
    /// The value of the swept key, for the axis of a curve; the number of the step otherwise.
    pub position: f64,
    /// What to do.
    pub action: Action,
    /// How long the drive is left alone afterwards.
    pub rest: Rest,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Bring the drive into a state.
    Prepare(Preparation),
    /// Load the drive.
    Run {
        /// The load.
        workload: Workload,
        /// When it ends.
        until: Until,
        /// Ends it earlier, as soon as it is steady.
        #[serde(default)]
        steady: Option<SteadyRule>,
    },
    /// Leave the drive alone.
    Rest(Nanos),
    /// Leave the drive alone, and ask nothing of it either: a question would wake it. Measured
    /// where it stands in a measure phase.
    Idle(Nanos),
}

/// Steady by the rule of the SNIA Performance Test Specification, see
/// [`crate::statistics::steady`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteadyRule {
    /// The length of a round, in whole seconds.
    pub round: Nanos,
    /// What is tracked from round to round; a metric that adds up over seconds.
    pub metric: Metric,
}

impl Action {
    /// Returns the most bytes that the action writes; `None` where only time limits it.
    pub fn writes_at_most(&self) -> Option<Bytes> {
        match self {
            Action::Prepare(Preparation::Fill { span, .. }) => Some(*span),
            Action::Prepare(
                Preparation::Purge
                | Preparation::PurgeBy(_)
                | Preparation::Trim { .. }
                | Preparation::Power(_)
                | Preparation::WriteCache(_),
            )
            | Action::Rest(_)
            | Action::Idle(_) => Some(Bytes(0)),
            Action::Run { workload, until, .. } => {
                if !workload.streams.iter().any(|stream| stream.writes()) {
                    return Some(Bytes(0));
                }
                // Reads count towards the limit; of a single stream their share is exact over
                // every hundred requests.
                let share = match workload.streams.as_slice() {
                    [stream] => 100 - u64::from(stream.read_percent.min(100)),
                    _ => 100,
                };
                until.bytes.map(|bytes| {
                    Bytes((u128::from(bytes.0) * u128::from(share)).div_ceil(100) as u64)
                })
            }
        }
    }

    /// Returns whether the action changes what the drive holds.
    pub fn is_destructive(&self) -> bool {
        match self {
            Action::Prepare(Preparation::Power(_) | Preparation::WriteCache(_))
            | Action::Rest(_)
            | Action::Idle(_) => false,
            Action::Prepare(
                Preparation::Purge
                | Preparation::PurgeBy(_)
                | Preparation::Trim { .. }
                | Preparation::Fill { .. },
            ) => true,
            Action::Run { workload, .. } => workload.streams.iter().any(|stream| stream.writes()),
        }
    }
}

impl Plan {
    /// Returns whether any step changes what the drive holds.
    pub fn is_destructive(&self) -> bool {
        self.steps().any(|(_, _, step)| step.action.is_destructive())
    }

    /// Returns every step with its test and phase.
    pub fn steps(&self) -> impl Iterator<Item = (&Test, &Phase, &Step)> {
        self.tests.iter().flat_map(|test| {
            test.phases
                .iter()
                .flat_map(move |phase| phase.steps.iter().map(move |step| (test, phase, step)))
        })
    }

    /// Returns the bytes from the start of the target that any step touches.
    pub fn extent(&self) -> Bytes {
        let end = |step: &Step| match &step.action {
            Action::Prepare(Preparation::Fill { offset, span, .. })
            | Action::Prepare(Preparation::Trim { offset, span }) => *offset + *span,
            Action::Prepare(
                Preparation::Purge
                | Preparation::PurgeBy(_)
                | Preparation::Power(_)
                | Preparation::WriteCache(_),
            )
            | Action::Rest(_)
            | Action::Idle(_) => Bytes(0),
            Action::Run { workload, .. } => workload
                .streams
                .iter()
                .map(|stream| stream.offset + stream.span)
                .max()
                .unwrap_or_default(),
        };
        self.steps().map(|(_, _, step)| end(step)).max().unwrap_or_default()
    }
}
