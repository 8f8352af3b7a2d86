//! The card of a real drive: every answer in its section, every silence with its reason.
//!
//! It must never turn a silence into a number, and it opens the drive for reading only.

mod condition;
mod identity;
mod source;
#[cfg(test)]
mod tests;

use crate::ata;
use crate::controller::{Controller, Namespace};
use crate::health::Health;
use crate::pass_through::{AtaCommand, CommandError, NvmeCommand, OpenDevice, PassThrough};
use crate::power_log::PowerLog;
use crate::query::{self, Family, feature};
use crate::state::{self, SanitizeLog, Security, Transition};
use crate::sysfs_device::SysfsDevice;
use ssdgauge_core::{Bytes, DriveCard, Finding, FindingKind, Severity, Value};
use ssdgauge_os::sysfs::device_size;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Why there is no card of a drive.
#[derive(Debug, Error)]
pub enum CardError {
    /// There is no such device.
    #[error("{path}: {cause}")]
    System {
        /// The name.
        path: PathBuf,
        /// What the system answered.
        cause: io::Error,
    },
    /// It is something else.
    #[error("{0} is no block device")]
    NoDrive(PathBuf),
}

/// Returns the card of the block device at `path`. The drive is opened for reading only, and is
/// asked nothing that changes it; without the rights to ask, the card holds what the kernel knows.
pub fn card(path: &Path) -> Result<DriveCard, CardError> {
    let (place, answers) = look(path)?;
    Ok(assemble(&path.display().to_string(), &place, &answers))
}

fn look(path: &Path) -> Result<(SysfsDevice, Answers), CardError> {
    let system = |cause| CardError::System { path: path.to_owned(), cause };
    let metadata = std::fs::metadata(path).map_err(system)?;
    if !metadata.file_type().is_block_device() {
        return Err(CardError::NoDrive(path.to_owned()));
    }
    let number = metadata.rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let place = SysfsDevice::of_number(Path::new("/sys"), major, minor)
        .ok_or_else(|| CardError::NoDrive(path.to_owned()))?;
    // O_NONBLOCK: a drive without a medium answers at once.
    let file =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path);
    let answers = match file {
        Ok(file) => Answers::of(&place, &OpenDevice::new(Arc::new(file))),
        Err(error) => Answers::refused(&place, &CommandError::from(error).to_string()),
    };
    Ok((place, answers))
}

/// Why a drive of the other kind does not answer: such questions have no place on its card.
const NO_ATA: &str = "this is no ATA drive";
const NO_NVME: &str = "this is no NVMe drive";

/// What a drive answered, or why it did not.
type Answer<T> = Result<T, String>;

/// Everything that a drive was asked.
#[derive(Debug)]
pub(super) struct Answers {
    controller: Answer<Controller>,
    namespace: Answer<Namespace>,
    active: Answer<Vec<u32>>,
    health: Answer<Health>,
    sanitize: Answer<SanitizeLog>,
    power_state: Answer<u32>,
    write_cache: Answer<u32>,
    transitions: Answer<(bool, Vec<Transition>)>,
    host_memory: Answer<u32>,
    thermal: Answer<u32>,
    power_log: Answer<PowerLog>,
    ata: Answer<ata::Identity>,
    attributes: Answer<Vec<ata::Attribute>>,
    statistics: Answer<ata::Statistics>,
    protocols: Answer<Vec<u8>>,
    security: Answer<Security>,
}

impl Answers {
    /// Returns silence about everything.
    fn silent(reason: &str) -> Answers {
        let reason = || reason.to_owned();
        Answers {
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
            attributes: Err(reason()),
            statistics: Err(reason()),
            protocols: Err(reason()),
            security: Err(reason()),
        }
    }

    /// Returns silence of a drive that could not be asked, for this reason.
    fn refused(place: &SysfsDevice, reason: &str) -> Answers {
        struct Closed(String);
        impl PassThrough for Closed {
            fn nvme(&self, _: &NvmeCommand, _: &mut [u8]) -> Result<u32, CommandError> {
                Err(CommandError::System(self.0.clone()))
            }
            fn ata(&self, _: &AtaCommand, _: &mut [u8]) -> Result<(), CommandError> {
                Err(CommandError::System(self.0.clone()))
            }
        }
        Answers::of(place, &Closed(reason.to_owned()))
    }

    /// Asks the drive at `place` everything that its kind can answer.
    pub(super) fn of(place: &SysfsDevice, pass_through: &dyn PassThrough) -> Answers {
        match (place.namespace(), place.is_scsi()) {
            (Some(number), _) => Answers::of_nvme(number, pass_through),
            (None, true) => Answers::of_ata(pass_through),
            (None, false) => Answers { ata: Err(NO_ATA.into()), ..Answers::silent(NO_NVME) },
        }
    }

    fn of_nvme(number: u32, pass_through: &dyn PassThrough) -> Answers {
        let controller = told(query::controller(pass_through));
        let has = |ability: fn(&Controller) -> bool, what: &str| match &controller {
            Ok(controller) if ability(controller) => Ok(()),
            Ok(_) => Err(format!("the drive has no {what}")),
            Err(reason) => Err(reason.clone()),
        };
        let value = |id| told(query::value_of(pass_through, id, &mut []));
        let mut table = [0; 256];
        let security = has(Controller::has_security, "security commands");
        Answers {
            namespace: told(query::namespace(pass_through, number)),
            active: told(query::active_namespaces(pass_through)),
            health: told(query::health(pass_through)),
            sanitize: has(|controller| controller.sanitize != Default::default(), "sanitize")
                .and_then(|()| told(query::sanitize_log(pass_through))),
            power_state: value(feature::POWER_STATE),
            write_cache: has(|controller| controller.has_volatile_cache, "volatile write cache")
                .and_then(|()| value(feature::WRITE_CACHE)),
            transitions: has(
                |controller| controller.has_autonomous_transitions,
                "such transitions",
            )
            .and_then(|()| told(query::value_of(pass_through, feature::TRANSITIONS, &mut table)))
            .map(|on| (on & 1 == 1, state::transitions(&table))),
            host_memory: has(|controller| controller.host_memory.is_some(), "wish for host memory")
                .and_then(|()| value(feature::HOST_MEMORY)),
            thermal: has(|controller| controller.host_thermal_management, "such management")
                .and_then(|()| value(feature::THERMAL)),
            power_log: told(query::power_log(pass_through)),
            protocols: security
                .clone()
                .and_then(|()| told(query::protocols(pass_through, Family::Nvme))),
            security: security.and_then(|()| told(query::discovery(pass_through, Family::Nvme))),
            controller,
            ..Answers::silent(NO_ATA)
        }
    }

    fn of_ata(pass_through: &dyn PassThrough) -> Answers {
        let ata = told(query::ata_identity(pass_through));
        let has = |ability: fn(&ata::Identity) -> bool, what: &str| match &ata {
            Ok(identity) if ability(identity) => Ok(()),
            Ok(_) => Err(format!("the drive has no {what}")),
            Err(reason) => Err(reason.clone()),
        };
        let security = has(|identity| identity.has_trusted, "trusted commands");
        let smart = has(|identity| identity.has_smart, "SMART");
        Answers {
            attributes: smart.clone().and_then(|()| told(query::ata_attributes(pass_through))),
            statistics: smart.and_then(|()| told(query::ata_statistics(pass_through))),
            protocols: security
                .clone()
                .and_then(|()| told(query::protocols(pass_through, Family::Ata))),
            security: security.and_then(|()| told(query::discovery(pass_through, Family::Ata))),
            ata,
            ..Answers::silent(NO_NVME)
        }
    }
}

fn told<T>(answer: Result<T, CommandError>) -> Answer<T> {
    answer.map_err(|reason| reason.to_string())
}

/// Puts the card together.
pub(super) fn assemble(target: &str, place: &SysfsDevice, answers: &Answers) -> DriveCard {
    let mut card = DriveCard {
        target: target.into(),
        sections: vec![
            identity::identity(place, answers),
            identity::link(place, answers),
            identity::blocks(place, answers),
            identity::erasing(place, answers),
            condition::power(answers),
            condition::measured_power(answers),
            condition::thermal(place, answers),
            condition::health(answers),
            identity::security(answers),
            identity::queue(place),
        ],
        findings: Vec::new(),
    };
    let has_place = |value: &Value| match value {
        Value::Missing(reason) => reason != NO_ATA && reason != NO_NVME,
        Value::Text(_) | Value::Count(_) | Value::Real(_) | Value::Flag(_) | Value::Table(_) => {
            true
        }
    };
    card.sections
        .iter_mut()
        .for_each(|section| section.facts.retain(|fact| has_place(&fact.value)));
    card.sections.retain(|section| !section.facts.is_empty());
    card.findings.extend(place.link().and_then(|link| link.finding()));
    card.findings.extend(findings(place, answers));
    card
}

/// Returns what bears on every number of a run on the drive at `place`, as far as it is asked.
/// A PCIe link below its capability is not among it: that is a condition of the host.
pub fn doubts(place: &SysfsDevice, pass_through: &dyn PassThrough) -> Vec<Finding> {
    findings(place, &Answers::of(place, pass_through))
}

fn findings(place: &SysfsDevice, answers: &Answers) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(answers.ata.as_ref().ok().and_then(slow_sata));
    if let Ok(health) = &answers.health {
        findings.extend(health.warnings().into_iter().map(|warning| {
            Finding::new(
                FindingKind::HealthWarning,
                Severity::Warning,
                format!("the drive warns: {warning}"),
                "save its data and look at its health before you trust any number",
            )
        }));
    }
    findings.extend(lies(place, answers).into_iter().map(|lie| {
        Finding::new(
            FindingKind::Implausible,
            Severity::Warning,
            lie,
            "believe nothing that this drive says of itself before its firmware is mended",
        )
    }));
    findings
}

/// Speeds of SATA in gigabits a second, by generation.
const SATA_GBIT: [f64; 4] = [0.0, 1.5, 3.0, 6.0];

fn slow_sata(identity: &ata::Identity) -> Option<Finding> {
    let speed = |generation: u8| SATA_GBIT.get(usize::from(generation)).copied();
    let (most, now) = (speed(identity.most_generation?)?, speed(identity.generation?)?);
    (now < most).then(|| {
        Finding::new(
            FindingKind::LinkBelowCapability,
            Severity::Warning,
            format!("the SATA link runs at {now} Gb/s, the drive can {most} Gb/s"),
            "use a port of the right generation, and look at the cable",
        )
    })
}

/// Returns what the drive says of itself and what cannot be true.
fn lies(place: &SysfsDevice, answers: &Answers) -> Vec<String> {
    let mut lies = Vec::new();
    if let Ok(health) = &answers.health {
        lies.extend(health.doubts.iter().cloned());
    }
    let kernel = device_size(&place.folder);
    if let Ok(namespace) = &answers.namespace {
        let Namespace { blocks, capacity_blocks, used_blocks, .. } = namespace;
        if capacity_blocks > blocks || used_blocks > capacity_blocks {
            lies.push(format!(
                "the drive says that {used_blocks} of {capacity_blocks} usable of {blocks} blocks \
                 are in use"
            ));
        }
        match (namespace.current_format(), kernel) {
            (None, _) => lies.push(format!(
                "the drive says that it is formatted with format {}, which it does not have",
                namespace.format
            )),
            (Some(format), Some(size)) if blocks.checked_mul(format.block) != Some(size.0) => {
                lies.push(format!(
                    "the drive says {blocks} blocks of {}, the kernel {size}",
                    Bytes(format.block)
                ));
            }
            (Some(_), Some(_) | None) => {}
        }
    }
    if let Ok(Controller { warning_c: Some(warning), critical_c: Some(critical), .. }) =
        &answers.controller
        && critical < warning
    {
        lies.push(format!("the drive calls {critical} °C critical and {warning} °C a warning"));
    }
    lies
}
