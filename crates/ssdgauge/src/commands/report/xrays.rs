//! X-rays among the runs of a page, which are drawn at the drives that they show.

use crate::commands::xray;
use crate::failure::Failure;
use ssdgauge_analysis::{DriveXray, Run, are_of_one_ssd};
use ssdgauge_watch::terminal;
use std::path::PathBuf;

/// Takes the X-rays out of `runs`, which were read from `files`, where other runs remain. The latest one of each drive
/// is returned; of a drive without another run there is a note.
///
/// # Errors
///
/// Fails where the result of an X-ray cannot be computed.
pub(super) fn taken_out(
    files: Vec<PathBuf>,
    runs: Vec<Run>,
) -> Result<(Vec<Run>, Vec<DriveXray>), Failure> {
    let is_xray = |run: &Run| run.head.plan.suite.id == ssdgauge_runfile::XRAY_SUITE;
    if runs.iter().all(is_xray) {
        return Ok((runs, Vec::new()));
    }
    let (examined, runs): (Vec<_>, Vec<_>) =
        files.into_iter().zip(runs).partition(|(_, run)| is_xray(run));
    let runs: Vec<Run> = runs.into_iter().map(|(_, run)| run).collect();
    let mut xrays: Vec<DriveXray> = Vec::new();
    for (file, examined) in examined {
        let drive = &examined.head.drive;
        let Some(run) = runs.iter().position(|run| are_of_one_ssd(&run.head.drive, drive)) else {
            terminal::print_message(&format!(
                "note: {} is an X-ray of a drive without another run here, and is left out",
                file.display()
            ));
            continue;
        };
        let started_unix_ms = examined.head.started_unix_ms;
        let other = xrays.iter().position(|other| other.run == run);
        match other.map(|place| (place, xrays[place].started_unix_ms)) {
            Some((_, at)) if at >= started_unix_ms => continue,
            Some((place, _)) => drop(xrays.remove(place)),
            None => {}
        }
        xrays.push(DriveXray { run, started_unix_ms, card: xray::recorded(&file)? });
    }
    xrays.sort_by_key(|xray| xray.run);
    Ok((runs, xrays))
}
