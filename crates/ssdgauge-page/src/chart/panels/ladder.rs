//! A swept parameter: one line for each drive over its values, at equal distances.

use crate::chart::axis::{Across, Up};
use crate::chart::panels::values::{ticks, unit};
use crate::chart::plot::{Plot, Published, Series};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::drives::run_lines::{self, LineOver};
use ssdgauge_analysis::groups::group::{Group, Member};
use ssdgauge_analysis::groups::swept::{self, Swept};
use ssdgauge_analysis::groups::workload_text;
use ssdgauge_analysis::model::metrics;
use ssdgauge_analysis::model::{PointRun, TestRun};
use ssdgauge_analysis::steps::headline_points;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::{Bytes, Metric, Scope};

/// More steps than this have no line.
const MAX_STEPS: usize = 40;

/// Returns whether the steps of `group` have places on an axis.
pub(crate) fn fits(group: &Group<'_>) -> bool {
    let n = group.members.iter().map(|member| member.test.points.len()).max().unwrap_or(0);
    let labelled = matches!(swept::common(group).swept, Swept::Steps) && n > 8;
    (2..=MAX_STEPS).contains(&n) && !labelled
}

/// Returns the lines of `metric` of these requests; `None` where fewer than two steps have a value.
pub(crate) fn plot(
    group: &Group<'_>,
    drives: &ReportDrives,
    metric: Metric,
    scope: Scope,
) -> Option<Plot> {
    with_bands(group, drives, (metric, scope), Vec::new())
}

/// Returns the same lines next to bands of `published` numbers.
pub(crate) fn with_bands(
    group: &Group<'_>,
    drives: &ReportDrives,
    (metric, scope): (Metric, Scope),
    published: Vec<Published>,
) -> Option<Plot> {
    let places = places(group);
    let has_rates = swept::common(group).swept == Swept::Rate;
    let value = |point: &PointRun| metrics::value(point, metric, scope);
    let line = |member: &Member<'_>| {
        let drive = drives.drive_of(member.index);
        let mut values: Vec<(f64, f64, String)> = Vec::new();
        for point in &member.test.points {
            let place = places.iter().position(|place| place.holds(group, point));
            let (Some(place), Some(value)) = (place, value(point)) else { continue };
            // A sweep may end with its first load, which shows a change since then and has the same place.
            if has_rates && values.iter().any(|(other, ..)| *other == place as f64) {
                continue;
            }
            let title = format!(
                "{}, {}: {}",
                drives.short(drive),
                number::spaced(&sanitize::step(&point.point.label)),
                number::measured(value, metric)
            );
            values.push((place as f64, value, title));
        }
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let points = values.iter().map(|(x, y, _)| (*x, *y)).collect();
        Series { drive, points, values, marked: true, ..Series::default() }
    };
    let lines: Vec<Series> = group.members.iter().map(line).collect();
    if lines.iter().all(|line| line.points.len() < 2) {
        return None;
    }
    let background = background(group, drives, &places, (metric, scope));
    let measured = lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let measured = measured.chain(background.iter().flatten().map(|point| point.1));
    let all = measured.chain(published.iter().flat_map(|band| [band.low, band.high]));
    let up = Up::new(all, unit(metric), metric.is_latency(), ticks(metric));
    let labels = places.iter().map(|place| place.label.clone()).collect();
    let along = swept::common(group);
    let name = name(along.swept);
    let of = scope.requests().map(|requests| format!(" of {requests}")).unwrap_or_default();
    let title = match scope {
        Scope::All => workload_text::metric_title(&group.first().test.test, metric),
        Scope::Read | Scope::Write | Scope::Flush | Scope::Trim => metric.title().to_owned(),
    };
    Some(Plot {
        kind: "curve",
        caption: String::new(),
        label: format!("{}: {title}{of} by {name}{}", group.title(), along.of_stream()),
        across: Across::places(labels, &format!("{name}{}", along.of_stream())),
        up,
        lines,
        scored: None,
        rays: Vec::new(),
        events: Vec::new(),
        background,
        published,
    })
}

/// Returns the lines of other drives by these `places`, where they have the metric of the score.
fn background(
    group: &Group<'_>,
    drives: &ReportDrives,
    places: &[Place],
    (metric, scope): (Metric, Scope),
) -> Vec<Vec<(f64, f64)>> {
    let [member] = group.members.as_slice() else { return Vec::new() };
    let is_of_score = metric == member.test.test.score.metric().rate() && scope == Scope::All;
    let Some(peers) = drives.peers().filter(|_| is_of_score) else { return Vec::new() };
    let place = |(step, value): &(f64, f64)| {
        let point = member.test.points.get(*step as usize)?;
        let place = places.iter().position(|place| place.holds(group, point))?;
        Some((place as f64, *value))
    };
    let line = |line: &Vec<(f64, f64)>| {
        let mut line: Vec<(f64, f64)> = line.iter().filter_map(place).collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        line
    };
    peers.lines(&run_lines::key(*member, LineOver::Steps)).iter().map(line).collect()
}

/// Returns the place of `point` on the horizontal axis.
pub(crate) fn place_of(group: &Group<'_>, point: &PointRun) -> Option<f64> {
    let place = places(group).iter().position(|place| place.holds(group, point))?;
    Some(place as f64)
}

/// Returns the lines of each direction where one of several streams varies: the question is what it costs the
/// others, which the sum over all of them hides.
pub(crate) fn of_directions(group: &Group<'_>, drives: &ReportDrives, metric: Metric) -> Vec<Plot> {
    let along = swept::common(group);
    let points = group.members.iter().flat_map(|member| &member.test.points);
    let first = points.into_iter().next().filter(|_| along.is_of_one_of_several());
    let directions = first.map(PointRun::directions).unwrap_or_default();
    if directions.len() < 2 {
        return Vec::new();
    }
    let of = |scope| {
        let plot = plot(group, drives, metric, scope)?;
        Some(Plot { caption: plot.label.clone(), ..plot })
    };
    directions.into_iter().filter_map(|direction| of(Scope::from(direction))).collect()
}

/// Returns the name of the axis of a swept parameter.
pub(crate) fn name(swept: Swept) -> &'static str {
    match swept {
        Swept::Mix => "% read",
        Swept::QueueDepth => "requests in flight",
        Swept::BlockSize => "request size",
        Swept::Rate => "requests due per second",
        Swept::Fill => "% full",
        Swept::Repeat => "repetition",
        Swept::Steps => "",
    }
}

/// One place on the axis.
pub(crate) struct Place {
    value: Option<f64>,
    step: String,
    /// The words of the tick.
    pub(crate) label: String,
}

impl Place {
    /// Returns whether `point` belongs to this place.
    pub(crate) fn holds(&self, group: &Group<'_>, point: &PointRun) -> bool {
        match self.value {
            Some(value) => swept::common(group).place(point) == Some(value),
            None => self.step == point.point.label,
        }
    }
}

/// Returns every place: by the value of the swept parameter, mixes from reads to writes, or the steps
/// in their order.
pub(crate) fn places(group: &Group<'_>) -> Vec<Place> {
    let along = swept::common(group);
    let mut places: Vec<Place> = Vec::new();
    for (test, point) in steps(group) {
        let value = along.place(point);
        if along.swept == Swept::Steps && !headline_points::is_like_a_scored_one(test, point) {
            continue;
        }
        let known = |place: &Place| match value {
            Some(value) => place.value == Some(value),
            None => place.step == point.point.label,
        };
        if !places.iter().any(known) {
            let step = point.point.label.clone();
            let label = value
                .map_or_else(|| number::spaced(&sanitize::prose(&step)), |v| words(along.swept, v));
            places.push(Place { value, step, label });
        }
    }
    if places.iter().all(|place| place.value.is_some()) {
        let sign = if along.swept == Swept::Mix { -1.0 } else { 1.0 };
        let key = |place: &Place| sign * place.value.unwrap_or(0.0);
        places.sort_by(|a, b| key(a).total_cmp(&key(b)));
    }
    places
}

/// Returns every step of `group` with its test.
fn steps<'a>(group: &'a Group<'_>) -> impl Iterator<Item = (&'a TestRun, &'a PointRun)> {
    let of_test = |test: &'a TestRun| test.points.iter().map(move |point| (test, point));
    group.members.iter().map(|member| member.test).flat_map(of_test)
}

fn words(swept: Swept, value: f64) -> String {
    match swept {
        Swept::BlockSize => number::block(Bytes(value as u64)).replace("iB", "").replace(' ', ""),
        Swept::Mix
        | Swept::QueueDepth
        | Swept::Rate
        | Swept::Fill
        | Swept::Repeat
        | Swept::Steps => number::short(value),
    }
}
