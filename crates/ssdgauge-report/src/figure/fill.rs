//! The fill curve: throughput of each gigabyte written, against what was written before it.

use crate::analysis::captions::legend;
use crate::analysis::group::{Group, Member};
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::{fill_curve, slc_cache};
use crate::figure::chart::{Axis, Chart, Drawing, Line, Mark, Scale, Table};
use crate::figure::reduce;
use crate::model::{PointRun, SpeedFall};
use crate::text::number;
use ssdgauge_core::statistics::summary;

/// Returns the curve where the test writes in order, in one step.
pub(super) fn chart(group: &Group<'_>, drives: &ReportDrives) -> Option<Chart> {
    let steps: Vec<Option<&PointRun>> =
        group.members.iter().map(|member| slc_cache::sequential_write(member.test)).collect();
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
        let segments = step.map(fill_curve::segments).unwrap_or_default();
        let points: Vec<(f64, Option<f64>)> =
            segments.iter().map(|(at, rate)| (*at, Some(*rate))).collect();
        let stretches = reduce::stretches(&points);
        let falls = step.map(|step| step.falls.as_slice()).unwrap_or_default();
        marks.extend(falls.iter().map(|fall| Mark {
            at: fall.edge.bytes as f64 / 1e9,
            label: fall.cause.remark().to_owned(),
            colour: drives.slot_of(member.index),
        }));
        rows.push(row(&drives.names[member.index], &segments, falls.first()));
        lines.push(Line {
            label: legend(member, drives, !stretches.is_empty()),
            colour: drives.slot_of(member.index),
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
        "First fall, GB",
        "Before, MB/s",
        "After, MB/s",
        "Cause",
    ];
    let note = "MB/s of each 10^9 bytes, computed from full seconds; a triangle marks a fall \
                of the speed to 80 % or less (the split into two levels with the least sum of \
                squares) with its cause where the run shows it; n = 1 pass each. The value axis starts at zero.";
    Some(Chart {
        title: format!("{}: throughput of each gigabyte", group.title()),
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

fn row(name: &str, segments: &[(f64, f64)], fall: Option<&SpeedFall>) -> Vec<String> {
    let rates: Vec<f64> = segments.iter().map(|(_, rate)| *rate).collect();
    let at = |share| number::optional(summary::percentile(&rates, share));
    let mut row = vec![name.to_owned(), at(0.0), at(0.5), at(1.0)];
    row.extend(match fall {
        Some(SpeedFall { edge, cause, .. }) => [
            edge.in_words(|bytes| number::text(bytes as f64 / 1e9)),
            edge.before_in_words(|bytes| number::text(bytes / 1e6)),
            number::text(edge.behind / 1e6),
            cause.remark().to_owned(),
        ],
        None => ["not found", "–", "–", "–"].map(str::to_owned),
    });
    row
}
