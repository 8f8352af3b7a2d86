//! Query commands: identify, log pages, features, security protocols, ATA data.
//!
//! None of them changes the data or a lasting setting of a drive. [`measure_power`] sets one
//! feature, which starts or stops a measurement and is cleared by the next reset.
//!
//! # Errors
//! Every function fails where the drive rejects the command, the kernel does not send it, or the
//! data that the drive returns is malformed.

use crate::ata::{self, SECTOR};
use crate::controller::{Controller, IDENTIFY_LENGTH, Namespace, namespace_list};
use crate::health::{Health, SMART_LENGTH};
use crate::pass_through::{
    AtaCommand, AtaDirection, CommandError, NvmeCommand, PassThrough, QUERY_TIMEOUT,
};
use crate::power_log::{self, PowerLog};
use crate::state::{PROTOCOL_TCG, SanitizeLog, Security, security_protocols};

/// The namespace identifier of commands to the whole drive.
const ALL_NAMESPACES: u32 = u32::MAX;

/// Feature identifiers of Get Features and Set Features.
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

/// The LBA field that SMART commands require: 4Fh, C2h.
const SMART_SIGNATURE: u64 = 0xc2_4f00;
/// The LBA field of a drive that has detected that a threshold is exceeded: F4h, 2Ch.
const SMART_EXCEEDED: u64 = 0x2c_f400;
/// The identifier of the power measurement log.
const POWER_LOG: u8 = 0x25;
/// The length of the list of supported log pages in bytes.
const SUPPORTED_LENGTH: usize = 1_024;

pub(crate) fn malformed(what: &str) -> CommandError {
    CommandError::System(format!("the {what} that the drive returned is malformed"))
}

fn identify(
    pass_through: &dyn PassThrough,
    structure: u8,
    namespace: u32,
) -> Result<Vec<u8>, CommandError> {
    let mut data = vec![0; IDENTIFY_LENGTH];
    let words = [u32::from(structure), 0, 0, 0, 0, 0];
    pass_through
        .nvme(&NvmeCommand { opcode: 0x06, namespace, words, timeout: QUERY_TIMEOUT }, &mut data)?;
    Ok(data)
}

/// Returns the Identify Controller data.
///
/// # Errors
/// See the [module](self).
pub fn controller(pass_through: &dyn PassThrough) -> Result<Controller, CommandError> {
    Controller::decode(&identify(pass_through, 1, 0)?).ok_or_else(|| malformed("controller data"))
}

/// Returns the Identify Namespace data of namespace `number`.
///
/// # Errors
/// See the [module](self).
pub fn namespace(pass_through: &dyn PassThrough, number: u32) -> Result<Namespace, CommandError> {
    Namespace::decode(&identify(pass_through, 0, number)?)
        .ok_or_else(|| malformed("namespace data"))
}

/// Returns the namespaces that are attached to the controller.
///
/// # Errors
/// See the [module](self).
pub fn active_namespaces(pass_through: &dyn PassThrough) -> Result<Vec<u32>, CommandError> {
    identify(pass_through, 2, 0).map(|data| namespace_list(&data))
}

/// Returns the namespaces that exist on the drive, attached or not.
///
/// # Errors
/// See the [module](self).
pub fn allocated_namespaces(pass_through: &dyn PassThrough) -> Result<Vec<u32>, CommandError> {
    identify(pass_through, 0x10, 0).map(|data| namespace_list(&data))
}

/// Returns the first `length` bytes of log page `log`.
///
/// # Errors
/// See the [module](self).
pub fn log(
    pass_through: &dyn PassThrough,
    log: u8,
    length: usize,
) -> Result<Vec<u8>, CommandError> {
    log_of(pass_through, log, length, 0)
}

/// Returns the first `length` bytes of log page `log` of the part `specific` of the drive, such as an
/// endurance group (log specific identifier, command word 11, bits 31:16).
pub(crate) fn log_of(
    pass_through: &dyn PassThrough,
    log: u8,
    length: usize,
    specific: u16,
) -> Result<Vec<u8>, CommandError> {
    assert!(length >= 4 && length.is_multiple_of(4), "a log page is read in whole dwords");
    let mut data = vec![0; length];
    // The length is a count of dwords, less one, in two fields (NUMDL, NUMDU).
    let dwords = (length / 4 - 1) as u32;
    let part = u32::from(specific) << 16;
    let words = [u32::from(log) | (dwords & 0xffff) << 16, dwords >> 16 | part, 0, 0, 0, 0];
    let command =
        NvmeCommand { opcode: 0x02, namespace: ALL_NAMESPACES, words, timeout: QUERY_TIMEOUT };
    pass_through.nvme(&command, &mut data)?;
    Ok(data)
}

/// Returns the SMART / Health Information log.
///
/// # Errors
/// See the [module](self).
pub fn health(pass_through: &dyn PassThrough) -> Result<Health, CommandError> {
    let data = log(pass_through, 0x02, SMART_LENGTH)?;
    Health::decode(&data).ok_or_else(|| malformed("health log"))
}

/// Returns the list of supported log pages, which only a drive with [`Controller::has_log_list`] has.
pub(crate) fn supported_logs(pass_through: &dyn PassThrough) -> Result<Vec<u8>, CommandError> {
    log(pass_through, 0, SUPPORTED_LENGTH)
}

/// Returns the power measurement log. It is read only where the list of supported log pages
/// contains it, because the drive stores every rejected command in its error log.
///
/// # Errors
/// The drive does not support the log; otherwise see the [module](self).
pub fn power_log(pass_through: &dyn PassThrough) -> Result<PowerLog, CommandError> {
    let has_list = controller(pass_through)?.has_log_list;
    if !has_list || !power_log::is_supported(&supported_logs(pass_through)?, POWER_LOG) {
        return Err(CommandError::System("the drive has no power measurement log".into()));
    }
    let header = log(pass_through, POWER_LOG, power_log::HEADER_LENGTH)?;
    let length = power_log::length(&header).ok_or_else(|| malformed("power log"))?;
    PowerLog::decode(&log(pass_through, POWER_LOG, length)?).ok_or_else(|| malformed("power log"))
}

/// Starts or stops the power measurement (Set Features 25h, not saved). The next reset clears it.
///
/// # Errors
/// See the [module](self).
pub fn measure_power(pass_through: &dyn PassThrough, start: bool) -> Result<(), CommandError> {
    let id = u32::from(feature::POWER_MEASUREMENT);
    let words = [id, power_log::measurement_value(start), 0, 0, 0, 0];
    let command = NvmeCommand { opcode: 0x09, namespace: 0, words, timeout: QUERY_TIMEOUT };
    pass_through.nvme(&command, &mut []).map(|_| ())
}

/// Returns the Sanitize Status log.
///
/// # Errors
/// See the [module](self).
pub fn sanitize_log(pass_through: &dyn PassThrough) -> Result<SanitizeLog, CommandError> {
    SanitizeLog::decode(&log(pass_through, 0x81, 32)?).ok_or_else(|| malformed("sanitize status"))
}

/// Returns the current value of feature `id`; `data` is filled with its data structure, where it
/// has one.
///
/// # Errors
/// See the [module](self).
pub fn feature_value(
    pass_through: &dyn PassThrough,
    id: u8,
    data: &mut [u8],
) -> Result<u32, CommandError> {
    let words = [u32::from(id), 0, 0, 0, 0, 0];
    pass_through
        .nvme(&NvmeCommand { opcode: 0x0a, namespace: 0, words, timeout: QUERY_TIMEOUT }, data)
}

/// The command set of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandSet {
    Nvme,
    Ata,
}

fn security_receive(
    pass_through: &dyn PassThrough,
    command_set: CommandSet,
    protocol: u8,
    specific: u16,
) -> Result<Vec<u8>, CommandError> {
    let mut data = vec![0; SECTOR];
    match command_set {
        CommandSet::Nvme => {
            let first = u32::from(protocol) << 24 | u32::from(specific) << 8;
            let words = [first, SECTOR as u32, 0, 0, 0, 0];
            let command = NvmeCommand { opcode: 0x82, namespace: 0, words, timeout: QUERY_TIMEOUT };
            pass_through.nvme(&command, &mut data)?;
        }
        CommandSet::Ata => {
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

/// Returns the security protocols that the drive supports.
pub(crate) fn protocols(
    pass_through: &dyn PassThrough,
    command_set: CommandSet,
) -> Result<Vec<u8>, CommandError> {
    let data = security_receive(pass_through, command_set, 0, 0)?;
    security_protocols(&data).ok_or_else(|| malformed("list of security protocols"))
}

/// Returns the data of TCG Level 0 Discovery.
pub(crate) fn discovery(
    pass_through: &dyn PassThrough,
    command_set: CommandSet,
) -> Result<Security, CommandError> {
    let data = security_receive(pass_through, command_set, PROTOCOL_TCG, 1)?;
    Security::decode(&data).ok_or_else(|| malformed("level 0 discovery"))
}

fn ata_read(pass_through: &dyn PassThrough, command: AtaCommand) -> Result<Vec<u8>, CommandError> {
    let mut data = vec![0; SECTOR];
    let direction = AtaDirection::In;
    pass_through
        .ata(&AtaCommand { count: 1, direction, timeout: QUERY_TIMEOUT, ..command }, &mut data)?;
    Ok(data)
}

/// Returns the IDENTIFY DEVICE data of an ATA drive.
///
/// # Errors
/// See the [module](self).
pub fn ata_identity(pass_through: &dyn PassThrough) -> Result<ata::Identity, CommandError> {
    let data = ata_read(pass_through, AtaCommand { command: 0xec, ..AtaCommand::default() })?;
    ata::Identity::decode(&data).ok_or_else(|| malformed("ATA identify data"))
}

/// Returns the SMART attributes of an ATA drive.
pub(crate) fn ata_attributes(
    pass_through: &dyn PassThrough,
) -> Result<Vec<ata::SmartAttribute>, CommandError> {
    // SMART READ DATA.
    let lba = SMART_SIGNATURE;
    let command = AtaCommand { command: 0xb0, feature: 0xd0, lba, ..Default::default() };
    let data = ata_read(pass_through, command)?;
    ata::smart_attributes(&data).ok_or_else(|| malformed("SMART data"))
}

/// Returns whether the SMART status of an ATA drive has passed: no attribute that predicts a failure exceeds its
/// threshold (SMART RETURN STATUS; ACS-3, 7.48.8).
///
/// # Errors
/// See the [module](self); the drive returned neither signature.
pub(crate) fn ata_smart_passes(pass_through: &dyn PassThrough) -> Result<bool, CommandError> {
    let command = AtaCommand {
        command: 0xb0,
        feature: 0xda,
        lba: SMART_SIGNATURE,
        timeout: QUERY_TIMEOUT,
        ..AtaCommand::default()
    };
    // The lowest byte is not defined.
    match u64::from(pass_through.ata_registers(&command)? & 0xff_ff00) {
        SMART_SIGNATURE => Ok(true),
        SMART_EXCEEDED => Ok(false),
        _ => Err(malformed("SMART status")),
    }
}

/// Returns the device statistics of an ATA drive. The fields of unsupported pages are `None`; it is
/// an error where no page can be read.
pub(crate) fn ata_statistics(
    pass_through: &dyn PassThrough,
) -> Result<ata::DeviceStatistics, CommandError> {
    let mut statistics = ata::DeviceStatistics::default();
    let mut rejection = None;
    for page in ata::STATISTICS_PAGES {
        let command = AtaCommand {
            command: 0x2f,
            lba: u64::from(page) << 8 | 0x04,
            extended: true,
            ..AtaCommand::default()
        };
        match ata_read(pass_through, command) {
            Ok(data) => statistics.add_page(page, &data),
            Err(error) => rejection = Some(error),
        }
    }
    match (rejection, statistics == ata::DeviceStatistics::default()) {
        (Some(rejection), true) => Err(rejection),
        (Some(_) | None, _) => Ok(statistics),
    }
}
