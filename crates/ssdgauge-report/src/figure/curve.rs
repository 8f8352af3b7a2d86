//! The curve: the points of a test along the key that was swept.

use crate::clean;
use crate::figure::{Axis, Bar, Cast, Chart, Drawing, LATENCY, Line, Scale, Table, legend, title};
use crate::group::{Group, Member};
use crate::missing;
use crate::number;
use crate::run::PointRun;
use ssdgauge_core::{Metric, Scope};

/// What tells the steps of a test apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Swept {
    /// The share of reads.
    Mix,
    /// The requests in flight.
    QueueDepth,
    /// The length of a request.
    BlockSize,
    /// More than one of them, or something else: the steps stand side by side.
    Steps,
}

/// Returns the curve of the headline's metric, and of the 99th percentile where the metric is a
/// rate.
pub(super) fn of(group: &Group<'_>, cast: &Cast) -> Vec<Chart> {
    let metric = group.first().test.headline.metric;
    let mut charts = vec![curve(group, cast, metric)];
    if metric.unit() != "µs" {
        charts.push(curve(group, cast, Metric::LatP99Us));
    }
    charts
}

fn curve(group: &Group<'_>, cast: &Cast, metric: Metric) -> Chart {
    let swept = group.members.iter().map(|member| swept(&member.test.points));
    let all: Vec<Swept> = swept.collect();
    let swept = match all.iter().all(|other| *other == all[0]) {
        true => all[0],
        false => Swept::Steps,
    };
    let drawing = match swept {
        Swept::Steps => bars(group, cast, metric),
        Swept::Mix | Swept::QueueDepth | Swept::BlockSize => lines(group, cast, metric, swept),
    };
    let along = match swept {
        Swept::Mix => " by share of reads",
        Swept::QueueDepth => " by queue depth",
        Swept::BlockSize => " by block size",
        Swept::Steps => " by step",
    };
    let points = group.members.iter().map(|member| member.test.points.len()).max().unwrap_or(0);
    let unit = if metric.unit().is_empty() { metric.title() } else { metric.unit() };
    let mut notes = vec![format!(
        "{unit}; n = {points} steps of one run each; the axis of values starts at zero."
    )];
    if metric.unit() == "µs" {
        notes.push(LATENCY.to_owned());
    }
    Chart {
        title: format!("{}: {}{along}", title(group), metric.title()),
        notes,
        drawing,
        table: table(group, cast, metric),
        kind: "curve",
    }
}

fn lines(group: &Group<'_>, cast: &Cast, metric: Metric, swept: Swept) -> Drawing {
    let place = |point: &PointRun| place(point, swept);
    let line = |member: &Member<'_>| {
        let mut points: Vec<(f64, f64)> = member
            .test
            .points
            .iter()
            .filter_map(|point| Some((place(point)?, missing::value(point, metric, Scope::All)?)))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Line {
            label: legend(member, cast, !points.is_empty()),
            colour: member.index,
            dashed: false,
            marked: true,
            stretches: vec![points],
        }
    };
    let (label, scale) = match swept {
        Swept::Mix => ("Share of reads, %", Scale::Linear),
        Swept::QueueDepth => ("Queue depth (requests in flight asked)", Scale::Log2),
        Swept::BlockSize => ("Block size, bytes", Scale::Log2),
        Swept::Steps => ("Step", Scale::Linear),
    };
    let unit = metric.unit();
    let title = metric.title();
    let label_y = if unit.is_empty() || unit == title {
        title.to_owned()
    } else {
        format!("{title}, {unit}")
    };
    Drawing::Lines {
        x: Axis { label: label.to_owned(), scale },
        y: Axis { label: label_y, scale: Scale::Linear },
        lines: group.members.iter().map(line).collect(),
        boundaries: Vec::new(),
    }
}

fn bars(group: &Group<'_>, cast: &Cast, metric: Metric) -> Drawing {
    let alone = group.members.len() == 1;
    let mut bars = Vec::new();
    for label in labels(group) {
        for member in &group.members {
            let point = member.test.points.iter().find(|point| point.point.label == label);
            let value = point.and_then(|point| missing::value(point, metric, Scope::All));
            let name = &cast.names[member.index];
            let label = clean::prose(&label);
            bars.push(Bar {
                label: if alone { label } else { format!("{label} · {name}") },
                colour: member.index,
                value: value.ok_or_else(|| match point {
                    Some(_) => "not measured".to_owned(),
                    None => "unfinished".to_owned(),
                }),
                interval: None,
                highlighted: cast.highlighted == Some(member.index),
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

fn table(group: &Group<'_>, cast: &Cast, metric: Metric) -> Table {
    let mut head = vec!["Step".to_owned()];
    let unit = metric.unit();
    let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
    head.extend(group.members.iter().map(|member| format!("{}{unit}", cast.names[member.index])));
    let row = |label: &String| {
        let cell = |member: &Member<'_>| {
            let point = member.test.points.iter().find(|point| point.point.label == *label);
            number::optional(point.and_then(|point| missing::value(point, metric, Scope::All)))
        };
        [clean::prose(label)].into_iter().chain(group.members.iter().map(cell)).collect()
    };
    Table { head, rows: labels(group).iter().map(row).collect() }
}

/// Returns what tells `points` apart, where it is one thing.
fn swept(points: &[PointRun]) -> Swept {
    let varies = |swept| {
        let places: Vec<Option<f64>> = points.iter().map(|point| place(point, swept)).collect();
        places.iter().any(|other| *other != places[0])
    };
    let keys = [Swept::Mix, Swept::QueueDepth, Swept::BlockSize];
    let single = points.iter().all(|point| point.workload.streams.len() == 1);
    let varying: Vec<Swept> = keys.into_iter().filter(|key| varies(*key)).collect();
    match varying.as_slice() {
        [one] if single && points.len() > 1 => *one,
        _ => Swept::Steps,
    }
}

/// Returns the value of the swept key at `point`.
fn place(point: &PointRun, swept: Swept) -> Option<f64> {
    let stream = point.workload.streams.first()?;
    match swept {
        Swept::Mix => Some(f64::from(stream.read_percent)),
        Swept::QueueDepth => Some(f64::from(stream.queue_depth) * f64::from(stream.threads)),
        Swept::BlockSize => Some(stream.block_size.0 as f64),
        Swept::Steps => None,
    }
}
