//! Spec files of `report --spec`.

use ssdgauge_analysis::Specification;

/// Reads one input; returns whether it was accepted.
pub(crate) fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    Specification::parse("fuzz.toml", text).is_ok()
}
