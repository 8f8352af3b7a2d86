//! Profiles of virtual drives: a drive or a refusal.

use ssdgauge_sim::VirtualRig;

/// Reads one input; returns whether it was accepted.
pub(crate) fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    // Figures within their limits give drives that take gigabytes of memory, and are not a fault.
    VirtualRig::from_toml("fuzz.toml", text, "capacity=1GB", 1).is_ok()
}
