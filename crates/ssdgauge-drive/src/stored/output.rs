//! What one output says about one drive, and the description that follows from it.

use super::names::{self, CONTROLLER, Fields, NAMESPACE, SMART_LOG};
use super::{NOT_IN_OUTPUT, numbers};
use crate::ata::{DeviceStatistics, SmartAttribute};
use crate::controller::{Controller, Namespace};
use crate::description::source::is_unreported;
use crate::description::{
    NOT_ATA, NOT_NVME, QueryResults, SctTemperatures, add_field, assemble, health_warning,
    slow_sata,
};
use crate::health::{Health, SMART_LENGTH};
use crate::media::{Counter, Family, LogSource, Source, Written};
use crate::sysfs_device::SysfsDevice;
use ssdgauge_core::{DriveDescription, Table, Value};
use std::path::Path;

/// The command set of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Nvme,
    Ata,
    Scsi,
}

/// A fact by section and key.
type Fact = (&'static str, &'static str, Value);

/// What one output says about one drive.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) kind: Kind,
    /// The facts that no structure of the drive holds.
    pub(super) facts: Vec<Fact>,
    /// The SMART log of an NVMe drive.
    pub(super) smart: Option<Fields>,
    pub(super) controller: Option<Identify>,
    pub(super) namespace: Option<Identify>,
    /// A vendor log of an NVMe drive, and its counters.
    pub(super) media: Option<(LogSource, Written)>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) statistics: Option<DeviceStatistics>,
    pub(super) sct: SctTemperatures,
    /// What the drive says of its failure, in words.
    pub(super) failing: Vec<String>,
    /// The speeds of the SATA link in Gb/s: maximum and current.
    pub(super) sata_gbit: (Option<f64>, Option<f64>),
}

/// The fields of Identify data, and the data with what is not a number.
#[derive(Debug)]
pub(super) struct Identify {
    pub(super) fields: Fields,
    pub(super) data: Vec<u8>,
}

/// A SMART attribute as it is printed.
#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) id: u8,
    /// The normalized values; `None` where smartctl prints none.
    pub(super) value: Option<u8>,
    pub(super) worst: Option<u8>,
    /// The raw value as a number, or as smartctl divides it into several.
    pub(super) raw: Result<u64, String>,
}

impl Output {
    pub(super) fn new(kind: Kind) -> Output {
        Output {
            kind,
            facts: Vec::new(),
            smart: None,
            controller: None,
            namespace: None,
            media: None,
            attributes: Vec::new(),
            statistics: None,
            sct: SctTemperatures::default(),
            failing: Vec::new(),
            sata_gbit: (None, None),
        }
    }

    /// Adds a fact where it is known.
    pub(super) fn add(
        &mut self,
        section: &'static str,
        key: &'static str,
        value: Option<impl Into<Value>>,
    ) {
        self.facts.extend(value.map(|value| (section, key, value.into())));
    }

    /// Returns a number that is a fact.
    fn count(&self, key: &str) -> Option<u64> {
        self.facts.iter().find_map(|(_, fact, value)| match value {
            Value::Count(count) if *fact == key => Some(*count),
            _ => None,
        })
    }

    fn model(&self) -> String {
        let model = self.facts.iter().find_map(|(_, fact, value)| match value {
            Value::Text(text) if *fact == "model" => Some(text.clone()),
            _ => None,
        });
        model.unwrap_or_default()
    }

    /// Returns the description. Its target is empty.
    pub(super) fn describe(&self) -> DriveDescription {
        let mut facts = self.facts.clone();
        // A folder that cannot exist: this kernel reports nothing about the drive.
        let nowhere = Path::new("/dev/null/none");
        let mut device = SysfsDevice::from_folder(nowhere, nowhere);
        let of_this_machine =
            [("identity", "kernel_name"), ("identity", "controller"), ("queue", "poll_queues")];
        facts.extend(of_this_machine.map(|(section, key)| absent(section, key)));
        let results = match self.kind {
            Kind::Nvme => {
                device.controller = Some(nowhere.to_owned());
                self.nvme(&mut facts)
            }
            // As for an attached drive, which is asked as an ATA drive.
            Kind::Ata | Kind::Scsi => self.ata(&mut facts),
        };
        let mut description = assemble("", &device, &results);
        for section in &mut description.sections {
            for fact in &mut section.facts {
                let of_fact = |one: &&Fact| one.0 == section.key && one.1 == fact.key;
                match (facts.iter().find(of_fact), &fact.value) {
                    (Some((_, _, value)), _) => fact.value = value.clone(),
                    (None, Value::Missing(reason)) if is_unreported(reason) => {
                        fact.value = Value::Missing(NOT_IN_OUTPUT.into());
                    }
                    (None, _) => {}
                }
            }
        }
        add_field(&mut description);
        // An NVMe drive has critical warnings.
        let failing = self.failing.iter().filter(|_| self.kind != Kind::Nvme);
        description.findings.extend(failing.map(|text| health_warning(text)));
        if let (Some(max), Some(current)) = self.sata_gbit {
            description.findings.extend(slow_sata(max, current));
        }
        description
    }

    fn nvme(&self, facts: &mut Vec<Fact>) -> QueryResults {
        let not_ata = || NOT_ATA.to_owned();
        let mut results = QueryResults {
            ata: Err(not_ata()),
            passes: Err(not_ata()),
            attributes: Err(not_ata()),
            statistics: Err(not_ata()),
            ..QueryResults::all_missing(NOT_IN_OUTPUT)
        };
        if let Some(fields) = &self.smart {
            let mut log = [0; SMART_LENGTH];
            // The field is mandatory, and 0 K implausible: 273 K stands for one that is not printed.
            log[names::COMPOSITE_AT..][..2].copy_from_slice(&273_u16.to_le_bytes());
            let missing = names::write(&SMART_LOG, fields, &mut log);
            names::write_sensors(fields, &mut log);
            facts.extend(missing.iter().map(|field| absent(section_of(field.key), field.key)));
            if let Some(health) = Health::decode(&log) {
                facts.extend(printed_celsius(fields, &health));
                results.health = Ok(health);
            }
        }
        if let Some(Identify { fields, data }) = &self.controller {
            let mut data = data.clone();
            // With a part of the fields, the rest would be a false zero.
            let is_whole =
                ["oacs", "npss", "oncs", "vwc"].iter().all(|name| fields.contains_key(*name));
            names::write(&CONTROLLER, fields, &mut data);
            if let Some(controller) = Controller::decode(&data).filter(|_| is_whole) {
                results.controller = Ok(controller);
            }
        }
        if let Some(Identify { fields, data }) = &self.namespace {
            let mut data = data.clone();
            let is_whole =
                ["nsze", "ncap", "nuse", "flbas"].iter().all(|name| fields.contains_key(*name));
            names::write(&NAMESPACE, fields, &mut data);
            if let Some(namespace) = Namespace::decode(&data).filter(|_| is_whole) {
                let block = namespace.current_format().map(|format| format.block);
                let known = |key: &'static str, section, value: Option<u64>| {
                    value.map(|value| (section, key, Value::Count(value)))
                };
                facts.extend(known("logical_block_bytes", "blocks", block));
                facts.extend(known("capacity_bytes", "identity", namespace.size()));
                results.namespace = Ok(namespace);
            }
        }
        if let Some((log, written)) = self.media {
            results.media = Ok((Source::Log(log), written));
        }
        results
    }

    fn ata(&self, facts: &mut Vec<Fact>) -> QueryResults {
        let missing = || NOT_IN_OUTPUT.to_owned();
        let block = self.count("logical_block_bytes").unwrap_or(512);
        let mut results = QueryResults {
            ata: Err(missing()),
            passes: Err(missing()),
            attributes: Err(missing()),
            statistics: self.statistics.ok_or_else(missing),
            media: Err(missing()),
            protocols: Err(missing()),
            security: Err(missing()),
            sector: block,
            model: self.model(),
            sct: self.sct,
            ..QueryResults::all_missing(NOT_NVME)
        };
        if self.attributes.is_empty() {
            return results;
        }
        let plain: Vec<SmartAttribute> =
            self.attributes.iter().filter_map(Attribute::plain).collect();
        results.media = Family::written(&self.model(), &plain, self.statistics, block)
            .map(|(family, written)| (Source::Attributes(family, block), written));
        if plain.len() < self.attributes.len() || self.attributes.iter().any(|one| one.raw.is_err())
        {
            // The table has what is printed; counters are taken only from whole numbers.
            facts.push(("health", "attributes", self.attribute_table().into()));
        }
        results.attributes = Ok(plain);
        results
    }

    fn attribute_table(&self) -> Table {
        let name = |id| crate::ata::usual_name(id).unwrap_or("vendor specific");
        let row = |one: &Attribute| {
            let raw = match &one.raw {
                Ok(count) => Value::Count(*count),
                Err(text) => Value::Text(text.clone()),
            };
            vec![one.id.into(), name(one.id).into(), one.value.into(), one.worst.into(), raw]
        };
        let columns = vec!["id", "usual_name", "value", "worst", "raw"];
        Table { columns, rows: self.attributes.iter().map(row).collect() }
    }
}

impl Attribute {
    /// Returns the attribute as the drive stores it, where its raw value is one number. That of a
    /// temperature has the current one in its lowest byte, and smartctl prints it first, as it does the hours of
    /// `45144 (208 126 0)` and `22532h+00m+00.000s`.
    fn plain(&self) -> Option<SmartAttribute> {
        let raw = match (&self.raw, self.id) {
            (Ok(raw), _) => *raw,
            (Err(text), 190 | 194) => u8::try_from(numbers::whole(text)?).ok()?.into(),
            (Err(text), 9) => numbers::whole(text)?.try_into().ok()?,
            (Err(_), _) => return None,
        };
        Some(SmartAttribute { id: self.id, value: self.value?, worst: self.worst?, raw })
    }
}

/// Returns the temperatures of the SMART log that are printed in degrees Celsius, which are whole numbers
/// there, and that a drive can have.
fn printed_celsius(fields: &Fields, health: &Health) -> Vec<Fact> {
    let printed = |name: &str| numbers::celsius(fields.get(name)?);
    let composite = health.composite_c.and_then(|_| printed("temperature"));
    let row = |(number, _): &(u8, f64)| {
        let celsius = printed(&format!("temperaturesensor{number}"))?;
        Some(vec![(*number).into(), celsius.into()])
    };
    let rows: Vec<Vec<Value>> = health.sensors_c.iter().filter_map(row).collect();
    let sensors = Table { columns: vec!["sensor", "temperature_c"], rows };
    let composite = composite.map(|celsius| ("thermal", "temperature_c", celsius.into()));
    let is_any = !sensors.rows.is_empty();
    composite.into_iter().chain(is_any.then(|| ("thermal", "sensors", sensors.into()))).collect()
}

/// Returns a fact that the output does not contain.
fn absent(section: &'static str, key: &'static str) -> Fact {
    (section, key, Value::Missing(NOT_IN_OUTPUT.into()))
}

/// Returns the section of a field of the SMART log.
fn section_of(key: &str) -> &'static str {
    match key {
        "temperature_c" => "thermal",
        _ => "health",
    }
}

/// Adds a part of the description of an NVMe drive: to the last output, unless that has such a part already
/// or is of another program.
pub(super) fn add(outputs: &mut Vec<Output>, part: Output) {
    let fits = |last: &Output| {
        let has = |one: &Output| {
            [
                one.smart.is_some(),
                one.controller.is_some(),
                one.namespace.is_some(),
                one.media.is_some(),
            ]
        };
        let is_new = has(last).into_iter().zip(has(&part)).all(|(old, new)| !(old && new));
        // An output of smartctl has the SMART log, and facts of its own.
        last.kind == Kind::Nvme && is_new
    };
    match outputs.last_mut().filter(|last| fits(last)) {
        Some(last) => {
            last.smart = last.smart.take().or(part.smart);
            last.controller = last.controller.take().or(part.controller);
            last.namespace = last.namespace.take().or(part.namespace);
            last.media = last.media.take().or(part.media);
            last.facts.extend(part.facts);
        }
        None => outputs.push(part),
    }
}

/// Returns the counters of a log that counts media in units of `bytes`, and hosts where it does.
pub(super) fn written(media: u128, host: Option<u128>, bytes: u64) -> Written {
    let counter = |count| Counter::of_bytes(count, bytes);
    Written { host: host.map(counter), media: counter(media), may_wrap: false }
}
