//! Latency against percentile, on an axis that gives each nine of the tail equal room.

use crate::analysis::captions;
use crate::analysis::group::{Group, Member};
use crate::analysis::report_drives::ReportDrives;
use crate::figure::chart::{Axis, Chart, Drawing, Line, Scale, Table};
use crate::model::PointRun;
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::{Histogram, Scope};

/// The most lines of one chart.
const MAX_LINES: usize = 6;

/// The most charts of one test.
const MAX_CHARTS: usize = 3;

/// The percentiles of the table.
const SHARES: [(f64, &str); 7] = [
    (0.5, "50 %"),
    (0.9, "90 %"),
    (0.99, "99 %"),
    (0.999, "99.9 %"),
    (0.9999, "99.99 %"),
    (0.99999, "99.999 %"),
    (1.0, "maximum"),
];

/// Returns one chart with a line for each step where a run stands alone, and one chart for each
/// step with a line for each run otherwise.
pub(super) fn charts(group: &Group<'_>, drives: &ReportDrives) -> Vec<Chart> {
    match group.members.as_slice() {
        [alone] => by_step(group, alone, drives).into_iter().collect(),
        _ => by_drive(group, drives),
    }
}

fn by_step(group: &Group<'_>, member: &Member<'_>, drives: &ReportDrives) -> Option<Chart> {
    let all: Vec<&PointRun> = member.test.points.iter().collect();
    let points = spread(&all, MAX_LINES);
    let several = points.len() > 1;
    let lines: Vec<Line> = points
        .iter()
        .enumerate()
        .filter_map(|(number, point)| {
            // Colours identify drives; for a single drive they identify its steps.
            let colour = if several { number } else { drives.slot_of(member.index) };
            line(&sanitize::step(&point.point.label), colour, point)
        })
        .collect();
    let n: u64 = points.iter().map(|point| point.point.totals.latency(Scope::All).count()).sum();
    let labels = points.iter().map(|point| (sanitize::step(&point.point.label), *point)).collect();
    let mut chart = chart(group, "", lines, n, labels)?;
    if points.len() < all.len() {
        let all = all.len();
        chart.notes.push(format!(
            "{} of {all} steps are shown, the first and the last among them.",
            points.len()
        ));
    }
    Some(chart)
}

fn by_drive(group: &Group<'_>, drives: &ReportDrives) -> Vec<Chart> {
    let first: Vec<&PointRun> = group
        .members
        .iter()
        .map(|member| &member.test.points)
        .max_by_key(|points| points.len())
        .map(|points| points.iter().collect())
        .unwrap_or_default();
    let mut charts = Vec::new();
    for shown in spread(&first, MAX_CHARTS) {
        let label = &shown.point.label;
        let same = |member: &Member<'_>| {
            let index = member.index;
            let points = &group.members.iter().find(|m| m.index == index)?.test.points;
            points.iter().find(|point| point.point.label == *label)
        };
        let present: Vec<(usize, &PointRun)> =
            group.members.iter().filter_map(|member| Some((member.index, same(member)?))).collect();
        let lines: Vec<Line> = present
            .iter()
            .filter_map(|(index, point)| line(&drives.names[*index], drives.slot_of(*index), point))
            .collect();
        let n = present.iter().map(|(_, p)| p.point.totals.latency(Scope::All).count()).sum();
        let labels =
            present.iter().map(|(index, point)| (drives.names[*index].clone(), *point)).collect();
        charts.extend(chart(group, &sanitize::prose(label), lines, n, labels));
    }
    // The first chart is shown, the others are folded.
    charts.iter_mut().skip(1).for_each(|chart| chart.folded = true);
    if charts.len() < first.len() {
        for chart in &mut charts {
            chart.notes.push(format!("Shown for {} of {} steps.", MAX_CHARTS, first.len()));
        }
    }
    charts
}

fn chart(
    group: &Group<'_>,
    step: &str,
    lines: Vec<Line>,
    n: u64,
    points: Vec<(String, &PointRun)>,
) -> Option<Chart> {
    if lines.is_empty() {
        return None;
    }
    let step = if step.is_empty() { String::new() } else { format!(", {step}") };
    let mut head = vec!["Latency, µs".to_owned()];
    head.extend(SHARES.iter().map(|(_, label)| (*label).to_owned()));
    head.push("Requests".to_owned());
    let row = |(label, point): &(String, &PointRun)| {
        let latency = point.point.totals.latency(Scope::All);
        let cell = |(share, _): &(f64, &str)| number::optional(at(&latency, *share));
        let cells = SHARES.iter().map(cell);
        let count = number::count(latency.count());
        [label.clone()].into_iter().chain(cells).chain([count]).collect()
    };
    Some(Chart {
        title: format!("{}{step}: distribution of latency", group.title()),
        notes: vec![format!(
            "µs; n = {} requests. {} Each nine of the percentile has equal width; a line \
             ends at the last percentile with a request beyond it. The latency axis is \
             logarithmic and does not start at zero.",
            number::count(n),
            captions::latency(&group.first().test.test)
        )],
        drawing: Drawing::Lines {
            x: Axis { label: "Percentile, %".to_owned(), scale: Scale::Tail },
            y: Axis { label: "Latency, µs".to_owned(), scale: Scale::Microseconds },
            right: None,
            lines,
            boundaries: Vec::new(),
            marks: Vec::new(),
        },
        table: Table { head, rows: points.iter().map(row).collect() },
        kind: "distribution",
        folded: false,
    })
}

fn line(label: &str, colour: usize, point: &PointRun) -> Option<Line> {
    let latency = point.point.totals.latency(Scope::All);
    // Sixteen places for each nine, from the least value to the last one that was measured.
    let points: Vec<(f64, f64)> = (0..=16 * 6)
        .filter_map(|place| {
            let share = 1.0 - 10f64.powf(-f64::from(place) / 16.0);
            Some((share, at(&latency, share)?.max(0.001)))
        })
        .collect();
    let label = label.to_owned();
    (points.len() > 1).then(|| Line {
        label,
        colour,
        dashed: false,
        right: false,
        marked: false,
        stretches: vec![points],
    })
}

/// Returns the latency in microseconds at `share`; the longest at 1.
fn at(latency: &Histogram, share: f64) -> Option<f64> {
    let nanos = if share >= 1.0 { latency.max() } else { latency.percentile(share) };
    nanos.map(|nanos| nanos as f64 / 1e3)
}

/// Returns at most `most` of `points`, evenly spread, the first and the last among them.
fn spread<'a>(points: &[&'a PointRun], most: usize) -> Vec<&'a PointRun> {
    if points.len() <= most {
        return points.to_vec();
    }
    (0..most).map(|place| points[place * (points.len() - 1) / (most - 1)]).collect()
}
