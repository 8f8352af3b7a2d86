//! Rates and latencies for every second of a test.

use crate::clean;
use crate::figure::{
    Axis, Cast, Chart, Drawing, LATENCY, Line, Scale, Table, legend, reduce, title,
};
use crate::group::{Group, Member};
use crate::number;
use crate::timeline::Second;
use ssdgauge_core::statistics::summary;
use ssdgauge_core::{Metric, Nanos};

/// More boundaries than this would hide the lines.
const MOST_BOUNDARIES: usize = 12;

/// A latency axis is logarithmic where the greatest value is this many times the least.
const WIDE: f64 = 20.0;

/// Returns throughput or IOPS of every second, whichever the headline is nearer to.
pub(super) fn of(group: &Group<'_>, cast: &Cast) -> Option<Chart> {
    let in_bytes = group.first().test.headline.metric.unit().starts_with("MB/s");
    let metric = if in_bytes { Metric::ThroughputMbS } else { Metric::Iops };
    let value: fn(&Second) -> Option<f64> = match in_bytes {
        true => |second| Some(second.throughput_mb_s),
        false => |second| Some(second.iops),
    };
    let unit = metric.unit();
    let mut lines = Vec::new();
    for member in &group.members {
        lines.push(line(member, cast, value, false));
    }
    let label = if in_bytes { "Throughput, MB/s".to_owned() } else { "IOPS".to_owned() };
    chart(
        group,
        Parts {
            title: format!("{}: {} for every second", title(group), metric.title()),
            note: format!(
                "{unit}; one value for each second; a second in which nothing completed counts as zero. The axis starts at zero."
            ),
            y: Axis { label, scale: Scale::Linear },
            lines,
            table: table(group, cast, value, unit),
            kind: "timeline",
        },
    )
}

/// Returns the 99th percentile of every second, and the mean where a run stands alone.
pub(super) fn of_latency(group: &Group<'_>, cast: &Cast) -> Option<Chart> {
    let alone = group.members.len() == 1;
    let mut lines = Vec::new();
    for member in &group.members {
        let mut p99 = line(member, cast, |second| second.lat_p99_us, false);
        if alone {
            p99.label = "99th percentile of each second".to_owned();
            let mut mean = line(member, cast, |second| second.lat_mean_us, true);
            mean.label = "mean of each second".to_owned();
            lines.push(mean);
        }
        lines.push(p99);
    }
    let values = || lines.iter().flat_map(|line| &line.stretches).flatten().map(|point| point.1);
    let least = values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    let most = values().fold(0.0, f64::max);
    let scale = if most > WIDE * least { Scale::Log10 } else { Scale::Linear };
    let axis = match scale {
        Scale::Log10 => "The axis is logarithmic and does not start at zero.",
        Scale::Linear | Scale::Log2 | Scale::Tail => "The axis starts at zero.",
    };
    chart(
        group,
        Parts {
            title: format!("{}: latency for every second", title(group)),
            note: format!(
                "µs; one value for each second, a gap where too few requests completed. {LATENCY} {axis}"
            ),
            y: Axis { label: "Latency, µs".to_owned(), scale },
            lines,
            table: table(group, cast, |second| second.lat_p99_us, "µs (p99 of a second)"),
            kind: "latency-timeline",
        },
    )
}

/// What one chart over time differs in from another.
pub(super) struct Parts {
    pub(super) title: String,
    pub(super) note: String,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
    pub(super) table: Table,
    pub(super) kind: &'static str,
}

/// Returns the chart, or `None` where no second was recorded.
pub(super) fn chart(group: &Group<'_>, parts: Parts) -> Option<Chart> {
    if parts.lines.iter().all(|line| line.stretches.is_empty()) {
        return None;
    }
    let seconds = group.members.iter().flat_map(|member| &member.test.points);
    let n: usize = seconds.map(|point| point.seconds.len()).sum();
    Some(Chart {
        title: parts.title,
        notes: vec![format!("{} n = {} seconds.", parts.note, number::count(n as u64))],
        drawing: Drawing::Lines {
            x: Axis {
                label: "Busy time, s (steps one after the other)".into(),
                scale: Scale::Linear,
            },
            y: parts.y,
            lines: parts.lines,
            boundaries: match group.members.as_slice() {
                [alone] => boundaries(alone),
                _ => Vec::new(),
            },
        },
        table: parts.table,
        kind: parts.kind,
    })
}

/// Returns where each step of `member` begins on the axis, in seconds.
fn starts(member: &Member<'_>) -> Vec<f64> {
    let mut start = 0.0;
    let mut starts = Vec::new();
    for point in &member.test.points {
        starts.push(start);
        let seen = point.seconds.last().map_or(0.0, |second| f64::from(second.second) + 1.0);
        let elapsed = point.point.totals.elapsed;
        start += if elapsed > Nanos::ZERO { elapsed.as_secs_f64() } else { seen };
    }
    starts
}

fn boundaries(member: &Member<'_>) -> Vec<(f64, String)> {
    let points = &member.test.points;
    if points.len() < 2 || points.len() > MOST_BOUNDARIES {
        return Vec::new();
    }
    let label = |point: &crate::run::PointRun| clean::prose(&point.point.label);
    starts(member).into_iter().zip(points.iter().map(label)).collect()
}

pub(super) fn line(
    member: &Member<'_>,
    cast: &Cast,
    value: fn(&Second) -> Option<f64>,
    dashed: bool,
) -> Line {
    let mut series = Vec::new();
    for (start, point) in starts(member).into_iter().zip(&member.test.points) {
        // A step is not the continuation of the one before.
        series.push((start, None));
        series.extend(
            point
                .seconds
                .iter()
                .map(|second| (start + f64::from(second.second) + 0.5, value(second))),
        );
    }
    let stretches = reduce::stretches(&series);
    Line {
        label: legend(member, cast, !stretches.is_empty()),
        colour: member.index,
        dashed,
        marked: false,
        stretches,
    }
}

/// Returns for each step: least, median and greatest second, and how many there were.
pub(super) fn table(
    group: &Group<'_>,
    cast: &Cast,
    value: fn(&Second) -> Option<f64>,
    unit: &str,
) -> Table {
    let head = ["Step", "Drive", "Least", "5 % of seconds below", "Median", "Greatest", "Seconds"];
    let mut head: Vec<String> = head.map(str::to_owned).to_vec();
    head[2] = format!("Least, {unit}");
    let mut rows = Vec::new();
    for member in &group.members {
        for point in &member.test.points {
            let values: Vec<f64> = point.seconds.iter().filter_map(value).collect();
            let at = |share| number::optional(summary::percentile(&values, share));
            rows.push(vec![
                clean::prose(&point.point.label),
                cast.names[member.index].clone(),
                at(0.0),
                at(0.05),
                at(0.5),
                at(1.0),
                number::count(point.seconds.len() as u64),
            ]);
        }
    }
    Table { head, rows }
}
