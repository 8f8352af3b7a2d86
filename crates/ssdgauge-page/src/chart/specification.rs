//! Measured values as a share of each claim of a maker, as a ranking.

use crate::chart::bars::{Ranking, Row};
use ssdgauge_analysis::answers::stated::judge;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::inputs::specification::Specification;
use ssdgauge_analysis::model::Run;

/// Returns the rows of each drive that a spec file is about, with the number of the drive.
pub(crate) fn rankings(
    runs: &[Run],
    drives: &ReportDrives,
    specifications: &[Specification],
) -> Vec<(Ranking, usize)> {
    let all = specifications.iter().flat_map(|specification| {
        let subjects = specification.subjects(runs, drives);
        subjects.into_iter().map(move |(drive, of_drive)| (specification, drive, of_drive))
    });
    all.filter_map(|(specification, drive, of_drive)| {
        Some((ranking(specification, drive, &of_drive)?, drive))
    })
    .collect()
}

/// Returns what was measured as a share of each claim; `None` where nothing was.
fn ranking(specification: &Specification, drive: usize, runs: &[&Run]) -> Option<Ranking> {
    let rows: Vec<Row> = judge(specification, runs)
        .iter()
        .map(|row| {
            let share = row.measured.map(|value| 100.0 * value / row.claim.value);
            let value = share.ok_or_else(|| row.reason.clone());
            Row {
                drive,
                name: Some(format!("{}, {}", row.claim.conditions(), row.claim.metric.title())),
                words: share.map_or_else(String::new, |share| format!("{share:.0}\u{a0}%")),
                extra: row.words().to_owned(),
                value,
                interval: None,
                title: String::new(),
            }
        })
        .collect();
    rows.iter().any(|row| row.value.is_ok()).then(|| Ranking {
        caption: "% of the claimed value; n = 1 run each. For latency and power, lower is better."
            .to_owned(),
        rows,
        may_be_log: false,
    })
}
