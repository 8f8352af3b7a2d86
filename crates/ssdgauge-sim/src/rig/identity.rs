//! The identity of the virtual drive in a run.
//!
//! It must never give a name without the word MODEL.

use crate::MODEL_REVISION;
use crate::profile::{Geometry, PAGE, Profile, ProfileSpec};
use ssdgauge_core::{Bytes, Detail, DriveInfo, TargetKind, VIRTUAL};

/// Returns the identity of the drive of `spec`, which was opened as `target`.
pub(crate) fn drive_info(
    spec: &ProfileSpec,
    geometry: &Geometry,
    target: &str,
    seed: u64,
) -> DriveInfo {
    let profile = &spec.profile;
    let digest = digest(profile);
    let nominal = Bytes((profile.drive.capacity_gb * 1e9).round() as u64);
    let usable = geometry.capacity();
    let raw = profile.drive.raw_gib * (1u64 << 30) as f64;
    // What the kernel reports for a real drive: one whose buffer survives a power failure has no
    // volatile write cache.
    let write_cache = match profile.host_interface.buffer_is_safe {
        true => "write through",
        false => "write back",
    };
    let details = [
        ("class", profile.drive.class.clone()),
        ("title", profile.drive.title.clone()),
        (Detail::Cells.key(), profile.drive.cells.clone()),
        (Detail::Interface.key(), profile.host_interface.interface.clone()),
        (Detail::WriteCache.key(), write_cache.to_string()),
        (Detail::WholeCapacity.key(), usable.to_string()),
        (Detail::ModelRevision.key(), MODEL_REVISION.to_string()),
        ("profile_digest", format!("{digest:016x}")),
        (Detail::UncooledDigest.key(), format!("{:016x}", self::digest(&without_cooling(profile)))),
        (Detail::Seed.key(), seed.to_string()),
        ("state_at_birth", spec.initial_state.name().to_string()),
        ("over_provisioning", format!("{:.4}", raw / usable as f64 - 1.0)),
        ("unused", spec.unused.to_string()),
        ("channels", geometry.channels.to_string()),
        ("dies", geometry.dies.to_string()),
        ("superblock_bytes", (u64::from(geometry.superblock_pages) * PAGE).to_string()),
        ("superblocks", geometry.superblocks.to_string()),
    ];
    DriveInfo {
        kind: TargetKind::Virtual,
        target: format!("{VIRTUAL}{target}"),
        model: Some(format!("MODEL {} {}", profile.drive.class, nominal.exact())),
        serial: Some(format!("MODEL-{digest:016x}")),
        firmware: None,
        capacity: Bytes(usable),
        logical_block: Bytes(512),
        physical_block: Bytes(PAGE),
        details: details.into_iter().map(|(key, value)| (key.to_string(), value)).collect(),
    }
}

/// Returns the profile without what surrounds the drive: ambient temperature, heat sink and air. What the
/// drive does at a temperature stays.
fn without_cooling(profile: &Profile) -> Profile {
    let mut profile = profile.clone();
    profile.thermal.ambient_c = 0.0;
    profile.thermal.r_c_per_w = 0.0;
    profile.thermal.c_j_per_c = 0.0;
    profile
}

/// Returns a digest of all figures and texts of the profile: the 64-bit FNV-1a hash of its TOML
/// text. Two drives with one digest behave alike for one seed.
fn digest(profile: &Profile) -> u64 {
    // A hash that is specified: that of the standard library may change from version to version,
    // and run files keep the digest.
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let text = toml::to_string(profile).expect("a profile that was read can be written");
    text.bytes().fold(OFFSET_BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}
