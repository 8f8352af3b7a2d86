//! The search for processes that could write to the drive, in a process of its own.
//!
//! The kernel shows the open files of other processes only to a process that Landlock does not
//! restrict. So the search has the capabilities for them and no drive, and the helper has the drive
//! and not these capabilities.

use crate::capabilities;
use crate::system_calls;
use rustix::thread::CapabilitySet;
use ssdgauge_os::own_process::{self, OwnProcess};
use std::io;
use std::time::{Duration, Instant};

/// The limit of a search. Chosen: above that of all looks at loop devices, below the time after which
/// the run gives the helper up.
const LIMIT: Duration = Duration::from_secs(20);

/// Starts the search for writers of the drive with the number `device`, of the process `run`.
///
/// # Errors
/// The process cannot be started.
pub(super) fn start(device: &str, run: u32) -> io::Result<OwnProcess> {
    OwnProcess::start(&["privileged-search", device, &run.to_string()])
}

/// Returns the processes that have the drive open for writing, the run itself left out, one line each.
///
/// # Errors
/// The search has ended, or takes too long: they are then unknown.
pub(super) fn writers(search: &OwnProcess) -> io::Result<Vec<u8>> {
    search.send(&[])?;
    search.receive(Instant::now() + LIMIT).map(|(lines, _)| lines)
}

/// Serves the helper that started this process, until that ends: searches for the processes but `run`
/// and that helper that have the drive with the number `device` open for writing.
///
/// # Errors
/// Privileges cannot be dropped, or the socket fails.
pub fn serve(device: &str, run: u32) -> io::Result<()> {
    let socket = own_process::serve()?;
    // The mappings of other processes need SYS_ADMIN.
    capabilities::keep_only(
        CapabilitySet::SYS_ADMIN | CapabilitySet::SYS_PTRACE | CapabilitySet::DAC_READ_SEARCH,
    )?;
    system_calls::restrict_search();
    // The helper holds the claim of the run, by a descriptor that could write.
    let excluded = [run, std::os::unix::process::parent_id()];
    loop {
        match own_process::receive(&socket, None) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
        let lines = ssdgauge_guard::find_writers(device, &excluded).join("\n");
        own_process::send(&socket, lines.as_bytes(), None)?;
    }
}
