//! Requests to a drive are sent by the engine: `ssdgauge-host` opens files, wires and judges.

use super::writers::counts;
use std::collections::BTreeMap;

/// The words that transfer data of an open file, or change it, by a call.
const SENDING: [&str; 9] = [
    "file_io",
    "block_device::discard",
    "use ssdgauge_os::block_device",
    "FileExt",
    "libc::pread",
    "libc::pwrite",
    "libc::fdatasync",
    "sync_data(",
    "sync_all(",
];

/// The files of host with such words, how many, and the reason.
const KNOWN: [(&str, usize, &str); 3] = [
    ("ssdgauge-host/src/helper/attachment.rs", 1, "reads an attribute in /sys"),
    ("ssdgauge-host/src/monitor/stall_detector.rs", 1, "reads a file in /proc"),
    (
        "ssdgauge-host/src/preparation/trim.rs",
        1,
        "a discard is a preparation, a command that changes the drive, as format and sanitize are",
    ),
];

#[test]
fn host_sends_no_request_by_itself() {
    let mut found = counts(&SENDING);
    found.retain(|name, _| name.starts_with("ssdgauge-host/"));
    let known: BTreeMap<String, usize> =
        KNOWN.iter().map(|(name, count, _)| ((*name).to_owned(), *count)).collect();
    assert_eq!(found, known, "`ssdgauge-engine` sends the requests to a drive");
}
