//! Charts of one test of several runs, with the numbers that others published for it.

use crate::analysis::group::{self, Group};
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::swept;
use crate::figure;
use crate::figure::chart::{Chart, Drawing, Line};
use crate::model::Run;
use crate::output::figure_files::{self, NamedFigure};
use ssdgauge_core::Metric;

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
/// `None` where the steps differ in no one parameter. Runs that cannot be compared with the others are
/// left out.
pub fn published_curve(
    runs: &[Run],
    metric: Metric,
    published: &[PublishedNumber],
    name: String,
) -> Option<NamedFigure> {
    let drives = ReportDrives::new(runs, None);
    let groups = group::groups(runs);
    let group = largest(&groups)?;
    let mut chart = figure::curve_of(group, &drives, metric)?;
    let mut bars: Vec<Line> = Vec::new();
    for bar in published.iter().filter_map(|number| bar(group, &drives, number)) {
        match bars.iter_mut().find(|of_drive| of_drive.label == bar.label) {
            Some(of_drive) => of_drive.stretches.extend(bar.stretches),
            None => bars.push(bar),
        }
    }
    if !bars.is_empty() {
        let words = "Vertical lines: the band of the published number of that drive.";
        chart.notes.push(words.to_owned());
    }
    if let Drawing::Lines { lines, .. } = &mut chart.drawing {
        lines.extend(bars);
    }
    Some(named(name, chart, group, &drives))
}

/// Returns the rate of each second of the test of `runs` as a figure of this name; `None` without a
/// second.
pub fn rate_of_seconds(runs: &[Run], name: String) -> Option<NamedFigure> {
    let drives = ReportDrives::new(runs, None);
    let groups = group::groups(runs);
    let group = largest(&groups)?;
    Some(named(name, figure::rate_of(group, &drives)?, group, &drives))
}

/// Returns the group with most runs; of equal ones the first.
fn largest<'a, 'b>(groups: &'b [Group<'a>]) -> Option<&'b Group<'a>> {
    groups.iter().rev().max_by_key(|group| group.members.len())
}

fn named(name: String, chart: Chart, group: &Group<'_>, drives: &ReportDrives) -> NamedFigure {
    let frame = figure_files::frame(&chart, group, drives);
    figure_files::named(name, chart, frame)
}

/// Returns the band of `number` at its place of the curve; `None` where that point was not measured.
fn bar(group: &Group<'_>, drives: &ReportDrives, number: &PublishedNumber) -> Option<Line> {
    let member = group.members.iter().find(|member| member.index == number.run)?;
    let at = |position: f64| position == number.position;
    let point = member.test.points.iter().find(|point| at(point.point.position))?;
    let place = swept::common(group).place(point)?;
    Some(Line {
        label: format!("{}, published", drives.names[member.index]),
        colour: drives.slot_of(member.index),
        dashed: false,
        right: false,
        marked: false,
        stretches: vec![vec![(place, number.low), (place, number.high)]],
    })
}
