//! The questions that a drive is asked. None of them changes anything; what starts and stops a
//! measurement of its power stands beside its question.

use crate::ata::{self, SECTOR};
use crate::controller::{Controller, IDENTIFY_LENGTH, Namespace, namespace_list};
use crate::health::{Health, SMART_LENGTH};
use crate::pass_through::{
    AtaCommand, AtaDirection, CommandError, NvmeCommand, PassThrough, QUERY_TIMEOUT,
};
use crate::power_log::{self, PowerLog};
use crate::state::{PROTOCOL_TCG, SanitizeLog, Security, security_protocols};

/// Every namespace, in commands about the whole drive.
const ALL: u32 = u32::MAX;

/// What a feature is asked for: its value now.
pub mod feature {
    /// Power management.
    pub const POWER_STATE: u8 = 0x02;
    /// The volatile write cache.
    pub const WRITE_CACHE: u8 = 0x06;
    /// Autonomous power state transitions.
    pub(crate) const TRANSITIONS: u8 = 0x0c;
    /// The host memory buffer.
    pub(crate) const HOST_MEMORY: u8 = 0x0d;
    /// Host controlled thermal management.
    pub(crate) const THERMAL: u8 = 0x10;
    /// The measurement of power over a time.
    pub(crate) const POWER_MEASUREMENT: u8 = 0x25;
}

/// The log of that measurement.
const POWER_LOG: u8 = 0x25;
/// The bytes of the list of supported logs.
const SUPPORTED_LENGTH: usize = 1_024;

fn unreadable(what: &str) -> CommandError {
    CommandError::System(format!("what the drive answers is no {what}"))
}

fn identify(
    pass_through: &dyn PassThrough,
    kind: u8,
    namespace: u32,
) -> Result<Vec<u8>, CommandError> {
    let mut data = vec![0; IDENTIFY_LENGTH];
    let words = [u32::from(kind), 0, 0, 0, 0, 0];
    pass_through
        .nvme(&NvmeCommand { opcode: 0x06, namespace, words, timeout: QUERY_TIMEOUT }, &mut data)?;
    Ok(data)
}

/// Asks the controller what it is.
pub fn controller(pass_through: &dyn PassThrough) -> Result<Controller, CommandError> {
    Controller::decode(&identify(pass_through, 1, 0)?).ok_or_else(|| unreadable("controller"))
}

/// Asks namespace `number` what it is.
pub fn namespace(pass_through: &dyn PassThrough, number: u32) -> Result<Namespace, CommandError> {
    Namespace::decode(&identify(pass_through, 0, number)?).ok_or_else(|| unreadable("namespace"))
}

/// Asks which namespaces the controller has in use.
pub fn active_namespaces(pass_through: &dyn PassThrough) -> Result<Vec<u32>, CommandError> {
    identify(pass_through, 2, 0).map(|data| namespace_list(&data))
}

/// Asks which namespaces exist on the drive, whoever uses them.
pub fn allocated_namespaces(pass_through: &dyn PassThrough) -> Result<Vec<u32>, CommandError> {
    identify(pass_through, 0x10, 0).map(|data| namespace_list(&data))
}

/// Reads `length` bytes of log `log`.
pub fn log(
    pass_through: &dyn PassThrough,
    log: u8,
    length: usize,
) -> Result<Vec<u8>, CommandError> {
    let mut data = vec![0; length];
    // The length is told in words of four bytes, less one, in two parts.
    let dwords = (length / 4 - 1) as u32;
    let words = [u32::from(log) | (dwords & 0xffff) << 16, dwords >> 16, 0, 0, 0, 0];
    let command = NvmeCommand { opcode: 0x02, namespace: ALL, words, timeout: QUERY_TIMEOUT };
    pass_through.nvme(&command, &mut data)?;
    Ok(data)
}

/// Asks for the health of an NVMe drive.
pub fn health(pass_through: &dyn PassThrough) -> Result<Health, CommandError> {
    let data = log(pass_through, 0x02, SMART_LENGTH)?;
    Health::decode(&data).ok_or_else(|| unreadable("health log"))
}

/// Asks for the power that the drive has measured of itself. A drive that does not list the log is
/// not asked for it: every refusal would stand in its error log.
pub fn power_log(pass_through: &dyn PassThrough) -> Result<PowerLog, CommandError> {
    let has_list = controller(pass_through)?.lists_its_logs;
    if !has_list || !power_log::is_supported(&log(pass_through, 0, SUPPORTED_LENGTH)?, POWER_LOG) {
        return Err(CommandError::System(
            "the drive does not measure its power over a time".into(),
        ));
    }
    let head = log(pass_through, POWER_LOG, power_log::HEAD_LENGTH)?;
    let length = power_log::length(&head).ok_or_else(|| unreadable("power log"))?;
    PowerLog::decode(&log(pass_through, POWER_LOG, length)?).ok_or_else(|| unreadable("power log"))
}

/// Starts or stops the measurement of that power. It changes nothing else of the drive, and is
/// forgotten with the next reset.
pub fn measure_power(pass_through: &dyn PassThrough, start: bool) -> Result<(), CommandError> {
    let id = u32::from(feature::POWER_MEASUREMENT);
    let words = [id, power_log::measurement(start), 0, 0, 0, 0];
    let command = NvmeCommand { opcode: 0x09, namespace: 0, words, timeout: QUERY_TIMEOUT };
    pass_through.nvme(&command, &mut []).map(|_| ())
}

/// Asks what became of the last sanitize operation.
pub fn sanitize_log(pass_through: &dyn PassThrough) -> Result<SanitizeLog, CommandError> {
    SanitizeLog::decode(&log(pass_through, 0x81, 32)?).ok_or_else(|| unreadable("sanitize status"))
}

/// Asks for the value of a feature; `data` takes its table, where it has one.
pub fn value_of(
    pass_through: &dyn PassThrough,
    id: u8,
    data: &mut [u8],
) -> Result<u32, CommandError> {
    let words = [u32::from(id), 0, 0, 0, 0, 0];
    pass_through
        .nvme(&NvmeCommand { opcode: 0x0a, namespace: 0, words, timeout: QUERY_TIMEOUT }, data)
}

/// Which way security questions go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Nvme,
    Ata,
}

fn security_receive(
    pass_through: &dyn PassThrough,
    family: Family,
    protocol: u8,
    specific: u16,
) -> Result<Vec<u8>, CommandError> {
    let mut data = vec![0; SECTOR];
    match family {
        Family::Nvme => {
            let first = u32::from(protocol) << 24 | u32::from(specific) << 8;
            let words = [first, SECTOR as u32, 0, 0, 0, 0];
            let command = NvmeCommand { opcode: 0x82, namespace: 0, words, timeout: QUERY_TIMEOUT };
            pass_through.nvme(&command, &mut data)?;
        }
        Family::Ata => {
            let command = AtaCommand {
                command: 0x5c,
                feature: protocol.into(),
                count: 1,
                lba: u64::from(specific) << 8,
                direction: AtaDirection::In,
                extended: false,
                timeout: QUERY_TIMEOUT,
            };
            pass_through.ata(&command, &mut data)?;
        }
    }
    Ok(data)
}

/// Asks which security protocols the drive speaks.
pub(crate) fn protocols(
    pass_through: &dyn PassThrough,
    family: Family,
) -> Result<Vec<u8>, CommandError> {
    let data = security_receive(pass_through, family, 0, 0)?;
    security_protocols(&data).ok_or_else(|| unreadable("list of protocols"))
}

/// Asks for Level 0 Discovery.
pub(crate) fn discovery(
    pass_through: &dyn PassThrough,
    family: Family,
) -> Result<Security, CommandError> {
    let data = security_receive(pass_through, family, PROTOCOL_TCG, 1)?;
    Security::decode(&data).ok_or_else(|| unreadable("discovery"))
}

fn ata_read(pass_through: &dyn PassThrough, command: AtaCommand) -> Result<Vec<u8>, CommandError> {
    let mut data = vec![0; SECTOR];
    let direction = AtaDirection::In;
    pass_through
        .ata(&AtaCommand { count: 1, direction, timeout: QUERY_TIMEOUT, ..command }, &mut data)?;
    Ok(data)
}

/// Asks an ATA drive what it is.
pub fn ata_identity(pass_through: &dyn PassThrough) -> Result<ata::Identity, CommandError> {
    let data = ata_read(pass_through, AtaCommand { command: 0xec, ..AtaCommand::default() })?;
    ata::Identity::decode(&data).ok_or_else(|| unreadable("ATA identity"))
}

/// Asks an ATA drive for its SMART attributes.
pub(crate) fn ata_attributes(
    pass_through: &dyn PassThrough,
) -> Result<Vec<ata::Attribute>, CommandError> {
    // The signature of SMART stands in the middle and high byte of the address.
    let command = AtaCommand { command: 0xb0, feature: 0xd0, lba: 0xc2_4f00, ..Default::default() };
    let data = ata_read(pass_through, command)?;
    ata::attributes(&data).ok_or_else(|| unreadable("SMART data"))
}

/// Asks an ATA drive for its device statistics; pages that it does not have stay empty.
pub(crate) fn ata_statistics(
    pass_through: &dyn PassThrough,
) -> Result<ata::Statistics, CommandError> {
    let mut statistics = ata::Statistics::default();
    let mut refusal = None;
    for page in ata::STATISTICS_PAGES {
        let command = AtaCommand {
            command: 0x2f,
            lba: u64::from(page) << 8 | 0x04,
            extended: true,
            ..AtaCommand::default()
        };
        match ata_read(pass_through, command) {
            Ok(data) => statistics.add(page, &data),
            Err(error) => refusal = Some(error),
        }
    }
    match (refusal, statistics == ata::Statistics::default()) {
        (Some(refusal), true) => Err(refusal),
        (Some(_) | None, _) => Ok(statistics),
    }
}
