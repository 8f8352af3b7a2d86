//! Notes of editors (`report --notes`).
#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdgauge_report::Notes;

fuzz_target!(|text: &str| {
    let _ = Notes::parse("fuzz.md", text);
});
