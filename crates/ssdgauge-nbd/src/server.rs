//! The server: an address, clients one thread each, and an end.
//!
//! It must never listen on an address that other machines reach, and never remove a file that it did
//! not create.

use crate::connection;
use crate::handshake::{Export, HandshakeError};
use crate::shared::{ClientError, Served, Shared};
use crate::socket::{LOOK, Socket};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ssdgauge_core::{Bytes, Nanos};
use ssdgauge_os::outputs;
use ssdgauge_sim::ServedDrive;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Clients at a time. A further one takes the place of the oldest that has not finished its handshake; where all
/// have, it is disconnected. Each takes up to 3 MiB of memory, and all of them together up to 64 MiB for writes longer
/// than 1 MiB.
pub const MAX_CLIENTS: usize = 16;
/// The time without a client after which a server for one client ends: programs that connect several
/// times, such as fio, do so within it.
const AFTER_LAST: Duration = Duration::from_secs(2);

/// Connections that wait to be accepted; the default of the standard library.
const WAITING: i32 = 128;

/// Where the server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// The path of a Unix socket, which is created.
    Unix(PathBuf),
    /// A port of the loopback interface; port 0 stands for a free one.
    Loopback(SocketAddr),
}

impl FromStr for Address {
    type Err = ServerError;

    /// Reads `unix:PATH`, `127.0.0.1:PORT`, `[::1]:PORT` or `localhost:PORT`.
    fn from_str(text: &str) -> Result<Address, ServerError> {
        let unknown = || ServerError::Address(text.into());
        if let Some(path) = text.strip_prefix("unix:") {
            return (!path.is_empty()).then(|| Address::Unix(path.into())).ok_or_else(unknown);
        }
        let numeric = text.replacen("localhost:", "127.0.0.1:", 1);
        let address = SocketAddr::from_str(&numeric).map_err(|_| unknown())?;
        match address.ip().is_loopback() {
            true => Ok(Address::Loopback(address)),
            false => Err(ServerError::NotLoopback(text.into())),
        }
    }
}

/// Why the server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Not an address.
    #[error("'{0}' is not an address: unix:PATH or 127.0.0.1:PORT was expected")]
    Address(String),
    /// An address that other machines may reach.
    #[error("{0} is not an address of the loopback interface: other machines could reach it")]
    NotLoopback(String),
    /// A file of that name exists.
    #[error("{0} exists already")]
    Exists(PathBuf),
    /// The kernel does not let the server listen there.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// The address.
        address: String,
        /// The error of the kernel.
        #[source]
        cause: io::Error,
    },
}

/// What happens while the server runs, for messages.
#[derive(Debug)]
pub enum Event {
    /// A client was disconnected, or its connection failed.
    Disconnected(ClientError),
    /// A client was not accepted, because there are [`MAX_CLIENTS`] already.
    TooManyClients,
    /// A client was disconnected in its handshake, because another one needed its place.
    MadeRoom,
}

/// The place of a client.
#[derive(Debug)]
struct Place {
    socket: Socket,
    /// One of the states below.
    state: AtomicU8,
}

/// The client has not finished its handshake.
const HALF_OPEN: u8 = 0;
/// It has, and keeps its place.
const OPEN: u8 = 1;
/// Another client has its place.
const DISMISSED: u8 = 2;

impl Place {
    /// Changes the state of a client in its handshake; returns whether it was in it.
    fn leave_handshake(&self, to: u8) -> bool {
        self.state.compare_exchange(HALF_OPEN, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// Frees the place of the oldest client that is in its handshake; returns whether there is one.
fn dismiss_oldest(places: &mut Vec<Arc<Place>>) -> bool {
    let oldest = places.iter().position(|place| place.leave_handshake(DISMISSED));
    let Some(oldest) = oldest else { return false };
    places.remove(oldest).socket.close();
    true
}

#[derive(Debug)]
enum Listener {
    Unix {
        listener: UnixListener,
        /// The socket, removed at the end: its path, device and inode.
        file: (PathBuf, u64, u64),
    },
    Tcp(TcpListener),
}

/// A server that listens and accepts no client yet.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    export: Export,
    shared: Shared,
}

impl Server {
    /// Listens on `address` for clients of `drive`, whose virtual time begins now. Contents are kept in
    /// up to `keep` bytes of memory; without it, reads return zeros.
    ///
    /// # Errors
    /// An address that is in use or that the kernel denies.
    pub fn listen(
        address: &Address,
        drive: ServedDrive,
        keep: Option<Bytes>,
    ) -> Result<Server, ServerError> {
        let listener = Listener::bind(address)?;
        let info = drive.info();
        let export = Export {
            name: info.target.clone(),
            capacity: info.capacity.0,
            logical_block: info.logical_block.0 as u32,
            physical_block: info.physical_block.0 as u32,
        };
        // The counter of the processor is a cheaper clock than the kernel's.
        ssdgauge_os::clock::settle();
        Ok(Server { listener, export, shared: Shared::new(drive, keep) })
    }

    /// Returns the address as an NBD URI (github.com/NetworkBlockDevice/nbd, doc/uri.md), for a socket
    /// with its path as it was given.
    pub fn uri(&self) -> String {
        match &self.listener {
            Listener::Unix { file: (path, ..), .. } => {
                format!("nbd+unix:///?socket={}", escape(path))
            }
            Listener::Tcp(listener) => match listener.local_addr() {
                Ok(address) => format!("nbd://{address}"),
                Err(_) => "nbd://".into(),
            },
        }
    }

    /// Serves clients until `stop` returns `true`, with `once` until the last client has left for two
    /// seconds. `report` is called for each [`Event`], by several threads.
    pub fn run(
        self,
        once: bool,
        stop: &dyn Fn() -> bool,
        report: &(dyn Fn(Event) + Sync),
    ) -> Served {
        let (shared, export) = (&self.shared, &self.export);
        std::thread::scope(|scope| {
            let mut left_at: Option<Instant> = None;
            let mut next_second = shared.now();
            // The clients in the order of their arrival; a thread that has ended has dropped its place.
            let mut places: Vec<Arc<Place>> = Vec::new();
            while !stop() {
                let accepted = self.listener.accept(LOOK);
                places.retain(|place| Arc::strong_count(place) > 1);
                if let Some(socket) = accepted {
                    if places.len() < MAX_CLIENTS || dismiss_oldest(&mut places) {
                        let place = Arc::new(Place { socket, state: AtomicU8::new(HALF_OPEN) });
                        places.push(Arc::clone(&place));
                        scope.spawn(move || {
                            ssdgauge_os::thread::precise_timers();
                            serve_client(&place, export, shared, report);
                            // The place outlives this thread until the next look.
                            place.socket.close();
                        });
                    } else {
                        shared.count_rejected();
                        report(Event::TooManyClients);
                    }
                }
                if shared.now() >= next_second {
                    next_second += Nanos::SECOND;
                    shared.advance();
                }
                let is_over = once && places.is_empty() && shared.had_clients();
                left_at = is_over.then(|| left_at.unwrap_or_else(Instant::now));
                if left_at.is_some_and(|left| left.elapsed() >= AFTER_LAST) {
                    break;
                }
            }
            shared.stop();
        });
        self.shared.end()
    }
}

/// Serves one client, and reports why it was disconnected.
fn serve_client(place: &Place, export: &Export, shared: &Shared, report: &(dyn Fn(Event) + Sync)) {
    let begins = || place.leave_handshake(OPEN);
    let served = connection::serve(&place.socket, export, shared, &begins);
    let is_dismissed = place.state.load(Ordering::Acquire) == DISMISSED;
    match served {
        _ if is_dismissed && !shared.is_stopping() => {
            shared.count_rejected();
            report(Event::MadeRoom);
        }
        Ok(()) | Err(ClientError::Handshake(HandshakeError::Left)) => {}
        Err(_) if shared.is_stopping() => {}
        Err(ClientError::Connection(error))
            if matches!(
                error.kind(),
                io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
            ) => {}
        Err(error) => {
            shared.count_rejected();
            report(Event::Disconnected(error));
        }
    }
}

impl Listener {
    fn bind(address: &Address) -> Result<Listener, ServerError> {
        match address {
            Address::Unix(path) => Listener::bind_unix(path),
            Address::Loopback(address) => {
                let denied = |cause| ServerError::Listen { address: address.to_string(), cause };
                let listener = TcpListener::bind(address).map_err(denied)?;
                listener.set_nonblocking(true).map_err(denied)?;
                Ok(Listener::Tcp(listener))
            }
        }
    }

    /// Creates a socket that only its owner may use.
    fn bind_unix(path: &Path) -> Result<Listener, ServerError> {
        let denied = |cause| ServerError::Listen { address: path.display().to_string(), cause };
        if path.symlink_metadata().is_ok() {
            return Err(ServerError::Exists(path.to_owned()));
        }
        let socket = outputs::create_socket(path).map_err(|cause| match cause.kind() {
            io::ErrorKind::AddrInUse => ServerError::Exists(path.to_owned()),
            _ => denied(cause),
        })?;
        rustix::net::listen(&socket, WAITING).map_err(|cause| denied(cause.into()))?;
        let listener = UnixListener::from(socket);
        let file = path.symlink_metadata().map_err(denied)?;
        let file = (path.to_owned(), file.dev(), file.ino());
        Ok(Listener::Unix { listener, file })
    }

    /// Waits for a client, `timeout` at most.
    fn accept(&self, timeout: Duration) -> Option<Socket> {
        let timeout = Timespec { tv_sec: 0, tv_nsec: timeout.as_nanos() as i64 };
        let _ = poll(&mut [PollFd::from_borrowed_fd(self.fd(), PollFlags::IN)], Some(&timeout));
        match self {
            Listener::Unix { listener, .. } => {
                listener.accept().ok().map(|(stream, _)| Socket::new(stream))
            }
            Listener::Tcp(listener) => listener.accept().ok().map(|(stream, _)| {
                // Replies are sent at their time, not collected; without it they are only later.
                let _ = stream.set_nodelay(true);
                Socket::new(stream)
            }),
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Unix { listener, .. } => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let Listener::Unix { file: (path, device, inode), .. } = self else { return };
        let is_ours = path
            .symlink_metadata()
            .is_ok_and(|found| (found.dev(), found.ino()) == (*device, *inode));
        if is_ours {
            // A socket that remains does no harm; its name is refused next time.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Returns a path for the query of a URI: other characters than the unreserved ones of RFC 3986 and
/// slashes are escaped.
fn escape(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(*byte));
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}
