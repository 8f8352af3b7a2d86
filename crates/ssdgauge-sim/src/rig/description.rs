//! The card of a virtual drive, from its profile.
//!
//! It must never say that a model has what its profile does not describe.

use crate::rig::VirtualRig;
use ssdgauge_core::{DriveCard, Finding, FindingKind, Rig, Section, Severity, Table, Value};

/// Who says everything on this card.
const PROFILE: &str = "profile";
/// What the model has counted since its birth.
const TRUTH: &str = "model";

impl VirtualRig {
    /// Returns everything that is known of the drive: its profile, and what it has done so far.
    pub fn card(&self) -> DriveCard {
        DriveCard {
            target: self.drive().target.clone(),
            sections: vec![
                self.identity(),
                self.link(),
                self.blocks(),
                self.erasing(),
                self.power(),
                self.heat(),
                self.health(),
                absent("security", "Security", "a model encrypts nothing"),
                absent("queue", "Queue of the kernel", "a model has no kernel around it"),
            ],
            findings: vec![Finding::new(
                FindingKind::Model,
                Severity::Note,
                "this is a virtual drive: a shape, not a product",
                "never quote its figures as those of a product",
            )],
        }
    }

    fn identity(&self) -> Section {
        let mut section = Section::new("identity", "Identity");
        let info = self.drive();
        section.add(PROFILE, "model", "Model", "", info.model.clone());
        section.add(PROFILE, "serial", "Serial", "", info.serial.clone());
        section.add(PROFILE, "firmware", "Firmware", "", missing("a model has no firmware"));
        section.add(PROFILE, "capacity_bytes", "Capacity", "B", info.capacity.0);
        for (key, label) in [("title", "Title"), ("class", "Class"), ("cells", "Cells")] {
            section.add(PROFILE, key, label, "", info.details.get(key).cloned());
        }
        section
    }

    fn link(&self) -> Section {
        let mut section = Section::new("link", "Link");
        let front = &self.profile().front;
        section.add(PROFILE, "transport", "Transport", "", front.interface.clone());
        section.add(PROFILE, "link_mb_s", "Rate of the link", "MB/s", front.link_mb_s);
        section.add(PROFILE, "half_duplex", "One direction at a time", "", front.half_duplex);
        let depth = front.max_queue_depth;
        section.add(PROFILE, "most_queue_depth", "Commands at a time", "", depth);
        section
    }

    fn blocks(&self) -> Section {
        let mut section = Section::new("blocks", "Blocks and namespaces");
        let info = self.drive();
        section.add(PROFILE, "logical_block_bytes", "Logical block", "B", info.logical_block.0);
        section.add(PROFILE, "physical_block_bytes", "Physical block", "B", info.physical_block.0);
        section
    }

    fn erasing(&self) -> Section {
        let mut section = Section::new("erasing", "Cache, TRIM and erasing");
        let buffer = self.profile().front.buffer_kib;
        section.add(PROFILE, "write_buffer_kib", "Write buffer", "KiB", buffer);
        section.add(PROFILE, "trim", "TRIM (deallocate)", "", true);
        section.add(PROFILE, "format", "Purge", "", true);
        section
    }

    fn power(&self) -> Section {
        let mut section = Section::new("power", "Power states");
        let power = &self.profile().power;
        section.add(PROFILE, "idle_w", "Awake and idle", "W", power.idle_w);
        let rows = power.states.iter().enumerate().map(|(number, state)| {
            vec![
                Value::Count(number as u64 + 1),
                state.w.into(),
                state.after_ms.into(),
                state.entry_us.into(),
                state.exit_us.into(),
            ]
        });
        let columns = vec!["state", "idle_w", "after_ms", "entry_us", "exit_us"];
        let table = Table { columns, rows: rows.collect() };
        section.add(PROFILE, "states", "States that it falls into", "", table);
        section
    }

    fn heat(&self) -> Section {
        let mut section = Section::new("thermal", "Heat");
        let thermal = &self.profile().thermal;
        section.add(TRUTH, "temperature_c", "Temperature", "°C", self.drive.environment.body_c());
        section.add(PROFILE, "ambient_c", "Around it", "°C", thermal.ambient_c);
        section.add(PROFILE, "heavy_throttle_c", "Throttles from", "°C", thermal.throttle_c);
        section.add(PROFILE, "resume_c", "Fast again from", "°C", thermal.resume_c);
        section
    }

    fn health(&self) -> Section {
        let mut section = Section::new("health", "Health");
        let wear = missing("a model does not wear out");
        section.add(TRUTH, "used_percent", "Used endurance", "%", wear);
        section.add(TRUTH, "written_bytes", "Written by hosts", "B", self.truth().host_bytes);
        section.add(TRUTH, "media_errors", "Media errors", "", missing("a model has no media"));
        section
    }
}

fn missing(reason: &str) -> Value {
    Value::Missing(reason.into())
}

/// Returns a section of which a model knows nothing.
fn absent(key: &'static str, title: &'static str, reason: &str) -> Section {
    let mut section = Section::new(key, title);
    section.add(PROFILE, "available", "Facts", "", missing(reason));
    section
}
