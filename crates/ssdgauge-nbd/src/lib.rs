//! The virtual drive as a server of the NBD protocol (network block device), so that other programs
//! can drive the model in real time.
//!
//! A command is submitted to the model at the time at which it has arrived in full, and its reply is
//! sent when the virtual time of its completion has come. The server listens on a Unix socket or on
//! the loopback interface only, needs no privileges, and must never open a device.
//!
//! From the bottom up: `protocol` has the numbers of the messages; `socket` moves bytes with a
//! deadline; `handshake` negotiates with a client; `contents` stores what clients write; `shared` is
//! the drive that all connections use; `connection` answers the commands of one client; `server`
//! accepts clients.

mod connection;
mod contents;
mod handshake;
mod protocol;
mod server;
mod shared;
mod socket;

pub use handshake::HandshakeError;
pub use protocol::MAX_PAYLOAD;
pub use server::{Address, Event, MAX_CLIENTS, Server, ServerError};
pub use shared::{ClientError, Served};
