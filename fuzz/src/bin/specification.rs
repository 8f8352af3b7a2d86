//! Spec files of `report --spec`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdgauge_report::Specification;

fuzz_target!(|text: &str| {
    let _ = Specification::parse("fuzz.toml", text);
});
