//! Quality of service: mean, 99th and 99.99th percentile of latency, three bars for each drive.

use crate::analysis::captions;
use crate::analysis::group::{Group, Member};
use crate::analysis::headline_points;
use crate::analysis::headline_reasons::missing_reason;
use crate::analysis::report_drives::ReportDrives;
use crate::figure::chart::{Bar, Chart, Drawing, Table};
use crate::model::metrics;
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::{Metric, Scope};

/// The latencies that the enterprise reviews of 2018 to 2020 show beside throughput.
const PARTS: [(Metric, &str); 3] =
    [(Metric::LatMeanUs, "mean"), (Metric::LatP99Us, "99 %"), (Metric::LatP9999Us, "99.99 %")];

/// Returns the latencies of the one step that each headline speaks of.
///
/// A mix at a fixed queue depth is higher loaded than it needs to be, and a mean over several
/// steps has no latency of its own: neither has this figure.
pub(super) fn chart(group: &Group<'_>, drives: &ReportDrives) -> Option<Chart> {
    let score = &group.first().test.test.score;
    let steps = |member: &Member<'_>| -> Vec<u8> {
        let streams = member.test.points.iter().flat_map(|point| &point.workload.streams);
        streams.map(|stream| stream.read_percent).collect()
    };
    let is_mix = group.members.iter().flat_map(steps).any(|read| read > 0 && read < 100);
    let fits = score.depth_knee().is_some() || (score.position().is_some() && !is_mix);
    if !fits {
        return None;
    }
    let mut members: Vec<(Member<'_>, Option<f64>)> =
        group.members.iter().map(|member| (*member, value(member, Metric::LatP9999Us))).collect();
    members.sort_by(|a, b| a.1.unwrap_or(f64::INFINITY).total_cmp(&b.1.unwrap_or(f64::INFINITY)));
    if members.iter().all(|(member, _)| value(member, Metric::LatMeanUs).is_none()) {
        return None;
    }
    let bars = members.iter().flat_map(|(member, _)| bars(member, drives)).collect();
    let rows = members.iter().map(|(member, _)| row(member, drives)).collect();
    let head = ["Drive, µs", "Step", "Mean", "99 %", "99.99 %", "Requests"];
    Some(Chart {
        title: format!("{}: quality of service", group.title()),
        notes: vec![format!(
            "µs, less is better: mean, 99th and 99.99th percentile at the step of the headline, \
             which the table names; n = 1 run each. {} The axis starts at zero.",
            captions::latency(&group.first().test.test)
        )],
        drawing: Drawing::Bars { unit: "µs".to_owned(), bars },
        table: Table { head: head.map(str::to_owned).to_vec(), rows },
        kind: "qos",
        folded: false,
    })
}

fn value(member: &Member<'_>, metric: Metric) -> Option<f64> {
    let points = headline_points::points(member.test);
    metrics::value(points.first()?, metric, Scope::All)
}

fn bars(member: &Member<'_>, drives: &ReportDrives) -> Vec<Bar> {
    let bar = |(place, (metric, part)): (usize, &(Metric, &'static str))| Bar {
        label: if place == 0 { drives.names[member.index].clone() } else { String::new() },
        part,
        colour: drives.slot_of(member.index),
        value: value(member, *metric).ok_or_else(|| {
            match headline_points::points(member.test).first() {
                Some(_) => "too few requests".to_owned(),
                None => missing_reason(member),
            }
        }),
        interval: None,
        highlighted: drives.is_highlighted(member.index),
    };
    PARTS.iter().enumerate().map(bar).collect()
}

fn row(member: &Member<'_>, drives: &ReportDrives) -> Vec<String> {
    let points = headline_points::points(member.test);
    let step = points
        .first()
        .map_or_else(|| missing_reason(member), |point| sanitize::step(&point.point.label));
    let n = points.first().map_or(0, |point| point.point.totals.latency(Scope::All).count());
    let cells = PARTS.iter().map(|(metric, _)| number::optional(value(member, *metric)));
    [drives.names[member.index].clone(), step]
        .into_iter()
        .chain(cells)
        .chain([number::count(n)])
        .collect()
}
