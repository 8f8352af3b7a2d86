//! Plans: what a run does to a drive, as plain data that is printed, estimated, confirmed and
//! stored.

pub(crate) mod change;
mod generated;
pub(crate) mod generated_requests;
pub(crate) mod phase;
pub(crate) mod preparation;
mod replay;
mod request_path;
mod rounds;
pub mod search;
mod steady_rule;
mod validity;

pub use generated::{ComparedFigure, GeneratedTrace, LengthCount};
pub use replay::{Replay, TraceIdentity};
pub use request_path::RequestPath;
pub use rounds::Rounds;
pub use steady_rule::SteadyRule;

use crate::drive::TargetKind;
use crate::plan::phase::PhaseKind;
use crate::plan::preparation::Preparation;
use crate::plan::search::{Search, SearchRule};
use crate::sample::Direction;
use crate::score::Score;
use crate::units::{Bytes, Nanos};
use crate::workload::{Rest, Until, Workload};
use serde::{Deserialize, Serialize};
use ssdgauge_statistics::RepeatUntil;
use std::collections::BTreeSet;

/// All steps of one run, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The suite that the plan was made from.
    pub suite: SuiteIdentity,
    /// The divisor of all durations and byte limits; 1 is the full length.
    pub shortened: u32,
    /// Whether a span was reduced to the capacity of a small target, as the user requested.
    pub span_scaled: bool,
    /// The seed of all random numbers of the run.
    pub seed: u64,
    /// The tests, in order.
    pub tests: Vec<Test>,
    /// The rule that ends the run before its last repetition; `None` where all are carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat_until: Option<RepeatUntil>,
    /// Whether everything that the run wrote is read at its end and compared, every byte.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verify: bool,
    /// Whether completions are polled (IOPOLL) instead of announced by interrupts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub polled: bool,
    /// Whether requests of measured loads are passed through as NVMe commands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pass_through: bool,
}

/// The suite of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteIdentity {
    /// Its id, such as `client-2018`.
    pub id: String,
    /// Its revision; a change that can change a result raises it.
    pub revision: u32,
    /// Its title on pages.
    pub title: String,
}

/// A sequence of phases and the rule that computes one headline from their samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Test {
    /// Its id in the suite, such as `mixed-random`.
    pub id: String,
    /// Its revision; only results of equal ids and revisions are compared.
    pub revision: u32,
    /// Its title on pages.
    pub title: String,
    /// The publication that describes the protocol.
    pub source: String,
    /// The rule of the headline.
    pub score: Score,
    /// Further numbers that the source computes from the same samples.
    #[serde(default)]
    pub also: Vec<Score>,
    /// The figures of the test.
    pub figures: Vec<Chart>,
    /// The values that the source does not state and the suite chose.
    pub chosen: Vec<Chosen>,
    /// The values that differ from those that the source states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<Deviation>,
    /// Where an interrupted run resumes in this test.
    pub restart: Restart,
    /// The phases, in order.
    pub phases: Vec<Phase>,
    /// The search for the highest passing load, where the test has one: its phases come last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// The rounds to a steady state, where the test has them: their phase comes last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Rounds>,
    /// The number of the repetition of the whole test, from 1. All repetitions have the same id;
    /// their order in the plan is the order of execution.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub repetition: u32,
}

fn first() -> u32 {
    1
}

fn is_first(repetition: &u32) -> bool {
    *repetition == 1
}

impl Test {
    /// Returns the steps that are measured, each with the indices of its phase and of the step.
    pub fn measured_steps(&self) -> impl Iterator<Item = ((usize, usize), &Step)> {
        let phases = self.phases.iter().enumerate();
        let measured = phases.filter(|(_, phase)| phase.kind == PhaseKind::Measure);
        let steps = measured.flat_map(|(phase, of_phase)| {
            of_phase.steps.iter().enumerate().map(move |(step, of_step)| ((phase, step), of_step))
        });
        steps.filter(|(_, step)| step.action.measured_workload().is_some())
    }

    /// Returns the time for which a load of the search has to pass; `None` without a search.
    pub fn passing_time(&self) -> Option<Nanos> {
        let attempts = self.phases.get(self.search.as_ref()?.attempts)?;
        attempts.steps.first()?.action.until()?.time
    }

    /// Returns whether the steps of the phase with this index run in order, before any search or
    /// rounds: the phases of a search and of rounds do not.
    pub fn is_in_order(&self, phase: usize) -> bool {
        let repeats = self.rounds.is_some_and(|rounds| rounds.phase == phase);
        !repeats
            && self.search.as_ref().is_none_or(|search| {
                let is_searched = phase == search.probes || phase == search.attempts;
                !is_searched
                    && match search.rule {
                        SearchRule::DownFromProbe => !search.recondition.contains(&phase),
                        // The preparation runs once in order, and again before each attempt.
                        SearchRule::FromOneState => true,
                    }
            })
    }
}

/// A value that the source does not state and the suite chose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// The key of the suite file.
    pub key: String,
    /// The value in words.
    pub value: String,
}

/// A value that differs from the one that the source states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deviation {
    /// The key of the suite file.
    pub key: String,
    /// The value in words.
    pub value: String,
    /// What the source states, and why the suite differs.
    pub reason: String,
}

/// Where an interrupted run resumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Restart {
    /// At the first unfinished step, after the preparation where the target lost its data.
    Step,
    /// At the preparation of the test: its steps are only valid without an interruption.
    Test,
}

/// A figure of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chart {
    /// One bar per drive: the headline.
    Ranking,
    /// The value of each point, one line per drive.
    Curve,
    /// Throughput or IOPS of every second.
    Timeline,
    /// Latency of every second.
    LatencyTimeline,
    /// Latency against percentile, on a logarithmic tail axis.
    Distribution,
}

/// A part of a test with one purpose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its purpose.
    pub kind: PhaseKind,
    /// Its steps, in order.
    pub steps: Vec<Step>,
}

impl Phase {
    /// Returns the phase of one step that carries `preparation` out.
    pub fn from_preparation(preparation: Preparation) -> Phase {
        let label = preparation.label();
        let action = Action::Prepare(preparation);
        let step = Step { label, position: 0.0, action, rest: Rest::None };
        Phase { kind: preparation.phase(), steps: vec![step] }
    }
}

/// One action, and the time without load that follows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The label that is unique in its phase, such as `70 % read` or `QD32`.
    pub label: String,
    /// The value of the swept key, for the axis of a curve; the number of the step otherwise.
    pub position: f64,
    /// The action.
    pub action: Action,
    /// The time without load afterwards.
    pub rest: Rest,
}

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Bring the drive into a state.
    Prepare(Preparation),
    /// Run a workload.
    Run {
        /// The workload.
        workload: Workload,
        /// Its limits.
        until: Until,
        /// The rule that ends it earlier, as soon as it is steady.
        #[serde(default)]
        steady: Option<SteadyRule>,
    },
    /// Replay a trace.
    Replay(Box<Replay>),
    /// Send no load; instruments continue to poll the drive.
    Rest(Nanos),
    /// Send no load and no other command: polling would wake the drive. In a measure phase it is
    /// measured.
    Idle(Nanos),
}

impl Action {
    /// Returns whether it writes to the drive.
    pub fn writes(&self) -> bool {
        match self {
            Action::Run { workload, .. } => workload.writes(),
            Action::Replay(replay) => replay.workload.writes(),
            Action::Prepare(preparation) => preparation.fill_span().is_some(),
            Action::Rest(_) | Action::Idle(_) => false,
        }
    }

    /// Returns the preparation, where the action is one.
    pub fn preparation(&self) -> Option<&Preparation> {
        match self {
            Action::Prepare(preparation) => Some(preparation),
            Action::Run { .. } | Action::Replay(_) | Action::Rest(_) | Action::Idle(_) => None,
        }
    }

    /// Returns the workload, where the action runs one.
    pub fn workload(&self) -> Option<&Workload> {
        match self {
            Action::Run { workload, .. } => Some(workload),
            Action::Replay(replay) => Some(&replay.workload),
            Action::Prepare(_) | Action::Rest(_) | Action::Idle(_) => None,
        }
    }

    /// Returns the replay, where the action is one.
    pub fn replay(&self) -> Option<&Replay> {
        match self {
            Action::Replay(replay) => Some(replay),
            Action::Run { .. } | Action::Prepare(_) | Action::Rest(_) | Action::Idle(_) => None,
        }
    }

    /// Returns the limits of the workload, where the action runs one.
    pub fn until(&self) -> Option<&Until> {
        match self {
            Action::Run { until, .. } => Some(until),
            Action::Replay(replay) => Some(&replay.until),
            Action::Prepare(_) | Action::Rest(_) | Action::Idle(_) => None,
        }
    }

    /// Returns the rule that ends the workload as soon as it is steady, where there is one.
    pub fn steady(&self) -> Option<SteadyRule> {
        match self {
            Action::Run { steady, .. } => *steady,
            Action::Prepare(_) | Action::Replay(_) | Action::Rest(_) | Action::Idle(_) => None,
        }
    }

    /// Returns the duration of an action without load: a rest or an idle time.
    pub fn idle_time(&self) -> Option<Nanos> {
        match *self {
            Action::Rest(duration) | Action::Idle(duration) => Some(duration),
            Action::Prepare(_) | Action::Run { .. } | Action::Replay(_) => None,
        }
    }

    /// Returns the workload that a measure phase measures: that of a run, and an empty one for an
    /// idle time or a trim. `None` for actions that are never measured.
    pub fn measured_workload(&self) -> Option<&Workload> {
        match self {
            Action::Run { workload, .. } => Some(workload),
            Action::Replay(replay) => Some(&replay.workload),
            Action::Idle(_) | Action::Prepare(Preparation::Trim { .. }) => {
                Some(Workload::no_load())
            }
            Action::Prepare(_) | Action::Rest(_) => None,
        }
    }

    /// Returns the action in words for a printed plan.
    pub fn describe(&self) -> String {
        match self {
            Action::Prepare(preparation) => preparation.describe(),
            Action::Replay(replay) => replay.describe(),
            Action::Idle(time) => {
                format!("idle for {}: no load, no command to the drive", time.about())
            }
            Action::Rest(time) => format!("no load for {}", time.about()),
            Action::Run { workload, until, steady } => {
                let rule = |rule: SteadyRule| {
                    let least = match rule.least_bytes {
                        Bytes(0) => String::new(),
                        bytes => format!(", after {} at least", bytes.about()),
                    };
                    let round = rule.describe_round();
                    format!("in steady state ({}, rounds of {round}{least})", rule.metric.key())
                };
                let limits: Vec<String> =
                    until.describe().into_iter().chain(steady.map(rule)).collect();
                format!("{}; ends {}", workload.describe(), limits.join(" or "))
            }
        }
    }

    /// Returns the maximum number of bytes that the action writes; `None` where only time limits it.
    pub fn writes_at_most(&self) -> Option<Bytes> {
        match self {
            Action::Prepare(preparation) => Some(preparation.writes()),
            Action::Rest(_) | Action::Idle(_) => Some(Bytes(0)),
            Action::Replay(replay) => Some(replay.bytes[1]),
            Action::Run { workload, until, .. } => {
                if !workload.writes() {
                    return Some(Bytes(0));
                }
                // Reads count towards the limit. The share of a single stream is exact over every
                // hundred requests; of several streams, one may write while the others wait.
                let share = match workload.streams.as_slice() {
                    [stream] => u64::from(stream.percent_of(Direction::Write)),
                    _ => 100,
                };
                until.bytes.map(|bytes| {
                    let bytes = u128::from(workload.whole_requests(bytes).0);
                    Bytes((bytes * u128::from(share)).div_ceil(100) as u64)
                })
            }
        }
    }

    /// Returns whether the action changes the data on the drive.
    pub fn is_destructive(&self) -> bool {
        match self {
            Action::Prepare(preparation) => preparation.changes_data(),
            Action::Run { workload, .. } => workload.changes_data(),
            Action::Replay(replay) => replay.workload.changes_data(),
            Action::Rest(_) | Action::Idle(_) => false,
        }
    }

    /// Returns the end of the range that the action addresses, in bytes from the start of the
    /// target; 0 where it addresses no range.
    pub fn end(&self) -> Bytes {
        match self {
            Action::Prepare(preparation) => preparation.end(),
            Action::Run { workload, .. } => workload.end(),
            Action::Replay(replay) => replay.workload.end(),
            Action::Rest(_) | Action::Idle(_) => Bytes(0),
        }
    }
}

impl Plan {
    /// Returns whether any step changes the data on the drive.
    pub fn is_destructive(&self) -> bool {
        self.steps().any(|(_, _, step)| step.action.is_destructive())
    }

    /// Returns every step with its test and phase, in the order of the plan.
    pub fn steps(&self) -> impl Iterator<Item = (&Test, &Phase, &Step)> {
        self.tests.iter().flat_map(|test| {
            test.phases
                .iter()
                .flat_map(move |phase| phase.steps.iter().map(move |step| (test, phase, step)))
        })
    }

    /// Returns the plan of the first `repetitions` repetitions of every test.
    pub fn first(&self, repetitions: u32) -> Plan {
        let tests = self.tests.iter().filter(|test| test.repetition <= repetitions);
        Plan { tests: tests.cloned().collect(), ..self.clone() }
    }

    /// Returns the length of the range from the start of the target that the steps address.
    pub fn extent(&self) -> Bytes {
        self.steps().map(|(_, _, step)| step.action.end()).max().unwrap_or_default()
    }

    /// Returns the parts of the protocol that are not possible on this kind of target, each once,
    /// with the reason.
    pub fn missing_on(&self, target: TargetKind) -> Vec<&'static str> {
        let preparations = self.steps().filter_map(|(_, _, step)| step.action.preparation());
        // A set: a plan repeats its preparations, and equal plans give equal lists.
        let missing: BTreeSet<&str> =
            preparations.filter_map(|preparation| preparation.missing_on(target)).collect();
        missing.into_iter().chain(target.limitation()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::preparation::{PowerSaving, WriteCache};
    use crate::workload::{Access, Arrival, Data, Engine, Stream};

    fn stream(read_percent: u8) -> Stream {
        Stream {
            name: "main".into(),
            access: Access::Random,
            block_size: Bytes(4_096),
            read_percent,
            queue_depth: 32,
            threads: 4,
            offset: Bytes(1_000),
            span: Bytes(64_000_000_000),
            arrival: Arrival::Closed,
            data: Data::Incompressible,
            sync: false,
            ..Stream::default()
        }
    }

    fn run(streams: Vec<Stream>, bytes: Option<u64>) -> Action {
        let until = Until { time: Some(Nanos::from_secs(600)), bytes: bytes.map(Bytes) };
        let workload = Workload { engine: Engine::IoUring, streams };
        Action::Run { workload, until, steady: None }
    }

    #[test]
    fn a_byte_limit_bounds_the_writes_by_the_share_of_writes() {
        assert_eq!(run(vec![stream(100)], None).writes_at_most(), Some(Bytes(0)));
        assert_eq!(run(vec![stream(70)], None).writes_at_most(), None);
        // Rounded up to a whole request of 4,096 bytes.
        assert_eq!(run(vec![stream(70)], Some(1_001)).writes_at_most(), Some(Bytes(1_229)));
        let both = run(vec![stream(70), stream(100)], Some(4_097));
        assert_eq!(both.writes_at_most(), Some(Bytes(8_192)));
    }

    #[test]
    fn an_action_in_words_names_load_and_limits() {
        assert_eq!(
            run(vec![stream(70)], Some(4_096)).describe(),
            "random 4 KiB, 70 % read, QD32 × 4, span 64.0 GB; ends after 10 min or after 4.10 kB"
        );
        assert_eq!(Action::Rest(Nanos::from_secs(5)).describe(), "no load for 5 s");
    }

    #[test]
    fn settings_and_idle_times_destroy_nothing_and_address_nothing() {
        let actions = [
            Action::Prepare(Preparation::Power(PowerSaving::Low)),
            Action::Prepare(Preparation::WriteCache(WriteCache::Off)),
            Action::Rest(Nanos::SECOND),
            Action::Idle(Nanos::SECOND),
        ];
        for action in actions {
            assert!(!action.is_destructive(), "{action:?}");
            assert_eq!((action.end(), action.writes_at_most()), (Bytes(0), Some(Bytes(0))));
        }
        let reads = run(vec![stream(100)], None);
        assert_eq!((reads.is_destructive(), reads.end()), (false, Bytes(64_000_001_000)));
    }
}
