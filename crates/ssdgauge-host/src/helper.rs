//! The privileged helper process: its start, its server, and the settings that it restores.

mod attachment;
mod permissions;
mod saved_settings;
pub(crate) mod search;
pub(crate) mod server;

use ssdgauge_core::DriveChange;
use ssdgauge_drive::helper::HelperClient;
use ssdgauge_os::child::End;
use ssdgauge_os::own_process;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Starts the helper for the drive with the device number `device` and the disk sequence `sequence`,
/// which may be changed as in `changes`. The helper inherits `claim`, the exclusive descriptor of the drive: a
/// command that it sends, such as a format, is carried out to its end also where the run was killed, and no other
/// program may have the drive meanwhile. Returns the client, and the restrictions of the kernel for the helper as
/// text.
///
/// # Errors
/// The process cannot be started, or it could not open the drive, or found another attachment of it.
pub(crate) fn start(
    device: &str,
    sequence: Option<u64>,
    changes: &[DriveChange],
    claim: BorrowedFd<'_>,
) -> io::Result<(HelperClient, String)> {
    // The run still needs the helper while it stops, and ends it by closing the socket.
    let changes: Vec<String> = changes.iter().map(DriveChange::to_string).collect();
    let sequence = sequence.map(|number| format!("--sequence={number}"));
    let held = format!("--claim=/dev/fd/{}", claim.as_raw_fd());
    let mut line = vec!["privileged-helper", device, &held];
    line.extend(sequence.as_deref());
    line.extend(changes.iter().map(String::as_str));
    let (process, socket) = own_process::start(&line, End::AtEndOfInput, &[claim])?;
    HelperClient::connect(process, socket)
}
