//! The privileged helper process: its start, its server, and what it puts back at the end.

mod saved_settings;
pub(crate) mod server;

use ssdgauge_drive::helper::HelperClient;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Starts the helper for the drive with the device number `device`.
pub(crate) fn start(device: &str) -> io::Result<HelperClient> {
    let (ours, theirs) = UnixStream::pair()?;
    Command::new("/proc/self/exe")
        .args(["privileged-part", device])
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C is for the run, which still has requests when it stops.
        .process_group(0)
        .spawn()?;
    HelperClient::connect(ours)
}
