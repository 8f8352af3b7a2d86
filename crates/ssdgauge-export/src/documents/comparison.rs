//! `compare --json`.

use serde::Serialize;

/// The comparison of two runs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a> {
    /// Raised where a key changes its meaning or goes; keys are added without.
    pub(crate) schema_version: u32,
    /// The first run, which the other one is compared with.
    pub(crate) a: ComparedRun<'a>,
    /// The second run.
    pub(crate) b: ComparedRun<'a>,
    /// Marks of both runs, such as `MODEL`.
    pub(crate) marks: &'a [String],
    /// Results are equal where they differ by at most this share; null where earlier runs decide.
    pub(crate) noise: Option<f64>,
    /// The largest loss that the gate allows, as a share; null without a gate.
    pub(crate) threshold: Option<f64>,
    /// `passed`, `failed` or `undecided`; null without a gate.
    pub(crate) gate: Option<&'static str>,
    /// Why the gate decides nothing, whatever the numbers are: a run was disturbed; null otherwise.
    pub(crate) gate_reason: Option<&'static str>,
    /// The tests of the first run, in their order.
    pub(crate) tests: Vec<ComparedTest<'a>>,
}

/// One of the two runs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ComparedRun<'a> {
    /// The id of the run.
    pub(crate) id: &'a str,
    /// The name of its drive.
    pub(crate) drive: &'a str,
    /// What puts its numbers in doubt; null without a doubt.
    pub(crate) doubts: Option<&'a str>,
}

/// One number of a test of both runs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ComparedTest<'a> {
    /// The id of the test.
    pub(crate) id: &'a str,
    /// Its revision in the first run.
    pub(crate) revision: u32,
    /// The key of the metric, such as `iops`.
    pub(crate) metric: &'static str,
    /// The unit of `a` and `b`.
    pub(crate) unit: &'static str,
    /// The rule of the headline in words.
    pub(crate) score: &'a str,
    /// Whether this is a further number of the test, which the gate ignores.
    pub(crate) further: bool,
    /// The number of the first run; null where it has none.
    pub(crate) a: Option<f64>,
    /// The number of the second run; null where it has none.
    pub(crate) b: Option<f64>,
    /// The loads between which trials of the first run disagree; null where they agree.
    pub(crate) range_a: Option<Range>,
    /// The same of the second run.
    pub(crate) range_b: Option<Range>,
    /// `b` divided by `a`, without the seconds that are cut; null where one of them is missing.
    pub(crate) ratio_b_to_a: Option<f64>,
    /// Seconds of a faster start that the ratio leaves out of the first run.
    pub(crate) cut_seconds_a: Option<usize>,
    /// The same of the second run.
    pub(crate) cut_seconds_b: Option<usize>,
    /// The lower end of the 95 % interval of the ratio; null where there is none.
    pub(crate) low: Option<f64>,
    /// The upper end.
    pub(crate) high: Option<f64>,
    /// The earlier runs of the test on this drive; null without `--history`.
    pub(crate) history_runs: Option<usize>,
    /// The largest change, as a share, that their changes explain; null where they are too few.
    pub(crate) history_limit: Option<f64>,
    /// `better`, `worse`, `within-noise` or `unknown`.
    pub(crate) difference: &'static str,
    /// `differs`, `equal` or `cannot-tell`.
    pub(crate) outcome: &'static str,
    /// `passed`, `failed` or `undecided`; null without a gate, and for further numbers.
    pub(crate) gate: Option<&'static str>,
    /// Why the difference is unknown; null where it is known.
    pub(crate) reason: Option<&'a str>,
}

/// The loads between which trials disagree.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Range {
    /// The lowest of these loads.
    pub(crate) low: f64,
    /// The highest of them.
    pub(crate) high: f64,
}
