//! The fill curve: throughput of each gigabyte written, against what was written before it.

use crate::figure::reduce;
use crate::figure::{Axis, Cast, Chart, Drawing, Line, Mark, Scale, Table, legend, title};
use crate::group::{Group, Member};
use crate::number;
use crate::run::{PointRun, TestRun};
use ssdgauge_core::statistics::cache::{self, Edge};
use ssdgauge_core::statistics::summary;
use ssdgauge_core::{Access, Direction, Nanos};

/// The length of a segment: the client reviews of 2017 to 2020 draw one point for each 10^9 bytes.
const SEGMENT: f64 = 1e9;

/// Returns the curve where the test writes in order, in one step.
pub(super) fn of(group: &Group<'_>, cast: &Cast) -> Option<Chart> {
    let steps: Vec<Option<&PointRun>> =
        group.members.iter().map(|member| sequential_write(member.test)).collect();
    let is_fill = |(member, step): (&Member<'_>, &Option<&PointRun>)| {
        step.is_some() || member.test.points.is_empty()
    };
    if steps.iter().all(Option::is_none) || !group.members.iter().zip(&steps).all(is_fill) {
        return None;
    }
    let mut lines = Vec::new();
    let mut marks = Vec::new();
    let mut rows = Vec::new();
    for (member, step) in group.members.iter().zip(&steps) {
        let segments = step.map(segments).unwrap_or_default();
        let points: Vec<(f64, Option<f64>)> =
            segments.iter().map(|(at, rate)| (*at, Some(*rate))).collect();
        let stretches = reduce::stretches(&points);
        let edge = step.and_then(edge);
        marks.extend(edge.map(|edge| Mark {
            at: edge.bytes as f64 / 1e9,
            label: "end of fast cache".to_owned(),
            colour: cast.drive(member.index),
        }));
        rows.push(row(&cast.names[member.index], &segments, edge));
        lines.push(Line {
            label: legend(member, cast, !stretches.is_empty()),
            colour: cast.drive(member.index),
            dashed: false,
            right: false,
            marked: false,
            stretches,
        });
    }
    let head = [
        "Drive, MB/s",
        "Slowest GB",
        "Median GB",
        "Fastest GB",
        "Fast cache, GB",
        "Before its end",
        "Behind it",
    ];
    let note = "MB/s of each 10^9 bytes, computed from whole seconds; a triangle marks where the \
                throughput falls for good (the best split into two levels, by the sum of squares); \
                n = 1 pass each. The axis of values starts at zero.";
    Some(Chart {
        title: format!("{}: throughput of each gigabyte", title(group)),
        notes: vec![note.to_owned()],
        drawing: Drawing::Lines {
            x: Axis { label: "Written, GB".to_owned(), scale: Scale::Linear },
            y: Axis { label: "Throughput, MB/s".to_owned(), scale: Scale::Linear },
            right: None,
            lines,
            boundaries: Vec::new(),
            marks,
        },
        table: Table { head: head.map(str::to_owned).to_vec(), rows },
        kind: "fill",
        folded: false,
    })
}

/// Returns the single step of `test` where that writes in order and reads nothing.
pub(crate) fn sequential_write(test: &TestRun) -> Option<&PointRun> {
    let [point] = test.points.as_slice() else { return None };
    let [stream] = point.workload.streams.as_slice() else { return None };
    (stream.access == Access::Sequential && !stream.reads()).then_some(point)
}

/// Returns where writing leaves the fast cache, in the step `point`.
pub(crate) fn edge(point: &PointRun) -> Option<Edge> {
    let full = point.point.seconds.iter().filter(|second| second.elapsed == Nanos::SECOND);
    let written: Vec<u64> =
        full.map(|second| second.directions[Direction::Write as usize].bytes).collect();
    cache::edge(&written)
}

/// Returns each segment by its end in GB with its rate in MB/s.
///
/// Within a second the rate is taken as constant, so a segment that ends within one is cut there.
fn segments(point: &PointRun) -> Vec<(f64, f64)> {
    let mut segments = Vec::new();
    let (mut written, mut time, mut end) = (0.0, 0.0, SEGMENT);
    for second in &point.point.seconds {
        let bytes = second.directions[Direction::Write as usize].bytes as f64;
        let length = second.elapsed.as_secs_f64();
        let (mut left, mut span) = (bytes, length);
        while written + left >= end && left > 0.0 {
            let part = end - written;
            time += span * part / left;
            if time > 0.0 {
                segments.push((end / 1e9, SEGMENT / time / 1e6));
            }
            span -= span * part / left;
            left -= part;
            (written, time, end) = (end, 0.0, end + SEGMENT);
        }
        written += left;
        time += span;
    }
    segments
}

fn row(name: &str, segments: &[(f64, f64)], edge: Option<Edge>) -> Vec<String> {
    let rates: Vec<f64> = segments.iter().map(|(_, rate)| *rate).collect();
    let at = |share| number::optional(summary::percentile(&rates, share));
    let mut row = vec![name.to_owned(), at(0.0), at(0.5), at(1.0)];
    row.extend(match edge {
        Some(edge) => [
            edge.in_words(|bytes| number::text(bytes as f64 / 1e9)),
            number::text(edge.before / 1e6),
            number::text(edge.behind / 1e6),
        ],
        None => ["none seen", "–", "–"].map(str::to_owned),
    });
    row
}
