//! The log of single requests beside a run.

use crate::failure::{Failure, Kind};
use ssdgauge_host::LinuxRig;
use std::path::Path;

/// Begins the log of every request that `rig` will measure.
pub(crate) fn begin(rig: &mut LinuxRig, path: &Path) -> Result<(), Failure> {
    rig.log_ios(path).map_err(|error| {
        let text = format!("{}: {error}", path.display());
        Failure::new(Kind::Refused, text, "nothing was written; name a new file for the log")
    })
}
