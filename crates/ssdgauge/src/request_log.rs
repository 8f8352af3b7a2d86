//! The request log that `--log-ios` writes.

use crate::failure::{Failure, FailureKind};
use crate::output;
use ssdgauge_host::LinuxRig;
use std::path::Path;

/// Starts a log of all requests that `rig` measures, in the new file `path`.
///
/// # Errors
///
/// Refuses a file that exists already, cannot be created, or would lie among the device nodes.
pub(crate) fn start(rig: &mut LinuxRig, path: &Path) -> Result<(), Failure> {
    output::check_place(path)?;
    rig.log_ios(path).map_err(|error| {
        let text = format!("{}: {error}", path.display());
        Failure::new(FailureKind::Refused, text, "nothing was written; name a new file for the log")
    })
}
