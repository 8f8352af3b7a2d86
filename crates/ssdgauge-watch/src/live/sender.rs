//! The side of the run: sends each second to every client.
//!
//! No call waits: a client that does not read is disconnected.

use super::{Address, FORMAT, Greeting, socket_of};
use crate::second::Second;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendFlags, SocketFlags, SocketType, accept_with, connect, listen, send,
    socket_with,
};
use ssdgauge_core::{DriveInfo, TargetKind};
use ssdgauge_os::outputs;
use std::collections::VecDeque;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Clients at a time; further ones are disconnected, and read the file.
const MAX_CLIENTS: usize = 16;
/// The last seconds that a new client gets: more than lie between two commits, so that none is missing
/// between the file and the socket.
const KEPT: usize = 120;

/// The live socket of a run. When it is dropped, it is removed.
#[derive(Debug)]
pub struct LiveSeconds {
    listener: OwnedFd,
    clients: Vec<OwnedFd>,
    /// The first line, and those of the last seconds.
    greeting: Vec<u8>,
    recent: VecDeque<Vec<u8>>,
    socket: PathBuf,
    /// Device and inode of the socket.
    identity: (u64, u64),
}

impl LiveSeconds {
    /// Returns the live socket of a run on `drive`; `None` where there is none: a virtual drive computes
    /// hours within seconds, and its file is as fast. A run without a socket is watched by its file.
    pub fn of_run(run_file: &Path, run_id: &str, drive: &DriveInfo) -> Option<LiveSeconds> {
        let is_in_real_time = drive.kind != TargetKind::Virtual;
        is_in_real_time.then(|| LiveSeconds::listen(run_file, run_id).ok()).flatten()
    }

    /// Removes what a run that was killed has left next to `run_file`, where no further one listens there.
    pub fn remove_left(run_file: &Path) {
        let socket = socket_of(run_file);
        // One that cannot be removed does no harm: a watcher then reads the file.
        let _ = Address::of(&socket).and_then(|address| remove_stale(&socket, &address));
    }

    /// Listens next to `run_file`, the file of the run `run_id`, which this process holds for writing. What a
    /// killed run left there is replaced.
    ///
    /// # Errors
    ///
    /// The file system has no sockets, the name is too long or taken by something else.
    pub(super) fn listen(run_file: &Path, run_id: &str) -> io::Result<LiveSeconds> {
        let socket = socket_of(run_file);
        let address = Address::of(&socket)?;
        remove_stale(&socket, &address)?;
        let listener = outputs::create_socket(&socket)?;
        let metadata = fs::symlink_metadata(&socket)?;
        listen(&listener, MAX_CLIENTS as i32)?;
        Ok(LiveSeconds {
            listener,
            clients: Vec::new(),
            greeting: line(&Greeting { format: FORMAT, run_id: run_id.to_owned() }),
            recent: VecDeque::with_capacity(KEPT),
            socket,
            identity: (metadata.dev(), metadata.ino()),
        })
    }

    /// Sends a second to every client. They are accepted here: before, there is nothing to send.
    pub fn send(&mut self, second: &Second) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        for _ in 0..MAX_CLIENTS {
            let Ok(client) = accept_with(&self.listener, flags) else { break };
            let mut so_far = self.greeting.clone();
            self.recent.iter().for_each(|second| so_far.extend(second));
            if self.clients.len() < MAX_CLIENTS && takes(&client, &so_far) {
                self.clients.push(client);
            }
        }
        let second = line::<Second>(second);
        self.clients.retain(|client| takes(client, &second));
        if self.recent.len() == KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back(second);
    }
}

impl Drop for LiveSeconds {
    fn drop(&mut self) {
        let is_own = |file: fs::Metadata| (file.dev(), file.ino()) == self.identity;
        if fs::symlink_metadata(&self.socket).is_ok_and(is_own) {
            // What stays is replaced by the next run of this file.
            let _ = fs::remove_file(&self.socket);
        }
    }
}

fn stream_socket() -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

/// Removes `socket` where it is one that no process listens on.
fn remove_stale(socket: &Path, address: &Address) -> io::Result<()> {
    match fs::symlink_metadata(socket) {
        Ok(metadata) if metadata.file_type().is_socket() => {
            match connect(&stream_socket()?, &address.name) {
                Err(Errno::CONNREFUSED) => fs::remove_file(socket),
                _ => Err(io::ErrorKind::AddrInUse.into()),
            }
        }
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns whether `client` takes all of `text` at once. One that does not would get torn lines.
fn takes(client: &OwnedFd, text: &[u8]) -> bool {
    let sent = send(client, text, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    sent.is_ok_and(|sent| sent == text.len())
}

fn line<T: serde::Serialize>(value: &T) -> Vec<u8> {
    let mut text = serde_json::to_vec(value).expect("plain structs always serialise");
    text.push(b'\n');
    text
}
