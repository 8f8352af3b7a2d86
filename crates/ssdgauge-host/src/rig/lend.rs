//! The target for another program, while this process holds it: the same file, admitted by the guard.

use super::LinuxRig;
use ssdgauge_core::{RigError, Sink, Until, Workload};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

impl LinuxRig {
    /// Returns a path that leads another program to the target for `workload`, limited by `until`: the
    /// open descriptor of this process, so that no other file or drive can take its name meanwhile. The
    /// checks are those of a step of this rig; the blocks that `workload` writes are no longer verified.
    ///
    /// The caller waits for the other program, and sends no request itself meanwhile.
    ///
    /// # Errors
    /// The target is no file, has no O_DIRECT, is not written where `workload` reads, or the drive is
    /// not the admitted one or in use by others.
    pub fn lend(
        &mut self,
        workload: &Workload,
        until: &Until,
        sink: &mut dyn Sink,
    ) -> Result<PathBuf, RigError> {
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
        let Some(file) = self.file() else {
            return Err(RigError::Refused(format!("{} is no file", self.info.target)));
        };
        Ok(PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())))
    }
}
