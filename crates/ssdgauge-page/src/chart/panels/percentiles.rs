//! Percentiles of latency on one logarithmic scale: a row for each drive, or for each step of one.

use crate::chart::rows::{MarkRow, RowMark, RowMarkKind, Rows};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::groups::captions;
use ssdgauge_analysis::groups::group::{Group, Member};
use ssdgauge_analysis::model::PointRun;
use ssdgauge_analysis::model::metrics;
use ssdgauge_analysis::steps::headline_points;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::{Metric, Scope};

/// The percentiles of a row. The last one that was measured is its result.
const MARKS: [(Metric, &str); 4] = [
    (Metric::LatP50Us, "p50"),
    (Metric::LatP99Us, "p99"),
    (Metric::LatP999Us, "p99.9"),
    (Metric::LatP9999Us, "p99.99"),
];

/// More steps than this of a single drive have no rows.
const MAX_STEPS: usize = 14;

/// Returns the rows; `None` where no percentile was measured.
pub(crate) fn rows(group: &Group<'_>, drives: &ReportDrives) -> Option<Rows> {
    let mut all: Vec<MarkRow> = match group.members.as_slice() {
        [alone] if alone.test.points.len() <= MAX_STEPS => {
            let step = |point: &PointRun| {
                let name = sanitize::step(&point.point.label);
                row(drives.drive_of(alone.index), Some(name), point)
            };
            alone.test.points.iter().filter_map(step).collect()
        }
        members => members.iter().filter_map(|member| of_headline(member, drives)).collect(),
    };
    if all.is_empty() {
        return None;
    }
    if group.members.len() > 1 {
        let last = |row: &MarkRow| row.marks.last().map_or(f64::INFINITY, |mark| mark.at);
        all.sort_by(|a, b| last(a).total_cmp(&last(b)));
    }
    Some(Rows {
        kind: "percentiles",
        caption: format!(
            "Latency; marks from left: p50, p99, p99.9, p99.99 (large); logarithmic. {}",
            captions::latency(&group.first())
        ),
        rows: all,
        words: number::latency_tick,
        reasons: Vec::new(),
    })
}

/// Returns the row of the step of the headline with the longest tail.
fn of_headline(member: &Member<'_>, drives: &ReportDrives) -> Option<MarkRow> {
    let tail =
        |point: &&&PointRun| metrics::value(point, Metric::LatP99Us, Scope::All).unwrap_or(0.0);
    let points = headline_points::points(member.test);
    let point = points.iter().max_by(|a, b| tail(a).total_cmp(&tail(b)))?;
    row(drives.drive_of(member.index), None, point)
}

fn row(drive: usize, name: Option<String>, point: &PointRun) -> Option<MarkRow> {
    let measured = MARKS.iter().filter_map(|(metric, word)| {
        Some((*word, metrics::value(point, *metric, Scope::All).filter(|value| *value > 0.0)?))
    });
    let measured: Vec<(&str, f64)> = measured.collect();
    let label = sanitize::step(&point.point.label);
    let last = measured.len().checked_sub(1)?;
    let marks = measured.into_iter().enumerate().map(|(place, (word, at))| RowMark {
        at,
        kind: if place == last { RowMarkKind::Result } else { RowMarkKind::Minor },
        title: format!("{label}, {word}: {}", number::latency(at)),
        words: match place {
            _ if place < last => String::new(),
            _ if word == "p99.99" => number::latency(at),
            _ => format!("{} ({word})", number::latency(at)),
        },
    });
    Some(MarkRow { drive, name, marks: marks.collect() })
}
