//! The live socket of a run: `RUN.ssdg.live` next to its run file, over which seconds reach a watcher before
//! they are committed.
//!
//! A run file alone is up to ten seconds behind. The socket is an addition to it: every second is in the file
//! too, and what is missing here, or not understood, is read there. A run never waits for a client.

pub mod receiver;
pub mod sender;

use rustix::fs::{Mode, OFlags, open};
use rustix::net::SocketAddrUnix;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The version of the lines below. A client leaves a server of another one.
const FORMAT: u32 = 2;
/// The longest line that is accepted, in bytes. A second of four directions has some 700.
const LONGEST_LINE: usize = 16 << 10;

/// The first line of a connection. A line for each second follows it, as the JSON of
/// [`Second`](super::second::Second).
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Greeting {
    format: u32,
    /// The identity of the run, so that a socket of another run is recognised.
    run_id: String,
}

/// Returns the socket of `run_file`.
fn socket_of(run_file: &Path) -> PathBuf {
    let mut name = run_file.as_os_str().to_owned();
    name.push(".live");
    PathBuf::from(name)
}

/// The address of a socket. The name of a socket has 108 bytes at most (unix(7)), so that it is given
/// relative to its folder, which is open.
#[derive(Debug)]
struct Address {
    name: SocketAddrUnix,
    /// The folder, which the name goes through.
    _folder: OwnedFd,
}

impl Address {
    /// # Errors
    ///
    /// The folder cannot be opened, or the name of the file is too long.
    fn of(socket: &Path) -> io::Result<Address> {
        let folder = socket.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = open(
            folder.unwrap_or(Path::new(".")),
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let file = socket.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let within = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(file);
        Ok(Address { name: SocketAddrUnix::new(within)?, _folder: folder })
    }
}

#[cfg(test)]
mod tests;
