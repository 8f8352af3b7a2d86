//! Durability of written data: flushes, and blocks that are read back.

use super::LinuxRig;
use super::prepare::fill_workload;
use crate::monitor;
use ssdgauge_core::{
    Action, Bytes, Finding, FindingKind, Flush, Nanos, Preparation, ReadBack, RigError, Severity,
    Sink, Verified,
};
use ssdgauge_engine::{self as engine, FLUSH_LIMIT, Place, RequestError, Verification};
use ssdgauge_guard::{OpenTarget, signatures};
use ssdgauge_os::sysfs::name_of;
use std::time::{Duration, Instant};

/// The limit of a flush through the page cache, from which the kernel may first have to write gigabytes.
/// Chosen.
const CACHED_FLUSH_LIMIT: Duration = Duration::from_secs(600);
/// The limit of the reads of what earlier parts of the run have filled, of which reads begin in the first
/// quarter: a drive that was asleep may take ten seconds to spin up.
const EARLIER_TIMEOUT: Nanos = Nanos::from_secs(60);

impl LinuxRig {
    /// Sends a flush and waits for it.
    pub(super) fn flush_target(&mut self, sink: &mut dyn Sink) -> Result<Option<Flush>, RigError> {
        let Some(file) = self.file().cloned() else { return Ok(None) };
        let limit = match &self.page_cache_reason {
            Some(_) => CACHED_FLUSH_LIMIT,
            None => FLUSH_LIMIT,
        };
        let before = self.completed_flushes();
        let since = Instant::now();
        let flushed = engine::flush(&file, limit, &mut || !sink.stop());
        let elapsed = Nanos(since.elapsed().as_nanos() as u64);
        flushed.map_err(|error| self.flush_failed(&error, sink))?;
        let after = self.completed_flushes();
        let counted = before.zip(after).map(|(before, after)| after.wrapping_sub(before));
        let node = self.backing.as_ref().and_then(|backing| backing.node.as_deref());
        let device = node.filter(|_| counted.is_some()).map(name_of);
        Ok(Some(Flush { sent: 1, elapsed, device, counted }))
    }

    /// Takes note of what `action`, a step of an earlier process of this run, has written.
    pub(super) fn note_earlier(&mut self, action: &Action, is_finished: bool) {
        match action {
            Action::Prepare(Preparation::Fill { access, block_size, offset, span }) => {
                let workload = fill_workload(*access, *block_size, *offset, *span);
                match is_finished {
                    true => {
                        self.verification.fill_earlier(offset.0, (*offset + *span).0);
                        self.verification.write(&workload, true);
                    }
                    false => self.verification.write_earlier(&workload, false),
                }
                self.earlier_pool = self.earlier_pool.max(engine::longest_pool(&workload));
            }
            Action::Prepare(Preparation::Trim { offset, span }) => {
                self.verification.invalidate(offset.0, (*offset + *span).0);
            }
            Action::Prepare(Preparation::Purge | Preparation::PurgeBy(_)) => {
                self.verification.invalidate(0, u64::MAX);
            }
            Action::Replay(replay) if replay.workload.changes_data() => {
                self.verification.invalidate(0, replay.workload.end().0);
            }
            Action::Replay(_) => {}
            Action::Run { workload, .. } => {
                self.invalidate_unverified(workload);
                self.verification.write_earlier(workload, is_finished);
                self.earlier_pool = self.earlier_pool.max(engine::longest_pool(workload));
            }
            Action::Prepare(Preparation::Power(_) | Preparation::WriteCache(_))
            | Action::Rest(_)
            | Action::Idle(_) => {}
        }
        if self.is_block() {
            // An orderly end, and the first step of this process that writes, put the ownership label
            // there.
            self.verification.invalidate(0, signatures::LABEL_LENGTH as u64);
        }
    }

    /// Reads blocks of what `earlier` have filled, spread over all of it.
    pub(super) fn read_earlier_fills(
        &mut self,
        earlier: &[(&Action, bool)],
    ) -> Result<Option<ReadBack>, RigError> {
        // A scratch file is new in each process.
        if !self.is_block() || self.page_cache_reason.is_some() {
            return Ok(None);
        }
        let known = (self.verification.clone(), self.earlier_pool);
        for (action, is_finished) in earlier {
            self.note_earlier(action, *is_finished);
        }
        let verification = std::mem::replace(&mut self.verification, known.0);
        self.earlier_pool = known.1;
        let places = verification.places(None, self.info.capacity.0, ReadBack::BLOCKS, self.seed);
        let found = self.read_places(&verification, places, EARLIER_TIMEOUT)?;
        let foreign_at = found.as_ref().and_then(|found| found.foreign_at);
        match (foreign_at, self.unconfirmed_loss()) {
            (Some(at), Some(confirmation)) => Err(RigError::Holds {
                drive: self.info.target.clone(),
                what: format!("data that this run never wrote at byte {at}"),
                confirmation: confirmation.to_owned(),
            }),
            (_, _) => Ok(found),
        }
    }

    /// Returns what would confirm the loss of other people's data; `None` where it was confirmed, or where the target
    /// cannot hold any.
    fn unconfirmed_loss(&self) -> Option<&str> {
        match &self.target {
            OpenTarget::Drive(drive) => drive.unconfirmed_loss(),
            OpenTarget::Null | OpenTarget::Scratch(_) => None,
        }
    }

    /// Returns the flushes that the target has completed, where it is a block device.
    fn completed_flushes(&self) -> Option<u64> {
        self.backing.as_ref()?.node.as_deref().and_then(monitor::completed_flushes)
    }

    /// Emits the finding about a flush that failed, and returns the error.
    fn flush_failed(&mut self, error: &RequestError, sink: &mut dyn Sink) -> RigError {
        let (kind, text, advice) = match error {
            RequestError::Hung(silence) => (
                FindingKind::Hung,
                format!("the drive did not complete a flush within {}", silence.about()),
                "check the kernel log; a drive that hangs may need a power cycle",
            ),
            _ if error.is_gone() || self.has_vanished() => (
                FindingKind::DriveGone,
                format!("the drive is gone: a {error}"),
                "check the kernel log, the connector and the power supply",
            ),
            RequestError::Failed { .. }
            | RequestError::Unreadable(_)
            | RequestError::NotSent { .. } => (
                FindingKind::FlushFailed,
                format!("a {error}; data that was written may not be on the drive"),
                "check the kernel log and the health of the drive before you use any number",
            ),
        };
        sink.finding(Finding::new(kind, Severity::Invalid, text, advice));
        self.failed("cannot flush", error)
    }

    /// Reads everything that this run wrote, and compares every byte of it.
    pub(super) fn verify_written(
        &mut self,
        progress: &mut dyn FnMut(Bytes, Bytes) -> bool,
    ) -> Result<Option<Verified>, RigError> {
        let Some(file) = self.file().cloned() else { return Ok(None) };
        // The page cache returns what was written whatever the drive holds.
        if self.page_cache_reason.is_some() {
            return Ok(None);
        }
        let (pool, end) = ((&self.pool, self.earlier_pool), self.info.capacity.0);
        let verified = engine::verify(&file, &self.verification, pool, end, progress)
            .map_err(|error| self.failed("cannot verify what was written to", &error))?;
        if verified.as_ref().is_some_and(|verified| verified.wrong > 0) {
            self.budget.record_failure();
        }
        Ok(verified)
    }

    /// Reads blocks that this run wrote, within `at_most`, and compares them with what was written
    /// last. Reads begin in its first quarter, so that a slow drive returns fewer blocks and a hung one
    /// is recognised.
    pub(super) fn read_places_back(
        &mut self,
        at_most: Nanos,
    ) -> Result<Option<ReadBack>, RigError> {
        // The page cache returns what was written whatever the drive holds.
        if self.page_cache_reason.is_some() {
            return Ok(None);
        }
        let (end, seed) = (self.info.capacity.0, self.seed);
        let pool = self.pool.written();
        let places = self.verification.places(pool.as_ref(), end, ReadBack::BLOCKS, seed);
        let read_back = self.read_places(&self.verification.clone(), places, at_most)?;
        if read_back.as_ref().is_some_and(|read_back| !read_back.lost.is_empty()) {
            self.budget.record_failure();
        }
        Ok(read_back)
    }

    /// Reads `places`, whose contents `verification` knows, within `at_most`; `None` without any.
    fn read_places(
        &mut self,
        verification: &Verification,
        places: Vec<Place>,
        at_most: Nanos,
    ) -> Result<Option<ReadBack>, RigError> {
        let Some(file) = self.file().filter(|_| !places.is_empty()).cloned() else {
            return Ok(None);
        };
        let read_back = engine::read_back(&file, verification, places, at_most.into());
        let read_back = read_back
            .map_err(|error| self.failed("cannot read back what was written to", &error))?;
        Ok(Some(read_back))
    }
}
