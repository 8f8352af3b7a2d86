//! The description of a real drive: every reported value in its section, every missing value with
//! its reason.
//!
//! This module never replaces a missing value by a number, and opens the drive for reading only.

mod condition;
mod host_bytes;
mod identity;
mod life;
mod paired;
pub(crate) mod source;
#[cfg(test)]
mod tests;

use crate::ata;
use crate::controller::{Controller, Namespace};
use crate::health::Health;
use crate::media::{Source, Written};
use crate::pass_through::{AtaCommand, CommandError, NvmeCommand, OpenDevice, PassThrough};
use crate::power_log::PowerLog;
use crate::query::{self, CommandSet, feature};
use crate::state::{self, SanitizeLog, Security, Transition};
use crate::sysfs_device::SysfsDevice;
use serde::{Deserialize, Serialize};
use ssdgauge_core::rounded::count;
use ssdgauge_core::{Bytes, DriveDescription, Finding, FindingKind, Severity, Table, Value, field};
use ssdgauge_os::sysfs::device_size;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

pub(crate) use condition::overall;

/// Failure to describe a drive.
#[derive(Debug, Error)]
pub enum DescribeError {
    /// The device does not exist or cannot be examined.
    #[error("{path}: {cause}")]
    System {
        /// The path of the device.
        path: PathBuf,
        /// The error of the system call.
        cause: io::Error,
    },
    /// The path is not a block device.
    #[error("{0} is not a block device")]
    NotBlockDevice(PathBuf),
}

/// Returns the description of the block device at `path`. The drive is opened for reading only and
/// receives query commands only. Without the privileges for them, the description contains the
/// values of the kernel.
///
/// # Errors
/// `path` does not exist or is not a block device.
pub fn describe(path: &Path) -> Result<DriveDescription, DescribeError> {
    let (device, results) = query_device(path)?;
    Ok(assemble(&path.display().to_string(), &device, &results))
}

/// The condition of a drive before a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct DriveCondition {
    /// The findings of [`drive_findings`].
    pub findings: Vec<Finding>,
    /// Why its health could not be read, and is not among the findings.
    pub unread: Option<String>,
    /// Its temperature in °C, or why that is not known.
    pub temperature_c: Result<f64, String>,
    /// The temperature in °C from which on it warns, where it states one.
    pub warning_c: Option<f64>,
}

/// Returns the condition of the block device at `path`, by the queries of [`describe`].
///
/// # Errors
/// `path` does not exist or is not a block device.
pub fn read_condition(path: &Path) -> Result<DriveCondition, DescribeError> {
    let (device, results) = query_device(path)?;
    let is_reason = |reason: &String| reason != NOT_NVME && reason != NOT_ATA;
    let unread = match (&results.health, &results.passes) {
        (Ok(_), _) | (_, Ok(_)) => None,
        (Err(nvme), Err(ata)) => Some([nvme, ata].into_iter().find(|one| is_reason(one))),
    };
    let unread = unread.map(|reason| match reason {
        Some(reason) => reason.clone(),
        None => "the device has no SMART data".to_owned(),
    });
    // As the description states it: a drive without one in its log may have an attribute.
    let of_ata = match paired::temperature(&results) {
        Value::Real(celsius) => Some(celsius),
        _ => None,
    };
    let temperature_c =
        [results.health.as_ref().ok().and_then(|health| health.composite_c), of_ata];
    let unknown = || unread.clone().unwrap_or_else(|| "the drive does not report it".into());
    Ok(DriveCondition {
        findings: findings(&device, &results),
        temperature_c: temperature_c.into_iter().flatten().next().ok_or_else(unknown),
        unread,
        warning_c: results.controller.as_ref().ok().and_then(|one| one.warning_c),
    })
}

fn query_device(path: &Path) -> Result<(SysfsDevice, QueryResults), DescribeError> {
    let system = |cause| DescribeError::System { path: path.to_owned(), cause };
    let metadata = std::fs::metadata(path).map_err(system)?;
    if !metadata.file_type().is_block_device() {
        return Err(DescribeError::NotBlockDevice(path.to_owned()));
    }
    let number = metadata.rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let device = SysfsDevice::from_number(Path::new("/sys"), major, minor)
        .ok_or_else(|| DescribeError::NotBlockDevice(path.to_owned()))?;
    // O_NONBLOCK: the open of a removable drive must not wait for a medium.
    let file =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path);
    let results = match file {
        Ok(file) => QueryResults::query(&device, &OpenDevice::new(Arc::new(file))),
        Err(error) => QueryResults::without_access(&device, &CommandError::from(error).to_string()),
    };
    Ok((device, results))
}

/// The reasons for values of the other command set. [`assemble`] removes the facts with them: a
/// description does not list what another kind of drive would report.
pub(crate) const NOT_ATA: &str = "this is not an ATA drive";
pub(crate) const NOT_NVME: &str = "this is not an NVMe drive";

/// The result of a query, or the reason why there is none.
pub(crate) type QueryResult<T> = Result<T, String>;

/// The results of all queries to a drive.
#[derive(Debug)]
pub(crate) struct QueryResults {
    pub(crate) controller: QueryResult<Controller>,
    pub(crate) namespace: QueryResult<Namespace>,
    pub(crate) active: QueryResult<Vec<u32>>,
    pub(crate) health: QueryResult<Health>,
    pub(crate) sanitize: QueryResult<SanitizeLog>,
    pub(crate) power_state: QueryResult<u32>,
    pub(crate) write_cache: QueryResult<u32>,
    pub(crate) transitions: QueryResult<(bool, Vec<Transition>)>,
    pub(crate) host_memory: QueryResult<u32>,
    pub(crate) thermal: QueryResult<u32>,
    pub(crate) power_log: QueryResult<PowerLog>,
    pub(crate) ata: QueryResult<ata::Identity>,
    /// Whether the SMART status of an ATA drive has passed.
    pub(crate) passes: QueryResult<bool>,
    pub(crate) attributes: QueryResult<Vec<ata::SmartAttribute>>,
    pub(crate) statistics: QueryResult<ata::DeviceStatistics>,
    pub(crate) media: QueryResult<(Source, Written)>,
    pub(crate) protocols: QueryResult<Vec<u8>>,
    pub(crate) security: QueryResult<Security>,
    /// The bytes of a sector of the Device Statistics log.
    pub(crate) sector: u64,
    /// The model of an ATA drive; empty where it is not known.
    pub(crate) model: String,
    /// The temperatures of an ATA drive in its SCT status, which only stored outputs have.
    pub(crate) sct: SctTemperatures,
}

/// The temperatures of the SCT status (ACS-3, 8.5) in °C.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SctTemperatures {
    pub(crate) current_c: Option<i8>,
    pub(crate) highest_of_cycle_c: Option<i8>,
    pub(crate) highest_c: Option<i8>,
}

impl QueryResults {
    /// Returns results that are all missing for `reason`.
    pub(crate) fn all_missing(reason: &str) -> QueryResults {
        let reason = || reason.to_owned();
        QueryResults {
            controller: Err(reason()),
            namespace: Err(reason()),
            active: Err(reason()),
            health: Err(reason()),
            sanitize: Err(reason()),
            power_state: Err(reason()),
            write_cache: Err(reason()),
            transitions: Err(reason()),
            host_memory: Err(reason()),
            thermal: Err(reason()),
            power_log: Err(reason()),
            ata: Err(reason()),
            passes: Err(reason()),
            attributes: Err(reason()),
            statistics: Err(reason()),
            media: Err(reason()),
            protocols: Err(reason()),
            security: Err(reason()),
            sector: 512,
            model: String::new(),
            sct: SctTemperatures::default(),
        }
    }

    /// Returns the results of a drive that could not be opened, for `reason`.
    fn without_access(device: &SysfsDevice, reason: &str) -> QueryResults {
        struct Closed(String);
        impl PassThrough for Closed {
            fn nvme(&self, _: &NvmeCommand, _: &mut [u8]) -> Result<u32, CommandError> {
                Err(CommandError::System(self.0.clone()))
            }
            fn ata(&self, _: &AtaCommand, _: &mut [u8]) -> Result<(), CommandError> {
                Err(CommandError::System(self.0.clone()))
            }
            fn ata_registers(&self, _: &AtaCommand) -> Result<u32, CommandError> {
                Err(CommandError::System(self.0.clone()))
            }
        }
        QueryResults::query(device, &Closed(reason.to_owned()))
    }

    /// Sends every query of the command set of `device`. A query for an optional feature is sent
    /// only where the drive lists the feature, because a rejected command adds an entry to its
    /// error log.
    pub(super) fn query(device: &SysfsDevice, pass_through: &dyn PassThrough) -> QueryResults {
        match (device.namespace(), device.is_scsi()) {
            (Some(number), _) => QueryResults::query_nvme(number, pass_through),
            (None, true) => QueryResults::query_ata(pass_through),
            (None, false) => {
                QueryResults { ata: Err(NOT_ATA.into()), ..QueryResults::all_missing(NOT_NVME) }
            }
        }
    }

    fn query_nvme(number: u32, pass_through: &dyn PassThrough) -> QueryResults {
        let controller = with_reason(query::controller(pass_through));
        let has = |ability: fn(&Controller) -> bool, what: &str| match &controller {
            Ok(controller) if ability(controller) => Ok(()),
            Ok(_) => Err(format!("the drive has no {what}")),
            Err(reason) => Err(reason.clone()),
        };
        let value = |id| with_reason(query::feature_value(pass_through, id, &mut []));
        let mut table = [0; 256];
        let security = has(Controller::has_security, "security commands");
        QueryResults {
            namespace: with_reason(query::namespace(pass_through, number)),
            active: with_reason(query::active_namespaces(pass_through)),
            health: with_reason(query::health(pass_through)),
            sanitize: has(|controller| controller.sanitize != Default::default(), "sanitize")
                .and_then(|()| with_reason(query::sanitize_log(pass_through))),
            power_state: value(feature::POWER_STATE),
            write_cache: has(|controller| controller.has_volatile_cache, "volatile write cache")
                .and_then(|()| value(feature::WRITE_CACHE)),
            transitions: has(
                |controller| controller.has_autonomous_transitions,
                "autonomous power state transitions",
            )
            .and_then(|()| {
                with_reason(query::feature_value(pass_through, feature::TRANSITIONS, &mut table))
            })
            .map(|on| (on & 1 == 1, state::transitions(&table))),
            host_memory: has(|controller| controller.host_memory.is_some(), "host memory buffer")
                .and_then(|()| value(feature::HOST_MEMORY)),
            thermal: has(
                |controller| controller.host_thermal_management,
                "host controlled thermal management",
            )
            .and_then(|()| value(feature::THERMAL)),
            power_log: with_reason(query::power_log(pass_through)),
            media: query_media(pass_through, Some(number)),
            protocols: security
                .clone()
                .and_then(|()| with_reason(query::protocols(pass_through, CommandSet::Nvme))),
            security: security
                .and_then(|()| with_reason(query::discovery(pass_through, CommandSet::Nvme))),
            controller,
            ..QueryResults::all_missing(NOT_ATA)
        }
    }

    fn query_ata(pass_through: &dyn PassThrough) -> QueryResults {
        let ata = with_reason(query::ata_identity(pass_through));
        let has = |ability: fn(&ata::Identity) -> bool, what: &str| match &ata {
            Ok(identity) if ability(identity) => Ok(()),
            Ok(_) => Err(format!("the drive has no {what}")),
            Err(reason) => Err(reason.clone()),
        };
        let security = has(|identity| identity.has_trusted, "trusted commands");
        let smart = has(|identity| identity.has_smart, "SMART");
        QueryResults {
            passes: smart.clone().and_then(|()| with_reason(query::ata_smart_passes(pass_through))),
            attributes: smart
                .clone()
                .and_then(|()| with_reason(query::ata_attributes(pass_through))),
            statistics: smart
                .clone()
                .and_then(|()| with_reason(query::ata_statistics(pass_through))),
            media: smart.and_then(|()| query_media(pass_through, None)),
            protocols: security
                .clone()
                .and_then(|()| with_reason(query::protocols(pass_through, CommandSet::Ata))),
            security: security
                .and_then(|()| with_reason(query::discovery(pass_through, CommandSet::Ata))),
            sector: ata.as_ref().map_or(512, |identity| identity.logical_block),
            model: ata.as_ref().ok().and_then(|ata| ata.model.clone()).unwrap_or_default(),
            ata,
            ..QueryResults::all_missing(NOT_NVME)
        }
    }
}

/// Returns what counts the media writes of the drive, and its counters.
fn query_media(
    pass_through: &dyn PassThrough,
    namespace: Option<u32>,
) -> QueryResult<(Source, Written)> {
    let source = Source::find(pass_through, namespace)?;
    Ok((source, with_reason(source.read(pass_through))?))
}

fn with_reason<T>(result: Result<T, CommandError>) -> QueryResult<T> {
    result.map_err(|reason| reason.to_string())
}

/// Combines sysfs attributes and query results into a description.
pub(crate) fn assemble(
    target: &str,
    device: &SysfsDevice,
    results: &QueryResults,
) -> DriveDescription {
    let mut description = DriveDescription {
        target: target.into(),
        sections: vec![
            identity::identity(device, results),
            identity::link(device, results),
            identity::blocks(device, results),
            identity::erasing(device, results),
            condition::power(results),
            condition::measured_power(results),
            condition::thermal(device, results),
            condition::health(results),
            identity::security(results),
            identity::queue(device),
        ],
        findings: Vec::new(),
    };
    let applies = |value: &Value| match value {
        Value::Missing(reason) => reason != NOT_ATA && reason != NOT_NVME,
        Value::Text(_) | Value::Count(_) | Value::Real(_) | Value::Flag(_) | Value::Table(_) => {
            true
        }
    };
    description
        .sections
        .iter_mut()
        .for_each(|section| section.facts.retain(|fact| applies(&fact.value)));
    description.sections.retain(|section| !section.facts.is_empty());
    add_field(&mut description);
    description.findings.extend(device.link().and_then(|link| link.finding()));
    description.findings.extend(findings(device, results));
    description
}

/// Adds what drives of the same model in service report, where that is known.
pub(crate) fn add_field(description: &mut DriveDescription) {
    let Some(Value::Text(model)) = description.value("identity", "model") else { return };
    let Some(found) = field::of_model(model) else { return };
    let Some(health) = description.sections.iter_mut().find(|one| one.key == "health") else {
        return;
    };
    let row = |(name, spread): (&&str, &Option<field::Spread>)| {
        let one = (*spread)?;
        Some(vec![
            (*name).into(),
            one.drives.into(),
            one.p10.into(),
            one.median.into(),
            one.p90.into(),
        ])
    };
    let rows = field::NUMBERS.iter().zip(&found.numbers).filter_map(row).collect();
    let table = Table { columns: vec!["in_service", "drives", "p10", "median", "p90"], rows };
    let of = format!("{} drives, {}; {}", found.drives, found.name, field::SOURCE);
    let facts = [
        (
            "field_write_amplification",
            "Write amplification in service",
            found.write_amplification().into(),
        ),
        ("field_source", "Drives in service", Value::from(of)),
        ("field", "Drives in service, by number", table.into()),
    ];
    let known = facts.into_iter().filter(|(_, _, value)| !matches!(value, Value::Missing(_)));
    known.for_each(|(key, label, value)| health.add("drives in service", key, label, "", value));
}

/// Returns the findings of the drive itself that affect every result of a run: a slow SATA link,
/// critical warnings, implausible values. A slow PCIe link is a host check, and not among them.
pub fn drive_findings(device: &SysfsDevice, pass_through: &dyn PassThrough) -> Vec<Finding> {
    findings(device, &QueryResults::query(device, pass_through))
}

fn findings(device: &SysfsDevice, results: &QueryResults) -> Vec<Finding> {
    let mut findings = Vec::new();
    let generations = results.ata.as_ref().ok().map(|ata| (ata.max_generation, ata.generation));
    findings.extend(generations.and_then(|(max, current)| slow_sata(gbit(max)?, gbit(current)?)));
    if let Ok(health) = &results.health {
        findings.extend(
            health
                .warnings()
                .into_iter()
                .map(|warning| health_warning(&format!("a critical warning: {warning}"))),
        );
    }
    if results.passes == Ok(false) {
        findings.push(health_warning(OVERALL_FAILED));
    }
    findings.extend(implausible_values(device, results).into_iter().map(|text| {
        Finding::new(
            FindingKind::Implausible,
            Severity::Warning,
            text,
            "do not use the values that this drive reports until its firmware is updated",
        )
    }));
    findings
}

/// What a drive reports whose overall health has failed.
pub(crate) const OVERALL_FAILED: &str = "that it is failing (SMART overall health: FAILED)";

/// Returns the finding for a drive that reports `what` about its health.
pub(crate) fn health_warning(what: &str) -> Finding {
    Finding::new(
        FindingKind::HealthWarning,
        Severity::Warning,
        format!("the drive reports {what}"),
        "back up its data, and check its health before using any result",
    )
}

/// The SATA speeds in gigabits per second, by generation.
const SATA_GBIT: [f64; 4] = [0.0, 1.5, 3.0, 6.0];

fn gbit(generation: Option<u8>) -> Option<f64> {
    SATA_GBIT.get(usize::from(generation?)).copied()
}

/// Returns the finding for a SATA link whose `max` and `current` speeds in Gb/s differ.
pub(crate) fn slow_sata(max: f64, current: f64) -> Option<Finding> {
    (current < max).then(|| {
        Finding::new(
            FindingKind::LinkBelowCapability,
            Severity::Warning,
            format!("the SATA link runs at {current} Gb/s, the drive supports {max} Gb/s"),
            "use a port of this SATA generation, and check the cable",
        )
    })
}

/// Returns the reported values that cannot be correct, one sentence each.
fn implausible_values(device: &SysfsDevice, results: &QueryResults) -> Vec<String> {
    let mut texts = Vec::new();
    if let Ok(health) = &results.health {
        texts.extend(health.implausible.iter().cloned());
    }
    texts.extend(host_bytes::host_bytes(results).impossible);
    texts.extend(paired::impossible_hours(results));
    let kernel_size = device_size(&device.folder);
    if let Ok(namespace) = &results.namespace {
        let Namespace { blocks, capacity_blocks, used_blocks, .. } = namespace;
        if capacity_blocks > blocks || used_blocks > capacity_blocks {
            texts.push(format!(
                "the drive reports a utilization of {used_blocks} blocks, a capacity of \
                 {capacity_blocks} and a size of {blocks}"
            ));
        }
        match (namespace.current_format(), kernel_size) {
            (None, _) => texts.push(format!(
                "the drive reports LBA format {} as in use, which is not in its list",
                namespace.format
            )),
            (Some(format), Some(size)) if blocks.checked_mul(format.block) != Some(size.0) => {
                texts.push(format!(
                    "the drive reports {} blocks of {}, the kernel {}",
                    count(*blocks),
                    Bytes(format.block).as_block(),
                    size.about_and_exact()
                ));
            }
            (Some(_), Some(_) | None) => {}
        }
    }
    if let Ok(Controller { warning_c: Some(warning), critical_c: Some(critical), .. }) =
        &results.controller
        && critical < warning
    {
        texts.push(format!(
            "the drive reports a critical temperature of {critical} °C, below its warning \
             temperature of {warning} °C"
        ));
    }
    texts
}
