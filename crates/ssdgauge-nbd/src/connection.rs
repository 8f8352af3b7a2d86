//! One client: requests in, replies at the virtual time of their completion.
//!
//! A single thread receives, waits and sends, so that no reply waits for another thread. It must
//! never hold more than one request and [`MAX_OUTPUT`] bytes of replies, and no request longer than [`INPUT`]
//! without a reservation: the data of a read is taken from the contents as the client accepts it.

use crate::handshake::{Chosen, Export, negotiate};
use crate::protocol::{
    ALLOCATION_ID, MAX_PAYLOAD, RequestHead, command, pack_part, pack_reply, part,
};
use crate::shared::{Answer, ClientError, Reservation, Shared};
use crate::socket::{LOOK, Socket};
use ssdgauge_core::{Histogram, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// Requests of a client that wait for their completion; further ones stay in the socket. Chosen: more
/// than any program keeps in flight on one connection.
const MAX_PENDING: usize = 4_096;
/// Bytes of replies that wait for the client; their heads may exceed it by less than a piece.
const MAX_OUTPUT: usize = 1 << 20;
/// The data of a read that is taken at once, in bytes.
const PIECE: usize = 256 << 10;
/// The size of the buffer for requests, in bytes; a longer request needs a reservation of memory.
const INPUT: usize = 1 << 20;
/// The time between two attempts to reserve memory.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(1);
/// How long a client may leave a long request incomplete while others wait for its memory. Chosen.
const STALLED: Nanos = Nanos(5 * Nanos::SECOND.0);
/// The time before a completion, and after a reply, in which the thread does not sleep, in
/// nanoseconds: a wake-up can take as long, and a program with one request in flight sends the next one
/// within it.
const AWAKE: u64 = 60_000;

/// Serves the client behind `socket`, until it disconnects or the server ends. `begins` is called when it has
/// chosen the export and before it is told so; it returns whether the client may go on.
///
/// # Errors
/// A client that does not follow the protocol, and a connection that failed.
pub(crate) fn serve(
    socket: &Socket,
    export: &Export,
    shared: &Shared,
    begins: &dyn Fn() -> bool,
) -> Result<(), ClientError> {
    let chosen = negotiate(socket, export, &|| shared.is_stopping(), begins)?;
    shared.count_client();
    let mut connection = Connection {
        socket,
        shared,
        chosen,
        input: Input { buffer: vec![0; INPUT], begin: 0, end: 0 },
        reserved: None,
        is_waiting: false,
        received_at: Nanos::ZERO,
        pending: BinaryHeap::new(),
        output: Vec::new(),
        sent: 0,
        data: (0, 0),
        requests: 0,
        lateness: Histogram::default(),
        replied_at: Nanos::ZERO,
        phase: Phase::Open,
    };
    let result = connection.run();
    shared.add_lateness(&connection.lateness);
    result
}

/// Whether more requests follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// The client has sent the command to disconnect: replies may be outstanding.
    Disconnecting,
    /// The client has closed the connection.
    Closed,
}

struct Connection<'a> {
    socket: &'a Socket,
    shared: &'a Shared,
    chosen: Chosen,
    input: Input,
    /// The memory of a long request.
    reserved: Option<Reservation<'a>>,
    /// Whether a long request waits for memory.
    is_waiting: bool,
    /// When the last bytes arrived.
    received_at: Nanos,
    /// Answers by their time, the earliest on top.
    pending: BinaryHeap<Reverse<Answer>>,
    /// Replies of which `sent` bytes were sent.
    output: Vec<u8>,
    sent: usize,
    /// The range whose data follows the output, by its offset and length.
    data: (u64, u32),
    requests: u64,
    lateness: Histogram,
    /// When the last bytes were sent.
    replied_at: Nanos,
    phase: Phase,
}

impl Connection<'_> {
    fn run(&mut self) -> Result<(), ClientError> {
        loop {
            // Bytes are received for a request that is not complete, and not ahead of the requests
            // that have arrived.
            if self.take_requests()? && self.has_room() {
                self.receive()?;
                self.take_requests()?;
            }
            self.answer_due();
            self.flush()?;
            let is_done = self.pending.is_empty() && self.output.is_empty() && self.data.1 == 0;
            if self.phase == Phase::Closed
                || (self.phase == Phase::Disconnecting && is_done)
                || self.shared.is_stopping()
            {
                return Ok(());
            }
            self.check_progress()?;
            self.wait()?;
        }
    }

    fn has_room(&self) -> bool {
        self.output.len() - self.sent < MAX_OUTPUT
    }

    /// Receives what is there, into the room of the buffer.
    fn receive(&mut self) -> Result<(), ClientError> {
        let longest = self.input.request();
        if longest > INPUT && self.reserved.is_none() {
            self.reserved = self.shared.reserve(longest as u64);
            self.received_at = self.shared.now();
        }
        self.is_waiting = longest > INPUT && self.reserved.is_none();
        if self.is_waiting {
            return Ok(());
        }
        if let Some(count) = self.socket.receive(self.input.room(longest.max(INPUT)))? {
            self.input.end += count;
            self.received_at = self.shared.now();
            if count == 0 {
                self.phase = Phase::Closed;
            }
        }
        Ok(())
    }

    /// Refuses a client that keeps the memory of a long request from others, and sends nothing.
    fn check_progress(&self) -> Result<(), ClientError> {
        let silent = self.shared.now().saturating_sub(self.received_at);
        match self.reserved.is_some() && silent > STALLED && self.shared.has_waiting() {
            true => Err(ClientError::Stalled),
            false => Ok(()),
        }
    }

    /// Submits the requests that have arrived in full; returns whether the next one has not.
    fn take_requests(&mut self) -> Result<bool, ClientError> {
        while self.phase == Phase::Open && self.pending.len() < MAX_PENDING {
            let Some(head) = self.input.bytes().first_chunk() else { return Ok(true) };
            let request = RequestHead::unpack(head).ok_or(ClientError::NoRequest(self.requests))?;
            if request.command == command::DISCONNECT {
                self.phase = Phase::Disconnecting;
                return Ok(false);
            }
            let length = match request.command {
                command::WRITE if request.length > MAX_PAYLOAD => {
                    return Err(ClientError::WriteTooLong(request.length));
                }
                command::WRITE => request.length as usize,
                _ => 0,
            };
            let Some(data) = self.input.bytes()[RequestHead::LENGTH..].get(..length) else {
                return Ok(true);
            };
            self.requests += 1;
            self.pending.push(Reverse(self.shared.submit(&request, data, self.chosen)));
            self.input.begin += RequestHead::LENGTH + length;
            self.input.shrink();
            self.reserved = None;
        }
        Ok(false)
    }

    /// Appends the replies whose time has come to the output, as long as it has room.
    fn answer_due(&mut self) {
        while self.has_room() {
            if self.data.1 > 0 {
                self.append_data();
                continue;
            }
            let Some(Reverse(answer)) = self.pending.peek().copied() else { return };
            let now = self.shared.now();
            if answer.due > now {
                return;
            }
            self.lateness.record(now.0 - answer.due.0);
            self.append_head(&answer);
            self.pending.pop();
        }
    }

    /// Appends the reply to a request, apart from the data of a read.
    fn append_head(&mut self, answer: &Answer) {
        let Answer { error, cookie, command: number, offset, length, .. } = *answer;
        let reads = number == command::READ;
        let is_structured = self.chosen.structured && (reads || number == command::BLOCK_STATUS);
        match (is_structured, error) {
            (true, 0) if reads => {
                self.output.extend(pack_part(part::OFFSET_DATA, cookie, 8 + length));
                self.output.extend(offset.to_be_bytes());
            }
            (true, 0) => {
                let extents = self.shared.extents(offset, length, answer.one_extent);
                let bytes = 4 + 8 * extents.len() as u32;
                self.output.extend(pack_part(part::BLOCK_STATUS, cookie, bytes));
                self.output.extend(ALLOCATION_ID.to_be_bytes());
                for (length, state) in extents {
                    self.output.extend(length.to_be_bytes());
                    self.output.extend(state.to_be_bytes());
                }
            }
            (true, error) => {
                // The error, and a message of no bytes.
                self.output.extend(pack_part(part::ERROR, cookie, 6));
                self.output.extend(error.to_be_bytes());
                self.output.extend(0u16.to_be_bytes());
            }
            (false, error) => self.output.extend(pack_reply(error, cookie)),
        }
        if reads && error == 0 {
            self.data = (offset, length);
        }
    }

    /// Appends a piece of the data of the read that is being answered.
    fn append_data(&mut self) {
        let (offset, left) = self.data;
        let length = (left as usize).min(PIECE);
        let at = self.output.len();
        self.output.resize(at + length, 0);
        self.shared.read(offset, &mut self.output[at..]);
        self.data = (offset + length as u64, left - length as u32);
    }

    /// Sends what the client accepts.
    fn flush(&mut self) -> Result<(), ClientError> {
        if self.sent < self.output.len() {
            self.sent += self.socket.send(&self.output[self.sent..])?;
            self.replied_at = self.shared.now();
        }
        // A client that never takes all of it must not make it grow.
        if self.sent == self.output.len() || self.sent >= MAX_OUTPUT {
            self.output.drain(..self.sent);
            self.output.shrink_to(2 * MAX_OUTPUT);
            self.sent = 0;
        }
        Ok(())
    }

    /// Waits for the next completion, for requests, or until the client accepts more replies. The last
    /// [`AWAKE`] before a completion are spent awake; other programs may run meanwhile.
    fn wait(&self) -> Result<(), ClientError> {
        let accepts = self.phase == Phase::Open && self.pending.len() < MAX_PENDING;
        let receives = accepts && self.has_room() && !self.is_waiting;
        let sends = !self.output.is_empty();
        let now = self.shared.now();
        let due = match self.pending.peek() {
            // The reply waits for room in the output, not for its time.
            Some(_) if !self.has_room() => None,
            Some(Reverse(answer)) => Some(answer.due.saturating_sub(now)),
            None => None,
        };
        let timeout = match due {
            Some(Nanos(left)) if left <= AWAKE => Duration::ZERO,
            Some(Nanos(left)) => Duration::from_nanos(left - AWAKE).min(LOOK),
            None if self.is_waiting => BETWEEN_ATTEMPTS,
            None => LOOK,
        };
        let has_just_replied = !sends && now.saturating_sub(self.replied_at) < Nanos(AWAKE);
        if timeout.is_zero() || has_just_replied {
            std::thread::yield_now();
            return Ok(());
        }
        Ok(self.socket.wait(receives, sends, timeout)?)
    }
}

/// Bytes of requests that were received and not taken yet.
struct Input {
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
}

impl Input {
    /// Returns the bytes that were not taken.
    fn bytes(&self) -> &[u8] {
        &self.buffer[self.begin..self.end]
    }

    /// Returns the length of the request that has begun to arrive, in bytes; 0 where it is not known yet.
    fn request(&self) -> usize {
        let head = self.bytes().first_chunk().and_then(RequestHead::unpack);
        match head {
            Some(head) if head.command == command::WRITE && head.length <= MAX_PAYLOAD => {
                RequestHead::LENGTH + head.length as usize
            }
            Some(_) | None => 0,
        }
    }

    /// Returns the memory that a long request has taken.
    fn shrink(&mut self) {
        if self.buffer.len() > INPUT {
            // The buffer grew for the one request, and holds nothing after it.
            self.buffer = vec![0; INPUT];
            (self.begin, self.end) = (0, 0);
        }
    }

    /// Returns room for more bytes: what was taken is dropped, and a buffer full of one request grows
    /// with the bytes that arrive, up to `longest`.
    fn room(&mut self, longest: usize) -> &mut [u8] {
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        }
        if self.end == self.buffer.len() && self.begin > 0 {
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        if self.end == self.buffer.len() {
            let size = (2 * self.buffer.len()).min(longest);
            assert!(size > self.end, "a request of the longest length was taken");
            self.buffer.resize(size, 0);
        }
        &mut self.buffer[self.end..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_grows_with_the_bytes_that_arrive_and_not_with_an_announced_length() {
        let mut input = Input { buffer: vec![0; INPUT], begin: 0, end: 0 };
        let longest = MAX_PAYLOAD as usize + RequestHead::LENGTH;
        let mut sizes = Vec::new();
        while input.end < longest {
            let room = input.room(longest).len();
            assert!(room > 0);
            sizes.push(input.buffer.len());
            input.end += room.min(longest - input.end);
        }
        assert_eq!((sizes[0], sizes[1], sizes.last()), (INPUT, 2 * INPUT, Some(&longest)));
        input.begin = input.end;
        input.shrink();
        assert_eq!(input.room(INPUT).len(), INPUT, "memory is returned behind a long request");
        // A request that was received in part moves to the front, and nothing grows.
        (input.begin, input.end) = (INPUT - 10, INPUT);
        assert_eq!(input.room(INPUT).len(), INPUT - 10);
        assert_eq!(input.bytes().len(), 10);
    }
}
