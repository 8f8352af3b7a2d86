//! Log pages of NVMe drives that count the bytes written to the media.
//!
//! Layouts: the Statistics log 22h of Flexible Data Placement (TP4146, now NVM Express Base Specification
//! 2.1; `fdp` of nvme-cli 2.3), the extended SMART log of the OCP Datacenter NVMe SSD Specification 2.0
//! (`ocp` of nvme-cli), the SMART cloud log of boot drives (`wdc` of nvme-cli, extended SMART log),
//! Micron's extended SMART log D0h (`micron` of nvme-cli), the NAND statistics FBh of WD (`wdc`), extended SMART attributes C4h of Seagate (`seagate`), and the additional SMART log of Intel, Solidigm
//! and Memblaze (`intel`, `solidigm` and `memblaze` of nvme-cli). A log is queried only where the drive lists it, or
//! where it has no list and its maker and kind have such a log, because a drive stores each rejected
//! command in its error log. Every byte is checked.

use super::{Counter, Written};
use crate::byte_reader::ByteReader;
use crate::controller::{Controller, LbaFormat};
use crate::pass_through::{CommandError, PassThrough};
use crate::power_log::is_supported;
use crate::query;

/// The length of the vendor logs.
const LENGTH: usize = 512;
/// The identifier and the length of the statistics of Flexible Data Placement.
const FDP: u8 = 0x22;
const FDP_LENGTH: usize = 64;
/// What the media may lag behind hosts in these statistics, in bytes: data in the write buffer.
/// Chosen: write buffers with protection against power loss are smaller.
const MAX_BUFFERED: u128 = 1 << 30;

/// The identifier of the extended SMART log of OCP and of boot drives.
const C0: u8 = 0xc0;
/// The GUID of the OCP log, in the order of its bytes (bytes 511:496, requirement SMART-22).
const OCP_GUID: [u8; 16] = [
    0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4, 0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf,
];
/// The GUID of the log of boot drives, likewise.
const BOOT_GUID: [u8; 16] = [
    0x65, 0x43, 0x88, 0x78, 0xac, 0xd8, 0x78, 0xa1, 0x66, 0x42, 0x1e, 0x0f, 0x92, 0xd7, 0x6d, 0xc4,
];

/// Vendor identifiers of PCI.
const INTEL: u16 = 0x8086;
const SOLIDIGM: u16 = 0x025e;
const MICRON: u16 = 0x1344;
const MEMBLAZE: u16 = 0x1c5f;
const SEAGATE: u16 = 0x1bb1;
const SANDISK: u16 = 0x15b7;
/// The makers whose drives for servers have an OCP log: Samsung, Micron, Western Digital (three
/// identifiers), SK hynix, Kioxia (two), Solidigm, Seagate.
const OCP_MAKERS: [u16; 10] =
    [0x144d, MICRON, SANDISK, 0x1b96, 0x1c58, 0x1c5c, 0x1179, 0x1e0f, SOLIDIGM, SEAGATE];

/// The items of the additional SMART log: twelve bytes each, identifier in byte 0, raw value in bytes
/// 10:5.
const ITEM: usize = 12;
const NAND_WRITTEN: u8 = 0xf4;
const HOST_WRITTEN: u8 = 0xf5;
/// The granule of both: 65,536 sectors of 512 bytes. The data sheets of Intel write 32 MiB.
const ITEM_BYTES: u64 = 32 << 20;

/// The place of the bytes written to the NAND in log D0h of Micron.
const D0_WRITTEN: usize = 176;

/// The attributes of Seagate's log C4h: twelve bytes each after a version of two, with the number in
/// byte 0. From version 2 on, bytes 11:4 are the value; the version before has four bytes of no stated unit.
const ATTRIBUTES_AT: usize = 2;
const LEAST_VERSION: u16 = 2;
/// The numbers of the lower and the upper half of each count of bytes.
const TO_FLASH: [u8; 2] = [233, 234];
const FROM_HOSTS: [u8; 2] = [241, 242];

/// A log page as it is queried: identifier, length in bytes, and the part of the drive.
type Page = (u8, usize, u16);

/// A log page that counts the bytes written to the media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogSource {
    /// The statistics of Flexible Data Placement of an endurance group. They count metadata: the LBA
    /// format of the namespace, where it is known.
    Fdp(u16, Option<LbaFormat>),
    /// The extended SMART log of OCP.
    Ocp,
    /// The extended SMART log of boot drives.
    Boot,
    /// The extended SMART log D0h of Micron.
    MicronD0,
    /// The NAND statistics of WD, in the version that counts bytes.
    Wd,
    /// The extended SMART attributes of Seagate.
    Seagate,
    /// The additional SMART log of Intel, Solidigm and Memblaze.
    Additional,
}

impl LogSource {
    /// Returns the log of the drive behind `pass_through`, by its controller, its list of supported
    /// logs, and what the logs contain.
    ///
    /// # Errors
    /// The drive has none that is decoded, or cannot be queried: the reason in words.
    pub(crate) fn find(
        pass_through: &dyn PassThrough,
        namespace: u32,
    ) -> Result<LogSource, String> {
        let controller = query::controller(pass_through).map_err(|error| error.to_string())?;
        let list = match controller.has_log_list {
            true => query::supported_logs(pass_through).ok(),
            false => None,
        };
        let logs = candidates(&controller, list.as_deref(), pass_through, namespace);
        // Logs with one identifier are told apart by their contents: they are one query.
        for of_one_page in logs.chunk_by(|one, next| one.page() == next.page()) {
            let Ok(data) = of_one_page[0].query(pass_through) else { continue };
            if let Some(log) = of_one_page.iter().find(|log| log.decode(&data).is_some()) {
                return Ok(*log);
            }
        }
        Err("not decoded: the drive has no log of media writes that is publicly described".into())
    }

    /// Returns the name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            LogSource::Fdp(..) => "FDP statistics, log 22h",
            LogSource::Ocp => "OCP extended SMART log C0h",
            LogSource::Boot => "extended SMART log C0h of boot drives",
            LogSource::MicronD0 => "Micron extended SMART log D0h",
            LogSource::Wd => "WD NAND statistics, log FBh",
            LogSource::Seagate => "Seagate extended SMART attributes, log C4h",
            LogSource::Additional => "Intel, Solidigm and Memblaze additional SMART log CAh",
        }
    }

    /// Returns what describes the log, in words: no output with one is among the real drives.
    pub(crate) fn evidence(self) -> &'static str {
        match self {
            LogSource::Fdp(..) | LogSource::Ocp => "by specification",
            LogSource::Boot
            | LogSource::MicronD0
            | LogSource::Wd
            | LogSource::Seagate
            | LogSource::Additional => "by another tool, nvme-cli",
        }
    }

    /// Reads the counters; `None` where the log is not the described one.
    pub(crate) fn read(
        self,
        pass_through: &dyn PassThrough,
    ) -> Result<Option<Written>, CommandError> {
        Ok(self.decode(&self.query(pass_through)?))
    }

    /// Returns the bytes by which the counter of hosts increases for each byte that hosts write.
    pub(crate) fn host_bytes_per_byte(self) -> f64 {
        match self {
            LogSource::Fdp(_, Some(format)) => {
                1.0 + f64::from(format.metadata) / format.block as f64
            }
            LogSource::Fdp(_, None)
            | LogSource::Ocp
            | LogSource::Boot
            | LogSource::MicronD0
            | LogSource::Wd
            | LogSource::Seagate
            | LogSource::Additional => 1.0,
        }
    }

    fn page(self) -> Page {
        match self {
            LogSource::Fdp(group, _) => (FDP, FDP_LENGTH, group),
            LogSource::Ocp | LogSource::Boot => (C0, LENGTH, 0),
            LogSource::MicronD0 => (0xd0, LENGTH, 0),
            LogSource::Wd => (0xfb, LENGTH, 0),
            LogSource::Seagate => (0xc4, LENGTH, 0),
            LogSource::Additional => (0xca, LENGTH, 0),
        }
    }

    fn query(self, pass_through: &dyn PassThrough) -> Result<Vec<u8>, CommandError> {
        let (id, length, part) = self.page();
        query::log_of(pass_through, id, length, part)
    }

    fn decode(self, data: &[u8]) -> Option<Written> {
        match self {
            LogSource::Fdp(..) => fdp(data),
            LogSource::Ocp => ocp(data),
            LogSource::Boot => boot(data),
            LogSource::MicronD0 => micron_d0(data),
            LogSource::Wd => wd(data),
            LogSource::Seagate => seagate(data),
            LogSource::Additional => additional(data),
        }
    }
}

/// Returns the logs that may be queried, the most precise first.
fn candidates(
    controller: &Controller,
    list: Option<&[u8]>,
    pass_through: &dyn PassThrough,
    namespace: u32,
) -> Vec<LogSource> {
    let vendor = controller.vendor;
    let may = |id: u8, without_list: bool| match list {
        Some(list) => is_supported(list, id),
        None => without_list,
    };
    let mut logs = Vec::new();
    if controller.has_placement
        && may(FDP, true)
        && let Ok(namespace) = query::namespace(pass_through, namespace)
        && let Some(group) = namespace.endurance_group
    {
        logs.push(LogSource::Fdp(group, namespace.current_format()));
    }
    // Drives for servers have protection against power loss, which OCP requires; with it, the cache
    // is not volatile.
    let is_for_servers = !controller.has_volatile_cache;
    if may(C0, is_for_servers && OCP_MAKERS.contains(&vendor)) {
        logs.extend([LogSource::Ocp, LogSource::Boot]);
    }
    let is_sn720 = controller.model.as_ref().is_some_and(|model| model.contains("SN720"));
    let rows = [
        (LogSource::Additional, matches!(vendor, INTEL | SOLIDIGM) && may(0xca, is_for_servers)),
        (LogSource::Additional, vendor == MEMBLAZE && may(0xca, false)),
        (LogSource::MicronD0, vendor == MICRON && may(0xd0, false)),
        // Of the models from which `wdc` of nvme-cli reads this log, the one that a name identifies.
        (LogSource::Wd, vendor == SANDISK && is_sn720 && may(0xfb, true)),
        (LogSource::Seagate, vendor == SEAGATE && may(0xc4, false)),
    ];
    logs.extend(rows.into_iter().filter(|(_, may)| *may).map(|(log, _)| log));
    logs
}

/// Decodes the statistics of Flexible Data Placement: host bytes with metadata written in bytes 15:0,
/// media bytes with metadata written in bytes 31:16. The latter contain the former, except what is in
/// the write buffer. Other data is not this log, nor is one that the firmware does not fill.
fn fdp(data: &[u8]) -> Option<Written> {
    let reader = ByteReader(data.get(..FDP_LENGTH)?);
    let (host, media) = (reader.u128(0)?, reader.u128(16)?);
    let are_counts = [host, media].iter().all(|bytes| *bytes != 0 && *bytes != u128::MAX);
    (are_counts && host.saturating_sub(media) <= MAX_BUFFERED).then(|| Written {
        host: Some(Counter::of_bytes(host, 1)),
        media: Counter::of_bytes(media, 1),
        may_wrap: false,
    })
}

/// Decodes the OCP log: physical media units written in bytes 15:0, in bytes (SMART-1).
fn ocp(data: &[u8]) -> Option<Written> {
    let reader = ByteReader(data.get(..LENGTH)?);
    (reader.bytes(496, 16)? == OCP_GUID).then_some(())?;
    Some(Written { host: None, media: Counter::of_bytes(reader.u128(0)?, 1), may_wrap: false })
}

fn boot(data: &[u8]) -> Option<Written> {
    let reader = ByteReader(data.get(..LENGTH)?);
    (reader.bytes(496, 16)? == BOOT_GUID).then_some(())?;
    by_kind_of_cell(data)
}

/// Decodes the bytes written to TLC in bytes 15:0 and to SLC in bytes 31:16. What is copied from SLC to
/// TLC was written twice.
fn by_kind_of_cell(data: &[u8]) -> Option<Written> {
    let reader = ByteReader(data.get(..LENGTH)?);
    let whole = reader.u128(0)?.checked_add(reader.u128(16)?)?;
    // A log of zeros is one that the firmware does not fill.
    (whole > 0).then(|| Written { host: None, media: Counter::of_bytes(whole, 1), may_wrap: false })
}

/// Decodes the bytes written to the NAND (`NAND Writes (Bytes Written)`), a number of 64 bits.
fn micron_d0(data: &[u8]) -> Option<Written> {
    let bytes = ByteReader(data.get(..LENGTH)?).u64(D0_WRITTEN)?;
    is_a_count(bytes).then(|| Written {
        host: None,
        media: Counter::of_bytes(bytes.into(), 1),
        may_wrap: false,
    })
}

/// Decodes the NAND statistics of version 0 (bytes 511:510): bytes written to TLC in bytes 15:0 and to SLC
/// in bytes 31:16. Later versions count units of no stated size.
fn wd(data: &[u8]) -> Option<Written> {
    let version = ByteReader(data.get(..LENGTH)?).u16(LENGTH - 2)?;
    if version == 0 { by_kind_of_cell(data) } else { None }
}

/// Decodes the attributes of Seagate, which come in any order.
fn seagate(data: &[u8]) -> Option<Written> {
    let data = data.get(..LENGTH)?;
    (ByteReader(data).u16(0)? >= LEAST_VERSION).then_some(())?;
    let value = |number: u8| {
        let mut all = data[ATTRIBUTES_AT..].chunks_exact(ITEM);
        all.find(|one| one[0] == number).and_then(|one| ByteReader(one).u64(4))
    };
    let count = |[low, high]: [u8; 2]| {
        let (low, high) = (value(low)?, value(high)?);
        Some(Counter::of_bytes(u128::from(high) << 64 | u128::from(low), 1))
    };
    Some(Written { host: Some(count(FROM_HOSTS)?), media: count(TO_FLASH)?, may_wrap: false })
}

/// Returns whether `bytes` can be a count: firmware that does not fill a field leaves zeros or ones.
fn is_a_count(bytes: u64) -> bool {
    bytes != 0 && bytes != u64::MAX
}

/// Decodes the additional SMART log, whose items come in any order.
fn additional(data: &[u8]) -> Option<Written> {
    let data = data.get(..LENGTH)?;
    let find = |id: u8| {
        let item = data.chunks_exact(ITEM).find(|item| item[0] == id)?;
        let raw = item[5..11].iter().rev().fold(0, |raw, byte| raw << 8 | u128::from(*byte));
        Some(Counter::of_bytes(raw, ITEM_BYTES))
    };
    Some(Written { host: Some(find(HOST_WRITTEN)?), media: find(NAND_WRITTEN)?, may_wrap: false })
}

#[cfg(test)]
mod tests;
