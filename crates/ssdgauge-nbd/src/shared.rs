//! The drive that all connections share: model, clock, contents and counts.
//!
//! It must never submit a command to the model before an earlier one: the time of arrival is read
//! under the lock of the model.

use crate::contents::Contents;
use crate::handshake::HandshakeError;
use crate::protocol::{FLAG_FUA, FLAG_NO_HOLE, RequestHead, command, error};
use ssdgauge_core::{Bytes, Histogram, Nanos};
use ssdgauge_os::clock::Clock;
use ssdgauge_sim::{GroundTruth, ServedCommand, ServedDrive, ServedOutcome};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why the connection to a client ended other than by its wish.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The handshake failed.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// Something else where a request was expected.
    #[error("the client sent something other than a request behind {0} requests")]
    NoRequest(u64),
    /// A write whose data would not fit.
    #[error("the client announced a write of {0} bytes, more than the 32 MiB of the protocol")]
    WriteTooLong(u32),
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Connection(#[from] io::Error),
}

/// The result of a server: what the drive did, and how exactly the replies met virtual time.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// How long the drive was served.
    pub elapsed: Nanos,
    /// Clients that came as far as requests.
    pub clients: u64,
    /// Clients that were disconnected because they did not follow the protocol.
    pub rejected: u64,
    /// Reads that succeeded.
    pub reads: u64,
    /// Writes that succeeded, write-zeroes included.
    pub writes: u64,
    /// Trim commands that succeeded.
    pub trims: u64,
    /// Flush commands that succeeded.
    pub flushes: u64,
    /// Commands that were answered with an error.
    pub errors: u64,
    /// Bytes that clients read.
    pub read_bytes: u64,
    /// The ground truth of the drive.
    pub truth: GroundTruth,
    /// Energy of the drive, in joules.
    pub energy_j: f64,
    /// Latencies of the reads and the writes that succeeded, in virtual time: from the arrival of the
    /// request to the completion that the model states.
    pub latency: [Histogram; 2],
    /// Lateness of the replies: from the virtual completion to the call that sends the reply.
    pub lateness: Histogram,
}

impl Served {
    /// Counts a command of `length` bytes that was answered with `error`, `latency` after its arrival.
    fn count(&mut self, command: ServedCommand, length: Bytes, error: u32, latency: Nanos) {
        if error != 0 {
            self.errors += 1;
            return;
        }
        match command {
            ServedCommand::Read => {
                self.reads += 1;
                self.read_bytes += length.0;
                self.latency[0].record(latency.0);
            }
            ServedCommand::Write { .. } => {
                self.writes += 1;
                self.latency[1].record(latency.0);
            }
            ServedCommand::WriteZeroes { .. } => self.writes += 1,
            ServedCommand::Trim => self.trims += 1,
            ServedCommand::Flush => self.flushes += 1,
        }
    }
}

/// What a connection does when the time of a completion has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Answer {
    /// When it is due, from the start of the server.
    pub(crate) due: Nanos,
    /// 0, or an error of the protocol.
    pub(crate) error: u32,
    pub(crate) cookie: u64,
    /// The range whose data follows the reply; empty but for reads that succeed.
    pub(crate) offset: u64,
    pub(crate) length: u32,
}

/// The drive and all that connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    drive: Mutex<Drive>,
    contents: Option<Mutex<Contents>>,
    capacity: u64,
    logical_block: u64,
    clock: Clock,
    /// When the server started, in ticks of the clock.
    started: u64,
    stops: AtomicBool,
}

#[derive(Debug)]
struct Drive {
    model: ServedDrive,
    served: Served,
}

impl Shared {
    /// Returns the shared state around `model`, whose time begins now. Contents are kept in up to
    /// `keep` bytes of memory, or not at all.
    pub(crate) fn new(model: ServedDrive, keep: Option<Bytes>) -> Shared {
        let clock = Clock::best();
        let info = model.info();
        Shared {
            capacity: info.capacity.0,
            logical_block: info.logical_block.0.max(1),
            contents: keep.map(|memory| Mutex::new(Contents::new(memory.0))),
            drive: Mutex::new(Drive { model, served: Served::default() }),
            started: clock.now(),
            clock,
            stops: AtomicBool::new(false),
        }
    }

    /// Returns the time since the server started: the virtual time of the drive.
    pub(crate) fn now(&self) -> Nanos {
        Nanos(self.clock.nanos(self.clock.now().saturating_sub(self.started)))
    }

    /// Ends all connections soon.
    pub(crate) fn stop(&self) {
        self.stops.store(true, Ordering::Relaxed);
    }

    /// Returns whether the server ends.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stops.load(Ordering::Relaxed)
    }

    /// Lets the idle time of the drive pass.
    pub(crate) fn advance(&self) {
        let mut drive = self.drive();
        let now = self.now();
        drive.model.advance(now);
    }

    /// Counts a client that has chosen the export.
    pub(crate) fn count_client(&self) {
        self.drive().served.clients += 1;
    }

    /// Returns whether a client has chosen the export so far.
    pub(crate) fn had_clients(&self) -> bool {
        self.drive().served.clients > 0
    }

    /// Counts a client that was disconnected.
    pub(crate) fn count_rejected(&self) {
        self.drive().served.rejected += 1;
    }

    /// Adds the lateness of the replies of a connection that has ended.
    pub(crate) fn add_lateness(&self, lateness: &Histogram) {
        self.drive().served.lateness.merge(lateness);
    }

    /// Ends the server; returns its result.
    pub(crate) fn end(self) -> Served {
        let elapsed = self.now();
        let Drive { model, served } =
            self.drive.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (truth, energy_j) = model.end(elapsed);
        Served { elapsed, truth, energy_j, ..served }
    }

    /// Submits a request with its `data`, which only a write has, and returns the answer to it.
    pub(crate) fn submit(&self, request: &RequestHead, data: &[u8]) -> Answer {
        let answer = |due: Nanos, error: u32| Answer {
            due,
            error,
            cookie: request.cookie,
            offset: request.offset,
            length: if error == 0 && request.command == command::READ { request.length } else { 0 },
        };
        let mut drive = self.drive();
        let now = self.now();
        let command = match self.command_of(request) {
            Ok(command) => command,
            Err(error) => {
                drive.served.errors += 1;
                return answer(now, error);
            }
        };
        let (offset, length) = (Bytes(request.offset), Bytes(u64::from(request.length)));
        let Drive { model, served } = &mut *drive;
        let done = model.submit(now, command, offset, length);
        let mut error = match done.outcome {
            ServedOutcome::Failed => error::IO,
            ServedOutcome::Done | ServedOutcome::Flipped | ServedOutcome::Dropped => 0,
        };
        // Under the lock of the model, so that contents change in the order of the commands.
        let is_stored = match done.outcome {
            ServedOutcome::Done | ServedOutcome::Flipped => self.store(command, request, data),
            ServedOutcome::Dropped | ServedOutcome::Failed => true,
        };
        if !is_stored {
            error = error::NO_SPACE;
        } else if done.outcome == ServedOutcome::Flipped {
            self.flip(request);
        }
        served.count(command, length, error, done.at.saturating_sub(now));
        answer(done.at, error)
    }

    /// Reads the contents of a range into `data`, which must hold zeros.
    pub(crate) fn read(&self, offset: u64, data: &mut [u8]) {
        if let Some(contents) = &self.contents {
            contents.lock().unwrap_or_else(PoisonError::into_inner).read(offset, data);
        }
    }

    /// Returns the command of a request, or the error that answers it.
    fn command_of(&self, request: &RequestHead) -> Result<ServedCommand, u32> {
        let RequestHead { flags, command: number, offset, length, .. } = *request;
        let sync = flags & FLAG_FUA != 0;
        let (command, allowed) = match number {
            command::READ => (ServedCommand::Read, FLAG_FUA),
            command::WRITE => (ServedCommand::Write { sync }, FLAG_FUA),
            command::TRIM => (ServedCommand::Trim, FLAG_FUA),
            command::WRITE_ZEROES => {
                let may_deallocate = flags & FLAG_NO_HOLE == 0;
                let command = ServedCommand::WriteZeroes { sync, may_deallocate };
                (command, FLAG_FUA | FLAG_NO_HOLE)
            }
            // Its range is reserved.
            command::FLUSH if flags & !FLAG_FUA == 0 => return Ok(ServedCommand::Flush),
            _ => return Err(error::INVALID),
        };
        let block = self.logical_block;
        let is_aligned = offset.is_multiple_of(block) && u64::from(length).is_multiple_of(block);
        let is_too_long = number == command::READ && length > crate::protocol::MAX_PAYLOAD;
        if flags & !allowed != 0 || length == 0 || !is_aligned || is_too_long {
            return Err(error::INVALID);
        }
        let fits = offset.checked_add(u64::from(length)).is_some_and(|end| end <= self.capacity);
        match (fits, number) {
            (true, _) => Ok(command),
            (false, command::WRITE | command::WRITE_ZEROES) => Err(error::NO_SPACE),
            (false, _) => Err(error::INVALID),
        }
    }

    /// Stores what a command changes; returns whether it had room.
    fn store(&self, command: ServedCommand, request: &RequestHead, data: &[u8]) -> bool {
        let Some(contents) = &self.contents else { return true };
        let mut contents = contents.lock().unwrap_or_else(PoisonError::into_inner);
        match command {
            ServedCommand::Read | ServedCommand::Flush => true,
            ServedCommand::Write { .. } => contents.write(request.offset, data).is_ok(),
            ServedCommand::WriteZeroes { .. } | ServedCommand::Trim => {
                contents.clear(request.offset, u64::from(request.length));
                true
            }
        }
    }

    /// Changes one bit of the data of a write: in the middle of its first logical block.
    fn flip(&self, request: &RequestHead) {
        let Some(contents) = &self.contents else { return };
        let mut contents = contents.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = request.offset + self.logical_block / 2;
        let mut byte = [0];
        contents.read(offset, &mut byte);
        // A block that has no room is one of zeros, and stays it.
        let _ = contents.write(offset, &[byte[0] ^ 1]);
    }

    fn drive(&self) -> MutexGuard<'_, Drive> {
        self.drive.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
