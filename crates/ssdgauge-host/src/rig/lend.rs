//! The target for another program, while this process holds it: the same file, admitted by the guard.

use super::LinuxRig;
use ssdgauge_core::{Bytes, RigError, Sink, Until, Workload};
use std::fs::File;
use std::sync::Arc;

impl LinuxRig {
    /// Returns the open target, for another program that runs `workload`, limited by `until`, on this
    /// descriptor: no other file or drive can take its name meanwhile, and a drive stays claimed until
    /// the other program ends. The checks are those of a step of this rig; the blocks that `workload`
    /// writes are no longer verified.
    ///
    /// The caller waits for the other program, sends no request itself meanwhile, limits it by
    /// [`LinuxRig::limited`], and calls [`LinuxRig::returned`] then.
    ///
    /// # Errors
    /// The target is not a file, has no O_DIRECT, is not written where `workload` reads, or the drive is
    /// not the admitted one or in use by others.
    pub fn lend(
        &mut self,
        workload: &Workload,
        until: &Until,
        sink: &mut dyn Sink,
    ) -> Result<Arc<File>, RigError> {
        self.check_filled(workload)?;
        if let Some(reason) = &self.page_cache_reason {
            let target = &self.info.target;
            let text = format!("requests to {target} go through the page cache: {reason}");
            return Err(RigError::Refused(text));
        }
        if workload.writes() {
            self.budget.before_writing(&self.target, until.bytes, sink)?;
        }
        for stream in workload.streams.iter().filter(|stream| stream.writes()) {
            self.verification.invalidate(stream.offset.0, (stream.offset + stream.span).0);
        }
        let file = self.file().cloned();
        file.ok_or_else(|| RigError::Refused(format!("{} is not a file", self.info.target)))
    }

    /// Returns the limits of another program that runs `workload`: those of `until`, and the bytes that may still be
    /// written.
    pub fn limited(&self, workload: &Workload, until: &Until) -> Until {
        self.budget.limited_in_sum(workload, until)
    }

    /// Counts the `written` bytes of the program that ran `workload`, which was to be limited by `until`.
    ///
    /// # Errors
    /// The program reached the bytes that may be written.
    pub fn returned(
        &mut self,
        workload: &Workload,
        until: &Until,
        written: Bytes,
        sink: &mut dyn Sink,
    ) -> Result<(), RigError> {
        let load = (workload, until);
        self.budget.after_lending(&self.info.target, load, written, sink)
    }
}
