//! A whole NVMe namespace to which commands are sent directly, and the commands of its requests.
//!
//! The kernel neither splits, merges, retries nor counts these commands. It does not check their
//! addresses either: [`Namespace::command`] does.

use ssdgauge_core::{Bytes, Direction, Operation, Request, Stream};
use std::fs::File;
use std::sync::Arc;

/// A namespace, opened by the caller as the character device of the kernel for its commands.
#[derive(Clone, Debug)]
pub struct Namespace {
    /// The character device (`/dev/ng0n1`).
    pub file: Arc<File>,
    /// The namespace identifier (NSID).
    pub id: u32,
    /// The capacity in bytes; no command reaches beyond it.
    pub capacity: Bytes,
    /// The limits of its commands.
    pub limits: CommandLimits,
}

/// The requests that fit into one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandLimits {
    /// The size of a logical block.
    pub logical_block: Bytes,
    /// The length of the longest read or write.
    pub longest: Bytes,
    /// The length of the longest trim; 0 where the namespace has none.
    pub longest_trim: Bytes,
}

impl CommandLimits {
    /// Returns whether each request of `stream` is one command.
    pub fn contain(self, stream: &Stream) -> bool {
        let longest = match stream.operation {
            Operation::Flush => return true,
            Operation::Transfer => self.longest,
            Operation::Trim => self.longest_trim,
        };
        let is_whole = |bytes: Bytes| bytes.0.is_multiple_of(self.logical_block.0.max(1));
        stream.block_size <= longest && is_whole(stream.smallest_size())
    }
}

/// The length of the data of a trim, which names one range.
pub(crate) const RANGE_LENGTH: usize = 16;

/// The commands of the NVM command set (NVM Command Set Specification 1.0, section 3.2).
const FLUSH: u8 = 0x00;
const WRITE: u8 = 0x01;
const READ: u8 = 0x02;
const DATASET_MANAGEMENT: u8 = 0x09;
/// The bit of dword 12 with which a write reaches the medium before it completes (FUA).
const FORCE_UNIT_ACCESS: u32 = 1 << 30;
/// The bit of dword 11 of Dataset Management that deallocates the ranges.
const DEALLOCATE: u32 = 1 << 2;
/// The largest number of blocks of a read or write: the field has 16 bits and counts from 0.
const MOST_BLOCKS: u64 = 1 << 16;

/// The part of a submission entry for the command: `struct nvme_uring_cmd` of linux/nvme_ioctl.h.
pub(crate) type CommandBytes = [u8; 80];

impl Namespace {
    /// Returns the command of `request`, whose data is at `address`; the data of a trim are the words
    /// of [`Namespace::range`]. `None` where the request does not lie within the capacity in whole
    /// logical blocks.
    pub(crate) fn command(
        &self,
        request: Request,
        is_durable: bool,
        address: *mut u8,
    ) -> Option<CommandBytes> {
        let (opcode, length, words) = match request.direction {
            Direction::Flush => (FLUSH, 0, [0; 3]),
            Direction::Trim => {
                self.range(request)?;
                (DATASET_MANAGEMENT, RANGE_LENGTH as u32, [0, DEALLOCATE, 0])
            }
            Direction::Read | Direction::Write => {
                let (first, blocks) = self.blocks(request).filter(|two| two.1 <= MOST_BLOCKS)?;
                let is_write = request.direction == Direction::Write;
                let durable = if is_write && is_durable { FORCE_UNIT_ACCESS } else { 0 };
                let words = [first as u32, (first >> 32) as u32, (blocks - 1) as u32 | durable];
                (if is_write { WRITE } else { READ }, request.length, words)
            }
        };
        let mut bytes = [0; 80];
        // The offsets of opcode, nsid, addr, data_len, and cdw10 to cdw12.
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &[opcode]);
        put(4, &self.id.to_ne_bytes());
        if length > 0 {
            put(24, &(address as u64).to_ne_bytes());
            put(36, &length.to_ne_bytes());
        }
        for (number, word) in words.into_iter().enumerate() {
            put(40 + 4 * number, &word.to_ne_bytes());
        }
        Some(bytes)
    }

    /// Returns the range of a trim as two words: attributes and number of blocks, first block. `None`
    /// as for the command.
    pub(crate) fn range(&self, request: Request) -> Option<[u64; 2]> {
        let (first, blocks) = self.blocks(request)?;
        let blocks = u32::try_from(blocks).ok()?;
        Some([u64::from(blocks) << 32, first])
    }

    /// Returns the first logical block and the number of blocks of `request`.
    fn blocks(&self, request: Request) -> Option<(u64, u64)> {
        let (block, length) = (self.limits.logical_block.0, u64::from(request.length));
        let end = request.offset.checked_add(length)?;
        let is_whole = block > 0
            && length > 0
            && request.offset.is_multiple_of(block)
            && length.is_multiple_of(block);
        (is_whole && end <= self.capacity.0).then(|| (request.offset / block, length / block))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

    use super::*;

    const LIMITS: CommandLimits = CommandLimits {
        logical_block: Bytes(4_096),
        longest: Bytes(128 << 10),
        longest_trim: Bytes(1 << 30),
    };

    fn namespace(capacity: u64) -> Namespace {
        let file = Arc::new(tempfile::tempfile().unwrap());
        Namespace { file, id: 3, capacity: Bytes(capacity), limits: LIMITS }
    }

    fn request(direction: Direction, offset: u64, length: u32) -> Request {
        Request { direction, offset, length }
    }

    /// The dword at `at` of a command.
    fn word(bytes: &CommandBytes, at: usize) -> u32 {
        u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    #[test]
    fn a_request_becomes_the_command_of_the_specification() {
        let (namespace, address) = (namespace(1 << 50), std::ptr::without_provenance_mut(0x7000));
        let at = (5 << 32) * 4_096 + 7 * 4_096;
        for (direction, durable, expected) in [
            (Direction::Read, true, (2, 16_384, [7, 5, 3])),
            (Direction::Write, false, (1, 16_384, [7, 5, 3])),
            (Direction::Write, true, (1, 16_384, [7, 5, 3 | 1 << 30])),
            (Direction::Trim, false, (9, 16, [0, 4, 0])),
            (Direction::Flush, false, (0, 0, [0, 0, 0])),
        ] {
            let command =
                namespace.command(request(direction, at, 16_384), durable, address).unwrap();
            let words = [40, 44, 48].map(|at| word(&command, at));
            assert_eq!((command[0], word(&command, 36), words), expected, "{direction:?}");
            assert_eq!(word(&command, 4), 3);
            assert_eq!(word(&command, 24), if expected.1 > 0 { 0x7000 } else { 0 });
        }
        let range = namespace.range(request(Direction::Trim, at, 16_384)).unwrap();
        assert_eq!(range, [4 << 32, 5 << 32 | 7]);
    }

    #[test]
    fn no_command_leaves_the_namespace_or_divides_a_block() {
        let namespace = namespace(1 << 20);
        let end = 1 << 20;
        for direction in [Direction::Read, Direction::Write, Direction::Trim] {
            let is_made = |offset, length| {
                let address = std::ptr::without_provenance_mut(0x7000);
                namespace.command(request(direction, offset, length), false, address).is_some()
            };
            assert!(is_made(end - 4_096, 4_096) && is_made(0, 1 << 20), "{direction:?}");
            for (offset, length) in [
                (end, 4_096),
                (end - 4_096, 8_192),
                (u64::MAX - 4_095, 4_096),
                (512, 4_096),
                (0, 512),
                (0, 0),
            ] {
                assert!(!is_made(offset, length), "{direction:?} of {length} at {offset}");
            }
        }
    }

    #[test]
    fn streams_whose_requests_do_not_fit_into_one_command_are_not_contained() {
        let stream =
            |block, operation| Stream { block_size: Bytes(block), operation, ..Stream::default() };
        for (block, operation, expected) in [
            (4_096, Operation::Transfer, true),
            (128 << 10, Operation::Transfer, true),
            (256 << 10, Operation::Transfer, false),
            (512, Operation::Transfer, false),
            (256 << 10, Operation::Trim, true),
            (2 << 30, Operation::Trim, false),
            (2 << 30, Operation::Flush, true),
        ] {
            assert_eq!(
                LIMITS.contain(&stream(block, operation)),
                expected,
                "{block} {operation:?}"
            );
        }
    }
}
