//! The numbers of the NBD protocol (github.com/NetworkBlockDevice/nbd, doc/proto.md): fixed newstyle
//! handshake, simple and structured replies, the metadata context base:allocation. All integers are big-endian.

/// The first eight bytes of the server.
pub(crate) const INIT: u64 = u64::from_be_bytes(*b"NBDMAGIC");
/// The mark of a newstyle server, and of each option of the client.
pub(crate) const OPTION: u64 = u64::from_be_bytes(*b"IHAVEOPT");
/// The mark of a reply to an option.
pub(crate) const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
/// The mark of a request.
pub(crate) const REQUEST: u32 = 0x2560_9513;
/// The mark of a simple reply.
pub(crate) const REPLY: u32 = 0x6744_6698;
/// The mark of a part of a structured reply.
pub(crate) const STRUCTURED_REPLY: u32 = 0x668e_33ef;

/// Flags of the handshake: fixed newstyle, and no padding after `EXPORT_NAME`.
pub(crate) const FIXED_NEWSTYLE: u16 = 1;
pub(crate) const NO_ZEROES: u16 = 2;

/// The options of a client.
pub(crate) mod option {
    pub(crate) const EXPORT_NAME: u32 = 1;
    pub(crate) const ABORT: u32 = 2;
    pub(crate) const LIST: u32 = 3;
    pub(crate) const INFO: u32 = 6;
    pub(crate) const GO: u32 = 7;
    pub(crate) const STRUCTURED_REPLY: u32 = 8;
    pub(crate) const LIST_META_CONTEXT: u32 = 9;
    pub(crate) const SET_META_CONTEXT: u32 = 10;
}

/// The replies to an option.
pub(crate) mod reply {
    pub(crate) const ACK: u32 = 1;
    pub(crate) const SERVER: u32 = 2;
    pub(crate) const INFO: u32 = 3;
    pub(crate) const META_CONTEXT: u32 = 4;
    pub(crate) const ERR_UNSUP: u32 = 1 << 31 | 1;
    pub(crate) const ERR_INVALID: u32 = 1 << 31 | 3;
    pub(crate) const ERR_UNKNOWN: u32 = 1 << 31 | 6;
    pub(crate) const ERR_TOO_BIG: u32 = 1 << 31 | 9;
}

/// The kinds of information about an export.
pub(crate) mod info {
    pub(crate) const EXPORT: u16 = 0;
    pub(crate) const NAME: u16 = 1;
    pub(crate) const DESCRIPTION: u16 = 2;
    pub(crate) const BLOCK_SIZE: u16 = 3;
}

/// The flags of an export: flush, forced unit access, trim and write-zeroes; several connections see
/// one drive.
pub(crate) const EXPORT_FLAGS: u16 = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 8;

/// The flag of an export whose reads are answered in one part: set where structured replies were negotiated.
pub(crate) const EXPORT_SENDS_WHOLE: u16 = 1 << 7;

/// Flags of a request: forced unit access; write-zeroes must not deallocate; a read is answered in one part; the
/// block status of one extent only.
pub(crate) const FLAG_FUA: u16 = 1;
pub(crate) const FLAG_NO_HOLE: u16 = 2;
pub(crate) const FLAG_WHOLE: u16 = 4;
pub(crate) const FLAG_ONE_EXTENT: u16 = 8;

/// The metadata context that is offered: which ranges are allocated, and which are zeros.
pub(crate) const ALLOCATION: &str = "base:allocation";
/// Its namespace, which a client can ask to list.
pub(crate) const ALLOCATION_NAMESPACE: &str = "base:";
/// The number of that context, chosen by the server.
pub(crate) const ALLOCATION_ID: u32 = 1;

/// The states of an extent in that context: not allocated; reads as zeros.
pub(crate) const STATE_HOLE: u32 = 1;
pub(crate) const STATE_ZERO: u32 = 2;

/// The kinds of parts of a structured reply.
pub(crate) mod part {
    pub(crate) const OFFSET_DATA: u16 = 1;
    pub(crate) const BLOCK_STATUS: u16 = 5;
    pub(crate) const ERROR: u16 = 1 << 15 | 1;
}

/// The types of requests.
pub(crate) mod command {
    pub(crate) const READ: u16 = 0;
    pub(crate) const WRITE: u16 = 1;
    pub(crate) const DISCONNECT: u16 = 2;
    pub(crate) const FLUSH: u16 = 3;
    pub(crate) const TRIM: u16 = 4;
    pub(crate) const WRITE_ZEROES: u16 = 6;
    pub(crate) const BLOCK_STATUS: u16 = 7;
}

/// The errors of a reply.
pub(crate) mod error {
    pub(crate) const IO: u32 = 5;
    pub(crate) const INVALID: u32 = 22;
    pub(crate) const NO_SPACE: u32 = 28;
}

/// The maximum number of bytes that one read or write transfers: what a client may assume that does not ask.
pub const MAX_PAYLOAD: u32 = 32 << 20;

/// A request without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestHead {
    pub(crate) flags: u16,
    pub(crate) command: u16,
    /// Chosen by the client, returned with the reply.
    pub(crate) cookie: u64,
    pub(crate) offset: u64,
    pub(crate) length: u32,
}

impl RequestHead {
    /// The bytes of a request without its data.
    pub(crate) const LENGTH: usize = 28;

    /// Reads a request; `None` where it does not begin with the mark of a request.
    pub(crate) fn unpack(bytes: &[u8; RequestHead::LENGTH]) -> Option<RequestHead> {
        let word = |at: usize| u32::from_be_bytes(std::array::from_fn(|index| bytes[at + index]));
        let long = |at: usize| u64::from_be_bytes(std::array::from_fn(|index| bytes[at + index]));
        (word(0) == REQUEST).then(|| RequestHead {
            flags: (word(4) >> 16) as u16,
            command: word(4) as u16,
            cookie: long(8),
            offset: long(16),
            length: word(24),
        })
    }
}

/// Returns a reply without data.
pub(crate) fn pack_reply(error: u32, cookie: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&REPLY.to_be_bytes());
    bytes[4..8].copy_from_slice(&error.to_be_bytes());
    bytes[8..].copy_from_slice(&cookie.to_be_bytes());
    bytes
}

/// Returns the head of a structured reply of one part of `kind`, which `length` bytes follow.
pub(crate) fn pack_part(kind: u16, cookie: u64, length: u32) -> [u8; 20] {
    /// The flag of the last part of a reply.
    const DONE: u16 = 1;
    let mut bytes = [0; 20];
    bytes[..4].copy_from_slice(&STRUCTURED_REPLY.to_be_bytes());
    bytes[4..6].copy_from_slice(&DONE.to_be_bytes());
    bytes[6..8].copy_from_slice(&kind.to_be_bytes());
    bytes[8..16].copy_from_slice(&cookie.to_be_bytes());
    bytes[16..].copy_from_slice(&length.to_be_bytes());
    bytes
}
