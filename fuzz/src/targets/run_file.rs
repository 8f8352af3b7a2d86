//! Run files: read as `report` reads them, and written as JSON and Markdown.

use std::io::Write;

/// Reads one input; returns whether it was accepted.
pub(crate) fn run(data: &[u8]) -> bool {
    let mut file =
        tempfile::Builder::new().suffix(".ssdg").tempfile_in("/dev/shm").expect("memory");
    file.write_all(data).expect("memory");
    let Ok(run) = ssdgauge_report::read(file.path()) else { return false };
    let runs = [run];
    let _ = ssdgauge_report::json(&runs);
    let _ = ssdgauge_report::csv(&runs);
    let _ = ssdgauge_report::markdown(&runs);
    true
}
