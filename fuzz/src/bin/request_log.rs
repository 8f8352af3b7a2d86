//! Frames and records of request logs, of both versions.
#![no_main]

#[path = "../targets/request_log.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    target::run(data);
});
