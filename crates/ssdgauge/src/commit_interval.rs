//! The interval between two commits of the run file within a step.

use ssdgauge_core::{DriveInfo, Nanos, TargetKind};
use ssdgauge_lab::{SEPARATE_COMMIT_INTERVAL, SHARED_COMMIT_INTERVAL};
use ssdgauge_os::topology::Kernel;
use std::path::Path;

/// Returns the interval for the run file `results` and the drive under test `drive`: short where a
/// commit cannot disturb the drive.
pub(crate) fn for_run(results: &Path, drive: &DriveInfo) -> Nanos {
    let is_separate = match drive.kind {
        TargetKind::Block | TargetKind::File => {
            Kernel::look().are_on_different_drives(results, Path::new(&drive.target))
        }
        TargetKind::Null | TargetKind::Virtual => false,
    };
    if is_separate { SEPARATE_COMMIT_INTERVAL } else { SHARED_COMMIT_INTERVAL }
}
