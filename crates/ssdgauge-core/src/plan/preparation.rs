//! Preparations: the states that a drive is brought into before a measurement.
//!
//! All behaviour that depends on the kind of a preparation is here, so that a new kind touches
//! this file and the rigs that carry it out.

use crate::drive::TargetKind;
use crate::plan::phase::PhaseKind;
use crate::units::names::name_of;
use crate::units::{Bytes, Nanos};
use crate::workload::Access;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A state that a drive is brought into before a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preparation {
    /// Purge the drive (SNIA) by the best method that it supports: no data that was written before
    /// remains.
    Purge,
    /// Purge the drive by this method only.
    PurgeBy(PurgeMethod),
    /// Deallocate a range: trim, discard.
    Trim {
        /// The start of the range on the target.
        offset: Bytes,
        /// The length of the range.
        span: Bytes,
    },
    /// Write every block of a range once, with incompressible data.
    Fill {
        /// Ascending order, or a random order that visits every block once.
        access: Access,
        /// The length of each write.
        block_size: Bytes,
        /// The start of the range on the target.
        offset: Bytes,
        /// The length of the range.
        span: Bytes,
    },
    /// Set the power saving of the drive. The rig restores the previous setting when it is dropped.
    Power(PowerSaving),
    /// Set the volatile write cache of the drive. The rig restores the previous setting when it is
    /// dropped.
    WriteCache(WriteCache),
}

impl Preparation {
    /// Returns whether the preparation changes the data on the drive.
    pub fn changes_data(&self) -> bool {
        match self {
            Preparation::Purge
            | Preparation::PurgeBy(_)
            | Preparation::Trim { .. }
            | Preparation::Fill { .. } => true,
            Preparation::Power(_) | Preparation::WriteCache(_) => false,
        }
    }

    /// Returns the bytes that the host writes: the span of a fill, otherwise 0.
    pub fn writes(&self) -> Bytes {
        self.fill_span().unwrap_or_default()
    }

    /// Returns the end of the range that the preparation addresses, in bytes from the start of the
    /// target; 0 where it addresses no range. A purge is a command to the drive, not to a range.
    pub fn end(&self) -> Bytes {
        match *self {
            Preparation::Fill { offset, span, .. } | Preparation::Trim { offset, span } => {
                offset + span
            }
            Preparation::Purge
            | Preparation::PurgeBy(_)
            | Preparation::Power(_)
            | Preparation::WriteCache(_) => Bytes(0),
        }
    }

    /// Returns whether the preparation sets a feature of the drive that the rig restores later.
    pub fn is_setting(&self) -> bool {
        match self {
            Preparation::Power(_) | Preparation::WriteCache(_) => true,
            Preparation::Purge
            | Preparation::PurgeBy(_)
            | Preparation::Trim { .. }
            | Preparation::Fill { .. } => false,
        }
    }

    /// Returns whether the preparation purges the drive, by any method.
    pub fn is_purge(&self) -> bool {
        match self {
            Preparation::Purge | Preparation::PurgeBy(_) => true,
            Preparation::Trim { .. }
            | Preparation::Fill { .. }
            | Preparation::Power(_)
            | Preparation::WriteCache(_) => false,
        }
    }

    /// Returns the length of the range that a fill writes; `None` for other preparations.
    pub fn fill_span(&self) -> Option<Bytes> {
        match *self {
            Preparation::Fill { span, .. } => Some(span),
            Preparation::Purge
            | Preparation::PurgeBy(_)
            | Preparation::Trim { .. }
            | Preparation::Power(_)
            | Preparation::WriteCache(_) => None,
        }
    }

    /// Returns the length of the range that a trim deallocates; `None` for other preparations.
    pub fn trim_span(&self) -> Option<Bytes> {
        match *self {
            Preparation::Trim { span, .. } => Some(span),
            Preparation::Purge
            | Preparation::PurgeBy(_)
            | Preparation::Fill { .. }
            | Preparation::Power(_)
            | Preparation::WriteCache(_) => None,
        }
    }

    /// Returns the purpose of the phase that carries the preparation out.
    pub fn phase(&self) -> PhaseKind {
        match self {
            Preparation::Purge | Preparation::PurgeBy(_) => PhaseKind::Purge,
            Preparation::Trim { .. } => PhaseKind::Trim,
            Preparation::Fill { .. } => PhaseKind::Fill,
            Preparation::Power(_) => PhaseKind::Power,
            Preparation::WriteCache(_) => PhaseKind::WriteCache,
        }
    }

    /// Returns the label of the step that carries the preparation out, such as `fill 64GB`.
    ///
    /// Labels are stored in run files and compared on resume: a label never changes.
    pub fn label(&self) -> String {
        match self {
            Preparation::Purge | Preparation::PurgeBy(_) => "purge".into(),
            Preparation::Trim { span, .. } => format!("trim {}", span.exact()),
            Preparation::Fill { span, .. } => format!("fill {}", span.exact()),
            Preparation::Power(saving) => saving.to_string(),
            Preparation::WriteCache(cache) => format!("write cache {cache}"),
        }
    }

    /// Returns what the preparation does, in words for a printed plan.
    pub fn describe(&self) -> String {
        match self {
            Preparation::Purge => "purge the drive".into(),
            Preparation::PurgeBy(method) => format!("purge the drive by {}", method.name()),
            Preparation::Trim { offset: Bytes(0), span } => {
                format!("trim the first {}", span.about())
            }
            Preparation::Trim { offset, span } => {
                format!("trim {} from offset {}", span.about(), offset.about())
            }
            Preparation::Fill { access, block_size, span, .. } => {
                let (span, size) = (span.about(), block_size.as_block());
                format!("write {span} once, {} order, {size} per request", access.name())
            }
            Preparation::Power(saving) => format!("set the power saving: {saving}"),
            Preparation::WriteCache(cache) => format!("set the volatile write cache: {cache}"),
        }
    }

    /// Returns the step of the protocol that is not possible on this kind of target, with the
    /// reason; `None` where the preparation is possible.
    pub fn missing_on(&self, target: TargetKind) -> Option<&'static str> {
        match self {
            Preparation::Purge => match target {
                TargetKind::File => Some("a purge: a file system does not pass it to the drive"),
                TargetKind::Null => Some("a purge: there is no drive"),
                TargetKind::Block | TargetKind::Virtual => None,
            },
            Preparation::WriteCache(_) => match target {
                TargetKind::File => {
                    Some("a setting of the write cache: a file has no write cache of its own")
                }
                TargetKind::Null => Some("a setting of the write cache: there is no drive"),
                TargetKind::Block | TargetKind::Virtual => None,
            },
            // A purge by a named method is not skipped: the rig refuses it with an error.
            Preparation::PurgeBy(_) => None,
            // A fill and a trim are possible on every target. Power saving depends on the drive, not
            // on the kind of target: where a drive has none, the rig reports a finding.
            Preparation::Trim { .. } | Preparation::Fill { .. } | Preparation::Power(_) => None,
        }
    }
}

/// The state of the volatile write cache, from which a drive acknowledges writes early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteCache {
    /// The state before the run.
    AsFound,
    /// Enabled, the usual state of client drives.
    On,
    /// Disabled: a write completes when it is non-volatile.
    Off,
}

impl std::fmt::Display for WriteCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            WriteCache::AsFound => "as found",
            WriteCache::On => "on",
            WriteCache::Off => "off",
        })
    }
}

/// The power saving that drive and link may use without load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PowerSaving {
    /// The setting before the run.
    AsFound,
    /// None: no autonomous power state transitions (APST), no link power management (ASPM, ALPM).
    /// Reviews call it active idle.
    Active,
    /// All that drive and link support: APST, ASPM with its substates, or DIPM on SATA. Reviews
    /// call it low-power idle; it is the usual setting of a notebook.
    Low,
    /// The operational NVMe power state of this number, without APST.
    State(u8),
}

impl std::fmt::Display for PowerSaving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PowerSaving::AsFound => write!(f, "as found"),
            PowerSaving::Active => write!(f, "active idle"),
            PowerSaving::Low => write!(f, "low power"),
            PowerSaving::State(number) => write!(f, "PS{number}"),
        }
    }
}

/// A method of purging a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PurgeMethod {
    /// NVMe Format NVM with an erase.
    Format,
    /// Discard of the whole drive.
    Discard,
    /// ATA SECURITY ERASE UNIT.
    SecureErase,
    /// NVMe Sanitize, block erase.
    SanitizeBlock,
    /// NVMe Sanitize, crypto erase.
    SanitizeCrypto,
    /// NVMe Sanitize, one overwrite pass.
    SanitizeOverwrite,
}

impl PurgeMethod {
    /// Every method.
    pub const ALL: [PurgeMethod; 6] = [
        PurgeMethod::Format,
        PurgeMethod::Discard,
        PurgeMethod::SecureErase,
        PurgeMethod::SanitizeBlock,
        PurgeMethod::SanitizeCrypto,
        PurgeMethod::SanitizeOverwrite,
    ];

    /// Returns the word used on the command line, in plans and pages.
    pub fn name(self) -> &'static str {
        name_of(&self)
    }
}

impl FromStr for PurgeMethod {
    type Err = String;

    /// Reads the name of a method.
    ///
    /// # Errors
    /// When no method has this name; the text lists the known ones.
    fn from_str(text: &str) -> Result<PurgeMethod, String> {
        PurgeMethod::ALL.into_iter().find(|method| method.name() == text).ok_or_else(|| {
            let names: Vec<&str> = PurgeMethod::ALL.iter().map(|method| method.name()).collect();
            format!("'{text}' is not a purge method (known: {})", names.join(", "))
        })
    }
}

/// The outcome of a preparation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prepared {
    /// The method that succeeded, such as `sequential write` or `discard`; `none` without effect.
    pub method: String,
    /// The bytes that the host wrote.
    pub written: Bytes,
    /// The duration of the preparation; of a trim, that of its commands, without the check of their
    /// effect.
    pub elapsed: Nanos,
    /// Whether a stop request ended it early.
    pub stopped: bool,
}

impl Prepared {
    /// Returns whether a method succeeded.
    pub fn had_effect(&self) -> bool {
        self.method != "none"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;

    fn all() -> [Preparation; 6] {
        [
            Preparation::Purge,
            Preparation::PurgeBy(PurgeMethod::Format),
            Preparation::Trim { offset: Bytes(0), span: Bytes(64 * GB) },
            Preparation::Fill {
                access: Access::Random,
                block_size: Bytes(128 << 10),
                offset: Bytes(GB),
                span: Bytes(64 * GB),
            },
            Preparation::Power(PowerSaving::State(3)),
            Preparation::WriteCache(WriteCache::Off),
        ]
    }

    #[test]
    fn labels_are_those_of_stored_run_files() {
        let labels = all().map(|preparation| preparation.label());
        assert_eq!(labels, ["purge", "purge", "trim 64GB", "fill 64GB", "PS3", "write cache off"]);
    }

    #[test]
    fn only_a_fill_writes_and_only_settings_keep_the_data() {
        let written = all().map(|preparation| preparation.writes().0 / GB);
        assert_eq!(written, [0, 0, 0, 64, 0, 0]);
        let ends = all().map(|preparation| preparation.end().0 / GB);
        assert_eq!(ends, [0, 0, 64, 65, 0, 0]);
        for preparation in all() {
            assert_ne!(preparation.changes_data(), preparation.is_setting(), "{preparation:?}");
        }
    }

    #[test]
    fn a_description_names_the_method_the_range_and_the_request() {
        let words = all().map(|preparation| preparation.describe());
        assert_eq!(
            words,
            [
                "purge the drive",
                "purge the drive by format",
                "trim the first 64.0 GB",
                "write 64.0 GB once, random order, 128 KiB per request",
                "set the power saving: PS3",
                "set the volatile write cache: off",
            ]
        );
    }

    #[test]
    fn a_file_has_neither_a_purge_nor_a_write_cache() {
        let missing = all().map(|preparation| preparation.missing_on(TargetKind::File).is_some());
        assert_eq!(missing, [true, false, false, false, false, true]);
        assert!(all().iter().all(|one| one.missing_on(TargetKind::Block).is_none()));
    }

    #[test]
    fn a_purge_method_reads_back_from_its_name() {
        for method in PurgeMethod::ALL {
            assert_eq!(method.name().parse(), Ok(method));
        }
        let error = "wipe".parse::<PurgeMethod>().unwrap_err();
        assert!(error.starts_with("'wipe' is not a purge method (known: format, "), "{error}");
    }
}
