//! Suite files: parsed, planned for a drive of 1 TB, and estimated.
#![no_main]

#[path = "../targets/suite.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    target::run(data);
});
