//! `specifications` of `report --spec FILE --json`.

use serde::Serialize;

/// The claims of one spec file for one drive.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DriveClaims {
    /// The name of the drive.
    pub(crate) drive: Option<String>,
    /// The share by which a value may be worse than a claim and still meet it.
    pub(crate) tolerance: f64,
    /// The claims, in the order of the file.
    pub(crate) claims: Vec<JudgedClaim>,
}

/// A claim of a manufacturer next to the measured value.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct JudgedClaim {
    /// The key of the metric, such as `iops`.
    pub(crate) metric: &'static str,
    /// The unit of `claimed` and `measured`.
    pub(crate) unit: &'static str,
    /// The conditions of the claim in words.
    pub(crate) conditions: String,
    /// Where it is stated.
    pub(crate) source: String,
    /// The stated value.
    pub(crate) claimed: f64,
    /// The measured value; null where no step meets the conditions.
    pub(crate) measured: Option<f64>,
    /// The verdict by the whole interval of the value.
    pub(crate) verdict: String,
    /// The test and step, or the condition that no step meets.
    pub(crate) reason: String,
}
