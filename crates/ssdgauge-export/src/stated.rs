//! Judged claims as Markdown and JSON, for each drive that a spec file is about.

use crate::documents::stated::{DriveClaims, JudgedClaim};
use crate::markdown_text::escaped;
use ssdgauge_analysis::answers::stated::judge;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::inputs::specification::Specification;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;

/// Returns the judged claims of `specifications`, one entry for each drive.
pub(crate) fn claims(runs: &[Run], specifications: &[Specification]) -> Vec<DriveClaims> {
    let drives = ReportDrives::new(runs, None);
    let mut entries = Vec::new();
    for specification in specifications {
        for (drive, of_drive) in specification.subjects(runs, &drives) {
            let claims = judge(specification, &of_drive).into_iter().map(|judged| JudgedClaim {
                metric: judged.claim.metric.key(),
                unit: judged.claim.metric.unit(),
                conditions: judged.claim.conditions(),
                source: sanitize::prose(judged.source),
                claimed: judged.claim.value,
                measured: judged.measured,
                verdict: judged.key(),
                reason: judged.reason,
            });
            let first = drives.runs_of(drive).next();
            entries.push(DriveClaims {
                drive: first.map(|run| drives.names[run].clone()),
                tolerance: specification.tolerance,
                claims: claims.collect(),
            });
        }
    }
    entries
}

/// Returns the judged claims of `specifications` as Markdown tables.
pub fn claims_markdown(runs: &[Run], specifications: &[Specification]) -> String {
    let drives = ReportDrives::new(runs, None);
    let mut text = String::new();
    for specification in specifications {
        for (drive, of_drive) in specification.subjects(runs, &drives) {
            let name =
                drives.runs_of(drive).next().map_or(number::NOTHING, |run| &drives.names[run]);
            text.push_str(&format!(
                "\n## Specification against measurement: {}\n\n\
                 | Claim | Claimed | Measured | Verdict | Test, or reason | Source |\n\
                 |---|--:|--:|---|---|---|\n",
                escaped(name)
            ));
            for judged in judge(specification, &of_drive) {
                let claim = judged.claim;
                let value = |value: f64| claim.metric.about(value);
                text.push_str(&format!(
                    "| {} | {} | {} | {} | {} | {} |\n",
                    escaped(&claim.conditions()),
                    value(claim.value),
                    judged.measured.map_or(number::NOTHING.to_owned(), value),
                    judged.words(),
                    escaped(&judged.reason),
                    escaped(&sanitize::prose(judged.source)),
                ));
            }
        }
    }
    text
}
