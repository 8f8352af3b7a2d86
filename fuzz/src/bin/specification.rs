//! Spec files of `report --spec`.
#![no_main]

#[path = "../targets/specification.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    target::run(data);
});
