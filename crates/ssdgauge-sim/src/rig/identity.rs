//! What a run says of the virtual drive.
//!
//! It must never let a name go without the word MODEL.

use crate::profile::Order;
use crate::profile::Profile;
use crate::profile::{Geometry, PAGE};
use ssdgauge_core::{Bytes, DriveInfo, TargetKind};

/// Returns what the run says of the drive; every name carries the word MODEL.
pub(crate) fn info(order: &Order, geometry: &Geometry, spec: &str, seed: u64) -> DriveInfo {
    let profile = &order.profile;
    let digest = digest(profile);
    let asked = Bytes((profile.drive.capacity_gb * 1e9).round() as u64);
    let usable = geometry.capacity();
    let raw = profile.drive.raw_gib * (1u64 << 30) as f64;
    let details = [
        ("class", profile.drive.class.clone()),
        ("title", profile.drive.title.clone()),
        ("cells", profile.drive.cells.clone()),
        ("interface", profile.front.interface.clone()),
        ("profile_digest", format!("{digest:016x}")),
        ("seed", seed.to_string()),
        ("state_at_birth", order.birth.name().to_string()),
        ("over_provisioning", format!("{:.4}", raw / usable as f64 - 1.0)),
        ("unused", order.unused.to_string()),
        ("channels", geometry.channels.to_string()),
        ("dies", geometry.dies.to_string()),
        ("superblock_bytes", (u64::from(geometry.superblock_pages) * PAGE).to_string()),
        ("superblocks", geometry.superblocks.to_string()),
    ];
    DriveInfo {
        kind: TargetKind::Virtual,
        target: format!("sim:{spec}"),
        model: Some(format!("MODEL {} {asked}", profile.drive.class)),
        serial: Some(format!("MODEL-{digest:016x}")),
        firmware: None,
        capacity: Bytes(usable),
        logical_block: Bytes(512),
        physical_block: Bytes(PAGE),
        details: details.into_iter().map(|(key, value)| (key.to_string(), value)).collect(),
    }
}

/// Returns a number that changes with every figure of the profile (FNV-1a of its TOML text).
fn digest(profile: &Profile) -> u64 {
    let text = toml::to_string(profile).expect("a profile that was read can be written");
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
