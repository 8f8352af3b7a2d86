//! The log pages that the queries of a step read, as the drive returned them.

use crate::pass_through::{AtaCommand, CommandError, NvmeCommand, PassThrough};
use ssdgauge_core::{LogPage, Nanos, Sink};
use std::sync::{Mutex, PoisonError};

/// Get Log Page of NVMe.
const GET_LOG_PAGE: u8 = 0x02;
/// READ LOG EXT of ATA.
const READ_LOG: u8 = 0x2f;
/// SMART of ATA, and its subcommand READ DATA.
const SMART: (u8, u16) = (0xb0, 0xd0);

/// A connection to a drive that keeps every log page which is read through it.
pub(super) struct KeptPages<'a> {
    drive: &'a dyn PassThrough,
    pages: Mutex<Vec<(String, Vec<u8>)>>,
}

impl<'a> KeptPages<'a> {
    /// Returns a connection to `drive` that has kept no page yet.
    pub(super) fn new(drive: &'a dyn PassThrough) -> KeptPages<'a> {
        KeptPages { drive, pages: Mutex::default() }
    }

    /// Passes the pages on, which were read `at` this time of the step.
    pub(super) fn pass_on(self, at: Nanos, sink: &mut dyn Sink) {
        let pages = self.pages.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (page, content) in pages {
            sink.log_page(LogPage { at, page, content });
        }
    }

    fn keep(&self, page: String, content: &[u8]) {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.push((page, content.to_vec()));
    }
}

impl PassThrough for KeptPages<'_> {
    fn nvme(&self, command: &NvmeCommand, data: &mut [u8]) -> Result<u32, CommandError> {
        let result = self.drive.nvme(command, data)?;
        if command.opcode == GET_LOG_PAGE {
            let (page, part) = (command.words[0] & 0xff, command.words[1] >> 16);
            let part = if part > 0 { format!("-{part}") } else { String::new() };
            self.keep(format!("nvme-{page:02x}h{part}"), data);
        }
        Ok(result)
    }

    fn ata_registers(&self, command: &AtaCommand) -> Result<u32, CommandError> {
        self.drive.ata_registers(command)
    }

    fn ata(&self, command: &AtaCommand, data: &mut [u8]) -> Result<(), CommandError> {
        self.drive.ata(command, data)?;
        if command.command == READ_LOG {
            let (log, page) = (command.lba & 0xff, command.lba >> 8 & 0xffff);
            self.keep(format!("ata-log-{log:02x}h-{page:02x}h"), data);
        } else if (command.command, command.feature) == SMART {
            self.keep("ata-smart".into(), data);
        }
        Ok(())
    }
}
