//! Suite files: parsed, planned for a drive of 1 TB, and estimated.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdgauge_core::{Bytes, DriveInfo, TargetKind};
use ssdgauge_lab::{Options, Suite, assumed_rates, estimate, plan};

fuzz_target!(|text: &str| {
    let Ok(suite) = Suite::parse("fuzz.toml", text) else { return };
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
    if let Ok(plan) = plan(&suite, &drive, &Options::default()) {
        estimate(&plan, drive.capacity, &assumed_rates(&drive));
        plan.extent();
    }
});
