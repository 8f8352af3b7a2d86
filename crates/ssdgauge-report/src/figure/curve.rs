//! The curve: the points of a test along the key that was swept.

use crate::analysis::captions::{self, legend};
use crate::analysis::group::{Group, Member};
use crate::analysis::headline_points;
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::swept::{Along, Swept, common};
use crate::analysis::workload_text;
use crate::figure::chart::{Axis, Bar, Chart, Drawing, Line, Scale, Table};
use crate::model::PointRun;
use crate::model::metrics;
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::{Metric, Scope};

/// More drives than this have no picture of their own beside the common one.
const MAX_ALONE: usize = 8;

/// Returns the curve of the headline's metric, of power where it was measured, of the 99th
/// percentile where the metric is a rate, and each drive alone with its power on a second axis.
pub(super) fn charts(group: &Group<'_>, drives: &ReportDrives) -> Vec<Chart> {
    let metric = group.first().test.headline.metric;
    let metric = if metric == Metric::LoadMultiple { Metric::Iops } else { metric };
    let along = common(group);
    let swept = along.swept;
    let power = group.members.iter().flat_map(|member| &member.test.points);
    let has_power = power.into_iter().any(|point| power_of(point).is_some());
    let is_line = !matches!(swept, Swept::Steps | Swept::Repeat);
    let alone = group.members.len() == 1;
    let of_all = |metric| (metric, Scope::All);
    let with_power = alone && has_power && is_line;
    let mut charts = vec![curve(group, drives, of_all(metric), &along, with_power)];
    // The mean over equal loads is ranked already, and many bars side by side are no picture.
    let is_detail = swept == Swept::Repeat || (!is_line && group.members.len() > MAX_ALONE);
    charts.iter_mut().for_each(|chart| chart.folded = is_detail);
    if has_power && is_line && !alone {
        charts.push(curve(group, drives, of_all(Metric::PowerW), &along, false).fold());
        if group.members.len() <= MAX_ALONE {
            charts.extend(group.members.iter().map(|member| {
                let one = Group {
                    members: vec![*member],
                    distinction: group.distinction.clone(),
                    other_runs: Vec::new(),
                };
                let chart = curve(&one, drives, of_all(metric), &along, true);
                let title = format!("{}, {}", chart.title, drives.names[member.index]);
                Chart { title, kind: "curve-with-power", ..chart.fold() }
            }));
        }
    }
    if metric.unit() != "µs" {
        charts.push(curve(group, drives, of_all(Metric::LatP99Us), &along, false).fold());
    }
    for scope in directions(group, &along) {
        if metric.is_split() {
            charts.push(curve(group, drives, (metric, scope), &along, false));
        }
        if metric.unit() != "µs" {
            charts.push(curve(group, drives, (Metric::LatP99Us, scope), &along, false));
        }
    }
    charts
}

/// Returns the curve of `metric`; `None` where the steps differ in no one parameter.
pub(super) fn of_metric(group: &Group<'_>, drives: &ReportDrives, metric: Metric) -> Option<Chart> {
    let along = common(group);
    let is_line = !matches!(along.swept, Swept::Steps | Swept::Repeat);
    is_line.then(|| curve(group, drives, (metric, Scope::All), &along, false))
}

/// Returns the directions that have a curve of their own: where one of several streams varies, the
/// question is what it costs the others, which the sum over all of them hides.
fn directions(group: &Group<'_>, along: &Along) -> Vec<Scope> {
    let points = group.members.iter().flat_map(|member| &member.test.points);
    let first = points.into_iter().next().filter(|_| along.is_of_one_of_several());
    let directions = first.map(PointRun::directions).unwrap_or_default();
    if directions.len() > 1 {
        directions.into_iter().map(Scope::from).collect()
    } else {
        Vec::new()
    }
}

fn power_of(point: &PointRun) -> Option<f64> {
    metrics::value(point, Metric::PowerW, Scope::All)
}

fn curve(
    group: &Group<'_>,
    drives: &ReportDrives,
    (metric, scope): (Metric, Scope),
    along: &Along,
    with_power: bool,
) -> Chart {
    let drawing = match along.swept {
        Swept::Steps => bars(group, drives, metric),
        Swept::Mix | Swept::QueueDepth | Swept::BlockSize | Swept::Fill | Swept::Repeat => {
            lines(group, drives, (metric, scope), along, with_power)
        }
    };
    let key = match along.swept {
        Swept::Mix => "share of reads",
        Swept::QueueDepth => "queue depth",
        Swept::BlockSize => "block size",
        Swept::Fill => "fill",
        Swept::Repeat => "repetition",
        Swept::Steps => "step",
    };
    let of = scope.requests().map(|requests| format!(" of {requests}")).unwrap_or_default();
    let title = match scope {
        Scope::All => workload_text::metric_title(&group.first().test.test, metric),
        Scope::Read | Scope::Write | Scope::Flush | Scope::Trim => metric.title().to_owned(),
    };
    let points = group.members.iter().map(|member| member.test.points.len()).max().unwrap_or(0);
    let unit = if metric.unit().is_empty() { metric.title() } else { metric.unit() };
    let axis = if with_power { "both value axes start" } else { "the value axis starts" };
    let mut notes = vec![format!("{unit}; n = {points} steps of one run each; {axis} at zero.")];
    if metric.unit() == "µs" {
        notes.push(captions::latency(&group.first().test.test));
    }
    Chart {
        title: format!("{}: {title}{of} by {key}{}", group.title(), along.of_stream()),
        notes,
        drawing,
        table: table(group, drives, (metric, scope), with_power),
        kind: "curve",
        folded: false,
    }
}

fn lines(
    group: &Group<'_>,
    drives: &ReportDrives,
    (metric, scope): (Metric, Scope),
    along: &Along,
    with_power: bool,
) -> Drawing {
    let line = |member: &Member<'_>, (metric, scope): (Metric, Scope), right: bool| {
        let place =
            |point: &PointRun| Some((along.place(point)?, metrics::value(point, metric, scope)?));
        let mut points: Vec<(f64, f64)> = member.test.points.iter().filter_map(place).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let name = legend(member, drives, !points.is_empty());
        Line {
            label: if right { "power (right axis)".to_owned() } else { name },
            colour: drives.slot_of(member.index),
            dashed: right,
            right,
            // A PNG has no dashes: the line without marks is the one on the right.
            marked: !right,
            stretches: vec![points],
        }
    };
    let mut drawn: Vec<Line> =
        group.members.iter().map(|member| line(member, (metric, scope), false)).collect();
    if with_power {
        drawn.extend(
            group.members.iter().map(|member| line(member, (Metric::PowerW, Scope::All), true)),
        );
    }
    let of = along.of_stream();
    let (label, scale) = match along.swept {
        Swept::Mix => (format!("Share of reads{of}, %"), Scale::Linear),
        Swept::QueueDepth => {
            (format!("Queue depth{of} (requests in flight, as requested)"), Scale::Log2)
        }
        Swept::BlockSize => (format!("Block size{of}, bytes"), Scale::Log2),
        Swept::Fill => ("Drive full, %".to_owned(), Scale::Linear),
        Swept::Repeat => ("Repetition of the same load".to_owned(), Scale::Linear),
        Swept::Steps => ("Step".to_owned(), Scale::Linear),
    };
    let linear = |label: String| Axis { label, scale: Scale::Linear };
    Drawing::Lines {
        x: Axis { label, scale },
        y: linear(axis_label(metric)),
        right: with_power.then(|| linear(axis_label(Metric::PowerW))),
        lines: drawn,
        boundaries: Vec::new(),
        marks: Vec::new(),
    }
}

fn axis_label(metric: Metric) -> String {
    match (metric.title(), metric.unit()) {
        (title, "") => title.to_owned(),
        (title, unit) if unit == title => title.to_owned(),
        (title, unit) => format!("{title}, {unit}"),
    }
}

fn bars(group: &Group<'_>, drives: &ReportDrives, metric: Metric) -> Drawing {
    let alone = group.members.len() == 1;
    let mut bars = Vec::new();
    for label in labels(group) {
        for member in &group.members {
            let point = member.test.points.iter().find(|point| point.point.label == label);
            let value = point.and_then(|point| metrics::value(point, metric, Scope::All));
            let name = &drives.names[member.index];
            if point.is_some_and(|point| !headline_points::is_like_a_scored_one(member.test, point))
            {
                continue;
            }
            let label = sanitize::prose(&label);
            bars.push(Bar {
                label: if alone { label } else { format!("{label} · {name}") },
                part: "",
                colour: drives.slot_of(member.index),
                value: value.ok_or_else(|| match point {
                    Some(_) => "not measured".to_owned(),
                    None => "unfinished".to_owned(),
                }),
                interval: None,
                highlighted: drives.is_highlighted(member.index),
            });
        }
    }
    Drawing::Bars { unit: metric.unit().to_owned(), bars }
}

/// Returns every step label of `group`, in the order of the steps.
fn labels(group: &Group<'_>) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for point in group.members.iter().flat_map(|member| &member.test.points) {
        if !labels.contains(&point.point.label) {
            labels.push(point.point.label.clone());
        }
    }
    labels
}

fn table(
    group: &Group<'_>,
    drives: &ReportDrives,
    (metric, scope): (Metric, Scope),
    with_power: bool,
) -> Table {
    let power = with_power.then_some((Metric::PowerW, Scope::All));
    let metrics: Vec<(Metric, Scope)> = [(metric, scope)].into_iter().chain(power).collect();
    let mut head = vec!["Step".to_owned()];
    for member in &group.members {
        let name = &drives.names[member.index];
        head.extend(metrics.iter().map(|(metric, _)| match metric.unit() {
            "" => name.clone(),
            unit => format!("{name}, {unit}"),
        }));
    }
    let row = |label: &String| {
        let mut row = vec![sanitize::prose(label)];
        for member in &group.members {
            let point = member.test.points.iter().find(|point| point.point.label == *label);
            let value = |(metric, scope): &(Metric, Scope)| {
                number::optional(point.and_then(|point| metrics::value(point, *metric, *scope)))
            };
            row.extend(metrics.iter().map(value));
        }
        row
    };
    Table { head, rows: labels(group).iter().map(row).collect() }
}
