//! Suite files: parsed, planned for a drive of 1 TB, and estimated.

use ssdgauge_core::{Bytes, DriveInfo, TargetKind};
use ssdgauge_lab::{Options, Suite, assumed_rates, estimate, plan};

/// Reads one input; returns whether it was accepted.
pub(crate) fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let Ok(suite) = Suite::parse("fuzz.toml", text) else { return false };
    let drive = DriveInfo {
        kind: TargetKind::Block,
        target: "drive".into(),
        model: None,
        serial: None,
        firmware: None,
        capacity: Bytes(1_000_000_000_000),
        logical_block: Bytes(512),
        physical_block: Bytes(4_096),
        details: Default::default(),
    };
    let Ok(plan) = plan(&suite, &drive, &Options::default()) else { return false };
    estimate(&plan, drive.capacity, &assumed_rates(&drive));
    plan.extent();
    true
}
