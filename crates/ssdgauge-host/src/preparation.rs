//! What brings a drive into a state: purge and trim, each with a proof that it had an effect.
//!
//! Nothing here opens a drive: every command goes through the descriptor that the guard admitted.
//! What cannot be taken back is durable in the run file before it is sent.

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
use ssdgauge_os::sysfs::attribute;
use ssdgauge_os::sysfs::device_size;
use std::fs::File;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often a stop is looked for.
const GLANCE: Duration = Duration::from_millis(100);

/// A drive that was admitted, and what leads to it.
#[derive(Clone)]
pub(crate) struct PurgeTarget {
    /// The descriptor of the guard.
    pub(crate) file: Arc<File>,
    /// Where commands to the drive itself go.
    pub(crate) pass_through: Arc<dyn PassThrough>,
    /// Its place in /sys.
    pub(crate) place: SysfsDevice,
    /// The part that the run uses; what lies behind it stays unused.
    pub(crate) used: Bytes,
}

impl PurgeTarget {
    /// Returns the size of the whole drive.
    fn whole(&self) -> Bytes {
        device_size(&self.place.folder).unwrap_or(self.used)
    }

    /// Returns whether the drive has left, as far as the kernel knows.
    fn is_gone(&self) -> bool {
        let size = attribute(&self.place.folder.join("size"));
        size.is_none_or(|sectors| sectors == "0")
    }
}

/// Why one way of preparation did not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failed {
    /// It is not possible here; nothing was sent.
    Impossible(String),
    /// The drive was told, and did not do it.
    InVain(String),
    /// Somebody wants the run to stop; the drive may go on by itself.
    Stopped,
    /// The drive is gone.
    Gone,
    /// The run file could not be written, so nothing was sent.
    NotRecorded,
}

impl From<CommandError> for Failed {
    fn from(refusal: CommandError) -> Failed {
        match refusal {
            CommandError::Gone => Failed::Gone,
            CommandError::Status(_)
            | CommandError::Sense(..)
            | CommandError::System(_)
            | CommandError::Unprivileged => Failed::InVain(refusal.to_string()),
        }
    }
}

/// Does something that blocks, on a thread of its own, and looks for a stop meanwhile.
fn await_answer<T: Send + 'static>(
    sink: &mut dyn Sink,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failed> {
    let (done, answer) = channel();
    std::thread::spawn(move || {
        // Nobody listens any more after a stop.
        let _ = done.send(work());
    });
    loop {
        match answer.recv_timeout(GLANCE) {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) if sink.stop() => return Err(Failed::Stopped),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failed::InVain("the thread that asked ended".into()));
            }
        }
    }
}
