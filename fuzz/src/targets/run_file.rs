//! Run files: read as `report` reads them, and written as JSON and Markdown; and what reports do not read.

use ssdgauge_runfile::RunFile;
use std::io::Write;

/// Reads one input; returns whether it was accepted.
pub(crate) fn run(data: &[u8]) -> bool {
    let mut file =
        tempfile::Builder::new().suffix(".ssdg").tempfile_in("/dev/shm").expect("memory");
    file.write_all(data).expect("memory");
    if let Ok(run) = RunFile::open(file.path()) {
        let _ = run.answers(|_, _| ());
        let _ = (run.percentiles(), run.log_pages(), run.digests(), run.outcome());
    }
    let Ok(run) = ssdgauge_analysis::read(file.path()) else { return false };
    let runs = [run];
    let _ = ssdgauge_export::json(&runs);
    let _ = ssdgauge_export::csv(&runs);
    let _ = ssdgauge_export::markdown(&runs);
    true
}
