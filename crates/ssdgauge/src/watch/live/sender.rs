//! The side of the run: puts seconds together and sends each to every client.
//!
//! A thread of its own does this. The thread that conducts the run hands samples over and never waits; a
//! client that does not read is disconnected.

use super::{Address, FORMAT, Greeting, socket_of};
use crate::watch::second::{Assembler, Second};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendFlags, SocketFlags, SocketType, accept_with, connect, listen, send,
    socket_with,
};
use ssdgauge_core::{DriveInfo, Interval, LatencyOf, Reading, TargetKind};
use ssdgauge_os::outputs;
use ssdgauge_runfile::StepId;
use std::collections::VecDeque;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Samples that wait for the thread. A second has one for each stream and direction and a few readings.
const WAITING: usize = 128;
/// Clients at a time; further ones are disconnected, and read the file.
const MAX_CLIENTS: usize = 16;
/// The last seconds that a new client gets: more than lie between two commits, so that none is missing
/// between the file and the socket.
const KEPT: usize = 120;

/// The live socket of a run. When it is dropped, it is removed.
#[derive(Debug)]
pub(crate) struct LiveSeconds {
    /// `None` where the thread fell behind: a sample that is missing would make a wrong second.
    samples: Option<SyncSender<Sample>>,
    thread: Option<JoinHandle<()>>,
    socket: PathBuf,
    /// Device and inode of the socket.
    identity: (u64, u64),
}

#[derive(Debug)]
enum Sample {
    Interval(StepId, LatencyOf, Interval),
    Reading(Reading),
}

impl LiveSeconds {
    /// Returns the live socket of a run on `drive`; `None` where there is none: a virtual drive computes
    /// hours within seconds, and its file is as fast. A run without a socket is watched by its file.
    pub(crate) fn of_run(run_file: &Path, run_id: &str, drive: &DriveInfo) -> Option<LiveSeconds> {
        let is_in_real_time = drive.kind != TargetKind::Virtual;
        is_in_real_time.then(|| LiveSeconds::listen(run_file, run_id).ok()).flatten()
    }

    /// Removes what a run that was killed has left beside `run_file`, where no further one listens there.
    pub(crate) fn remove_left(run_file: &Path) {
        let socket = socket_of(run_file);
        // One that cannot be removed does no harm: a watcher then reads the file.
        let _ = Address::of(&socket).and_then(|address| remove_stale(&socket, &address));
    }

    /// Listens beside `run_file`, the file of the run `run_id`, which this process holds for writing. What a
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
        let (samples, received) = sync_channel(WAITING);
        let greeting = line(&Greeting { format: FORMAT, run_id: run_id.to_owned() });
        let thread = std::thread::Builder::new()
            .name("live".to_owned())
            .spawn(move || serve(&listener, &greeting, &received))?;
        Ok(LiveSeconds {
            samples: Some(samples),
            thread: Some(thread),
            socket,
            identity: (metadata.dev(), metadata.ino()),
        })
    }

    /// Takes an interval of `step`, whose latency is that of `latency_of`.
    pub(crate) fn interval(&mut self, step: StepId, latency_of: LatencyOf, interval: &Interval) {
        self.hand_over(Sample::Interval(step, latency_of, interval.clone()));
    }

    /// Takes a reading.
    pub(crate) fn reading(&mut self, reading: &Reading) {
        self.hand_over(Sample::Reading(reading.clone()));
    }

    fn hand_over(&mut self, sample: Sample) {
        if self.samples.as_ref().is_some_and(|samples| samples.try_send(sample).is_err()) {
            self.samples = None;
        }
    }
}

impl Drop for LiveSeconds {
    fn drop(&mut self) {
        self.samples = None;
        if let Some(thread) = self.thread.take() {
            // It ends with its samples and waits for no client.
            let _ = thread.join();
        }
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

/// Serves clients until the last sample has come. They are accepted when a sample arrives: before, there is
/// nothing to send.
fn serve(listener: &OwnedFd, greeting: &[u8], samples: &Receiver<Sample>) {
    let mut assembler = Assembler::default();
    let mut recent: VecDeque<Vec<u8>> = VecDeque::with_capacity(KEPT);
    let mut clients: Vec<OwnedFd> = Vec::new();
    for sample in samples {
        let ended = match sample {
            Sample::Interval(step, latency_of, interval) => {
                assembler.interval(step, latency_of, &interval)
            }
            Sample::Reading(reading) => {
                assembler.reading(&reading);
                None
            }
        };
        while let Ok(client) = accept_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
            let mut so_far = greeting.to_vec();
            recent.iter().for_each(|second| so_far.extend(second));
            if clients.len() < MAX_CLIENTS && takes(&client, &so_far) {
                clients.push(client);
            }
        }
        let Some(second) = ended else { continue };
        let second = line::<Second>(&second);
        clients.retain(|client| takes(client, &second));
        if recent.len() == KEPT {
            recent.pop_front();
        }
        recent.push_back(second);
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
