//! The chart of measured values as a share of each claim.

use crate::analysis::claims::{Judged, Verdict, judge};
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::specification::Specification;
use crate::figure::chart::{Bar, Chart, Drawing, Table};
use crate::model::Run;
use crate::text::{labels, number};

/// Returns the chart of each drive that a spec file is about, with the numbers of its runs.
pub(crate) fn charts(
    runs: &[Run],
    drives: &ReportDrives,
    specifications: &[Specification],
) -> Vec<(Chart, Vec<usize>)> {
    let mut charts = Vec::new();
    for specification in specifications {
        for (drive, of_drive) in specification.subjects(runs, drives) {
            let judged = judge(specification, &of_drive);
            if let Some(chart) = chart(&judged, drives.name(drive), drives.slot(drive), &of_drive) {
                charts.push((chart, drives.runs_of(drive).collect()));
            }
        }
    }
    charts
}

/// Returns what was measured as a share of each claim, in the colour with this number.
pub(crate) fn chart(
    judged: &[Judged<'_>],
    name: &str,
    colour: usize,
    runs: &[&Run],
) -> Option<Chart> {
    if judged.iter().all(|row| row.measured.is_none()) {
        return None;
    }
    let share = |row: &Judged<'_>| row.measured.map(|value| 100.0 * value / row.claim.value);
    let bar = |row: &Judged<'_>| Bar {
        label: format!("{}, {}", row.claim.conditions(), row.claim.metric.title()),
        part: "",
        colour,
        value: share(row).ok_or_else(|| row.reason.clone()),
        interval: None,
        highlighted: row.verdict == Verdict::NotMet,
    };
    let cells = |row: &Judged<'_>| {
        vec![row.claim.conditions(), number::optional(share(row)), row.verdict.words().to_owned()]
    };
    let mut marks: Vec<String> = Vec::new();
    for mark in runs.iter().flat_map(|run| labels::marks(&run.head, run.complete)) {
        if !marks.contains(&mark) {
            marks.push(mark);
        }
    }
    let marks = if marks.is_empty() { String::new() } else { format!(" [{}]", marks.join(", ")) };
    Some(Chart {
        title: format!("{name}: measured as a share of the claim{marks}"),
        notes: vec![
            "% of the claimed value; n = 1 run each; claims that are not met are highlighted. \
             For latency and power, less is better."
                .to_owned(),
        ],
        drawing: Drawing::Bars { unit: "%".to_owned(), bars: judged.iter().map(bar).collect() },
        table: Table {
            head: ["Claim", "Share, %", "Verdict"].map(str::to_owned).to_vec(),
            rows: judged.iter().map(cells).collect(),
        },
        kind: "specification",
        folded: false,
    })
}
