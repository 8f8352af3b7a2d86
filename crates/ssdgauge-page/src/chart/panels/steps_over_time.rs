//! The steps of a sweep over time: each step has an equal part of the width, so that the steps of all
//! drives lie above each other whatever their length.

use crate::chart::axis::{Across, AcrossScale, Up};
use crate::chart::panels::ladder::{self, Place};
use crate::chart::plot::{Plot, Series};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::groups::group::{Group, Member};
use ssdgauge_analysis::groups::measure::Measure;
use ssdgauge_analysis::groups::swept;
use ssdgauge_analysis::model::PointRun;
use ssdgauge_analysis::text::{number, sanitize};
use ssdgauge_core::Metric;
use ssdgauge_statistics::summary;

/// The minimum number of full seconds of a step that has a line.
const FEWEST: usize = 2;

/// Points of the line of one drive at most. Chosen: more are not told apart on 1,112 pixels.
const MAX_POINTS: usize = 240;

/// The part of the width of a step that its line takes; the rest separates it from the next.
const PART: f64 = 0.92;

/// Returns the plot; `None` where no drive has two steps of two seconds.
pub(crate) fn plot(group: &Group<'_>, drives: &ReportDrives) -> Option<Plot> {
    let metric = Measure::Speed.metric_of_steps(&group.first().test.test).rate();
    let places = ladder::places(group);
    let lines: Vec<Series> =
        group.members.iter().map(|member| line(group, member, drives, &places, metric)).collect();
    if places.len() < 2 || lines.iter().all(|line| line.values.len() < 2) {
        return None;
    }
    let drawn = lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let up = Up::new(drawn.collect::<Vec<_>>().into_iter(), metric.unit(), true, number::short);
    let ticks = places.iter().enumerate().map(|(at, place)| (at as f64 + 0.5, place.label.clone()));
    let along = swept::common(group);
    let name = ladder::name(along.swept);
    Some(Plot {
        kind: "timeline",
        caption: caption(group),
        label: format!("{}: {} over the seconds of each step", group.title(), metric.title()),
        across: Across {
            scale: AcrossScale::To(places.len() as f64),
            ticks: ticks.collect(),
            label: format!("{name}{}", along.of_stream()),
            parts: None,
        },
        up,
        lines,
        scored: None,
        rays: Vec::new(),
        events: Vec::new(),
        published: Vec::new(),
        background: Vec::new(),
    })
}

/// Returns what the chart shows, and how many steps are too short for it.
fn caption(group: &Group<'_>) -> String {
    let points = || group.members.iter().flat_map(|member| &member.test.points);
    let short = points().filter(|point| point.seconds_shown() < FEWEST).count();
    let shown = "Each step from its first to its last second, in an equal part of the width";
    match (short, points().count()) {
        (0, _) => shown.to_owned(),
        (short, all) => format!(
            "{shown}. Not shown: {} of {} steps, which are shorter than 2\u{a0}s and have no course",
            number::count(short as u64),
            number::count(all as u64)
        ),
    }
}

fn line(
    group: &Group<'_>,
    member: &Member<'_>,
    drives: &ReportDrives,
    places: &[Place],
    metric: Metric,
) -> Series {
    let drive = drives.drive_of(member.index);
    let most = (MAX_POINTS / places.len().max(1)).max(2);
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut values: Vec<(f64, f64, String)> = Vec::new();
    for (number, place) in places.iter().enumerate() {
        let Some(point) = member.test.points.iter().find(|point| place.holds(group, point)) else {
            continue;
        };
        let rates = rates(point, metric);
        if rates.len() < FEWEST {
            continue;
        }
        let own = course(number as f64, &rates, most);
        let middle = own[own.len() / 2];
        values.push((middle.0, middle.1, words(drives.short(drive), point, &rates, metric)));
        if !points.is_empty() {
            points.push((number as f64, f64::NAN));
        }
        points.extend(own);
    }
    Series { drive, points, values, ..Series::default() }
}

/// Returns the rate of each second of a step.
fn rates(point: &PointRun, metric: Metric) -> Vec<f64> {
    point.rates(metric.counts_bytes()).map(|(_, rate)| rate).collect()
}

/// Returns the line of a step that begins at `start`, in at most `most` means of equal length.
fn course(start: f64, rates: &[f64], most: usize) -> Vec<(f64, f64)> {
    let length = rates.len().div_ceil(most).max(1);
    let part = |(place, part): (usize, &[f64])| {
        let middle = place as f64 * length as f64 + part.len() as f64 / 2.0;
        let share = (1.0 - PART) / 2.0 + PART * middle / rates.len() as f64;
        (start + share, summary::mean(part).unwrap_or(0.0))
    };
    rates.chunks(length).enumerate().map(part).collect()
}

fn words(name: &str, point: &PointRun, rates: &[f64], metric: Metric) -> String {
    let extreme = |pick: fn(f64, f64) -> f64| rates.iter().copied().reduce(pick).unwrap_or(0.0);
    format!(
        "{name}, {}: {} in the first second, {} in the last one, between {} and {}",
        sanitize::step(&point.point.label),
        number::measured(rates[0], metric),
        number::measured(rates[rates.len() - 1], metric),
        number::text(extreme(f64::min)),
        number::text(extreme(f64::max))
    )
}
