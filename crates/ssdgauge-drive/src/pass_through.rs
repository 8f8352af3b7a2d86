//! Commands to the drive itself: NVMe admin commands and ATA commands through SCSI.
//!
//! A command says by its type whether it only asks. This module sends what it is given; what may
//! be given is decided where commands are made: `ask` for questions, `preparation` for what
//! changes a drive.

use crate::helper::HelperClient;
use ssdgauge_os::ioctl::{ScsiAnswer, ScsiDirection};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// How long a question may take.
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
    /// How long it may take.
    pub timeout: Duration,
}

/// An ATA command of 48 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtaCommand {
    /// The command.
    pub command: u8,
    /// The features field.
    pub feature: u16,
    /// The count field.
    pub count: u16,
    /// The LBA field.
    pub lba: u64,
    /// The direction of its data.
    pub direction: AtaDirection,
    /// Whether it is one of the commands of 48 bits.
    pub extended: bool,
    /// How long it may take.
    pub timeout: Duration,
}

/// Which way the data of an ATA command goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtaDirection {
    /// It has none.
    #[default]
    None,
    /// From the drive.
    In,
    /// To the drive.
    Out,
}

/// Why a drive did not do what it was told.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommandError {
    /// The drive refused; NVMe status field without the phase bit.
    #[error("the drive refuses: {words} (status {0:#x})", words = status_words(*.0))]
    Status(u16),
    /// The drive refused; sense key, code and qualifier of SCSI.
    #[error("the drive refuses (sense {0:02x} {1:02x} {2:02x})")]
    Sense(u8, u8, u8),
    /// The kernel did not pass the command on.
    #[error("{0}")]
    System(String),
    /// The kernel wants more rights.
    #[error("asking the drive itself needs root")]
    Rights,
    /// The drive is no longer there.
    #[error("the drive is gone")]
    Gone,
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> CommandError {
        match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => CommandError::Rights,
            Some(libc::ENODEV | libc::ENXIO) => CommandError::Gone,
            Some(libc::ENOTTY | libc::EINVAL) => {
                CommandError::System("its driver passes no such commands".into())
            }
            _ => CommandError::System(error.to_string()),
        }
    }
}

/// Status codes of the NVM Express Base Specification 2.0, figures 92 to 95.
fn status_words(status: u16) -> &'static str {
    match status & 0x7ff {
        0x001 => "it does not know the command",
        0x002 => "it does not take these values",
        0x006 => "internal error",
        0x007 => "the command was taken back",
        0x00b => "no such namespace",
        0x015 => "the operation is denied",
        0x01c => "the last sanitize failed",
        0x01d => "a sanitize is running",
        0x020 => "the namespace is write protected",
        0x084 => "a format is running",
        0x109 => "it has no such log",
        0x10a => "it has no such format",
        0x10d => "the feature cannot be kept",
        0x10e => "the feature cannot be changed",
        0x371 => "the path to the drive is lost",
        _ => "see the specification",
    }
}

/// Whatever takes commands for one drive.
pub trait PassThrough: Send + Sync {
    /// Sends an NVMe command with its data, and returns the first word of the answer.
    fn nvme(&self, command: &NvmeCommand, data: &mut [u8]) -> Result<u32, CommandError>;

    /// Sends an ATA command with its data.
    fn ata(&self, command: &AtaCommand, data: &mut [u8]) -> Result<(), CommandError>;
}

/// A drive that is open, and how commands reach it.
#[derive(Clone, Debug)]
pub struct OpenDevice {
    file: Arc<File>,
    helper: Option<HelperClient>,
}

impl OpenDevice {
    /// Returns the drive that is open as `file`; its commands need the privileges of this process.
    pub fn new(file: Arc<File>) -> OpenDevice {
        OpenDevice { file, helper: None }
    }

    /// Returns the drive that is open as `file`; its commands go through `helper` where there is
    /// one.
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
            // Bits 14 and 13 say "do not retry" and "more": the code is below.
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
        let cdb = pass_through(command);
        let limit = millis(command.timeout);
        let answer = match &self.helper {
            Some(helper) => helper.scsi(&cdb, direction, data, limit)?,
            None => ssdgauge_os::ioctl::scsi(&self.file, &cdb, direction, data, limit)?,
        };
        match answer {
            ScsiAnswer::Good => Ok(()),
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

/// Returns ATA PASS-THROUGH (16) of SAT-3, section 12.2.2.
fn pass_through(command: &AtaCommand) -> [u8; 16] {
    // Protocol, and how the length of the data is told: in blocks, by the sector count.
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
    fn commands_of_ata_are_wrapped_as_sat_says() {
        let identify = AtaCommand {
            command: 0xec,
            count: 1,
            direction: AtaDirection::In,
            ..AtaCommand::default()
        };
        let expected = [0x85, 8, 0x0e, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xec, 0];
        assert_eq!(pass_through(&identify), expected);
        let log = AtaCommand {
            command: 0x2f,
            count: 1,
            lba: 7 << 8 | 4,
            direction: AtaDirection::In,
            extended: true,
            ..AtaCommand::default()
        };
        let expected = [0x85, 9, 0x0e, 0, 0, 0, 1, 0, 4, 0, 7, 0, 0, 0, 0x2f, 0];
        assert_eq!(pass_through(&log), expected);
    }

    #[test]
    fn refusals_say_what_the_drive_said() {
        let text = CommandError::Status(0x4001).to_string();
        assert_eq!(text, "the drive refuses: it does not know the command (status 0x4001)");
        let gone = io::Error::from_raw_os_error(libc::ENODEV);
        assert_eq!(CommandError::from(gone), CommandError::Gone);
    }
}
