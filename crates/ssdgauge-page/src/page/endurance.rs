//! The endurance of each drive: a table of what is stated, with the reason for what is not.

use crate::page::kit::mark::icon;
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::inputs::notes::Notes;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::steps::endurance::{Endurance, endurance};

/// Returns the table; nothing for models, and where no run states anything.
pub(super) fn table(runs: &[Run], notes: Option<&Notes>, drives: &ReportDrives) -> Markup {
    let noted = |drive: usize| notes?.of_drive(drive, runs, drives)?.tbw;
    let of_run = |index: usize| {
        let drive = drives.drive_of(index);
        Some((drive, endurance(&runs[index], noted(drive))?))
    };
    let found: Vec<(usize, Endurance)> = (0..runs.len()).filter_map(of_run).collect();
    html! {
        @if !found.is_empty() {
            h3 #endurance { "Endurance" }
            @for (drive, endurance) in &found {
                div.scroll tabindex="0" role="group" aria-label="Endurance of a drive" { table.num.left {
                    @if drives.count() > 1 || runs.len() > 1 {
                        caption { (icon(drives, *drive)) " " (drives.short(*drive)) }
                    }
                    tbody {
                        @for (name, words) in endurance.rows() {
                            tr { th scope="row" { (name) } td { (words) } }
                        }
                    }
                } }
            }
        }
    }
}
