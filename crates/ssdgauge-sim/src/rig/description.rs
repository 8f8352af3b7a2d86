//! The drive description of a virtual drive, from its profile and its counters.
//!
//! It must never describe a part that the model does not have.

use crate::MODEL_REVISION;
use crate::drive::Drive;
use crate::profile::Profile;
use ssdgauge_core::{
    DriveDescription, DriveInfo, Finding, FindingKind, Section, Severity, Table, Value,
};

/// Source of facts from the profile.
const PROFILE: &str = "profile";
/// Source of facts that the model has counted since the drive was created.
const MODEL: &str = "model";

/// Returns the description of `drive`: its profile, and what it has done so far.
pub(crate) fn describe(info: &DriveInfo, profile: &Profile, drive: &Drive) -> DriveDescription {
    DriveDescription {
        target: info.target.clone(),
        sections: vec![
            identity(info),
            link(profile),
            blocks(info),
            erasing(profile),
            power(profile),
            thermal(profile, drive),
            health(drive),
            absent("security", "Security", "a model encrypts nothing"),
            absent("queue", "Queue of the kernel", "a model has no kernel around it"),
        ],
        findings: vec![Finding::new(
            FindingKind::Model,
            Severity::Note,
            "this is a virtual drive: it models a class of drives, not a product",
            "do not quote its numbers as those of a product",
        )],
    }
}

fn identity(info: &DriveInfo) -> Section {
    let mut section = Section::new("identity", "Identity");
    section.add(PROFILE, "model", "Model", "", info.model.clone());
    section.add(PROFILE, "serial", "Serial", "", info.serial.clone());
    section.add(PROFILE, "firmware", "Firmware", "", missing("a model has no firmware"));
    section.add(MODEL, "model_revision", "Model revision", "", MODEL_REVISION);
    section.add(PROFILE, "capacity_bytes", "Capacity", "B", info.capacity.0);
    for (key, label) in [("title", "Title"), ("class", "Class"), ("cells", "Cells")] {
        section.add(PROFILE, key, label, "", info.details.get(key).cloned());
    }
    section
}

fn link(profile: &Profile) -> Section {
    let mut section = Section::new("link", "Link");
    let interface = &profile.host_interface;
    section.add(PROFILE, "transport", "Transport", "", interface.interface.clone());
    section.add(PROFILE, "link_mb_s", "Link rate", "MB/s", interface.link_mb_s);
    section.add(PROFILE, "half_duplex", "Half duplex", "", interface.half_duplex);
    let depth = interface.max_queue_depth;
    section.add(PROFILE, "most_queue_depth", "Maximum queue depth", "", depth);
    section
}

fn blocks(info: &DriveInfo) -> Section {
    let mut section = Section::new("blocks", "Blocks and namespaces");
    section.add(PROFILE, "logical_block_bytes", "Logical block", "B", info.logical_block.0);
    section.add(PROFILE, "physical_block_bytes", "Physical block", "B", info.physical_block.0);
    section
}

fn erasing(profile: &Profile) -> Section {
    let mut section = Section::new("erasing", "Cache, TRIM and erasing");
    let buffer = profile.host_interface.buffer_kib;
    section.add(PROFILE, "write_buffer_kib", "Write buffer", "KiB", buffer);
    let is_safe = profile.host_interface.buffer_is_safe;
    section.add(PROFILE, "power_loss_protected", "Power-loss protection", "", is_safe);
    section.add(PROFILE, "trim", "TRIM (deallocate)", "", true);
    section.add(PROFILE, "format", "Purge", "", true);
    section
}

fn power(profile: &Profile) -> Section {
    let mut section = Section::new("power", "Power states");
    let power = &profile.power;
    section.add(PROFILE, "idle_w", "Active idle", "W", power.idle_w);
    let most = match power.max_w > 0.0 {
        true => power.max_w.into(),
        false => missing("the class states no maximum"),
    };
    section.add(PROFILE, "max_w", "Maximum in state 0", "W", most);
    let rows = power.limited_states.iter().enumerate().map(|(number, state)| {
        vec![Value::Count(number as u64 + 1), state.max_w.into(), state.idle_w.into()]
    });
    let table = Table { columns: vec!["state", "max_w", "idle_w"], rows: rows.collect() };
    section.add(PROFILE, "limited_states", "Limited states", "", table);
    let operational = 1 + power.limited_states.len();
    let rows = power.states.iter().enumerate().map(|(number, state)| {
        vec![
            Value::Count((number + operational) as u64),
            state.w.into(),
            state.after_ms.into(),
            state.entry_us.into(),
            state.exit_us.into(),
        ]
    });
    let columns = vec!["state", "idle_w", "after_ms", "entry_us", "exit_us"];
    let table = Table { columns, rows: rows.collect() };
    section.add(PROFILE, "states", "Non-operational states", "", table);
    section
}

fn thermal(profile: &Profile, drive: &Drive) -> Section {
    let mut section = Section::new("thermal", "Temperature");
    let thermal = &profile.thermal;
    let body_c = (drive.power_thermal.body_c() * 10.0).round() / 10.0;
    section.add(MODEL, "temperature_c", "Temperature", "°C", body_c);
    section.add(PROFILE, "ambient_c", "Ambient", "°C", thermal.ambient_c);
    section.add(PROFILE, "heavy_throttle_c", "Throttles from", "°C", thermal.throttle_c);
    section.add(PROFILE, "resume_c", "Full speed again from", "°C", thermal.resume_c);
    section
}

fn health(drive: &Drive) -> Section {
    let mut section = Section::new("health", "Health");
    let wear = missing("a model does not wear out");
    section.add(MODEL, "used_percent", "Used endurance", "%", wear);
    let written = drive.ftl.media.truth.host_bytes;
    section.add(MODEL, "written_bytes", "Written by hosts", "B", written);
    section.add(MODEL, "media_errors", "Media errors", "", missing("a model has no media"));
    section
}

fn missing(reason: &str) -> Value {
    Value::Missing(reason.into())
}

/// Returns a section that a model does not have.
fn absent(key: &'static str, title: &'static str, reason: &str) -> Section {
    let mut section = Section::new(key, title);
    section.add(PROFILE, "available", "Facts", "", missing(reason));
    section
}
