//! Traces: read in every format, and turned into the requests of a replay.
#![no_main]

#[path = "../targets/trace.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    target::run(data);
});
