//! Answers of drives: identify, log pages, features and ATA data, through every query.
#![no_main]

#[path = "../targets/drive_answers.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    target::run(data);
});
