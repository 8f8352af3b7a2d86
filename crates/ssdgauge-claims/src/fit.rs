//! The fitted figures of the profiles: the published number of each, and how it is measured.
//!
//! `fits/fits.toml` lists them, and `fits/suite.toml` has tests of what data sheets state. The program
//! `fit` of the tools measures what remains between figure and number, and fits the figures again.

use crate::claim::TestNeed;
use crate::measure::Measurements;
use crate::reference::Value;
use serde::Deserialize;
use ssdgauge_analysis::Run;
use std::collections::BTreeMap;

const FITS: &str = include_str!("../fits/fits.toml");

/// The text of the suite of what data sheets state; its id is `fits`.
pub const FIT_SUITE: &str = include_str!("../fits/suite.toml");

/// The fitted figures, and the tests that measure their numbers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fits {
    /// The tests, by their names in the figures.
    pub tests: BTreeMap<String, TestNeed>,
    /// The figures, by profile and in the order of its file.
    #[serde(rename = "fit")]
    pub fits: Vec<Fit>,
}

/// A figure of a profile that was chosen so that the drive has a published number.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// The profile.
    pub profile: String,
    /// The figure: its section and its key, such as `front.read_command_us`.
    pub figure: String,
    /// The published number with its source, as the comment of the figure states it.
    pub published: String,
    /// The number on the virtual drive; `None` where a claim decides, and not a number.
    pub of: Option<Value>,
    /// The published number in the unit of `of`.
    pub is: Option<f64>,
    /// The smallest and the largest value of the figure that a search tries.
    pub within: Option<[f64; 2]>,
}

/// A figure that one number decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantified<'a> {
    /// The number on the virtual drive.
    pub of: &'a Value,
    /// The published number.
    pub is: f64,
    /// The smallest and the largest value that a search tries.
    pub within: [f64; 2],
}

impl Fit {
    /// Returns the number that decides; `None` where a claim does.
    pub fn quantified(&self) -> Option<Quantified<'_>> {
        Some(Quantified { of: self.of.as_ref()?, is: self.is?, within: self.within? })
    }
}

impl Quantified<'_> {
    /// Returns the number in `run`; `None` where it was not measured.
    pub fn measured(&self, run: &Run) -> Option<f64> {
        let mut measurements = Measurements::default();
        measurements.insert(&self.of.source.drive, &self.of.source.test, run);
        measurements.value(self.of).map(|number| number.value)
    }
}

/// Returns the fitted figures.
///
/// # Errors
/// The error of the TOML reader. The built-in text is tested.
pub fn fits() -> Result<Fits, toml::de::Error> {
    toml::from_str(FITS)
}
