//! Run files: read as `report` reads them, and written as JSON and Markdown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::Write;

fuzz_target!(|data: &[u8]| {
    let mut file =
        tempfile::Builder::new().suffix(".ssdg").tempfile_in("/dev/shm").expect("memory");
    file.write_all(data).expect("memory");
    if let Ok(run) = ssdgauge_report::read(file.path()) {
        let runs = [run];
        let _ = ssdgauge_report::json(&runs);
        let _ = ssdgauge_report::csv(&runs);
        let _ = ssdgauge_report::markdown(&runs);
    }
});
