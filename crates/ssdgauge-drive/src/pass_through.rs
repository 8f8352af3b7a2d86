//! Pass-through of commands to a drive: NVMe admin commands, and ATA commands through SCSI.
//!
//! This module sends every command that it receives and never builds one. `query` builds the
//! commands that read; commands that change a drive are built only in the preparation and the
//! settings of the host crate, once the guard has admitted the drive.

use crate::helper::HelperClient;
use ssdgauge_os::ioctl::{ScsiAnswer, ScsiDirection};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// The time limit of a query command, far above the exit latency of every power state.
pub const QUERY_TIMEOUT: Duration = Duration::from_secs(10);

/// An NVMe admin command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NvmeCommand {
    /// The opcode (CDW0, bits 7:0).
    pub opcode: u8,
    /// The namespace (NSID).
    pub namespace: u32,
    /// Command words 10 to 15.
    pub words: [u32; 6],
    /// The time limit.
    pub timeout: Duration,
}

/// An ATA command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtaCommand {
    /// The command code.
    pub command: u8,
    /// The features field.
    pub feature: u16,
    /// The count field.
    pub count: u16,
    /// The LBA field.
    pub lba: u64,
    /// The direction of its data.
    pub direction: AtaDirection,
    /// Whether it is a 48-bit command.
    pub extended: bool,
    /// The time limit.
    pub timeout: Duration,
}

/// The direction of the data of an ATA command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtaDirection {
    /// No data.
    #[default]
    None,
    /// From the drive.
    In,
    /// To the drive.
    Out,
}

/// Failure of a command.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommandError {
    /// The drive rejected the command; NVMe status field without the phase bit.
    #[error("the drive rejects the command: {words} (status {0:#x})", words = status_words(*.0))]
    Status(u16),
    /// The drive rejected the command; SCSI sense key, code and qualifier.
    #[error("the drive rejects the command (sense {0:02x} {1:02x} {2:02x})")]
    Sense(u8, u8, u8),
    /// The kernel or the driver did not send the command, or the command was lost.
    #[error("{0}")]
    System(String),
    /// The process lacks the privileges for the command.
    #[error("commands to the drive need root")]
    Unprivileged,
    /// The drive is no longer there.
    #[error("the drive is gone")]
    Gone,
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> CommandError {
        match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => CommandError::Unprivileged,
            Some(libc::ENODEV | libc::ENXIO) => CommandError::Gone,
            Some(libc::ENOTTY | libc::EINVAL) => {
                CommandError::System("its driver does not pass such commands through".into())
            }
            _ => CommandError::System(error.to_string()),
        }
    }
}

/// Returns the meaning of an NVMe status: NVM Express Base Specification 2.0, figures 92 to 95.
fn status_words(status: u16) -> &'static str {
    match status & 0x7ff {
        0x001 => "invalid opcode",
        0x002 => "invalid field in command",
        0x006 => "internal error",
        0x007 => "command aborted",
        0x00b => "invalid namespace",
        0x015 => "operation denied",
        0x01c => "the last sanitize failed",
        0x01d => "a sanitize is in progress",
        0x020 => "the namespace is write protected",
        0x084 => "a format is in progress",
        0x109 => "invalid log page",
        0x10a => "invalid format",
        0x10d => "the feature cannot be saved",
        0x10e => "the feature cannot be changed",
        0x371 => "the path to the drive is lost",
        _ => "see the NVMe specification",
    }
}

/// A connection that sends commands to one drive.
pub trait PassThrough: Send + Sync {
    /// Sends an NVMe admin command and returns dword 0 of its completion. `data` is sent or filled,
    /// by the direction of the opcode.
    ///
    /// # Errors
    /// The drive rejected the command, the kernel did not send it, or the time limit passed.
    fn nvme(&self, command: &NvmeCommand, data: &mut [u8]) -> Result<u32, CommandError>;

    /// Sends an ATA command. `data` is sent or filled, by the direction of the command.
    ///
    /// # Errors
    /// The drive rejected the command, the kernel did not send it, or the time limit passed.
    fn ata(&self, command: &AtaCommand, data: &mut [u8]) -> Result<(), CommandError>;

    /// Sends an ATA command of 28 bits without data, and returns its LBA field as the drive sets it.
    ///
    /// # Errors
    /// As [`PassThrough::ata`]; the connection does not return the registers of commands.
    fn ata_registers(&self, _command: &AtaCommand) -> Result<u32, CommandError> {
        Err(no_registers())
    }
}

fn no_registers() -> CommandError {
    CommandError::System("its adapter does not return the registers of ATA commands".into())
}

/// An open drive, with the privileged helper process where this process has no privileges.
#[derive(Clone, Debug)]
pub struct OpenDevice {
    file: Arc<File>,
    helper: Option<HelperClient>,
}

impl OpenDevice {
    /// Returns the drive that is open as `file`. Commands are sent directly, with the privileges of
    /// this process.
    pub fn new(file: Arc<File>) -> OpenDevice {
        OpenDevice { file, helper: None }
    }

    /// Returns the drive that is open as `file`. Commands are sent through `helper`, or directly
    /// without one.
    pub fn through(file: Arc<File>, helper: Option<HelperClient>) -> OpenDevice {
        OpenDevice { file, helper }
    }
}

impl PassThrough for OpenDevice {
    fn nvme(&self, command: &NvmeCommand, data: &mut [u8]) -> Result<u32, CommandError> {
        let NvmeCommand { opcode, namespace, words, timeout } = *command;
        let limit = millis(timeout);
        let (status, result) = match &self.helper {
            Some(helper) => helper.nvme_admin(opcode, namespace, words, data, limit)?,
            None => {
                ssdgauge_os::ioctl::nvme_admin(&self.file, opcode, namespace, words, data, limit)?
            }
        };
        match status {
            0 => Ok(result),
            // Bits 14 (do not retry) and 13 (more) are not part of the status code.
            status if status & 0x7ff == 0x371 => Err(CommandError::Gone),
            status => Err(CommandError::Status(status)),
        }
    }

    fn ata(&self, command: &AtaCommand, data: &mut [u8]) -> Result<(), CommandError> {
        let direction = match command.direction {
            AtaDirection::None => ScsiDirection::None,
            AtaDirection::In => ScsiDirection::In,
            AtaDirection::Out => ScsiDirection::Out,
        };
        self.scsi(&ata_pass_through(command), direction, data, command.timeout).map(|_| ())
    }

    fn ata_registers(&self, command: &AtaCommand) -> Result<u32, CommandError> {
        let mut cdb = ata_pass_through(command);
        cdb[2] |= CHECK_CONDITION;
        let registers = self.scsi(&cdb, ScsiDirection::None, &mut [], command.timeout)?;
        registers.ok_or_else(no_registers)
    }
}

/// CK_COND of ATA PASS-THROUGH: the command ends with its registers in the sense data, also where it succeeded.
const CHECK_CONDITION: u8 = 1 << 5;

impl OpenDevice {
    /// Sends a SCSI command, and returns the registers of an ATA command that was to return them.
    fn scsi(
        &self,
        cdb: &[u8; 16],
        direction: ScsiDirection,
        data: &mut [u8],
        timeout: Duration,
    ) -> Result<Option<u32>, CommandError> {
        let limit = millis(timeout);
        let outcome = match &self.helper {
            Some(helper) => helper.scsi(cdb, direction, data, limit)?,
            None => ssdgauge_os::ioctl::scsi(&self.file, cdb, direction, data, limit)?,
        };
        match outcome {
            ScsiAnswer::Good => Ok(None),
            ScsiAnswer::Registers(lba) => Ok(Some(lba)),
            ScsiAnswer::Sense(key, code, qualifier) => {
                Err(CommandError::Sense(key, code, qualifier))
            }
            ScsiAnswer::Lost(status) => {
                Err(CommandError::System(format!("the command was lost (host status {status})")))
            }
        }
    }
}

fn millis(timeout: Duration) -> u32 {
    u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX)
}

/// Returns the command descriptor block of ATA PASS-THROUGH (16): SAT-3, section 12.2.2.
fn ata_pass_through(command: &AtaCommand) -> [u8; 16] {
    // Protocol (non-data, PIO in, PIO out), and transfer length in blocks by the count field.
    let (protocol, transfer) = match command.direction {
        AtaDirection::None => (3, 0),
        AtaDirection::In => (4, 1 << 3 | 1 << 2 | 2),
        AtaDirection::Out => (5, 1 << 2 | 2),
    };
    let lba = command.lba.to_le_bytes();
    let [feature, feature_high] = command.feature.to_le_bytes();
    let [count, count_high] = command.count.to_le_bytes();
    let mut cdb = [0u8; 16];
    cdb[0] = 0x85;
    cdb[1] = protocol << 1 | u8::from(command.extended);
    cdb[2] = transfer;
    (cdb[3], cdb[4]) = (feature_high, feature);
    (cdb[5], cdb[6]) = (count_high, count);
    (cdb[7], cdb[8]) = (lba[3], lba[0]);
    (cdb[9], cdb[10]) = (lba[4], lba[1]);
    (cdb[11], cdb[12]) = (lba[5], lba[2]);
    cdb[14] = command.command;
    cdb
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ata_commands_are_encoded_as_sat_pass_through() {
        let identify = AtaCommand {
            command: 0xec,
            count: 1,
            direction: AtaDirection::In,
            ..AtaCommand::default()
        };
        let expected = [0x85, 8, 0x0e, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xec, 0];
        assert_eq!(ata_pass_through(&identify), expected);
        let log = AtaCommand {
            command: 0x2f,
            count: 1,
            lba: 7 << 8 | 4,
            direction: AtaDirection::In,
            extended: true,
            ..AtaCommand::default()
        };
        let expected = [0x85, 9, 0x0e, 0, 0, 0, 1, 0, 4, 0, 7, 0, 0, 0, 0x2f, 0];
        assert_eq!(ata_pass_through(&log), expected);
    }

    #[test]
    fn a_rejected_command_is_reported_with_its_status() {
        let text = CommandError::Status(0x4001).to_string();
        assert_eq!(text, "the drive rejects the command: invalid opcode (status 0x4001)");
        let gone = io::Error::from_raw_os_error(libc::ENODEV);
        assert_eq!(CommandError::from(gone), CommandError::Gone);
    }
}
