//! Run files: read as `report` reads them, and written as JSON and Markdown.
#![no_main]

#[path = "../targets/run_file.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    target::run(data);
});
