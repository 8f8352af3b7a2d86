//! The handshake: options of a client until it has chosen the export.
//!
//! Nothing that a client sends may allocate more than [`MAX_OPTION`] bytes, or keep the server for
//! longer than [`TIME`].

use crate::protocol::{
    ALLOCATION, ALLOCATION_ID, ALLOCATION_NAMESPACE, EXPORT_FLAGS, EXPORT_SENDS_WHOLE,
    FIXED_NEWSTYLE, INIT, MAX_PAYLOAD, NO_ZEROES, OPTION, OPTION_REPLY, info, option, reply,
};
use crate::socket::Socket;
use std::io;
use std::time::{Duration, Instant};

/// The time that a client has for the handshake.
const TIME: Duration = Duration::from_secs(10);
/// The options that a client may send. qemu, nbdcopy and fio send at most ten.
const MAX_OPTIONS: u32 = 64;
/// The longest accepted option, in bytes: a name of 4,096 bytes, the maximum that the protocol has, and a
/// list of kinds of information.
const MAX_OPTION: u32 = 8_192;

/// What is offered to clients.
#[derive(Clone, Debug)]
pub(crate) struct Export {
    /// Its name; the empty name means it too.
    pub(crate) name: String,
    pub(crate) capacity: u64,
    /// The smallest unit of requests, and the preferred one.
    pub(crate) logical_block: u32,
    pub(crate) physical_block: u32,
}

/// Why a handshake ended without a client that sends requests.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// The client left, by an abort or by closing the connection, as clients do that only ask for
    /// information.
    #[error("the client left before it chose the export")]
    Left,
    /// The connection failed, or the time was over.
    #[error("the connection failed in the handshake: {0}")]
    Connection(#[source] io::Error),
    /// The client set flags that do not exist.
    #[error("the client set the unknown flags {0:#x}: it does not follow the NBD protocol")]
    Flags(u32),
    /// Something else where an option was expected.
    #[error("the client sent {0:#018x} in place of an option: it does not follow the NBD protocol")]
    NoOption(u64),
    /// An option too long to be one.
    #[error(
        "option {option} of the client has {length} bytes, more than the {MAX_OPTION} accepted"
    )]
    TooLong {
        /// The number of the option.
        option: u32,
        /// Its length.
        length: u32,
    },
    /// Too many options.
    #[error("the client sent more than {MAX_OPTIONS} options")]
    TooMany,
    /// An export that does not exist.
    #[error("the client asked for the unknown export {0:?}")]
    UnknownExport(String),
}

impl From<io::Error> for HandshakeError {
    fn from(error: io::Error) -> HandshakeError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe => HandshakeError::Left,
            _ => HandshakeError::Connection(error),
        }
    }
}

/// What a client has chosen besides the export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Reads are answered by structured replies.
    pub(crate) structured: bool,
    /// The client may ask which blocks are allocated.
    pub(crate) allocation: bool,
}

/// Negotiates with the client behind `socket`, up to the first request. `begins` is called when the client has
/// chosen the export and before it is told so; it returns whether the client may go on.
///
/// # Errors
/// A client that left, did not follow the protocol, took too long, or may not go on.
pub(crate) fn negotiate(
    socket: &Socket,
    export: &Export,
    stop: &dyn Fn() -> bool,
    begins: &dyn Fn() -> bool,
) -> Result<Chosen, HandshakeError> {
    let deadline = Instant::now() + TIME;
    let mut client = Client { socket, deadline, stop, begins, chosen: Chosen::default() };
    client.send(&[&INIT.to_be_bytes(), &OPTION.to_be_bytes()])?;
    client.send(&[&(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes()])?;
    let flags = u32::from_be_bytes(client.receive()?);
    if flags & !u32::from(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
        return Err(HandshakeError::Flags(flags));
    }
    let pads = flags & u32::from(NO_ZEROES) == 0;
    for _ in 0..MAX_OPTIONS {
        let mark = u64::from_be_bytes(client.receive()?);
        if mark != OPTION {
            return Err(HandshakeError::NoOption(mark));
        }
        let number = u32::from_be_bytes(client.receive()?);
        let length = u32::from_be_bytes(client.receive()?);
        if length > MAX_OPTION {
            client.reply(number, reply::ERR_TOO_BIG, &[])?;
            return Err(HandshakeError::TooLong { option: number, length });
        }
        let mut data = vec![0; length as usize];
        socket.receive_all(&mut data, client.deadline, stop)?;
        if client.answer(number, &data, export, pads)? {
            return Ok(client.chosen);
        }
    }
    Err(HandshakeError::TooMany)
}

/// The client of a handshake.
struct Client<'a> {
    socket: &'a Socket,
    deadline: Instant,
    stop: &'a dyn Fn() -> bool,
    begins: &'a dyn Fn() -> bool,
    chosen: Chosen,
}

impl Client<'_> {
    fn receive<const N: usize>(&self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.socket.receive_all(&mut bytes, self.deadline, self.stop)?;
        Ok(bytes)
    }

    fn send(&self, parts: &[&[u8]]) -> io::Result<()> {
        self.socket.send_all(&parts.concat(), self.deadline, self.stop)
    }

    /// Takes the client out of its handshake, before it is told: from then on no other client takes its place.
    fn begin(&self) -> Result<(), HandshakeError> {
        if (self.begins)() { Ok(()) } else { Err(HandshakeError::Left) }
    }

    /// Replies to the option `number`.
    fn reply(&self, number: u32, kind: u32, data: &[u8]) -> io::Result<()> {
        self.send(&[
            &OPTION_REPLY.to_be_bytes(),
            &number.to_be_bytes(),
            &kind.to_be_bytes(),
            &(data.len() as u32).to_be_bytes(),
            data,
        ])
    }

    /// Answers an option; returns whether requests follow.
    fn answer(
        &mut self,
        number: u32,
        data: &[u8],
        export: &Export,
        pads: bool,
    ) -> Result<bool, HandshakeError> {
        match number {
            option::EXPORT_NAME => {
                // The protocol has no error here: the connection is closed.
                check_name(data, export)?;
                let padding = [0; 124];
                let flags = self.export_flags().to_be_bytes();
                let padding = if pads { &padding[..] } else { &[] };
                self.begin()?;
                self.send(&[&export.capacity.to_be_bytes(), &flags, padding])?;
                return Ok(true);
            }
            option::ABORT => {
                // The client may have closed the connection already.
                let _ = self.reply(number, reply::ACK, &[]);
                return Err(HandshakeError::Left);
            }
            option::LIST if data.is_empty() => {
                let name = export.name.as_bytes();
                let entry = [&(name.len() as u32).to_be_bytes(), name].concat();
                self.reply(number, reply::SERVER, &entry)?;
                self.reply(number, reply::ACK, &[])?;
            }
            option::LIST => self.reply(number, reply::ERR_INVALID, &[])?,
            option::INFO | option::GO => {
                let Some((name, kinds)) = parse_info(data) else {
                    self.reply(number, reply::ERR_INVALID, b"the lengths do not agree")?;
                    return Ok(false);
                };
                if check_name(name, export).is_err() {
                    self.reply(number, reply::ERR_UNKNOWN, b"the server has one export")?;
                    return Ok(false);
                }
                self.describe(number, export, &kinds)?;
                let is_chosen = number == option::GO;
                if is_chosen {
                    self.begin()?;
                }
                self.reply(number, reply::ACK, &[])?;
                return Ok(is_chosen);
            }
            option::STRUCTURED_REPLY if data.is_empty() => {
                self.chosen.structured = true;
                self.reply(number, reply::ACK, &[])?;
            }
            option::STRUCTURED_REPLY => self.reply(number, reply::ERR_INVALID, &[])?,
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => {
                self.answer_contexts(number, data, export)?;
            }
            _ => self.reply(number, reply::ERR_UNSUP, &[])?,
        }
        Ok(false)
    }

    /// Lists the metadata contexts that a client asks for, or chooses them. A choice replaces an earlier one.
    fn answer_contexts(
        &mut self,
        number: u32,
        data: &[u8],
        export: &Export,
    ) -> Result<(), HandshakeError> {
        let sets = number == option::SET_META_CONTEXT;
        if sets {
            self.chosen.allocation = false;
        }
        let Some((name, queries)) = parse_queries(data) else {
            return Ok(self.reply(number, reply::ERR_INVALID, b"the lengths do not agree")?);
        };
        if sets && !self.chosen.structured {
            let text = b"structured replies were not negotiated";
            return Ok(self.reply(number, reply::ERR_INVALID, text)?);
        }
        if check_name(name, export).is_err() {
            return Ok(self.reply(number, reply::ERR_UNKNOWN, b"the server has one export")?);
        }
        let is_meant = |query: &&[u8]| {
            *query == ALLOCATION.as_bytes() || (!sets && *query == ALLOCATION_NAMESPACE.as_bytes())
        };
        let lists_all = !sets && queries.is_empty();
        if lists_all || queries.iter().any(is_meant) {
            self.chosen.allocation |= sets;
            // The number is reserved in a list.
            let id = if sets { ALLOCATION_ID } else { 0 };
            let context = [&id.to_be_bytes()[..], ALLOCATION.as_bytes()].concat();
            self.reply(number, reply::META_CONTEXT, &context)?;
        }
        Ok(self.reply(number, reply::ACK, &[])?)
    }

    fn export_flags(&self) -> u16 {
        match self.chosen.structured {
            true => EXPORT_FLAGS | EXPORT_SENDS_WHOLE,
            false => EXPORT_FLAGS,
        }
    }

    /// Sends the information about the export that the client asked for, and what is always sent.
    fn describe(&self, number: u32, export: &Export, kinds: &[u16]) -> io::Result<()> {
        let send = |kind: u16, data: &[u8]| {
            self.reply(number, reply::INFO, &[&kind.to_be_bytes(), data].concat())
        };
        let capacity = export.capacity.to_be_bytes();
        send(info::EXPORT, &[&capacity[..], &self.export_flags().to_be_bytes()].concat())?;
        let sizes = [export.logical_block, export.physical_block, MAX_PAYLOAD];
        send(info::BLOCK_SIZE, &sizes.map(u32::to_be_bytes).concat())?;
        for (kind, text) in
            [(info::NAME, export.name.as_str()), (info::DESCRIPTION, "virtual drive of ssdgauge")]
        {
            if kinds.contains(&kind) {
                send(kind, text.as_bytes())?;
            }
        }
        Ok(())
    }
}

/// Checks that `name` is that of the export, or empty.
fn check_name(name: &[u8], export: &Export) -> Result<(), HandshakeError> {
    match name.is_empty() || name == export.name.as_bytes() {
        true => Ok(()),
        false => {
            let text = String::from_utf8_lossy(name).chars().take(80).collect();
            Err(HandshakeError::UnknownExport(text))
        }
    }
}

/// Returns the name and the kinds of information of the options INFO and GO; `None` where the lengths
/// in it do not agree.
fn parse_info(data: &[u8]) -> Option<(&[u8], Vec<u16>)> {
    let (name, rest) = parse_text(data)?;
    let (count, rest) = rest.split_first_chunk::<2>()?;
    let (kinds, others) = rest.as_chunks::<2>();
    let agrees = others.is_empty() && kinds.len() == usize::from(u16::from_be_bytes(*count));
    agrees.then(|| (name, kinds.iter().map(|kind| u16::from_be_bytes(*kind)).collect()))
}

/// Returns the name of the export and the queries of an option about metadata contexts; `None` where the lengths in
/// it do not agree.
fn parse_queries(data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let (name, rest) = parse_text(data)?;
    let (count, mut rest) = rest.split_first_chunk::<4>()?;
    let mut queries = Vec::new();
    for _ in 0..u32::from_be_bytes(*count) {
        // Each takes four bytes at least, so that the length of the option limits their number.
        let (query, others) = parse_text(rest)?;
        queries.push(query);
        rest = others;
    }
    rest.is_empty().then_some((name, queries))
}

/// Returns a text after its length, and what follows it.
fn parse_text(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_be_bytes(*length) as usize)
}
