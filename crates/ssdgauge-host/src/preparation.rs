//! Preparation of a drive by command: purge and trim, each verified by reading back.
//!
//! Nothing here opens a drive: every command goes through the descriptor that the guard admitted. A
//! command that cannot be undone is recorded durably in the run file before it is sent.

mod ata_erase;
mod format;
mod probe;
mod purge;
mod sanitize;
mod trim;

pub(crate) use purge::purge;
pub(crate) use trim::trim;

use ssdgauge_core::{Bytes, Sink};
use ssdgauge_drive::pass_through::{CommandError, PassThrough};
use ssdgauge_drive::sysfs_device::SysfsDevice;
use ssdgauge_engine::RequestError;
use ssdgauge_os::sysfs::attribute;
use ssdgauge_os::sysfs::device_size;
use std::fs::File;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The period of the checks for a stop.
const STOP_CHECK: Duration = Duration::from_millis(100);

/// An admitted drive with its command interface.
#[derive(Clone)]
pub(crate) struct PurgeTarget {
    /// The descriptor of the guard.
    pub(crate) file: Arc<File>,
    /// The interface for commands to the drive.
    pub(crate) pass_through: Arc<dyn PassThrough>,
    /// Its device in sysfs.
    pub(crate) device: SysfsDevice,
    /// The part that the run uses, from the start; the rest stays unused.
    pub(crate) used: Bytes,
}

impl PurgeTarget {
    /// Returns the size of the whole drive.
    fn whole(&self) -> Bytes {
        device_size(&self.device.folder).unwrap_or(self.used)
    }

    /// Returns whether the kernel has removed the drive, or reports a size of 0.
    fn is_removed(&self) -> bool {
        let size = attribute(&self.device.folder.join("size"));
        size.is_none_or(|sectors| sectors == "0")
    }

    /// Returns the error for a failed request to the drive.
    fn request_error(&self, error: &RequestError) -> PreparationError {
        match error.is_gone() || self.is_removed() {
            true => PreparationError::Gone,
            false => PreparationError::Ineffective(error.to_string()),
        }
    }
}

/// Reason why one method of purge or trim did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PreparationError {
    /// The method is not possible on this drive; nothing was sent.
    NotPossible(String),
    /// The command was sent, and failed or had no effect.
    Ineffective(String),
    /// The run has to stop; the drive may continue with the command.
    Stopped,
    /// The drive was removed.
    Gone,
    /// The run file could not be written, so nothing was sent.
    NotRecorded,
}

impl From<CommandError> for PreparationError {
    fn from(error: CommandError) -> PreparationError {
        match error {
            CommandError::Gone => PreparationError::Gone,
            CommandError::Status(_)
            | CommandError::Sense(..)
            | CommandError::System(_)
            | CommandError::Unprivileged => PreparationError::Ineffective(error.to_string()),
        }
    }
}

/// Runs `work`, which may block for hours, on a thread of its own, and checks for a stop meanwhile.
///
/// # Errors
/// The run has to stop, or the thread panicked. After a stop the thread ends with the command,
/// whose result nothing receives.
fn run_interruptibly<T: Send + 'static>(
    sink: &mut dyn Sink,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, PreparationError> {
    let (done, result) = channel();
    std::thread::spawn(move || {
        // Fails after a stop, when the receiver is dropped.
        let _ = done.send(work());
    });
    loop {
        match result.recv_timeout(STOP_CHECK) {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) if sink.stop() => return Err(PreparationError::Stopped),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let reason = "the thread that sent the command ended";
                return Err(PreparationError::Ineffective(reason.into()));
            }
        }
    }
}
