//! The digest of a step: its numbers, and the checksum of the samples that they follow from.

use crate::record::StepId;
use rusqlite::Connection;
use ssdgauge_core::Nanos;

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
