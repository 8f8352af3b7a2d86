//! Steps by what the run recorded of them at their end.

use crate::error::RunFileError;
use crate::packed;
use crate::record::StepRecord;
use crate::record::digest::{Content, Packed};
use crate::record::reader::{Digests, RunFile};
use crate::room::Room;
use ssdgauge_core::{AggregatedStep, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// What a step amounts to by its digest.
#[derive(Debug)]
pub struct DigestedStep {
    /// Its sums and seconds.
    pub samples: AggregatedStep,
    /// The instruments that read each quantity.
    pub instruments: BTreeMap<String, BTreeSet<String>>,
}

impl RunFile {
    /// Returns what `digests` have of the step with `workload` whose only record is `record`; `None` where it
    /// has to be computed from its samples. Its memory is taken from `room`.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where the digest fails its check, [`RunFileError::TooLarge`] where `room` is
    /// too small.
    pub fn digested(
        &self,
        digests: &Digests,
        workload: &Workload,
        record: &StepRecord,
        room: &mut Room,
    ) -> Result<Option<DigestedStep>, RunFileError> {
        let content = self.digest_content(digests, record.id)?;
        let step = content.and_then(|content| unpack(&content, workload, room.left()));
        let is_whole = |step: &DigestedStep| Some(step.samples.whole.elapsed) == record.elapsed;
        let Some(mut step) = step.filter(is_whole) else { return Ok(None) };
        room.take(step.samples.size())?;
        step.samples.whole.executions = 1;
        Ok(Some(step))
    }
}

/// Returns the step with `workload` that the `content` of a digest describes, within `room` bytes of memory.
fn unpack(content: &str, workload: &Workload, room: u64) -> Option<DigestedStep> {
    let Content { samples, .. } = serde_json::from_str(content).ok()?;
    let Packed { instruments, packed } = samples?;
    let samples = AggregatedStep::unpack(&packed::decode(&packed, room)?, workload)?;
    Some(DigestedStep { samples, instruments })
}
