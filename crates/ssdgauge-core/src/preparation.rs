//! The states that a drive is brought into before it is measured.

use crate::units::{Bytes, Nanos};
use crate::workload::Access;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A state that a drive is brought into before it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preparation {
    /// Make the drive as if fresh, in the best way that it has: nothing that was written remains.
    Purge,
    /// Make the drive as if fresh in this way alone.
    PurgeBy(PurgeMethod),
    /// Tell the drive that the range holds nothing.
    Trim {
        /// Where the range begins.
        offset: Bytes,
        /// Its length.
        span: Bytes,
    },
    /// Write every block of the range once, with incompressible data.
    Fill {
        /// In ascending order, or in a random order that leaves no block out.
        access: Access,
        /// The length of each write.
        block_size: Bytes,
        /// Where the range begins.
        offset: Bytes,
        /// Its length.
        span: Bytes,
    },
    /// Choose how much power the drive may save. The rig puts back what it found when it is
    /// dropped.
    Power(PowerSaving),
    /// Choose whether the drive may acknowledge writes from a cache that a loss of power would
    /// empty. The rig puts back what it found when it is dropped.
    WriteCache(WriteCache),
}

/// Whether a drive may acknowledge writes from its volatile write cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteCache {
    /// As the run found it.
    AsFound,
    /// It may, as client drives are used.
    On,
    /// It may not: a write completes when it would survive a loss of power.
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

/// How much power a drive may save while it is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PowerSaving {
    /// As the run found it.
    AsFound,
    /// None: no autonomous power states (APST), no link power management (ASPM, ALPM). What
    /// reviews call active idle.
    Active,
    /// All that drive and link offer: APST, ASPM with its substates, or DIPM on SATA. What
    /// reviews call low-power idle, and the usual state of a portable computer.
    Low,
    /// Held in the operational NVMe power state of this number, without APST.
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

/// A way of making a drive as if fresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PurgeMethod {
    /// Format of NVMe with an erase.
    Format,
    /// The whole drive is told to hold nothing.
    Discard,
    /// Security erase of ATA.
    SecureErase,
    /// Sanitize of NVMe by block erase.
    SanitizeBlock,
    /// Sanitize of NVMe by a change of the key.
    SanitizeCrypto,
    /// Sanitize of NVMe by one overwrite.
    SanitizeOverwrite,
}

impl PurgeMethod {
    /// Every way.
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
        match self {
            PurgeMethod::Format => "format",
            PurgeMethod::Discard => "discard",
            PurgeMethod::SecureErase => "secure-erase",
            PurgeMethod::SanitizeBlock => "sanitize-block",
            PurgeMethod::SanitizeCrypto => "sanitize-crypto",
            PurgeMethod::SanitizeOverwrite => "sanitize-overwrite",
        }
    }
}

impl FromStr for PurgeMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<PurgeMethod, String> {
        PurgeMethod::ALL.into_iter().find(|method| method.name() == text).ok_or_else(|| {
            let names: Vec<&str> = PurgeMethod::ALL.iter().map(|method| method.name()).collect();
            format!("'{text}' is no way to purge a drive (known: {})", names.join(", "))
        })
    }
}

/// What a preparation really did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prepared {
    /// The way it was done, such as `sequential write` or `discard`.
    pub method: String,
    /// Bytes written to the drive.
    pub written: Bytes,
    /// How long it took.
    pub elapsed: Nanos,
    /// Whether it was cut short by a stop.
    pub stopped: bool,
}
