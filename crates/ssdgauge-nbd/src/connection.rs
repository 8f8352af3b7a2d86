//! One client: requests in, replies at the virtual time of their completion.
//!
//! A single thread receives, waits and sends, so that no reply waits for another thread. It must
//! never hold more than one request, [`MAX_OUTPUT`] bytes of replies and the data of one more reply.

use crate::handshake::{Export, negotiate};
use crate::protocol::{MAX_PAYLOAD, RequestHead, command, pack_reply};
use crate::shared::{Answer, ClientError, Shared};
use crate::socket::{LOOK, Socket};
use ssdgauge_core::{Histogram, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// Requests of a client that wait for their completion; further ones stay in the socket. Chosen: more
/// than any program keeps in flight on one connection.
const MAX_PENDING: usize = 4_096;
/// Bytes of replies that wait for the client, in addition to the data of one reply.
const MAX_OUTPUT: usize = 1 << 20;
/// The first size of the buffer for requests, in bytes.
const INPUT: usize = 256 << 10;
/// The time before a completion, and behind a reply, in which the thread does not sleep, in
/// nanoseconds: a wake-up can take as long, and a program with one request in flight sends the next one
/// within it.
const AWAKE: u64 = 60_000;

/// Serves the client behind `socket`, until it disconnects or the server ends.
///
/// # Errors
/// A client that does not follow the protocol, and a connection that failed.
pub(crate) fn serve(socket: Socket, export: &Export, shared: &Shared) -> Result<(), ClientError> {
    negotiate(&socket, export, &|| shared.is_stopping())?;
    shared.count_client();
    let mut connection = Connection {
        socket,
        shared,
        input: Input { buffer: vec![0; INPUT], begin: 0, end: 0 },
        pending: BinaryHeap::new(),
        output: Vec::new(),
        sent: 0,
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
    socket: Socket,
    shared: &'a Shared,
    input: Input,
    /// Answers by their time, the earliest on top.
    pending: BinaryHeap<Reverse<Answer>>,
    /// Replies of which `sent` bytes were sent.
    output: Vec<u8>,
    sent: usize,
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
            let is_done = self.pending.is_empty() && self.output.is_empty();
            if self.phase == Phase::Closed
                || (self.phase == Phase::Disconnecting && is_done)
                || self.shared.is_stopping()
            {
                return Ok(());
            }
            self.wait()?;
        }
    }

    fn has_room(&self) -> bool {
        self.output.len() - self.sent < MAX_OUTPUT
    }

    /// Receives what is there, into the room of the buffer.
    fn receive(&mut self) -> Result<(), ClientError> {
        if let Some(count) = self.socket.receive(self.input.room())? {
            self.input.end += count;
            if count == 0 {
                self.phase = Phase::Closed;
            }
        }
        Ok(())
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
            self.pending.push(Reverse(self.shared.submit(&request, data)));
            self.input.begin += RequestHead::LENGTH + length;
        }
        Ok(false)
    }

    /// Appends the replies whose time has come to the output, as long as it has room.
    fn answer_due(&mut self) {
        while let Some(Reverse(answer)) = self.pending.peek() {
            let now = self.shared.now();
            if answer.due > now || !self.has_room() {
                return;
            }
            self.lateness.record(now.0 - answer.due.0);
            self.output.extend(pack_reply(answer.error, answer.cookie));
            let data = self.output.len();
            self.output.resize(data + answer.length as usize, 0);
            self.shared.read(answer.offset, &mut self.output[data..]);
            self.pending.pop();
        }
    }

    /// Sends what the client accepts.
    fn flush(&mut self) -> Result<(), ClientError> {
        if self.sent < self.output.len() {
            self.sent += self.socket.send(&self.output[self.sent..])?;
            self.replied_at = self.shared.now();
        }
        if self.sent == self.output.len() {
            self.output.clear();
            self.output.shrink_to(MAX_OUTPUT);
            self.sent = 0;
        }
        Ok(())
    }

    /// Waits for the next completion, for requests, or until the client accepts more replies. The last
    /// [`AWAKE`] before a completion are spent awake; other programs may run meanwhile.
    fn wait(&self) -> Result<(), ClientError> {
        let accepts = self.phase == Phase::Open && self.pending.len() < MAX_PENDING;
        let receives = accepts && self.has_room();
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

    /// Returns room for more bytes: what was taken is dropped, and a buffer full of one request grows
    /// with the bytes that arrive, up to the longest one.
    fn room(&mut self) -> &mut [u8] {
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
            if self.buffer.len() > INPUT {
                self.buffer = vec![0; INPUT];
            }
        }
        if self.end == self.buffer.len() && self.begin > 0 {
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        if self.end == self.buffer.len() {
            let longest = MAX_PAYLOAD as usize + RequestHead::LENGTH;
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
            let room = input.room().len();
            assert!(room > 0);
            sizes.push(input.buffer.len());
            input.end += room.min(longest - input.end);
        }
        assert_eq!((sizes[0], sizes[1], sizes.last()), (INPUT, 2 * INPUT, Some(&longest)));
        input.begin = input.end;
        assert_eq!(input.room().len(), INPUT, "memory is returned behind a long request");
        // A request that was received in part moves to the front, and nothing grows.
        (input.begin, input.end) = (INPUT - 10, INPUT);
        assert_eq!(input.room().len(), INPUT - 10);
        assert_eq!(input.bytes().len(), 10);
    }
}
