//! The sequential writes of each drive of a report: the falls of the speed, and the speed on the way there.

use crate::drives::report_drives::ReportDrives;
use crate::drives::sections;
use crate::groups::group::Group;
use crate::model::{PointRun, SpeedFall};
use crate::steps::slc_cache;
pub use crate::steps::written::{Writes, writes};
use std::cmp::Reverse;

/// The minimum that a small picture of the first writes covers, in GB. Chosen: the caches of small
/// drives end within it.
const LEAST: f64 = 8.0;

/// The largest amount of the picture, as a multiple of the last first fall. Chosen: the level after it has
/// room in the picture.
const ROOM: f64 = 1.7;

/// Returns the sequential writes of each drive, by its number; `None` where no test writes in order in
/// one step.
///
/// They are those of the first figure of the page where that shows any, so that headline and title state
/// the same shares; else of the test that most drives have.
pub fn of_drives(groups: &[Group<'_>], drives: &ReportDrives) -> Vec<Option<Writes>> {
    let hero = sections::hero(groups);
    let in_order = |group: &Group<'_>| {
        group.members.iter().filter(|one| slc_cache::sequential_write(one.test).is_some()).count()
    };
    let mut numbers: Vec<usize> = (0..groups.len()).filter(|n| in_order(&groups[*n]) > 0).collect();
    if numbers.is_empty() {
        return of_sweeps(groups, drives);
    }
    let suite = |number: usize| &groups[number].first().run.head.plan.suite.id;
    let key = |number: usize| (hero != Some(number), Reverse(in_order(&groups[number])));
    // The order of files does not show.
    numbers.sort_by(|a, b| key(*a).cmp(&key(*b)).then_with(|| suite(*a).cmp(suite(*b))));
    let of_drive = |drive: usize| {
        let members = numbers.iter().flat_map(|number| &groups[*number].members);
        let own = members.filter(|member| drives.drive_of(member.index) == drive);
        let mut found = own.filter_map(|member| slc_cache::sequential_write(member.test));
        found.find_map(|point| Some(writes(point)).filter(|writes| !writes.seconds.is_empty()))
    };
    (0..drives.count()).map(of_drive).collect()
}

/// Returns the sequential writes of each drive where every test that writes in order has several steps, as that
/// of the suite `quick`: those of the first step that falls, else of the first one. Steps that differ in
/// their requests have no common picture, so a sweep without a fall has no picture.
fn of_sweeps(groups: &[Group<'_>], drives: &ReportDrives) -> Vec<Option<Writes>> {
    let of_drive = |drive: usize| {
        let members = groups.iter().flat_map(|group| &group.members);
        let own = members.filter(|member| drives.drive_of(member.index) == drive);
        let mut points: Vec<&PointRun> = own
            .flat_map(|member| &member.test.points)
            .filter(|point| slc_cache::writes_in_order(point))
            .collect();
        points.sort_by_key(|point| point.order);
        let falls = |point: &&&PointRun| slc_cache::first_fall(point).is_some();
        let shown = points.iter().find(falls).or(points.first())?;
        let falls = match shown.falls.as_slice() {
            [] => slc_cache::first_fall(shown).into_iter().collect(),
            falls => falls.to_vec(),
        };
        Some(Writes { falls, ..writes(shown) }).filter(|writes| !writes.seconds.is_empty())
    };
    let found: Vec<Option<Writes>> = (0..drives.count()).map(of_drive).collect();
    match found.iter().flatten().any(|writes| writes.fall().is_some()) {
        true => found,
        false => vec![None; drives.count()],
    }
}

/// Returns how many gigabytes a picture of the first falls covers; `None` without writes.
pub fn range(all: &[&Writes]) -> Option<f64> {
    let total = all.iter().map(|writes| writes.total).reduce(f64::max)?;
    let end = |fall: &SpeedFall| (fall.edge.bytes + fall.edge.uncertainty) as f64 / 1e9;
    let largest = all.iter().filter_map(|writes| writes.fall()).map(end).fold(0.0, f64::max);
    Some((ROOM * largest).round().max(LEAST).min(total))
}
