//! The state of the drive that a test measures: its load, and how much of the drive holds data.

use crate::model::plan::measured_steps;
use crate::model::{Run, TestRun};
use ssdgauge_core::{Bytes, Preparation, RequestPath, Score, Test, Until, Workload};

/// The properties that are equal for tests of one load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Load {
    steps: Vec<(Workload, Option<Until>)>,
    pub(super) score: Score,
    shortened: u32,
    span_scaled: bool,
    path: RequestPath,
    model_revision: Option<u32>,
}

/// Returns whether an earlier test of `run` has the load of `test` at another level: the earlier one is the state
/// of the drive that a reader takes for granted.
pub(crate) fn is_another_state(run: &Run, test: &TestRun) -> bool {
    let Some((load, level)) = state(run, test) else { return false };
    let mut earlier = run.tests.iter().take_while(|one| !std::ptr::eq(*one, test));
    earlier.any(|one| state(run, one).is_some_and(|(of, at)| of == load && at != level))
}

/// Returns the load of `test` and how full the drive is in percent; `None` where that is not known.
pub(super) fn state(run: &Run, test: &TestRun) -> Option<(Load, u32)> {
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
    Some((load, level))
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
