//! Flushes, and blocks that were read back, in the properties of a run file.

use crate::model::{Durability, ReportError, VerifiedRun};
use crate::text::sanitize;
use ssdgauge_core::{Flush, Nanos, ReadBack, Verified};
use ssdgauge_runfile::{FLUSH, PropertyRecord, READ_BACK, RunFile, StepId, StepRecord, VERIFIED};
use std::collections::BTreeMap;

/// What a run file holds about the durability of its writes.
#[derive(Debug, Default)]
pub(crate) struct RecordedDurability {
    flushes: BTreeMap<StepId, Flush>,
    read_back: Vec<ReadBack>,
    verified: Option<Verified>,
}

/// Reads the properties of `file`. A property that cannot be read counts as absent, as a report of the
/// engine does.
pub(crate) fn read(file: &RunFile) -> Result<RecordedDurability, ReportError> {
    let mut recorded = RecordedDurability::default();
    for PropertyRecord { step, key, value } in file.properties()? {
        match (key.as_str(), step) {
            (FLUSH, Some(step)) => {
                let flush = serde_json::from_str(&value).ok();
                recorded.flushes.extend(flush.map(|flush| (step, sanitized(flush))));
            }
            (VERIFIED, None) => recorded.verified = serde_json::from_str(&value).ok(),
            (READ_BACK, Some(_)) => recorded.read_back.extend(serde_json::from_str(&value).ok()),
            _ => {}
        }
    }
    Ok(recorded)
}

fn sanitized(flush: Flush) -> Flush {
    Flush { device: flush.device.as_deref().map(sanitize::prose), ..flush }
}

impl RecordedDurability {
    /// Returns the flush after the last of `records`, where there was one.
    pub(crate) fn flush_after(&self, records: &[&StepRecord]) -> Option<Flush> {
        self.flushes.get(&records.last()?.id).cloned()
    }

    /// Returns the sums over the run; `None` where it holds neither.
    pub(crate) fn of_run(&self) -> Option<Durability> {
        let flushes = || self.flushes.values();
        let sum = |values: &mut dyn Iterator<Item = u64>| values.fold(0, u64::saturating_add);
        let counted: Option<Vec<u64>> = flushes().map(|flush| flush.counted).collect();
        let is_recorded =
            !self.flushes.is_empty() || !self.read_back.is_empty() || self.verified.is_some();
        is_recorded.then(|| Durability {
            flushes: sum(&mut flushes().map(|flush| flush.sent)),
            counted: counted.map(|counted| sum(&mut counted.into_iter())),
            longest: flushes().map(|flush| flush.elapsed).max().unwrap_or(Nanos::ZERO),
            read_back: sum(&mut self.read_back.iter().map(|one| one.read)),
            lost: sum(&mut self.read_back.iter().map(|one| one.lost.len() as u64)),
            verified: self.verified.as_ref().map(|one| VerifiedRun {
                bytes: one.bytes,
                blocks: one.blocks,
                wrong: one.wrong,
                elapsed: one.elapsed,
            }),
        })
    }
}
