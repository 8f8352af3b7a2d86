//! The virtual drives that the program contains as a background: numbers and lines of each in several suites.

use crate::drives::drive_class::DriveClass;
use crate::drives::peers::{Background, BackgroundRun};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The data, written by `cargo run --release -p ssdgauge-tools -- model_cohort`.
const SHIPPED: &str = include_str!("../../cohort/model.toml");

/// What begins a suite in the data.
const SUITE: &str = "[[suite]]\n";

/// Digits of a value that count.
const DIGITS: i32 = 4;

/// The data of all suites.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelCohort {
    /// The revision of the model.
    pub model_revision: u32,
    /// The checksum of the profiles of its drives.
    pub profiles: String,
    /// The suites.
    #[serde(default)]
    pub suite: Vec<SuiteData>,
}

/// What the drives measured in one suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteData {
    /// The suite.
    pub id: String,
    /// The key of each number.
    numbers: Vec<String>,
    /// The key of each line.
    lines: Vec<String>,
    /// The drives.
    drive: Vec<DriveData>,
}

/// What one drive measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DriveData {
    name: String,
    class: String,
    /// A value for each key; NaN where the drive has none.
    numbers: Vec<f64>,
    /// For each key the places and values of its points alternately; empty where the drive has none.
    lines: Vec<Vec<f64>>,
}

impl ModelCohort {
    /// Returns the data that the program contains.
    pub fn shipped() -> ModelCohort {
        toml::from_str(SHIPPED).expect("a test reads the data file of the program")
    }

    /// Returns what [`ModelCohort::shipped`] has of the suite `id`: a page needs no other, and to parse all of them
    /// takes longer than to draw it.
    pub fn shipped_of(id: &str) -> ModelCohort {
        let mut parts = SHIPPED.split(SUITE);
        let head = parts.next().unwrap_or("");
        let own = format!("id = {id:?}\n");
        let text = match parts.find(|part| part.starts_with(&own)) {
            Some(part) => format!("{head}{SUITE}{part}"),
            None => head.to_owned(),
        };
        toml::from_str(&text).expect("a test reads each part of the data file")
    }

    /// Returns this data as the text of its file.
    pub fn text(&self) -> String {
        toml::to_string(self).expect("names and numbers are TOML")
    }

    /// Returns the drives of the suite `id`; `None` where there are none.
    pub fn background(&self, id: &str) -> Option<Background> {
        let suite = self.suite.iter().find(|suite| suite.id == id)?;
        let run = |drive: &DriveData| drive.run(suite, self.model_revision);
        Some(Background { runs: suite.drive.iter().map(run).collect(), is_shipped: true })
    }
}

impl SuiteData {
    /// Returns whether each drive of `other` is here with the same numbers and lines.
    pub fn has_drives_of(&self, other: &SuiteData) -> bool {
        let of = |suite: &SuiteData| -> Vec<BackgroundRun> {
            suite.drive.iter().map(|drive| drive.run(suite, 0)).collect()
        };
        let own = of(self);
        of(other).iter().all(|run| own.contains(run))
    }

    /// Returns what the runs of `background` measured in the suite `id`.
    pub fn new(id: &str, background: &Background) -> SuiteData {
        let runs = &background.runs;
        let numbers: BTreeSet<&String> = runs.iter().flat_map(|run| run.numbers.keys()).collect();
        let lines: BTreeSet<&String> = runs.iter().flat_map(|run| run.lines.keys()).collect();
        let drive = |run: &BackgroundRun| DriveData {
            name: run.drive.clone(),
            class: run.class.map_or("", DriveClass::key).to_owned(),
            numbers: numbers
                .iter()
                .map(|key| run.numbers.get(*key).map_or(f64::NAN, |value| rounded(*value)))
                .collect(),
            lines: lines
                .iter()
                .map(|key| {
                    let points = run.lines.get(*key).into_iter().flatten();
                    points.flat_map(|(x, y)| [rounded(*x), rounded(*y)]).collect()
                })
                .collect(),
        };
        SuiteData {
            id: id.to_owned(),
            drive: runs.iter().map(drive).collect(),
            numbers: numbers.into_iter().cloned().collect(),
            lines: lines.into_iter().cloned().collect(),
        }
    }
}

impl DriveData {
    fn run(&self, suite: &SuiteData, model_revision: u32) -> BackgroundRun {
        let class = DriveClass::ALL.into_iter().find(|class| class.key() == self.class);
        let numbers = suite.numbers.iter().cloned().zip(self.numbers.iter().copied());
        let line = |values: &Vec<f64>| -> Vec<(f64, f64)> {
            values.chunks_exact(2).map(|point| (point[0], point[1])).collect()
        };
        let lines = suite.lines.iter().cloned().zip(self.lines.iter().map(line));
        BackgroundRun {
            drive: self.name.clone(),
            id: String::new(),
            model_revision: Some(model_revision),
            class,
            numbers: numbers.filter(|(_, value)| !value.is_nan()).collect(),
            lines: lines.filter(|(_, line)| !line.is_empty()).collect::<BTreeMap<_, _>>(),
        }
    }
}

/// Returns `value` with the digits that count.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let factor = 10_f64.powi(DIGITS - 1 - value.abs().log10().floor() as i32);
    (value * factor).round() / factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_of_the_shipped_data_is_read_without_the_others() {
        let all = ModelCohort::shipped();
        assert!(all.suite.len() > 1);
        for suite in &all.suite {
            let own = ModelCohort { suite: vec![suite.clone()], ..all.clone() };
            // As texts: a missing number is not equal to itself.
            assert_eq!(ModelCohort::shipped_of(&suite.id).text(), own.text());
        }
        assert!(ModelCohort::shipped_of("another").suite.is_empty());
    }

    #[test]
    fn a_background_survives_its_data_file_in_four_digits() {
        let run = |drive: &str, value: f64| BackgroundRun {
            drive: drive.to_owned(),
            id: String::new(),
            model_revision: Some(7),
            class: Some(DriveClass::NvmeClient),
            numbers: BTreeMap::from([("a".to_owned(), value)]),
            lines: BTreeMap::from([("line".to_owned(), vec![(0.0, value), (1.0, 2.0)])]),
        };
        let mut other = run("sim:b", 0.5);
        other.numbers.clear();
        let background = Background { runs: vec![run("sim:a", 1234.0), other], is_shipped: true };
        let suite = SuiteData::new("own", &background);
        let cohort = ModelCohort { model_revision: 7, profiles: "x".into(), suite: vec![suite] };
        let read: ModelCohort = toml::from_str(&cohort.text()).unwrap();
        assert_eq!(read.background("own"), Some(background));
        assert_eq!(read.background("another"), None);
        assert_eq!((rounded(57.7342), rounded(123_456.0), rounded(0.0)), (57.73, 123_500.0, 0.0));
    }
}
