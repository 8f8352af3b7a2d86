//! Blocks with a stamp on the virtual drive, for the proof of a capacity.

use super::VirtualRig;
use crate::drive::Damage;
use crate::fake::{Contents, Kept};
use ssdgauge_core::proof::{Content, Found, PROOF_BLOCK, Stamp};
use ssdgauge_core::{
    Bytes, Data, Direction, Nanos, Recording, Request, RigError, Sink, StampedBlocks, StampedReads,
    Wrote,
};

/// The maximum number of blocks of one request: 128 KiB.
const REQUEST_BLOCKS: u64 = 32;
/// The requests between two calls of `go_on`. Chosen: some milliseconds.
const REQUESTS_PER_CALL: u64 = 4_096;

impl VirtualRig {
    fn contents(&mut self) -> &mut Contents {
        let (spec, capacity) = (&self.spec, self.info.capacity.0 / PROOF_BLOCK.0);
        self.contents.get_or_insert_with(|| Box::new(Contents::new(&spec.fake, capacity)))
    }

    /// Lets the drive carry out a request; returns `None` where it fails, and otherwise what becomes of
    /// the data of a write.
    fn transfer(
        &mut self,
        direction: Direction,
        first: u64,
        blocks: u64,
    ) -> Result<Option<Kept>, RigError> {
        self.check_gone(self.now)?;
        let (offset, bytes) = (first * PROOF_BLOCK.0, blocks * PROOF_BLOCK.0);
        let request = Request { direction, length: bytes as u32, offset };
        let (now, second) = (self.now, self.now / Nanos::SECOND.0);
        self.drive.end_idle(now);
        if self.drive.is_constrained(false) {
            self.drive.constrain(now, false);
        }
        self.drive.ftl.set_data(Data::Incompressible);
        let damage = self.faults.damage(request, now);
        let done = match damage {
            None => self.drive.submit(now, request, bytes),
            Some(damage) => self.drive.damage_write(now, request, bytes, damage),
        };
        self.now = self.faults.delay(done);
        // Once a second, as in a load: throttling begins and ends at the same times.
        if self.now / Nanos::SECOND.0 != second {
            self.drive.advance_power_thermal(self.now);
        }
        self.check_gone(self.now)?;
        if self.faults.fails(request, bytes) || self.contents().is_dead() {
            return Ok(None);
        }
        Ok(Some(match damage {
            None | Some(Damage::Losable) => Kept::Whole,
            Some(Damage::Dropped) => Kept::Dropped,
            Some(Damage::Flipped) => Kept::Changed,
        }))
    }
}

/// Divides `ranges` of blocks into requests.
fn requests(ranges: &[(u64, u64)]) -> impl Iterator<Item = (u64, u64)> {
    ranges.iter().flat_map(|&(first, blocks)| {
        let starts = (0..blocks).step_by(REQUEST_BLOCKS as usize);
        starts.map(move |from| (first + from, REQUEST_BLOCKS.min(blocks - from)))
    })
}

impl StampedBlocks for VirtualRig {
    fn begin_writing(&mut self, planned: Bytes, sink: &mut dyn Sink) -> Result<(), RigError> {
        if self.spec.profile.fault.power_cut().is_some() {
            let what = "fault.power_cut_at_s has no part in a proof, whose contents are kept apart: leave it out";
            return Err(RigError::Refused(what.into()));
        }
        self.check_gone(self.now)?;
        self.check_allowed(planned, sink)
    }

    fn write(
        &mut self,
        stamp: Stamp,
        ranges: &[(u64, u64)],
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Wrote, RigError> {
        let mut done = 0;
        for (number, (first, blocks)) in (0u64..).zip(requests(ranges)) {
            if number.is_multiple_of(REQUESTS_PER_CALL) && !go_on(done) {
                return Ok(Wrote::Stopped);
            }
            let failed = || Wrote::Failed(format!("write of block {first}: injected fault"));
            match self.transfer(Direction::Write, first, blocks)? {
                Some(kept) => self.contents().write(first, blocks, stamp, kept),
                None => return Ok(failed()),
            }
            if self.contents().is_dead() {
                return Ok(failed());
            }
            done += blocks;
        }
        // A flush that fails is an answer of the proof, not a finding about the run.
        let mut findings = Recording::default();
        match self.flush_drive(&mut findings) {
            Err(error @ RigError::System { .. }) => Ok(Wrote::Failed(error.to_string())),
            flushed => flushed.map(|_| Wrote::All),
        }
    }
}

impl StampedReads for VirtualRig {
    fn read(
        &mut self,
        tag: u64,
        ranges: &[(u64, u64)],
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<Vec<Found>>, RigError> {
        let mut found = Vec::new();
        let mut done = 0;
        for (number, (first, blocks)) in (0u64..).zip(requests(ranges)) {
            if number.is_multiple_of(REQUESTS_PER_CALL) && !go_on(done) {
                return Ok(None);
            }
            match self.transfer(Direction::Read, first, blocks)? {
                Some(_) => self.contents().read(first, blocks, tag, &mut found),
                // As on a real drive: the host repeats a failed read block by block.
                None => {
                    for block in first..first + blocks {
                        match self.transfer(Direction::Read, block, 1)? {
                            Some(_) => self.contents().read(block, 1, tag, &mut found),
                            None => Found::append(&mut found, block, Content::Unreadable),
                        }
                    }
                }
            }
            done += blocks;
        }
        Ok(Some(found))
    }
}
