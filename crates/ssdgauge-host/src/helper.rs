//! The privileged helper process: its start, its server, and the settings that it restores.

mod saved_settings;
pub(crate) mod server;

use ssdgauge_drive::helper::HelperClient;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Starts the helper for the drive with the device number `device`.
///
/// # Errors
/// The process cannot be started, or it could not open the drive.
pub(crate) fn start(device: &str) -> io::Result<HelperClient> {
    let (ours, theirs) = UnixStream::pair()?;
    Command::new("/proc/self/exe")
        .args(["privileged-helper", device])
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C goes to the foreground process group. The run still needs the helper while it
        // stops, and ends it by closing the socket.
        .process_group(0)
        .spawn()?;
    HelperClient::connect(ours)
}
