//! SMART attributes of SATA drives that count what was written to the media, by the family of a model.
//!
//! ATA does not standardize attributes: one number has different meanings in different families. The
//! families, attributes and units are those of the drive database of smartmontools 7.3, which cites the
//! makers' documents. A family is here only where it has an attribute of the media and one of hosts,
//! both with a stated unit. A drive of another family is not decoded.
//!
//! Left out: Samsung PM871 and CM871a (`MZ7LN`, `MZNLN`, `MZYLN`). Their attributes 241 and 249 are equal
//! on ten of eleven drives of linuxhw/EnterpriseDrive, so neither counts the media alone.
//!
//! Left out: SanDisk X600 (`SD9S`) and Ultra 3D (`SDSSDH3`). Attribute 233 of the WD Blue 3D, which has
//! the same hardware, counts TLC alone, and 234 SLC.

use super::{Counter, Unit, Written};
use crate::ata::SmartAttribute;
use crate::pass_through::PassThrough;
use crate::query;

const GIB: Unit = Unit::Bytes(1 << 30);
const GB: Unit = Unit::Bytes(1_000_000_000);
const MIB_32: Unit = Unit::Bytes(32 << 20);

/// The attributes of a family of drives.
#[derive(Debug, PartialEq)]
pub(crate) struct Family {
    /// The name in reports.
    pub(crate) name: &'static str,
    /// The beginnings of its models, each with a text that the model contains as well.
    models: &'static [(&'static str, &'static str)],
    /// The attributes whose sum was written to the media, and their unit.
    media: (&'static [u8], Unit),
    /// The attributes that count what hosts wrote, with their units; the first that the drive has
    /// counts.
    host: &'static [(u8, Unit)],
}

/// What hosts wrote to a drive of Intel. The database names 225 for every family, 241 for most.
const INTEL_HOST: &[(u8, Unit)] = &[(225, MIB_32), (241, MIB_32)];

/// Every family. The first that fits a model counts.
const FAMILIES: [Family; 8] = [
    // Host and FTL program pages; Micron TN-FD-22: amplification = (247 + 248) ÷ 247.
    Family {
        name: "attributes 247 and 248 of Crucial and Micron",
        models: &[
            ("Crucial_CT", "M"),
            ("CT", "MX500SSD"),
            ("CT", "BX300SSD"),
            ("CT", "BX500SSD"),
            ("Micron_M", "MTFDDA"),
            ("Micron_1", "MTFDDA"),
            ("Micron_5", "MTFDDA"),
        ],
        media: (&[247, 248], Unit::Pages),
        host: &[(247, Unit::Pages)],
    },
    Family {
        name: "attributes 243 and 225 of Intel",
        models: &[
            // 730 (P), S3500 and S3510 (B), S3520 (B and J), S3610 (X), S3700 and S3710 (A).
            ("INTEL SSDSC1NA", ""),
            ("INTEL SSDSC1NB", ""),
            ("INTEL SSDSC1NP", ""),
            ("INTEL SSDSC1NX", ""),
            ("INTEL SSDSC2BA", ""),
            ("INTEL SSDSC2BB", ""),
            ("INTEL SSDSC2BP", ""),
            ("INTEL SSDSC2BX", ""),
            ("INTEL SSDSC2JB", ""),
            ("INTEL SSDSCKBB", ""),
            ("INTEL SSDSCKJB", ""),
            // S4500 and S4510 (B), S4600 and S4610 (G).
            ("INTEL SSDSC2KB", ""),
            ("INTEL SSDSC2KG", ""),
            ("INTEL SSDSCKKB", ""),
            ("INTEL SSDSCKKG", ""),
        ],
        media: (&[243], MIB_32),
        host: INTEL_HOST,
    },
    Family {
        name: "attributes 249 and 225 of Intel",
        models: &[
            // 330 and 335.
            ("INTEL SSDSC2CT", ""),
            // 520, 525, 53x, Pro 1500 and Pro 2500.
            ("INTEL SSDSC2CW", ""),
            ("INTEL SSDSC2BW", ""),
            ("INTEL SSDSC2BF", ""),
            ("INTEL SSDSCKJW", ""),
            ("INTEL SSDSCKJF", ""),
            ("INTEL SSDMCEA", ""),
            // 540s, 545s, Pro 5400s and S3110.
            ("INTEL SSDSC2KW", ""),
            ("INTEL SSDSC2KF", ""),
            ("INTEL SSDSCKKW", ""),
            ("INTEL SSDSCKKF", ""),
            ("INTEL SSDSCKKI", ""),
        ],
        media: (&[249], GIB),
        host: INTEL_HOST,
    },
    Family {
        name: "attributes 233 and 241 of Phison",
        models: &[
            ("Corsair Force LE200", ""),
            ("GIGABYTE GP-GSTFS31", ""),
            ("KINGSTON SEDC400S37", ""),
            ("KINGSTON SEDC450R", ""),
            ("KINGSTON SEDC500", ""),
            ("KINGSTON SUV300S37A", ""),
            ("KINGSTON SKC310S3", ""),
            ("KINGSTON SKC400S37", ""),
            ("KINGSTON SHSS3", ""),
            ("Patriot Blast", ""),
            ("Patriot Blaze", ""),
            ("PNY CS1311", ""),
            ("PNY CS2211", ""),
        ],
        media: (&[233], GIB),
        host: &[(241, GIB)],
    },
    Family {
        name: "attributes 249 and 241 of OCZ",
        models: &[
            ("OCZ-VECTOR", ""),
            ("OCZ-VERTEX45", ""),
            ("OCZ-VERTEX46", ""),
            ("OCZ INTREPID 3", ""),
        ],
        media: (&[249], GIB),
        host: &[(241, GIB), (199, GIB)],
    },
    Family {
        name: "attributes 233 and 241 of SanDisk",
        models: &[
            ("SanDisk SD6S", ""),
            ("SanDisk SD7S", ""),
            ("SanDisk SD8S", ""),
            ("SanDisk SDSSDHP", ""),
            ("SanDisk SDSSDHII", ""),
            ("SanDisk SDSSDH2", ""),
            ("SanDisk Ultra II", ""),
        ],
        media: (&[233], GIB),
        host: &[(241, GIB)],
    },
    Family {
        name: "attributes 233 and 241 of Seagate Nytro",
        models: &[("XA240", ""), ("XA480", ""), ("XA960", ""), ("XA1920", ""), ("XA3840", "")],
        media: (&[233], GB),
        host: &[(241, GB)],
    },
    Family {
        name: "attributes 233 and 241 of Supermicro",
        models: &[("SuperMicro SSD", "")],
        media: (&[233], GIB),
        host: &[(241, GIB)],
    },
];

impl Family {
    /// Returns the family of the drive behind `pass_through`.
    ///
    /// # Errors
    /// Its attributes are not decoded, or it cannot be queried: the reason in words.
    pub(crate) fn find(pass_through: &dyn PassThrough) -> Result<&'static Family, String> {
        let words = |error: crate::pass_through::CommandError| error.to_string();
        let identity = query::ata_identity(pass_through).map_err(words)?;
        let model = identity.model.unwrap_or_default();
        let is_of = |(start, part): &(&str, &str)| model.starts_with(start) && model.contains(part);
        let fits = |family: &&Family| family.models.iter().any(is_of);
        let Some(family) = FAMILIES.iter().find(fits) else {
            return Err("not decoded: its SMART attributes are not those of a family with known \
                        media writes"
                .into());
        };
        let attributes = query::ata_attributes(pass_through).map_err(words)?;
        match family.decode(&attributes) {
            Some(_) => Ok(family),
            None => Err(format!("not decoded: the drive does not have the {}", family.name)),
        }
    }

    /// Returns the counters from `attributes`; `None` where one is missing.
    pub(super) fn decode(&self, attributes: &[SmartAttribute]) -> Option<Written> {
        let raw = |id: u8| {
            let found = attributes.iter().find(|one| one.id == id)?;
            Some(u128::from(found.raw))
        };
        let (parts, unit) = self.media;
        let parts: Option<Vec<u128>> = parts.iter().map(|id| raw(*id)).collect();
        let media = Counter { count: parts?.iter().sum(), unit };
        let host =
            self.host.iter().find_map(|(id, unit)| Some(Counter { count: raw(*id)?, unit: *unit }));
        Some(Written { host: Some(host?), media })
    }
}

#[cfg(test)]
mod tests;
