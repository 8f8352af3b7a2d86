//! The same load at several fill levels: which tests of one report differ only in how much of the drive
//! holds data.
//!
//! A drive of which 75 % hold data has 25 % of additional spare area, so a test with over-provisioning
//! is one of these levels.

use crate::drives::fill_state::{Load, state};
use crate::drives::report_drives::ReportDrives;
use crate::groups::group;
use crate::model::{Run, TestRun};
use crate::text::sanitize;
use ssdgauge_core::Metric;

/// One load with the results of each drive at each level.
#[derive(Clone, Debug, PartialEq)]
pub struct FillStates {
    /// What the titles of its tests have in common.
    pub title: String,
    /// The metric of the results.
    pub metric: Metric,
    /// The levels in percent of the capacity, ascending.
    pub levels: Vec<u32>,
    /// The results of each drive with at least two levels.
    pub drives: Vec<DriveStates>,
}

/// The results of one drive.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveStates {
    /// The number of the drive.
    pub drive: usize,
    /// Level and result, ascending by level.
    pub results: Vec<(u32, f64)>,
}

impl DriveStates {
    /// Returns the result at the highest level as a share of that at the lowest one.
    pub fn kept(&self) -> Option<f64> {
        let (least, most) = (self.results.first()?, self.results.last()?);
        Some(most.1 / least.1).filter(|kept| kept.is_finite())
    }
}

/// One result at one level.
struct Sample {
    drive: usize,
    level: u32,
    value: f64,
    title: String,
}

/// Returns the loads that a drive of `runs` went through at two levels or more.
pub fn fill_states(runs: &[Run], drives: &ReportDrives) -> Vec<FillStates> {
    let mut loads: Vec<(Load, &Run, Vec<Sample>)> = Vec::new();
    for (index, run) in runs.iter().enumerate().filter(|(_, run)| run.head.drive.kind.is_drive()) {
        for test in &run.tests {
            let Some((load, sample)) = sample(run, test, drives.drive_of(index)) else { continue };
            let is_same = |known: &&mut (Load, &Run, Vec<Sample>)| {
                known.0 == load && group::same_class(known.1.head.drive.kind, run.head.drive.kind)
            };
            match loads.iter_mut().find(is_same) {
                Some((_, _, samples)) => samples.push(sample),
                None => loads.push((load, run, vec![sample])),
            }
        }
    }
    loads.into_iter().filter_map(|(load, _, samples)| states(&load, &samples)).collect()
}

fn states(load: &Load, samples: &[Sample]) -> Option<FillStates> {
    let mut numbers: Vec<usize> = samples.iter().map(|sample| sample.drive).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let of_drive = |drive: usize| {
        let mut results: Vec<(u32, f64)> = Vec::new();
        // Of several runs at one level the first one counts.
        for sample in samples.iter().filter(|sample| sample.drive == drive) {
            if !results.iter().any(|(level, _)| *level == sample.level) {
                results.push((sample.level, sample.value));
            }
        }
        results.sort_by_key(|(level, _)| *level);
        (results.len() > 1).then_some(DriveStates { drive, results })
    };
    let drives: Vec<DriveStates> = numbers.into_iter().filter_map(of_drive).collect();
    let mut levels: Vec<u32> =
        drives.iter().flat_map(|one| one.results.iter().map(|(level, _)| *level)).collect();
    levels.sort_unstable();
    levels.dedup();
    let titles: Vec<&str> = samples.iter().map(|sample| sample.title.as_str()).collect();
    let title = common(&titles);
    (!drives.is_empty()).then_some(FillStates {
        title,
        metric: load.score.metric(),
        levels,
        drives,
    })
}

/// Returns the load and the result of `test`; `None` where it has no result, or where it is not known
/// how much of the drive held data.
fn sample(run: &Run, test: &TestRun, drive: usize) -> Option<(Load, Sample)> {
    let value = test.headline.value.filter(|value| *value > 0.0)?;
    let (load, level) = state(run, test)?;
    let title = sanitize::prose(&test.test.title);
    Some((load, Sample { drive, level, value, title }))
}

/// Returns the first parts, between commas, that all `titles` have.
fn common(titles: &[&str]) -> String {
    let parts: Vec<Vec<&str>> = titles.iter().map(|title| title.split(", ").collect()).collect();
    let Some(first) = parts.first() else { return String::new() };
    let is_shared = |place: usize| parts.iter().all(|parts| parts.get(place) == first.get(place));
    let shared = (0..first.len()).take_while(|place| is_shared(*place)).count();
    first[..shared.max(1)].join(", ")
}
