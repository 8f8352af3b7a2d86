//! Charts of one test of several runs, with the numbers that others published for it.

use crate::chart::panels::{ladder, over_time, steps_over_time};
use crate::chart::plot::Published;
use crate::pictures::figure_files::{NamedFigure, TestFiles};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::groups::group::{self, Group};
use ssdgauge_analysis::groups::swept::{self, Swept};
use ssdgauge_analysis::model::Run;
use ssdgauge_core::{Metric, Scope};

/// A published number of one point of a curve, as the band in which a measured one agrees with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedNumber {
    /// The place of the run of its drive among the runs.
    pub run: usize,
    /// The swept value of the point.
    pub position: f64,
    /// The lower end of the band.
    pub low: f64,
    /// The upper end of the band.
    pub high: f64,
}

/// Returns the curve of `metric` over the swept values of the test of `runs`, with a vertical line for
/// each published number, as a figure of this name.
///
/// `None` where the steps differ in no one parameter, or fewer than two of them have a value. Runs that cannot be
/// compared with the others are left out.
pub fn published_curve(
    runs: &[Run],
    metric: Metric,
    published: &[PublishedNumber],
    name: String,
) -> Option<NamedFigure> {
    let drives = &ReportDrives::new(runs, None);
    let groups = group::groups(runs);
    let group = largest(&groups)?;
    if matches!(swept::common(group).swept, Swept::Steps | Swept::Repeat) {
        return None;
    }
    let bands = published.iter().filter_map(|number| band(group, drives, number)).collect();
    let plot = ladder::with_bands(group, drives, (metric, Scope::All), bands)?;
    Some(TestFiles { group, drives }.of_plot(name, &plot, &plot.label, ""))
}

/// Returns the rate of each second of the test of `runs` as a figure of this name; `None` without a
/// second.
pub fn rate_of_seconds(runs: &[Run], name: String) -> Option<NamedFigure> {
    let drives = &ReportDrives::new(runs, None);
    let groups = group::groups(runs);
    let group = largest(&groups)?;
    let is_one_step = group.members.iter().all(|member| member.test.points.len() <= 1);
    let plot = match is_one_step {
        true => over_time::speed(group, drives),
        false => steps_over_time::plot(group, drives),
    }?;
    Some(TestFiles { group, drives }.of_plot(name, &plot, &plot.label, ""))
}

/// Returns the group with most runs; of equal ones the first.
fn largest<'a, 'b>(groups: &'b [Group<'a>]) -> Option<&'b Group<'a>> {
    groups.iter().rev().max_by_key(|group| group.members.len())
}

/// Returns the band of `number` at its place of the curve; `None` where that point was not measured.
fn band(group: &Group<'_>, drives: &ReportDrives, number: &PublishedNumber) -> Option<Published> {
    let member = group.members.iter().find(|member| member.index == number.run)?;
    let is_at = |position: f64| position == number.position;
    let point = member.test.points.iter().find(|point| is_at(point.point.position))?;
    let at = ladder::place_of(group, point)?;
    let drive = drives.drive_of(member.index);
    Some(Published { drive, at, low: number.low, high: number.high })
}
