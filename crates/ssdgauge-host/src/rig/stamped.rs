//! Blocks with a stamp on a real target, for the proof of a capacity.

use super::LinuxRig;
use ssdgauge_core::proof::{Found, PROOF_BLOCK, Stamp};
use ssdgauge_core::{Bytes, Recording, RigError, Sink, StampedBlocks, StampedReads, Wrote};
use ssdgauge_engine::stamped;

impl LinuxRig {
    /// Returns whether reads reach a drive: not without one, nor through the page cache, which returns
    /// what was written whatever the drive holds.
    pub(super) fn reaches_drive(&self) -> bool {
        self.file().is_some() && self.page_cache_reason.is_none()
    }
}

impl StampedBlocks for LinuxRig {
    fn begin_writing(&mut self, planned: Bytes, sink: &mut dyn Sink) -> Result<(), RigError> {
        self.budget.before_writing(&self.target, Some(planned), sink)
    }

    fn write(
        &mut self,
        stamp: Stamp,
        ranges: &[(u64, u64)],
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Wrote, RigError> {
        let Some(file) = self.file().cloned() else {
            return Err(RigError::Refused(format!("{} stores no blocks", self.info.target)));
        };
        let blocks: u64 = ranges.iter().map(|(_, blocks)| blocks).sum();
        match stamped::write(&file, stamp, ranges, go_on) {
            Ok(is_whole) => {
                let written = PROOF_BLOCK * blocks;
                self.budget.after_blocks(&self.info.target, written, &mut Recording::default())?;
                Ok(if is_whole { Wrote::All } else { Wrote::Stopped })
            }
            Err(error) => match self.failed("cannot write", &error) {
                // A request that failed is an answer of the drive, which the proof judges.
                RigError::System { cause, .. } => Ok(Wrote::Failed(cause)),
                error => Err(error),
            },
        }
    }
}

impl StampedReads for LinuxRig {
    fn read(
        &mut self,
        tag: u64,
        ranges: &[(u64, u64)],
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<Vec<Found>>, RigError> {
        let Some(file) = self.file().cloned() else { return Ok(None) };
        stamped::read(&file, tag, ranges, go_on).map_err(|error| self.failed("cannot read", &error))
    }
}
