//! The side of a watcher: connects to the live socket of a run, and reads what has arrived.
//!
//! Everything here is optional: where it fails, the run file has the same seconds later. It never waits.

use super::{Address, FORMAT, Greeting, LONGEST_LINE, socket_of};
use crate::second::Second;
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, connect, recv, socket_with};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time between two attempts to connect.
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(1);
/// The maximum number of bytes that are read at a time: some hundred seconds.
const AT_ONCE: usize = 256 << 10;

/// The connection of a watcher to the live socket of a run.
#[derive(Debug)]
pub struct LiveReceiver {
    socket: PathBuf,
    run_id: String,
    connection: Option<Connection>,
    attempted: Option<Instant>,
}

#[derive(Debug)]
struct Connection {
    socket: OwnedFd,
    /// What has arrived after the last complete line.
    rest: Vec<u8>,
    is_greeted: bool,
}

impl LiveReceiver {
    /// Returns a receiver for the run `run_id` in `run_file`, which is not connected yet.
    pub fn new(run_file: &Path, run_id: &str) -> LiveReceiver {
        let (socket, run_id) = (socket_of(run_file), run_id.to_owned());
        LiveReceiver { socket, run_id, connection: None, attempted: None }
    }

    /// Returns the seconds that have arrived since the last call, in their order. Connects where that is
    /// possible.
    pub fn take(&mut self) -> Vec<Second> {
        if self.connection.is_none() {
            if self.attempted.is_some_and(|last| last.elapsed() < BETWEEN_ATTEMPTS) {
                return Vec::new();
            }
            self.attempted = Some(Instant::now());
            self.connection = connected(&self.socket);
        }
        let Some(connection) = &mut self.connection else { return Vec::new() };
        let (seconds, goes_on) = connection.receive(&self.run_id);
        if !goes_on {
            self.connection = None;
        }
        seconds
    }
}

fn connected(socket: &Path) -> Option<Connection> {
    let address = Address::of(socket).ok()?;
    // Without waiting: the queue of a run that is stopped can be full.
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).ok()?;
    connect(&socket, &address.name).ok()?;
    Some(Connection { socket, rest: Vec::new(), is_greeted: false })
}

impl Connection {
    /// Returns the seconds that have arrived, and whether more can follow.
    fn receive(&mut self, run_id: &str) -> (Vec<Second>, bool) {
        let mut seconds = Vec::new();
        let mut buffer = vec![0; 16 << 10];
        let mut read = 0;
        while read < AT_ONCE {
            match recv(&self.socket, &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok((_, 0)) => return (seconds, false),
                Ok((_, count)) => {
                    read += count;
                    self.rest.extend_from_slice(&buffer[..count]);
                    if !self.take_lines(run_id, &mut seconds) {
                        return (seconds, false);
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) => break,
                Err(_) => return (seconds, false),
            }
        }
        (seconds, true)
    }

    /// Moves the complete lines to `seconds`. Returns false where the server is of another run or speaks
    /// otherwise.
    fn take_lines(&mut self, run_id: &str, seconds: &mut Vec<Second>) -> bool {
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            if self.is_greeted {
                let Ok(second) = serde_json::from_slice(&line) else { return false };
                seconds.push(second);
            } else {
                let expected = Greeting { format: FORMAT, run_id: run_id.to_owned() };
                if serde_json::from_slice::<Greeting>(&line).ok() != Some(expected) {
                    return false;
                }
                self.is_greeted = true;
            }
        }
        self.rest.len() <= LONGEST_LINE
    }
}
