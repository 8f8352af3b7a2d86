//! The drive that all connections share: model, clock, contents and counts.
//!
//! It must never submit a command to the model before an earlier one: the time of arrival is read
//! under the lock of the model.

use crate::contents::{BLOCK, Contents};
use crate::handshake::{Chosen, HandshakeError};
use crate::protocol::{
    FLAG_FUA, FLAG_NO_HOLE, FLAG_ONE_EXTENT, FLAG_WHOLE, MAX_PAYLOAD, RequestHead, STATE_HOLE,
    STATE_ZERO, command, error,
};
use ssdgauge_core::{Bytes, Histogram, Nanos};
use ssdgauge_os::clock::Clock;
use ssdgauge_sim::{GroundTruth, ServedCommand, ServedDrive, ServedOutcome};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The memory for long requests of all clients together, in bytes: two of the longest. Chosen.
const LONG_REQUESTS: u64 = 2 * (MAX_PAYLOAD as u64 + RequestHead::LENGTH as u64);
/// How long a request that waits for that memory counts as waiting since its last attempt.
const WAITS_FOR: Nanos = Nanos::SECOND;

/// The blocks whose state one reply has at most: the model is locked for a millisecond. Chosen.
const MAX_STATES: u64 = 32_768;
/// The extents that one reply has at most. Chosen.
const MAX_EXTENTS: usize = 1_024;

/// Why the connection to a client ended other than by its wish.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The handshake failed.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// Something else where a request was expected.
    #[error("the client sent something other than a request after {0} requests")]
    NoRequest(u64),
    /// A write whose data would not fit.
    #[error("the client announced a write of {0} bytes, more than the 32 MiB of the protocol")]
    WriteTooLong(u32),
    /// A long write that does not arrive, while others wait for its memory.
    #[error(
        "the client sent a part of a write and then nothing, while others waited for the memory"
    )]
    Stalled,
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
    /// The type of the request, and its range.
    pub(crate) command: u16,
    pub(crate) offset: u64,
    pub(crate) length: u32,
    /// Whether the block status of one extent was asked for.
    pub(crate) one_extent: bool,
}

/// The memory of a long request, which is returned when it is dropped.
#[derive(Debug)]
pub(crate) struct Reservation<'a> {
    shared: &'a Shared,
    bytes: u64,
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.shared.reserved.fetch_sub(self.bytes, Ordering::AcqRel);
    }
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
    /// The memory that long requests have reserved, in bytes.
    reserved: AtomicU64,
    /// When a request last waited for such memory, from the start of the server.
    waited_at: AtomicU64,
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
            reserved: AtomicU64::new(0),
            waited_at: AtomicU64::new(u64::MAX),
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

    /// Reserves the memory of a request of `bytes` bytes; `None` where other requests have it.
    pub(crate) fn reserve(&self, bytes: u64) -> Option<Reservation<'_>> {
        let add = |reserved: u64| Some(reserved + bytes).filter(|sum| *sum <= LONG_REQUESTS);
        match self.reserved.fetch_update(Ordering::AcqRel, Ordering::Acquire, add) {
            Ok(_) => Some(Reservation { shared: self, bytes }),
            Err(_) => {
                self.waited_at.store(self.now().0, Ordering::Release);
                None
            }
        }
    }

    /// Returns whether a request waits for memory.
    pub(crate) fn has_waiting(&self) -> bool {
        match self.waited_at.load(Ordering::Acquire) {
            u64::MAX => false,
            at => self.now().saturating_sub(Nanos(at)) < WAITS_FOR,
        }
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

    /// Submits a request with its `data`, which only a write has, of a client that has `chosen`; returns the answer
    /// to it.
    pub(crate) fn submit(&self, request: &RequestHead, data: &[u8], chosen: Chosen) -> Answer {
        let answer = |due: Nanos, error: u32| Answer {
            due,
            error,
            cookie: request.cookie,
            command: request.command,
            offset: request.offset,
            length: request.length,
            one_extent: request.flags & FLAG_ONE_EXTENT != 0,
        };
        let mut drive = self.drive();
        let now = self.now();
        if request.command == command::BLOCK_STATUS {
            // The map is that of the server: the drive has no such command, which would take time.
            let error = match self.has_states(request, chosen) {
                true => 0,
                false => error::INVALID,
            };
            drive.served.errors += u64::from(error != 0);
            return answer(now, error);
        }
        let command = match self.command_of(request, chosen) {
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

    /// Returns whether the state of the blocks of a request can be stated.
    fn has_states(&self, request: &RequestHead, chosen: Chosen) -> bool {
        let is_known = chosen.allocation && request.flags & !FLAG_ONE_EXTENT == 0;
        is_known && self.is_aligned(request) && self.fits(request)
    }

    /// Returns the extents from `offset` on, as length and state, up to `length` bytes: as many as one reply has, or
    /// one. A block that was written is data; where contents are kept, one of zeros is not.
    pub(crate) fn extents(&self, offset: u64, length: u32, one: bool) -> Vec<(u32, u32)> {
        let drive = self.drive();
        let contents = self.contents.as_ref();
        let contents =
            contents.map(|contents| contents.lock().unwrap_or_else(PoisonError::into_inner));
        let state = |at: u64| {
            let is_mapped = drive.model.holds(Bytes(at));
            match &contents {
                Some(contents) if contents.holds(at) => 0,
                Some(_) if is_mapped => STATE_ZERO,
                None if is_mapped => 0,
                Some(_) | None => STATE_HOLE | STATE_ZERO,
            }
        };
        let end = offset + u64::from(length).min(MAX_STATES * BLOCK);
        let mut extents: Vec<(u32, u32)> = Vec::new();
        let mut at = offset;
        while at < end {
            let next = ((at / BLOCK + 1) * BLOCK).min(end);
            let (state, part) = (state(at), (next - at) as u32);
            let is_full = one || extents.len() == MAX_EXTENTS;
            match extents.last_mut() {
                Some((length, last)) if *last == state => *length += part,
                Some(_) if is_full => break,
                Some(_) | None => extents.push((part, state)),
            }
            at = next;
        }
        extents
    }

    fn is_aligned(&self, request: &RequestHead) -> bool {
        let is_aligned = |bytes: u64| bytes.is_multiple_of(self.logical_block);
        request.length > 0 && is_aligned(request.offset) && is_aligned(u64::from(request.length))
    }

    fn fits(&self, request: &RequestHead) -> bool {
        let end = request.offset.checked_add(u64::from(request.length));
        end.is_some_and(|end| end <= self.capacity)
    }

    /// Returns the command of a request, or the error that answers it.
    fn command_of(&self, request: &RequestHead, chosen: Chosen) -> Result<ServedCommand, u32> {
        let RequestHead { flags, command: number, length, .. } = *request;
        let sync = flags & FLAG_FUA != 0;
        let (command, allowed) = match number {
            // Each read is answered in one part.
            command::READ if chosen.structured => (ServedCommand::Read, FLAG_FUA | FLAG_WHOLE),
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
        let is_too_long = number == command::READ && length > MAX_PAYLOAD;
        if flags & !allowed != 0 || !self.is_aligned(request) || is_too_long {
            return Err(error::INVALID);
        }
        match (self.fits(request), number) {
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
