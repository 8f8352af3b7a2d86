//! The request log that `--log-ios` writes.

use crate::failure::{Failure, FailureKind};
use crate::output;
use ssdgauge_host::LinuxRig;
use ssdgauge_sim::VirtualRig;
use std::io::{self, BufWriter};
use std::path::Path;

/// Starts a log of all requests that `rig` measures, in the new file `path`.
///
/// # Errors
///
/// Refuses a file that exists already, cannot be created, or would lie among the device nodes.
pub(crate) fn start(rig: &mut LinuxRig, path: &Path) -> Result<(), Failure> {
    rig.log_ios(path).map_err(|error| refused(path, &error))
}

/// Starts the same log of a virtual drive.
///
/// # Errors
///
/// As [`start`].
pub(crate) fn start_virtual(rig: &mut VirtualRig, path: &Path) -> Result<(), Failure> {
    let file = output::create_new(path).map_err(|error| refused(path, &error))?;
    rig.log_ios(Box::new(BufWriter::new(file))).map_err(|error| refused(path, &error))
}

fn refused(path: &Path, error: &io::Error) -> Failure {
    if ssdgauge_os::outputs::is_among_device_nodes(error) {
        return Failure::not_created(path, error);
    }
    let text = format!("{}: {error}", path.display());
    Failure::new(FailureKind::Refused, text, "nothing was written; name a new file for the log")
}
