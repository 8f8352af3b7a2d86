//! The same load at several fill levels: which tests of one report differ only in how much of the drive
//! holds data.
//!
//! A drive of which 75 % hold data has 25 % of additional spare area, so a test with over-provisioning
//! is one of these levels.

use crate::drives::report_drives::ReportDrives;
use crate::groups::group;
use crate::model::plan::measured_steps;
use crate::model::{Run, TestRun};
use crate::text::sanitize;
use ssdgauge_core::{Bytes, Metric, Preparation, RequestPath, Score, Test, Until, Workload};

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

/// The properties that are equal for tests of one load.
#[derive(Clone, Debug, PartialEq)]
struct Load {
    steps: Vec<(Workload, Option<Until>)>,
    score: Score,
    shortened: u32,
    span_scaled: bool,
    path: RequestPath,
    model_revision: Option<u32>,
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
    // Of a part of a drive, the rest may hold data or none.
    let drive_info = Some(&run.head.drive).filter(|drive| !drive.is_limited())?;
    let level = level(&test.test, drive_info.capacity)?;
    let plan = &run.head.plan;
    let load = Load {
        steps: measured_steps(&test.test)
            .filter_map(|step| {
                Some((anywhere(step.action.workload()?), step.action.until().copied()))
            })
            .collect(),
        score: test.test.score.clone(),
        shortened: plan.shortened,
        span_scaled: plan.span_scaled,
        path: plan.request_path(),
        model_revision: run.head.drive.model_revision(),
    };
    let title = sanitize::prose(&test.test.title);
    Some((load, Sample { drive, level, value, title }))
}

/// Returns `workload` without its place on the drive.
fn anywhere(workload: &Workload) -> Workload {
    let mut workload = workload.clone();
    for stream in &mut workload.streams {
        (stream.offset, stream.span) = (Bytes(0), Bytes(0));
    }
    workload
}

/// Returns how much of a drive of `capacity` holds data when `test` measures, in whole percent; `None`
/// where the test does not begin with a purge, fills several ranges, or prepares between its steps.
fn level(test: &Test, capacity: Bytes) -> Option<u32> {
    let steps: Vec<_> = test.phases.iter().flat_map(|phase| &phase.steps).collect();
    let is_measured =
        |place: usize| measured_steps(test).any(|step| std::ptr::eq(step, steps[place]));
    let first = (0..steps.len()).find(|place| is_measured(*place))?;
    let preparations = |range: &[&ssdgauge_core::Step]| -> Vec<Preparation> {
        let found = range.iter().filter_map(|step| step.action.preparation().cloned());
        found.filter(Preparation::changes_data).collect()
    };
    if !preparations(&steps[first..]).is_empty() {
        return None;
    }
    let filled = match preparations(&steps[..first]).as_slice() {
        [Preparation::Purge | Preparation::PurgeBy(_)] => Bytes(0),
        [
            Preparation::Purge | Preparation::PurgeBy(_),
            Preparation::Fill { offset: Bytes(0), span, .. },
        ] => *span,
        _ => return None,
    };
    // Preconditioning writes where the load writes, and a load beyond the fill would raise the level.
    let reach = |step: &&&ssdgauge_core::Step| {
        step.action.workload().map(|workload| {
            let ends = workload.streams.iter().filter(|stream| stream.writes());
            ends.map(|stream| stream.offset.0.saturating_add(stream.span.0)).max().unwrap_or(0)
        })
    };
    let most = steps.iter().filter_map(|step| reach(&step)).max().unwrap_or(0);
    if filled.0 > 0 && most > filled.0 {
        return None;
    }
    (capacity.0 > 0).then(|| (100.0 * filled.0 as f64 / capacity.0 as f64).round() as u32)
}

/// Returns the first parts, between commas, that all `titles` have.
fn common(titles: &[&str]) -> String {
    let parts: Vec<Vec<&str>> = titles.iter().map(|title| title.split(", ").collect()).collect();
    let Some(first) = parts.first() else { return String::new() };
    let is_shared = |place: usize| parts.iter().all(|parts| parts.get(place) == first.get(place));
    let shared = (0..first.len()).take_while(|place| is_shared(*place)).count();
    first[..shared.max(1)].join(", ")
}
