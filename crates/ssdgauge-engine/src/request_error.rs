//! Why requests outside of a measured load ended without a result, and what an error number means.
//!
//! `io_errors` judges the failed requests of a measured load by the same numbers.

pub(crate) mod nvme_status;

use ssdgauge_core::{Direction, Nanos, RigError};
use std::io;
use thiserror::Error;

/// Why requests ended without a result.
#[derive(Debug, Error)]
pub enum RequestError {
    /// A request failed.
    #[error("{} failed: {cause}", direction.at(*offset))]
    Failed {
        /// What it was to do.
        direction: Direction,
        /// Its first byte.
        offset: u64,
        /// The error of the kernel.
        cause: io::Error,
    },
    /// More blocks could not be read than a verdict may leave out.
    #[error("{0} blocks could not be read")]
    Unreadable(u64),
    /// Memory or threads to send requests are not available.
    #[error("{what}: {cause}")]
    NotSent {
        /// What is missing.
        what: &'static str,
        /// The error of the kernel.
        cause: io::Error,
    },
    /// No request completed for this time.
    #[error("no request completed for {}", _0.about())]
    Hung(Nanos),
}

impl RequestError {
    /// Returns whether the kernel reports that the device does not exist.
    pub fn is_gone(&self) -> bool {
        match self {
            RequestError::Failed { cause, .. } => cause.raw_os_error().is_some_and(is_gone),
            RequestError::Unreadable(_) | RequestError::NotSent { .. } | RequestError::Hung(_) => {
                false
            }
        }
    }

    /// Returns the error of a rig that could not `what` its `drive`, such as `cannot read`.
    /// `has_vanished` says that the drive has no size any more, whatever the request returned.
    pub fn of_drive(&self, what: &str, drive: &str, has_vanished: bool) -> RigError {
        match self {
            RequestError::Hung(silence) => {
                RigError::Hung { drive: drive.to_owned(), silence: *silence }
            }
            _ if has_vanished || self.is_gone() => RigError::Gone(drive.to_owned()),
            RequestError::Failed { .. }
            | RequestError::Unreadable(_)
            | RequestError::NotSent { .. } => {
                RigError::System { what: format!("{what} {drive}"), cause: self.to_string() }
            }
        }
    }
}

/// Returns whether the error `number` says that the device does not exist.
pub fn is_gone(number: i32) -> bool {
    matches!(number, libc::ENODEV | libc::ENXIO)
}

/// Returns whether `error` may concern only the addressed blocks: a media error, or any error of the
/// drive that does not say that it is gone.
pub(crate) fn concerns_one_address(error: &io::Error) -> bool {
    // As the block layer of Linux reports a medium error, failed protection information, an error
    // without a class, and one of the target (`blk_errors` in block/blk-core.c).
    let numbers = [libc::ENODATA, libc::EILSEQ, libc::EIO, libc::EREMOTEIO];
    error.raw_os_error().is_some_and(|number| numbers.contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_is_gone_hung_or_failed_by_the_number_and_by_its_size() {
        let failed = |number| RequestError::Failed {
            direction: Direction::Read,
            offset: 4_096,
            cause: io::Error::from_raw_os_error(number),
        };
        let judged = |error: RequestError, has_vanished| {
            error.of_drive("cannot read", "/dev/x", has_vanished)
        };
        let gone = |error| matches!(error, RigError::Gone(_));
        assert!(gone(judged(failed(libc::ENODEV), false)));
        assert!(gone(judged(failed(libc::ENXIO), false)));
        assert!(gone(judged(failed(libc::EIO), true)));
        let hung = judged(RequestError::Hung(Nanos::SECOND), true);
        assert!(matches!(hung, RigError::Hung { .. }), "a drive that does not answer: {hung}");
        let system = judged(failed(libc::EIO), false).to_string();
        assert!(system.starts_with("cannot read /dev/x: read at byte 4096 failed: "), "{system}");
        for (number, is_local) in [(libc::EIO, true), (libc::ENODATA, true), (libc::ENXIO, false)] {
            let error = io::Error::from_raw_os_error(number);
            assert_eq!(concerns_one_address(&error), is_local, "{number}");
        }
    }
}
