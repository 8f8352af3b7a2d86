//! `quick_bands` of a run in `report --json`.

use serde::Serialize;

/// The bands of a quick run, or the reason why it has none.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum QuickBands {
    /// Its class is known, and large enough.
    Known(Bands),
    /// There is no band.
    None(NoBands),
}

/// Where a run lies among the drives of its class.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Bands {
    /// The class of the drive.
    pub(crate) class: &'static str,
    /// Whether the drives of the class are virtual.
    pub(crate) model: bool,
    /// The runs of the class.
    pub(crate) cohort_runs: usize,
    /// The drives of these runs.
    pub(crate) cohort_drives: usize,
    /// What the limits of a band are.
    pub(crate) limits: &'static str,
    /// One for each load that enough drives have.
    pub(crate) bands: Vec<Band>,
}

/// The band of one load.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Band {
    /// The load in words.
    pub(crate) load: String,
    /// The key of its metric, such as `iops`.
    pub(crate) metric: &'static str,
    /// The value of the run.
    pub(crate) value: f64,
    /// The lower limit.
    pub(crate) band_low: f64,
    /// The upper limit.
    pub(crate) band_high: f64,
    /// `below`, `within` or `above`.
    pub(crate) position: &'static str,
}

/// No band.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NoBands {
    /// Always null.
    pub(crate) bands: (),
    /// The reason.
    pub(crate) reason: String,
}
