//! Notes of editors (`report --notes`).

use ssdgauge_analysis::Notes;

/// Reads one input; returns whether it was accepted.
pub(crate) fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    Notes::parse("fuzz.md", text).is_ok()
}
