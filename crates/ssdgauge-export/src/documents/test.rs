//! `report --json`: the tests of a run and their headlines.

use super::parts::{Finding, Interval};
use super::step::Step;
use serde::Serialize;
use std::collections::BTreeMap;

/// A test.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Test {
    /// Its id.
    pub(crate) id: String,
    /// Why its result must not be used; null for a valid one.
    pub(crate) invalid: Option<String>,
    /// Its revision: only equal ones are compared.
    pub(crate) revision: u32,
    /// Its title.
    pub(crate) title: String,
    /// The publication that it follows.
    pub(crate) source: String,
    /// The rule of its headline in words.
    pub(crate) score: String,
    /// Whether all its steps have finished.
    pub(crate) complete: bool,
    /// Values that its source leaves open.
    pub(crate) chosen: Vec<Chosen>,
    /// Where it deviates from its source.
    pub(crate) deviations: Vec<Deviation>,
    /// Its result.
    pub(crate) headline: Headline,
    /// Its further numbers.
    pub(crate) also: Vec<Further>,
    /// The results of each repetition.
    pub(crate) repetitions: Vec<Repetition>,
    /// What the rule of the steady state looks at.
    pub(crate) tracked: Vec<Tracked>,
    /// What to know of the headline, in sentences.
    pub(crate) remarks: Vec<String>,
    /// Of writes to zones, in a run with uniform writes and known write amplification.
    pub(crate) separation: Option<Separation>,
    /// What its power meters measure.
    pub(crate) power_scopes: Vec<&'static str>,
    /// Its measured steps.
    pub(crate) points: Vec<Step>,
    /// The loads of a search in full length.
    pub(crate) tried_loads: Vec<TriedLoad>,
    /// Steps that are measured again at the end.
    pub(crate) state_checks: Vec<StateCheck>,
    /// What touches its results.
    pub(crate) findings: Vec<TestFinding>,
}

/// A value that the source of a test leaves open.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Chosen {
    /// What was chosen.
    pub(crate) key: String,
    /// Its value.
    pub(crate) value: String,
}

/// A deviation from the source of a test.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Deviation {
    /// What deviates.
    pub(crate) key: String,
    /// Its value here.
    pub(crate) value: String,
    /// The reason.
    pub(crate) reason: String,
}

/// A number of a test, with its interval.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Number {
    /// The key of the metric, which has its unit: `throughput_mb_s` is 10^6 bytes per second.
    pub(crate) metric: &'static str,
    /// The number, without a faster start that the interval excludes.
    pub(crate) value: Option<f64>,
    /// The number over all seconds, as the protocol counts.
    pub(crate) protocol: Option<f64>,
    /// The unit of the number.
    pub(crate) unit: &'static str,
    /// The full seconds that it is computed from.
    pub(crate) n: u64,
    /// The lower end of the 95 % interval.
    pub(crate) low: Option<f64>,
    /// The upper end.
    pub(crate) high: Option<f64>,
    /// What the interval comes from.
    pub(crate) interval: Interval,
}

/// The result of a test.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Headline {
    /// The number.
    #[serde(flatten)]
    pub(crate) number: Number,
    /// Both levels where it rests on one write step that falls: the number is then a mean at which no
    /// second ran.
    pub(crate) levels: Option<HeadlineLevels>,
    /// What is measured at the knee of a curve; absent for other headlines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) knee: Option<Knee>,
    /// The requests that a latency without direction is of; absent for other metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) latency_of: Option<String>,
}

/// A further number of a test.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Further {
    /// The number.
    #[serde(flatten)]
    pub(crate) number: Number,
    /// As of the headline.
    pub(crate) levels: Option<HeadlineLevels>,
    /// Its rule in words.
    pub(crate) score: String,
    /// As of the headline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) latency_of: Option<String>,
}

/// The levels of a step that falls.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct HeadlineLevels {
    /// The mean before the fall.
    pub(crate) before: f64,
    /// Whether it is a lower bound, because the fall is within the first seconds.
    pub(crate) before_is_lower_bound: bool,
    /// The mean after it.
    pub(crate) after: f64,
}

/// What is measured where more depth no longer gains.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Knee {
    /// The depth.
    pub(crate) queue_depth: u32,
    /// The smallest depth that the intervals allow.
    pub(crate) queue_depth_low: Option<u32>,
    /// The largest one.
    pub(crate) queue_depth_high: Option<u32>,
    /// Latencies, efficiency and power there, by the keys of their metrics.
    #[serde(flatten)]
    pub(crate) values: BTreeMap<&'static str, f64>,
}

/// The results of one repetition.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Repetition {
    /// The headline.
    pub(crate) headline: Number,
    /// The further numbers, in the same order.
    pub(crate) also: Vec<Number>,
}

/// A number in each round of a test.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Tracked {
    /// The step.
    pub(crate) step: String,
    /// The key of the metric.
    pub(crate) metric: &'static str,
    /// What a round is, in words.
    pub(crate) round: String,
    /// The value of each round.
    pub(crate) values: Vec<f64>,
    /// The measurement window; null before it has five rounds.
    pub(crate) window: Option<Window>,
}

/// The window of the steady-state rule.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Window {
    /// Its first round, from 1.
    pub(crate) first_round: usize,
    /// Whether both parts of the rule are met.
    pub(crate) steady: bool,
    /// The mean of its rounds.
    pub(crate) mean: f64,
    /// Largest minus smallest value, as a share of the mean.
    pub(crate) range: f64,
    /// The excursion of the line through them, as a share of the mean.
    pub(crate) slope: f64,
    /// The correlation coefficient of that line.
    pub(crate) correlation: f64,
}

/// How well a drive keeps hot and cold data apart.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Separation {
    /// Under writes to zones.
    pub(crate) write_amplification: f64,
    /// Under uniform writes.
    pub(crate) under_uniform_writes: f64,
    /// Of a drive of this spare area that mixes all writes.
    pub(crate) without_separation: f64,
    /// Of one that keeps the zones apart and divides its spare area best.
    pub(crate) with_ideal_separation: f64,
    /// The share of that gain which the drive has.
    pub(crate) share_of_gain: f64,
    /// `separates`, `separates in part` or `does not separate`.
    pub(crate) verdict: &'static str,
}

/// A load of a search.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TriedLoad {
    /// The multiple of the rates of the streams.
    pub(crate) load: f64,
    /// Whether it passed every trial; null where that is not known.
    pub(crate) passed: Option<bool>,
    /// Whether it passed one of two.
    pub(crate) trials_disagree: bool,
    /// The requests that were judged.
    pub(crate) requests: String,
    /// The duration of a trial, the mean of two.
    pub(crate) elapsed_ns: u64,
    /// The first slice, from 1, above a limit.
    pub(crate) first_failed_slice: Option<f64>,
    /// One for each limit.
    pub(crate) above: Vec<Above>,
}

/// The requests above a latency.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Above {
    /// The latency.
    pub(crate) latency_ms: f64,
    /// The share of requests above it in the worst slice.
    pub(crate) worst_slice_percent: Option<f64>,
    /// The share that a passing load stays below.
    pub(crate) limit_percent: f64,
}

/// A step that is measured again at the end.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct StateCheck {
    /// The step.
    pub(crate) step: String,
    /// The key of the metric.
    pub(crate) metric: &'static str,
    /// The value at the beginning.
    pub(crate) first: f64,
    /// The value at the end.
    pub(crate) again: f64,
}

/// A finding about a test.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TestFinding {
    /// What was found.
    #[serde(flatten)]
    pub(crate) finding: Finding,
    /// The step; null for the whole test.
    pub(crate) step: Option<String>,
    /// The keys that it explains: why they are null (`not-measured`, `too-few-samples`, `still-
    /// settling`), or what to know of them.
    pub(crate) metrics: Vec<String>,
}
