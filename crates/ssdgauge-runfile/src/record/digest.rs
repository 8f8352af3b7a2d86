//! The digest of a step: its numbers, and the checksum of the samples that they follow from.

use crate::record::StepId;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use ssdgauge_core::Nanos;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The content of a digest.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Content<'a> {
    /// The numbers, by the key of a metric with the prefix of its direction.
    #[serde(flatten, skip_deserializing)]
    pub(crate) numbers: BTreeMap<String, f64>,
    /// What the samples amount to; `None` where they contradict each other, or another program measured.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) samples: Option<Packed<'a>>,
}

/// What the samples of a step amount to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Packed<'a> {
    /// The instruments that read each quantity.
    pub(crate) instruments: BTreeMap<String, BTreeSet<String>>,
    /// Sums and seconds: [`ssdgauge_core::AggregatedStep::pack`] as a zlib stream in Base64.
    #[serde(borrow)]
    pub(crate) packed: Cow<'a, str>,
}

/// Returns CRC-32 over the checksums of the samples of `step` up to its end after `elapsed`: of the intervals,
/// then of the readings, in the order of recording, each as four bytes, the lowest first.
pub(crate) fn samples_crc(
    connection: &Connection,
    step: StepId,
    elapsed: Nanos,
) -> rusqlite::Result<u32> {
    let mut crc = crc32fast::Hasher::new();
    let until = i64::try_from(elapsed.0).unwrap_or(i64::MAX);
    for sql in [
        "SELECT crc FROM interval WHERE step_id = ?1 AND ?2 >= 0 ORDER BY rowid",
        "SELECT crc FROM reading WHERE step_id = ?1 AND at_ns <= ?2 ORDER BY rowid",
    ] {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([step.0, until])?;
        while let Some(row) = rows.next()? {
            crc.update(&row.get::<_, u32>(0)?.to_le_bytes());
        }
    }
    Ok(crc.finalize())
}
