//! The counters of wear in a run file, over all of its steps: preparations wear a drive as well.

use crate::model::{LifeCounter, ReportError, Wear};
use ssdgauge_core::{Bytes, Detail, MediaWrites, Nanos};
use ssdgauge_runfile::{RATED_ENDURANCE, RunFile, StepRecord};
use std::collections::BTreeMap;

/// The quantities of the counters; sectors are those of ATA drives.
const HOST_BYTES: &str = "host_written_bytes";
const HOST_SECTORS: &str = "host_written_sectors";
const READ_SECTORS: &str = "host_read_sectors";
const MEDIA: &str = "media_written_bytes";
const USED: &str = "used_percent";
const IN_STEP: &str = MediaWrites::BYTES[0];

/// The sectors from which on a counter is known to have more than 32 bits: the logs of many drives have no more.
const WIDE: f64 = (1u64 << 32) as f64;
/// The write amplification that no drive is below, unless it compresses (`ssdgauge-drive`).
const LEAST_AMPLIFICATION: f64 = 0.95;

/// Reads the counters of `file`, whose steps are `steps`.
pub(crate) fn read(file: &RunFile, steps: &[StepRecord]) -> Result<Wear, ReportError> {
    let mut wear = Wear { rated: rated(file)?, ..Wear::default() };
    // A virtual drive counts from its making, which is the begin of the run.
    if file.head().drive.is_model() {
        return Ok(wear);
    }
    let sector = file.head().drive.logical_block.0 as f64;
    let started: BTreeMap<i64, f64> =
        steps.iter().map(|record| (record.id.0, record.started_unix_ms as f64)).collect();
    // The time of the first reading of the counter of hosts, in milliseconds.
    let mut begin = None;
    // Whether hosts are counted in sectors, and the largest count of any of them.
    let (mut is_in_sectors, mut largest) = (false, 0.0f64);
    let quantities = [HOST_BYTES, HOST_SECTORS, READ_SECTORS, MEDIA, USED, IN_STEP];
    file.readings_of(&quantities, |step, reading| {
        let value = reading.value;
        if !(value.is_finite() && value >= 0.0) {
            return;
        }
        match reading.quantity.as_str() {
            MEDIA => wear.media = Some(value),
            USED => wear.used_percent = Some(value),
            READ_SECTORS => largest = largest.max(value),
            IN_STEP => *wear.media_in_run.get_or_insert(0.0) += value,
            quantity => {
                let Some(started) = started.get(&step.0) else { return };
                let now = started + reading.at.0 as f64 / 1e6;
                let bytes = match quantity == HOST_SECTORS {
                    true => {
                        (is_in_sectors, largest) = (true, largest.max(value));
                        value * sector
                    }
                    false => value,
                };
                let begin = *begin.get_or_insert(now);
                let elapsed = Nanos(((now - begin).max(0.0) * 1e6) as u64);
                let first = wear.host.map_or(bytes, |host| host.first);
                wear.host = Some(LifeCounter { first, last: bytes, elapsed, may_wrap: false });
            }
        }
    })?;
    let is_too_little = wear.media.is_some_and(|media| media < LEAST_AMPLIFICATION * WIDE * sector);
    let may_wrap = is_in_sectors && largest < WIDE && !is_too_little;
    if let Some(host) = &mut wear.host {
        host.may_wrap = may_wrap;
    }
    if (wear.host.is_none() && wear.rated.is_some()) || may_wrap {
        let mut sent = Bytes(0);
        for record in steps {
            sent += file.written(record)?;
        }
        wear.sent = Some(sent);
    }
    Ok(wear)
}

/// Returns the rated endurance that the user gave.
fn rated(file: &RunFile) -> Result<Option<Bytes>, ReportError> {
    let properties = file.properties()?;
    let found = properties.iter().find(|one| one.step.is_none() && one.key == RATED_ENDURANCE);
    let bytes = found.and_then(|one| one.value.parse().ok());
    // Files of other programs may have it among the details of the drive.
    let detail = || file.head().drive.number(Detail::RatedEndurance);
    Ok(bytes.or_else(detail).filter(|bytes| *bytes > 0).map(Bytes))
}
