//! SMART attributes of SATA drives that count what was written to the media, by the family of a model.
//!
//! ATA does not standardize attributes: one number has different meanings in different families. The
//! attributes and units are those of the drive database of smartmontools 7.3, which cites the makers'
//! documents. A family is used where at least thirty real drives of linuxhw/EnterpriseDrive confirm it
//! by a second source in the same output: what hosts wrote agrees with the Device Statistics log (pages:
//! each holds 16 KiB of it), and the write amplification is one that a drive can have. The other families
//! are listed with what speaks against them, and not used.
//!
//! Not listed: Samsung PM871 and CM871a (`MZ7LN`, `MZNLN`, `MZYLN`). Their attributes 241 and 249 are equal
//! on ten of eleven drives, so neither counts only the media. SanDisk X600 (`SD9S`) and Ultra 3D
//! (`SDSSDH3`): attribute 233 of the WD Blue 3D, which has the same hardware, counts only TLC, and 234 SLC.

use super::{Counter, LEAST_AMPLIFICATION, Unit, Written};
use crate::ata::{DeviceStatistics, SmartAttribute};
use crate::pass_through::{CommandError, PassThrough};
use crate::query;
use ssdgauge_core::Bytes;
use ssdgauge_core::rounded::count;
use std::ops::RangeInclusive;

const SECTOR: Unit = Unit::Bytes(512);
const GIB: Unit = Unit::Bytes(1 << 30);
const MIB_32: Unit = Unit::Bytes(32 << 20);

/// The bytes of hosts in a page of 16 KiB on real drives: pages that are not full, and 6 % above for
/// counters that are stored at different times.
const PAGE_BYTES: RangeInclusive<f64> = 8_192.0..=17_408.0;
/// The difference of two counters of the same data that is not a contradiction, as a share.
const AGREEMENT: f64 = 0.03;
/// The granules below which two counters are not compared.
const LEAST_GRANULES: u128 = 100;
/// The attribute of Crucial and Micron that counts the sectors that hosts wrote.
const MICRON_SECTORS: u8 = 246;

/// The attributes of a family of drives.
#[derive(Debug, PartialEq)]
pub(crate) struct Family {
    /// The name in reports.
    pub(crate) name: &'static str,
    /// What its models contain: any of these texts. OEM names contain them as well.
    models: &'static [&'static str],
    /// Its counters, or why they are not used.
    counters: Result<Counters, &'static str>,
}

/// The counters of a family.
#[derive(Debug, PartialEq)]
struct Counters {
    /// The attributes whose sum was written to the media, and their unit.
    media: (&'static [u8], Unit),
    /// The attributes that count what hosts wrote, with their units; the first that the drive has
    /// counts. Without one, the Device Statistics log counts.
    host: &'static [(u8, Unit)],
    /// The real drives that confirm the family.
    confirmed_by: u32,
}

/// Every family. The first that fits a model counts.
const FAMILIES: [Family; 11] = [
    Family {
        name: "attributes 247 and 248 of Crucial MX500",
        models: &["MX500SSD"],
        counters: Err(
            "on 244 of 326 real drives the data of a page is not that of 16 KiB, but 1 to 64 KiB",
        ),
    },
    // Host and FTL program pages; Micron TN-FD-22: amplification = (247 + 248) ÷ 247.
    Family {
        name: "attributes 247 and 248 of Crucial and Micron",
        models: &[
            "MTFDDA", "BX300SSD", "BX500SSD", "MX100SSD", "MX200SSD", "MX300SSD", "M500SSD",
            "M550SSD",
        ],
        counters: Ok(Counters {
            media: (&[247, 248], Unit::Pages),
            host: &[(247, Unit::Pages)],
            confirmed_by: 1_438,
        }),
    },
    // The database names 225 for hosts for every family, 241 for most.
    Family {
        name: "attributes 243 and 225 of Intel",
        models: &[
            // 730 (P), S3500 and S3510 (B), S3520 (B and J), S3610 (X and G), S3700 and S3710 (A).
            "SSDSC1BG", "SSDSC1NA", "SSDSC1NB", "SSDSC1NP", "SSDSC1NX", "SSDSC2BA", "SSDSC2BB",
            "SSDSC2BG", "SSDSC2BP", "SSDSC2BX", "SSDSC2JB", "SSDSCKBB", "SSDSCKJB",
            // S4500 and S4510 (B), S4600 and S4610 (G).
            "SSDSC2KB", "SSDSC2KG", "SSDSCKKB", "SSDSCKKG",
        ],
        counters: Ok(Counters {
            media: (&[243], MIB_32),
            host: &[(225, MIB_32), (241, MIB_32)],
            confirmed_by: 3_675,
        }),
    },
    // PM863 (LM), SM863 (KM), PM883 and 883 DCT (LH), SM883 (KH), PM893 (L3), 860 DCT.
    Family {
        name: "attributes 251 and 241 of Samsung",
        models: &["MZ7KH", "MZ7KM", "MZ7L3", "MZ7LH", "MZ7LM", "SSD 860 DCT", "SSD 883 DCT"],
        counters: Ok(Counters {
            media: (&[251], SECTOR),
            host: &[(241, SECTOR)],
            confirmed_by: 2_393,
        }),
    },
    Family {
        name: "attributes 233 and 241 of Kingston DC500",
        models: &["SEDC500"],
        counters: Ok(Counters { media: (&[233], GIB), host: &[(241, GIB)], confirmed_by: 149 }),
    },
    Family {
        name: "attributes 249 and 225 of Intel",
        models: &[
            // 330 and 335; 520, 525, 53x, Pro 1500 and Pro 2500; 540s, 545s, Pro 5400s and S3110.
            "SSDSC2CT", "SSDSC2CW", "SSDSC2BW", "SSDSC2BF", "SSDSCKJW", "SSDSCKJF", "SSDMCEA",
            "SSDSC2KW", "SSDSC2KF", "SSDSCKKW", "SSDSCKKF", "SSDSCKKI",
        ],
        counters: Err("on 83 of 198 real drives the media would have got less than hosts wrote"),
    },
    Family {
        name: "attributes 233 and 241 of Phison",
        models: &[
            "Force LE200",
            "GP-GSTFS31",
            "SEDC400S37",
            "SEDC450R",
            "SUV300S37A",
            "SKC310S3",
            "SKC400S37",
            "SHSS3",
            "Patriot Blast",
            "Patriot Blaze",
            "PNY CS1311",
            "PNY CS2211",
        ],
        counters: Err("25 real drives are too few to confirm it, and one contradicts it"),
    },
    Family {
        name: "attributes 249 and 241 of OCZ",
        models: &["OCZ-VECTOR", "OCZ-VERTEX45", "OCZ-VERTEX46", "OCZ INTREPID 3"],
        counters: Err(
            "on all 6 real drives of its hardware it is more than 40,000 times what hosts wrote",
        ),
    },
    Family {
        name: "attributes 233 and 241 of SanDisk",
        models: &[
            "SanDisk SD6S",
            "SanDisk SD7S",
            "SanDisk SD8S",
            "SDSSDHP",
            "SDSSDHII",
            "SDSSDH2",
            "Ultra II",
        ],
        counters: Err("on 20 of 42 real drives the media would have got less than hosts wrote"),
    },
    Family {
        name: "attributes 233 and 241 of Seagate Nytro",
        models: &["XA240", "XA480", "XA960", "XA1920", "XA3840"],
        counters: Err("on 133 of 167 real drives the media would have got less than hosts wrote"),
    },
    Family {
        name: "attributes 233 and 241 of Supermicro",
        models: &["SuperMicro SSD"],
        counters: Err("on 19 of 21 real drives the unit of 241 is not that of its documents"),
    },
];

impl Family {
    /// Returns the family of the drives of `model`.
    ///
    /// # Errors
    /// Its attributes are not decoded, or not confirmed: the reason in words.
    pub(crate) fn of_model(model: &str) -> Result<&'static Family, String> {
        let is_of = |family: &&Family| family.models.iter().any(|part| model.contains(part));
        let Some(family) = FAMILIES.iter().find(is_of) else {
            return Err("not decoded: its SMART attributes are not those of a family with known \
                        media writes"
                .into());
        };
        match family.counters {
            Ok(_) => Ok(family),
            Err(reason) => Err(format!("not decoded: {} are unconfirmed: {reason}", family.name)),
        }
    }

    /// Returns the family of the drive behind `pass_through`, and the bytes of its logical blocks.
    ///
    /// # Errors
    /// As [`Family::of_model`] and [`Family::check`], or it cannot be queried: the reason in words.
    pub(crate) fn find(pass_through: &dyn PassThrough) -> Result<(&'static Family, u64), String> {
        let words = |error: CommandError| error.to_string();
        let identity = query::ata_identity(pass_through).map_err(words)?;
        let model = identity.model.unwrap_or_default();
        Family::of_model(&model)?;
        let attributes = query::ata_attributes(pass_through).map_err(words)?;
        let statistics = query::ata_statistics(pass_through).ok();
        let block = identity.logical_block;
        Family::written(&model, &attributes, statistics, block).map(|(family, _)| (family, block))
    }

    /// Returns the family of the drives of `model`, and the counters of a drive with `attributes` and
    /// `statistics` of sectors of `block` bytes. The log counts hosts where no attribute does.
    ///
    /// # Errors
    /// As [`Family::of_model`] and [`Family::check`].
    pub(crate) fn written(
        model: &str,
        attributes: &[SmartAttribute],
        statistics: Option<DeviceStatistics>,
        block: u64,
    ) -> Result<(&'static Family, Written), String> {
        let family = Family::of_model(model)?;
        let sectors = statistics.and_then(|log| log.sectors_written);
        let written = family.check(attributes, sectors.map(|sectors| (sectors, block)))?;
        Ok((family, with_logged(written, statistics, block)))
    }

    /// Returns the attribute that counts the sectors that hosts wrote, where the family counts pages.
    pub(crate) fn host_sectors(&self) -> Option<u8> {
        let counters = self.counters.as_ref().ok()?;
        (counters.media.1 == Unit::Pages).then_some(MICRON_SECTORS)
    }

    /// Returns how the family is known to be right, in words.
    pub(crate) fn evidence(&self) -> String {
        match &self.counters {
            Ok(counters) => {
                format!("confirmed on {} real drives", count(counters.confirmed_by.into()))
            }
            Err(reason) => format!("unconfirmed: {reason}"),
        }
    }

    /// Returns the counters from `attributes`, where they do not contradict each other or the
    /// Device Statistics log, which counts `logged` sectors of a size in bytes.
    ///
    /// # Errors
    /// A counter is missing, or two contradict each other: the reason in words.
    pub(crate) fn check(
        &self,
        attributes: &[SmartAttribute],
        logged: Option<(u64, u64)>,
    ) -> Result<Written, String> {
        let written = self
            .decode(attributes)
            .ok_or_else(|| format!("not decoded: the drive does not have the {}", self.name))?;
        let logged = logged.map(|(sectors, size)| u128::from(sectors) * u128::from(size));
        match written.host {
            None => {}
            Some(Counter { count: pages, unit: Unit::Pages }) => {
                let sectors = raw(attributes, MICRON_SECTORS).map(|sectors| sectors * 512);
                let bytes = sectors.or(logged).filter(|_| pages >= LEAST_GRANULES);
                let size = bytes.map(|bytes| bytes as f64 / pages as f64);
                if let Some(size) = size.filter(|size| !PAGE_BYTES.contains(size)) {
                    return Err(format!(
                        "not decoded: the counters contradict each other: a page of hosts would have \
                         {size:.0} bytes of data, not 16 KiB"
                    ));
                }
            }
            Some(Counter { unit: Unit::Bytes(_), .. }) => {
                let logged = logged.and_then(|bytes| u64::try_from(bytes).ok());
                if let Some(text) = logged.and_then(|bytes| self.contradiction(attributes, bytes)) {
                    return Err(format!("not decoded: {text}"));
                }
            }
        }
        Ok(written)
    }

    /// Returns how the attribute that counts what hosts wrote contradicts the Device Statistics log, which counts
    /// `logged` bytes; `None` where it does not, or the family has no such attribute.
    pub(crate) fn contradiction(
        &self,
        attributes: &[SmartAttribute],
        logged: u64,
    ) -> Option<String> {
        let host = self.decode(attributes)?.host.filter(|host| host.count >= LEAST_GRANULES)?;
        let bytes = host.bytes()?;
        (bytes.abs_diff(logged) as f64 > AGREEMENT * logged as f64).then(|| {
            let [bytes, logged] = [bytes, logged].map(|bytes| Bytes(bytes).about());
            format!(
                "the counters contradict each other: hosts wrote {bytes} by the attributes and {logged} \
                 by the Device Statistics log"
            )
        })
    }

    /// Returns the counters from `attributes`; `None` where one of the media is missing.
    pub(super) fn decode(&self, attributes: &[SmartAttribute]) -> Option<Written> {
        let counters = self.counters.as_ref().ok()?;
        let (parts, unit) = counters.media;
        let parts: Option<Vec<u128>> = parts.iter().map(|id| raw(attributes, *id)).collect();
        let media = Counter { count: parts?.iter().sum(), unit };
        let host = counters
            .host
            .iter()
            .find_map(|(id, unit)| Some(Counter { count: raw(attributes, *id)?, unit: *unit }));
        Some(Written { host, media, may_wrap: false })
    }

    /// Reads the counters; hosts are counted by the Device Statistics log where no attribute does, in
    /// sectors of `block` bytes.
    pub(super) fn read(
        &self,
        pass_through: &dyn PassThrough,
        block: u64,
    ) -> Result<Option<Written>, CommandError> {
        let Some(written) = self.decode(&query::ata_attributes(pass_through)?) else {
            return Ok(None);
        };
        Ok(Some(match written.host {
            Some(_) => written,
            None => with_logged(written, Some(query::ata_statistics(pass_through)?), block),
        }))
    }
}

/// The sectors from which on a counter is known to have more than 32 bits.
pub(crate) const WIDE: u64 = 1 << 32;

/// Returns `written` with what hosts wrote by the Device Statistics log, in sectors of `block` bytes, where no attribute
/// counts it. On many drives the log has only the low 32 bits.
fn with_logged(written: Written, statistics: Option<DeviceStatistics>, block: u64) -> Written {
    let (None, Some(log)) = (written.host, statistics) else { return written };
    let Some(sectors) = log.sectors_written else { return written };
    let host = Some(Counter::of_bytes(sectors.into(), block));
    let may_wrap = may_wrap(log, written.media.bytes(), block);
    Written { host, may_wrap, ..written }
}

/// Returns whether `log` may have only the low 32 bits of what hosts wrote: both of its fields are smaller, and the
/// `media` bytes, where they are known, suffice for one round more. Its sectors have `block` bytes.
pub(crate) fn may_wrap(log: DeviceStatistics, media: Option<u64>, block: u64) -> bool {
    let is_wide =
        [log.sectors_written, log.sectors_read].into_iter().flatten().any(|field| field >= WIDE);
    let least = LEAST_AMPLIFICATION * WIDE as f64 * block as f64;
    !is_wide && media.is_none_or(|media| media as f64 >= least)
}

/// Returns the raw value of the attribute `id`.
fn raw(attributes: &[SmartAttribute], id: u8) -> Option<u128> {
    attributes.iter().find(|one| one.id == id).map(|one| u128::from(one.raw))
}

#[cfg(test)]
mod tests;
