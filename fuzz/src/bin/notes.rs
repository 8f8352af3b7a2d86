//! Notes of editors (`report --notes`).
#![no_main]

#[path = "../targets/notes.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    target::run(data);
});
