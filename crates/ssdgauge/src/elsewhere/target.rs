//! Targets, on systems other than Linux: none is opened.

use crate::failure::{Failure, FailureKind};
use ssdgauge_core::{Bytes, DriveInfo};

/// A target that was found: there are none.
#[derive(Debug)]
pub(crate) enum Target {}

/// The requested size of the tested range of a target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeRequest {
    /// `--size`.
    pub(crate) exact: Option<Bytes>,
    /// The size of a scratch file without `--size`.
    pub(crate) scratch: Bytes,
    /// The maximum on any other target without `--size`.
    pub(crate) at_most: Option<Bytes>,
}

impl Target {
    /// Refuses the target `name`.
    ///
    /// # Errors
    ///
    /// Always.
    pub(crate) fn find(name: &str, _: SizeRequest, _: u64) -> Result<Target, Failure> {
        let text =
            format!("the target {name} is asked for its capacity and blocks, which needs Linux");
        let hint = "nothing was written; name the path of a drive of another machine with --size, or a run file";
        Err(Failure::new(FailureKind::Usage, text, hint))
    }

    /// Returns identity and geometry of the drive.
    pub(crate) fn info(&self) -> &DriveInfo {
        match *self {}
    }
}
