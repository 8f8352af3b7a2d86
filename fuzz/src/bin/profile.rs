//! Profiles of virtual drives: a drive or a refusal.
#![no_main]

#[path = "../targets/profile.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    target::run(data);
});
