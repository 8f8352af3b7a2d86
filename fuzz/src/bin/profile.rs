//! Profiles of virtual drives: a drive or a refusal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdgauge_sim::VirtualRig;

fuzz_target!(|text: &str| {
    // Figures within their limits give drives that take gigabytes of memory, and are no fault.
    let _ = VirtualRig::from_toml("fuzz.toml", text, "capacity=1GB", 1);
});
