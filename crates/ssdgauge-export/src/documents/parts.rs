//! What several parts of `report --json` have.

use serde::Serialize;

/// Something that touches results.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Finding {
    /// Its key, such as `page-cache`.
    pub(crate) kind: &'static str,
    /// `note`, `warning` or `invalid`.
    pub(crate) severity: &'static str,
    /// What was seen.
    pub(crate) text: String,
    /// What to do.
    pub(crate) advice: String,
}

/// What an interval comes from. A percentile may have a lower end only.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Interval {
    /// `within-run`, `of-what-was-seen` (percentiles over 60 to 3,599 s), `between-repetitions`, `of-
    /// counters`, `of-trials` (loads between which trials disagree), `still-settling`, `rests-on-few-
    /// seconds` (mean ÷ σ), `too-few-seconds` (10; percentiles 60) or `undefined`.
    pub(crate) kind: &'static str,
    /// The lower end; absent without an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) low: Option<f64>,
    /// The upper end; null where only a lower end is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) high: Option<Option<f64>>,
    /// Within a run: the number that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mean: Option<f64>,
    /// Within a run: the seconds of an excluded faster start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cut_seconds: Option<usize>,
    /// Within a run: the seconds after them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<usize>,
}
