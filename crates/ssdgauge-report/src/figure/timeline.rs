//! Rates and latencies for every second of a test.

use crate::analysis::captions::{self, legend};
use crate::analysis::group::{Group, Member};
use crate::analysis::report_drives::ReportDrives;
use crate::figure::chart::{Axis, Chart, Drawing, Line, Mark, Scale, Table};
use crate::figure::fill;
use crate::figure::reduce;
use crate::model::PointRun;
use crate::model::Second;
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::statistics::summary;
use ssdgauge_core::{Direction, Metric, Nanos, Window};

/// More boundaries than this would hide the lines.
const MAX_BOUNDARIES: usize = 12;

/// The last part is first drawn on a logarithmic axis where one drive is this many times as fast as
/// another. Chosen: eight of ten parts of a linear axis would be empty.
const FAR: f64 = 8.0;

/// A latency axis is logarithmic where the greatest value is this many times the least.
const WIDE: f64 = 20.0;

/// Returns throughput or IOPS of every second, whichever the headline is nearer to: the whole
/// and, where the headline counts the last part of a step, that part, both on a linear and on a
/// logarithmic axis.
///
/// The consistency reviews of 2012 to 2016 show the whole on a logarithmic axis and the last part
/// on both.
pub(super) fn rate_charts(group: &Group<'_>, drives: &ReportDrives) -> Vec<Chart> {
    let in_bytes = group.first().test.headline.metric.unit().starts_with("MB/s");
    let value: fn(&Second) -> Option<f64> = match in_bytes {
        true => |second| Some(second.throughput_mb_s()),
        false => |second| Some(second.iops()),
    };
    let metric = if in_bytes { Metric::ThroughputMbS } else { Metric::Iops };
    let rate = |part: Part, scale: Scale| rates(group, drives, metric, value, part, scale);
    let mut charts: Vec<Option<Chart>> = Vec::new();
    match last_part(group) {
        Some(window) => {
            let last = Part::Last(window);
            let linear = rate(last, Scale::Linear);
            // With a large spread a linear axis shows only the fastest drive.
            let far = linear.as_ref().is_some_and(|chart| spread(chart) > FAR);
            let (first, second) =
                if far { (Scale::Log10, Scale::Linear) } else { (Scale::Linear, Scale::Log10) };
            charts.push(rate(Part::Whole, Scale::Log10));
            charts.push(rate(last, first));
            charts.push(rate(Part::Whole, Scale::Linear).map(Chart::fold));
            charts.push(rate(last, second).map(Chart::fold));
        }
        None => {
            let curve = fill::chart(group, drives);
            let whole = rate(Part::Whole, Scale::Linear);
            // The fill curve shows the same against what was written.
            charts.push(if curve.is_some() { whole.map(Chart::fold) } else { whole });
            charts.push(rate(Part::Whole, Scale::Log10).map(Chart::fold));
            charts.insert(0, curve);
        }
    }
    charts.into_iter().flatten().collect()
}

/// Returns how many times the mean of the lowest line of `chart` that of the highest is.
fn spread(chart: &Chart) -> f64 {
    let Drawing::Lines { lines, .. } = &chart.drawing else { return 1.0 };
    let mean = |line: &Line| {
        let values: Vec<f64> = line.stretches.iter().flatten().map(|point| point.1).collect();
        summary::mean(&values).filter(|mean| *mean > 0.0)
    };
    let means: Vec<f64> = lines.iter().filter_map(mean).collect();
    let least = means.iter().copied().fold(f64::INFINITY, f64::min);
    means.iter().copied().fold(0.0, f64::max) / least
}

/// The seconds of a test that are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    /// All of them.
    Whole,
    /// The last ones of a single step.
    Last(Nanos),
}

/// Returns the window that the headline counts, where the test has one step and counts its end.
fn last_part(group: &Group<'_>) -> Option<Nanos> {
    let one = |member: &Member<'_>| member.test.points.len() <= 1;
    match group.first().test.test.score.last_part()? {
        (_, Window::Time(time)) if group.members.iter().all(one) => Some(time),
        (_, Window::Time(_) | Window::Bytes(_)) => None,
    }
}

fn rates(
    group: &Group<'_>,
    drives: &ReportDrives,
    metric: Metric,
    value: fn(&Second) -> Option<f64>,
    part: Part,
    scale: Scale,
) -> Option<Chart> {
    let name = metric.title();
    let unit = metric.unit();
    let log = scale == Scale::Log10;
    let axis = match log {
        true => {
            "The axis is logarithmic and does not start at zero; a second without completions is \
             a gap."
        }
        false => "The axis starts at zero.",
    };
    let (which, note) = match part {
        Part::Whole => (String::new(), String::new()),
        Part::Last(window) => (
            format!(", last {}", window.about()),
            format!(" Shown are the seconds of the headline: the last {}.", window.about()),
        ),
    };
    // On a logarithmic axis zero has no place.
    let drawn: fn(&Second) -> Option<f64> = match (log, metric) {
        (true, Metric::ThroughputMbS) => {
            |second| Some(second.throughput_mb_s()).filter(|value| *value > 0.0)
        }
        (true, _) => |second| Some(second.iops()).filter(|value| *value > 0.0),
        (false, _) => value,
    };
    let lines = group.members.iter().map(|member| part_line(member, drives, drawn, part)).collect();
    let label = if name == unit { name.to_owned() } else { format!("{name}, {unit}") };
    let suffix = if log { " (logarithmic)" } else { "" };
    let mut drawing = chart(
        group,
        Parts {
            title: format!("{}: {name} over time{which}{suffix}", group.title()),
            note: format!(
                "{unit}; one value per second; a second without completions counts as \
                 zero.{note} {axis}"
            ),
            y: Axis { label, scale },
            lines,
            table: table(group, drives, value, unit, part),
            part,
            kind: if log { "timeline-log" } else { "timeline" },
        },
    )?;
    if part == Part::Whole {
        let found: Vec<Mark> =
            group.members.iter().flat_map(|member| marks(member, drives)).collect();
        if !found.is_empty() {
            drawing.notes.push(
                "Triangles mark falls of the write speed to 80 % or less, with the cause where the \
                 run shows it, and the onset of thermal throttling."
                    .to_owned(),
            );
        }
        if let Drawing::Lines { marks, .. } = &mut drawing.drawing {
            *marks = found;
        }
    } else {
        if let Drawing::Lines { x, .. } = &mut drawing.drawing {
            x.scale = Scale::Onward;
        }
        drawing.kind = if log { "timeline-last-log" } else { "timeline-last" };
    }
    Some(drawing)
}

/// Returns what happened in the single step of `member`: falls of the write speed, heat.
fn marks(member: &Member<'_>, drives: &ReportDrives) -> Vec<Mark> {
    let [point] = member.test.points.as_slice() else { return Vec::new() };
    let mut marks = Vec::new();
    let mark = |at: f64, label: &str| Mark {
        at,
        label: label.to_owned(),
        colour: drives.slot_of(member.index),
    };
    for fall in &point.falls {
        let mut written = 0;
        let before = point.point.seconds.totals().take_while(|second| {
            written += second.directions[Direction::Write as usize].bytes;
            written <= fall.edge.bytes
        });
        marks.push(mark(before.count() as f64, fall.cause.remark()));
    }
    let hot = |second: &Second| second.reading("throttled").is_some_and(|value| value > 0.0);
    if let Some(second) = point.seconds().find(hot) {
        marks.push(mark(f64::from(second.second), "throttled"));
    }
    marks
}

/// Returns the 99th percentile of every second, and the mean where a run stands alone.
pub(super) fn latency_chart(group: &Group<'_>, drives: &ReportDrives) -> Option<Chart> {
    let alone = group.members.len() == 1;
    let mut lines = Vec::new();
    for member in &group.members {
        let mut p99 = line(member, drives, |second| second.lat_p99_us, false);
        if alone {
            p99.label = "99th percentile of each second".to_owned();
            let mut mean = line(member, drives, |second| second.lat_mean_us(), true);
            mean.label = "mean of each second".to_owned();
            lines.push(mean);
        }
        lines.push(p99);
    }
    let values = || lines.iter().flat_map(|line| &line.stretches).flatten().map(|point| point.1);
    let least = values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    let most = values().fold(0.0, f64::max);
    let scale = if most > WIDE * least { Scale::Microseconds } else { Scale::Linear };
    let axis = match scale {
        Scale::Microseconds => "The axis is logarithmic and does not start at zero.",
        Scale::Linear | Scale::Onward | Scale::Log2 | Scale::Log10 | Scale::Tail => {
            "The axis starts at zero."
        }
    };
    let what = if alone { "latency" } else { "99th percentile of latency" };
    chart(
        group,
        Parts {
            title: format!("{}: {what} over time", group.title()),
            note: format!(
                "µs; one value per second, with a gap where too few requests completed. \
                 {} {axis}",
                captions::latency(&group.first().test.test)
            ),
            y: Axis { label: if alone { "Latency, µs" } else { "p99, µs" }.to_owned(), scale },
            lines,
            table: table(
                group,
                drives,
                |second| second.lat_p99_us,
                "µs (p99 of a second)",
                Part::Whole,
            ),
            part: Part::Whole,
            kind: "latency-timeline",
        },
    )
}

/// The parts in which charts over time differ.
pub(super) struct Parts {
    pub(super) title: String,
    pub(super) note: String,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
    pub(super) table: Table,
    pub(super) part: Part,
    pub(super) kind: &'static str,
}

/// Returns the chart, or `None` where no second was recorded.
pub(super) fn chart(group: &Group<'_>, parts: Parts) -> Option<Chart> {
    if parts.lines.iter().all(|line| line.stretches.is_empty()) {
        return None;
    }
    let points = || group.members.iter().flat_map(|member| &member.test.points);
    let n: usize = points().map(|point| seconds(point, parts.part).len()).sum();
    let is_one_step = group.members.iter().all(|member| member.test.points.len() <= 1);
    let time =
        if is_one_step { "Time, s" } else { "Active time, s (steps in the order of execution)" };
    Some(Chart {
        title: parts.title,
        notes: vec![format!("{} n = {} seconds.", parts.note, number::count(n as u64))],
        drawing: Drawing::Lines {
            x: Axis { label: time.to_owned(), scale: Scale::Linear },
            y: parts.y,
            right: None,
            lines: parts.lines,
            marks: Vec::new(),
            boundaries: match group.members.as_slice() {
                [alone] => boundaries(alone),
                _ => Vec::new(),
            },
        },
        table: parts.table,
        kind: parts.kind,
        folded: false,
    })
}

/// Returns each step of `member` in the order of execution, with the place where it begins on the
/// axis, in seconds.
fn begun<'a>(member: &Member<'a>) -> Vec<(f64, &'a PointRun)> {
    let mut points: Vec<&PointRun> = member.test.points.iter().collect();
    points.sort_by_key(|point| point.order);
    let mut start = 0.0;
    let mut begun = Vec::new();
    for point in points {
        begun.push((start, point));
        let seen = point.seconds().next_back().map_or(0.0, |second| f64::from(second.second) + 1.0);
        let elapsed = point.point.totals.elapsed;
        start += if elapsed > Nanos::ZERO { elapsed.as_secs_f64() } else { seen };
    }
    begun
}

fn boundaries(member: &Member<'_>) -> Vec<(f64, String)> {
    let points = &member.test.points;
    if points.len() < 2 || points.len() > MAX_BOUNDARIES {
        return Vec::new();
    }
    let label = |point: &PointRun| sanitize::step(&point.point.label);
    begun(member).into_iter().map(|(start, point)| (start, label(point))).collect()
}

/// Returns the line of one drive over the seconds in `part`.
fn part_line(
    member: &Member<'_>,
    drives: &ReportDrives,
    value: fn(&Second) -> Option<f64>,
    part: Part,
) -> Line {
    match part {
        Part::Whole => line(member, drives, value, false),
        Part::Last(_) => {
            let last = member.test.points.iter().flat_map(|point| seconds(point, part));
            let series: Vec<(f64, Option<f64>)> =
                last.map(|second| (f64::from(second.second) + 0.5, value(&second))).collect();
            drawn(member, drives, &series, false)
        }
    }
}

/// Returns the seconds of `point` in `part`.
fn seconds(point: &PointRun, part: Part) -> impl ExactSizeIterator<Item = Second> {
    let all = point.seconds();
    let skipped = match part {
        Part::Whole => 0,
        Part::Last(window) => {
            let last = usize::try_from(window.0.div_ceil(Nanos::SECOND.0)).unwrap_or(usize::MAX);
            all.len().saturating_sub(last)
        }
    };
    all.skip(skipped)
}

pub(super) fn line(
    member: &Member<'_>,
    drives: &ReportDrives,
    value: fn(&Second) -> Option<f64>,
    dashed: bool,
) -> Line {
    let mut series = Vec::new();
    for (start, point) in begun(member) {
        // A step is not the continuation of the one before.
        series.push((start, None));
        series.extend(
            point.seconds().map(|second| (start + f64::from(second.second) + 0.5, value(&second))),
        );
    }
    drawn(member, drives, &series, dashed)
}

fn drawn(
    member: &Member<'_>,
    drives: &ReportDrives,
    series: &[(f64, Option<f64>)],
    dashed: bool,
) -> Line {
    let stretches = reduce::stretches(series);
    Line {
        label: legend(member, drives, !stretches.is_empty()),
        colour: drives.slot_of(member.index),
        dashed,
        right: false,
        marked: false,
        stretches,
    }
}

/// Returns for each step: least, median and greatest second, and how many there were.
pub(super) fn table(
    group: &Group<'_>,
    drives: &ReportDrives,
    value: fn(&Second) -> Option<f64>,
    unit: &str,
    part: Part,
) -> Table {
    let head = ["Step", "Drive", "Minimum", "5th percentile", "Median", "Maximum", "Seconds"];
    let mut head: Vec<String> = head.map(str::to_owned).to_vec();
    head[2] = format!("Minimum, {unit}");
    let mut rows = Vec::new();
    for member in &group.members {
        for point in &member.test.points {
            let values: Vec<f64> =
                seconds(point, part).filter_map(|second| value(&second)).collect();
            let at = |share| number::optional(summary::percentile(&values, share));
            rows.push(vec![
                sanitize::step(&point.point.label),
                drives.names[member.index].clone(),
                at(0.0),
                at(0.05),
                at(0.5),
                at(1.0),
                number::count(seconds(point, part).len() as u64),
            ]);
        }
    }
    Table { head, rows }
}
