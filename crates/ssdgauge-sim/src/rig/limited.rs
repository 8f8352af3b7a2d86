//! The limit of the bytes that the user lets a run write: on a virtual drive it ends a run as on a real one.
//!
//! It must never change a request of a run that stays within it.

use super::VirtualRig;
use super::write_limit::{LimitedSink, WriteLimit};
use ssdgauge_core::{Bytes, Ended, EndedBy, RigError, Sink, Stream, Until, Workload};

impl VirtualRig {
    /// Returns the same drive for a run that may write `allowed` bytes from now on; `None` for no limit. The
    /// steps of an interrupted run are carried out again, so that they count.
    pub fn allowing(mut self, allowed: Option<Bytes>) -> VirtualRig {
        let before = self.drive.host_writes();
        self.write_limit = allowed.map(|allowed| WriteLimit { allowed, before });
        self
    }

    fn written_by_run(&self, limit: WriteLimit) -> Bytes {
        Bytes(self.drive.host_writes().0.saturating_sub(limit.before.0))
    }

    /// Returns the bytes that the run may still write; `None` for no limit.
    fn left_to_write(&self) -> Option<Bytes> {
        let limit = self.write_limit?;
        Some(Bytes(limit.allowed.0.saturating_sub(self.written_by_run(limit).0)))
    }

    /// Checks whether the user allows `planned` more bytes, and at least one.
    pub(super) fn check_allowed(
        &self,
        planned: Bytes,
        sink: &mut dyn Sink,
    ) -> Result<(), RigError> {
        match self.left_to_write() {
            Some(left) if planned.0.max(1) > left.0 => Err(self.over_limit(sink)),
            Some(_) | None => Ok(()),
        }
    }

    fn over_limit(&self, sink: &mut dyn Sink) -> RigError {
        let limit = self.write_limit;
        let limit = limit.unwrap_or(WriteLimit { allowed: Bytes(0), before: Bytes(0) });
        let written = self.written_by_run(limit);
        RigError::over_limit(self.info.name(), written, limit.allowed, sink)
    }

    /// Carries out `act` with the bytes after which it has to end, where it only writes: `workload` up to
    /// `until`. A load that reads as well ends before a second that could exceed what the user allows.
    ///
    /// # Errors
    /// Those of `act`, and that the limit is reached.
    pub(super) fn within_limit(
        &mut self,
        workload: &Workload,
        until: &Until,
        sink: &mut dyn Sink,
        act: impl FnOnce(&mut VirtualRig, &Until, &mut dyn Sink) -> Result<Ended, RigError>,
    ) -> Result<Ended, RigError> {
        let writes = workload.streams.iter().any(Stream::writes);
        let Some(left) = self.left_to_write().filter(|_| writes) else {
            return act(self, until, sink);
        };
        let planned = until.bytes.map(|bytes| workload.whole_requests(bytes));
        self.check_allowed(planned.unwrap_or_default(), sink)?;
        // All of it is allowed, so that nothing has to be counted on the way.
        if planned.is_some() {
            return act(self, until, sink);
        }
        let only_writes = workload.streams.iter().all(|one| one.writes() && !one.reads());
        if only_writes {
            // Requests are submitted until the bytes are reached: the last one must not pass them.
            let largest = workload.streams.iter().map(|one| one.block_size.0).max();
            let bytes = Bytes((left.0 + 1).saturating_sub(largest.unwrap_or(1)));
            let ended = act(self, &Until { bytes: Some(bytes), ..*until }, sink)?;
            return match ended.by {
                EndedBy::Bytes => Err(self.over_limit(sink)),
                EndedBy::Time
                | EndedBy::Stop
                | EndedBy::DeviceLag
                | EndedBy::HostLag
                | EndedBy::Faults => Ok(ended),
            };
        }
        let mut counting = LimitedSink::new(sink, left);
        let ended = act(self, until, &mut counting)?;
        let is_over = counting.is_stopped || counting.is_over;
        match is_over {
            true => Err(self.over_limit(sink)),
            false => Ok(ended),
        }
    }
}
