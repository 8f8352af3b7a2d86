//! The binary request log: 16 bytes per request, in frames.
//!
//! A file begins with the eight bytes of its [`Version`]. Frames follow, each a header ([`Frame`],
//! [`Frame::LENGTH`] bytes) and its payload: the workload, or the records of one thread in the order
//! of completion. All numbers are little endian. This module only packs and unpacks.

use crate::sample::Direction;
use crate::workload::request::Request;

/// A version of the format. This program writes [`Version::Two`] and reads both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// The workload is a text; all requests of a frame have the length in its header.
    One,
    /// The workload is JSON; a record has room for a flush, a trim, and one of several lengths.
    Two,
}

impl Version {
    /// Returns the first bytes of a log; the last of them is the version.
    pub fn magic(self) -> [u8; 8] {
        match self {
            Version::One => *b"SSDGIOS1",
            Version::Two => *b"SSDGIOS2",
        }
    }

    /// Returns the version of a log that begins with `magic`; `None` where it is not a log, or one of a
    /// newer version.
    pub fn from_magic(magic: [u8; 8]) -> Option<Version> {
        [Version::One, Version::Two].into_iter().find(|version| version.magic() == magic)
    }
}

/// The length of a record, in bytes.
pub const RECORD: usize = 16;

/// The unit of the offset of a record, in bytes.
const SECTOR: u64 = 512;
/// The largest latency of a record, in nanoseconds: 18 minutes. Larger ones are stored as this one.
pub const LONGEST: u64 = (1 << 40) - 1;
/// The largest time from the base of a frame to the completion of a record, in nanoseconds.
pub const MAX_APART: u64 = u32::MAX as u64;

/// The content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// The workload that begins, as UTF-8: JSON, in version 1 a text.
    Load,
    /// Records of one thread.
    Records,
    /// None: the workload has ended. `lost` is the sum over its threads.
    End,
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The content.
    pub kind: FrameKind,
    /// The number of the workload in its run, from 1.
    pub load: u32,
    /// The index of the stream in its workload, from 0.
    pub stream: u16,
    /// The index of the thread in its workload, from 0.
    pub thread: u16,
    /// The length of each request whose record states no other, in bytes.
    pub block_size: u32,
    /// The base of the times of the records, in nanoseconds since the start of the workload.
    pub base: u64,
    /// The records of this workload and thread that were lost so far.
    pub lost: u64,
    /// The number of records, or the bytes of the description.
    pub count: u32,
}

impl Frame {
    /// The length of a header, in bytes.
    pub const LENGTH: usize = 40;

    /// Returns the header as bytes.
    pub fn pack(&self) -> [u8; Frame::LENGTH] {
        let kind: u32 = match self.kind {
            FrameKind::Load => 1,
            FrameKind::Records => 2,
            FrameKind::End => 3,
        };
        let mut bytes = [0; Frame::LENGTH];
        bytes[0..4].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.load.to_le_bytes());
        bytes[8..10].copy_from_slice(&self.stream.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.thread.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.block_size.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.base.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.lost.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.count.to_le_bytes());
        bytes
    }

    /// Returns the header in `bytes`; `None` where this version of the format does not write them.
    pub fn unpack(bytes: &[u8; Frame::LENGTH]) -> Option<Frame> {
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let kind = match word(0) {
            1 => FrameKind::Load,
            2 => FrameKind::Records,
            3 => FrameKind::End,
            _ => return None,
        };
        // The last four bytes are reserved and zero.
        (word(36) == 0).then(|| Frame {
            kind,
            load: word(4),
            stream: half(8),
            thread: half(10),
            block_size: word(12),
            base: long(16),
            lost: long(24),
            count: word(32),
        })
    }

    /// Returns the length of the payload, in bytes.
    pub fn payload(&self) -> u64 {
        match self.kind {
            FrameKind::Load => u64::from(self.count),
            FrameKind::Records => u64::from(self.count) * RECORD as u64,
            FrameKind::End => 0,
        }
    }
}

/// One request that completed in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The time from the base of its frame to its completion, in nanoseconds, at most
    /// [`MAX_APART`].
    pub after: u32,
    /// Its latency as in the histograms, in nanoseconds.
    pub latency: u64,
    /// Its direction and offset.
    pub request: Request,
}

impl Record {
    /// Returns the record as two words of version 2. First word: the time in the low half, the low 32
    /// bits of the latency in the high half. Second word: the high byte of the latency, two bits for
    /// the direction (0 read, 1 write, 2 flush, 3 trim), nine bits for the number of the
    /// length, 45 bits for the offset in sectors of 512 bytes, which reach 16 PiB.
    ///
    /// `sizes` are the lengths that the workload lists for the stream, where it has several: the first
    /// of them has the number 1. The number 0 is the length of the frame.
    #[inline]
    pub fn pack(&self, sizes: &[u32]) -> [u64; 2] {
        let latency = self.latency.min(LONGEST);
        let sector = self.request.offset / SECTOR;
        debug_assert!(sector < 1 << 45, "offset {} has no place in a record", self.request.offset);
        let direction = self.request.direction as u64;
        let listed = sizes.iter().position(|size| *size == self.request.length);
        let number = listed.map_or(0, |place| place as u64 + 1);
        let high = latency >> 32 | direction << 8 | number << 10 | sector << 19;
        [u64::from(self.after) | latency << 32, high]
    }

    /// Returns the record in two words, of a frame whose requests have `block_size` bytes where they
    /// have none of the listed `sizes`; `None` where its length is not listed.
    pub fn unpack(
        [low, high]: [u64; 2],
        version: Version,
        (block_size, sizes): (u32, &[u32]),
    ) -> Option<Record> {
        let (direction, number, sector) = match version {
            Version::One => (high >> 8 & 1, 0, high >> 9),
            Version::Two => (high >> 8 & 3, high >> 10 & 0x1ff, high >> 19),
        };
        let direction = match direction {
            0 => Direction::Read,
            1 => Direction::Write,
            2 => Direction::Flush,
            _ => Direction::Trim,
        };
        let length = match (direction.addresses(), number) {
            (false, 0) => 0,
            (false, _) => return None,
            (true, 0) => block_size,
            (true, number) => *sizes.get(number as usize - 1)?,
        };
        Some(Record {
            after: low as u32,
            latency: low >> 32 | (high & 0xff) << 32,
            request: Request { direction, length, offset: sector * SECTOR },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_records_and_frames_unpack_to_the_same() {
        for latency in [0, 1, 999, u64::from(u32::MAX), 1 << 33, LONGEST] {
            for (direction, length, offset) in [
                (Direction::Read, 4_096, 0),
                (Direction::Read, 512, 0),
                (Direction::Write, 65_536, 1 << 53),
                (Direction::Flush, 0, 0),
                (Direction::Trim, 4_096, 1 << 40),
            ] {
                let request = Request { direction, length, offset };
                let record = Record { after: 77, latency, request };
                let lengths = (4_096, [65_536, 512].as_slice());
                let words = record.pack(lengths.1);
                assert_eq!(Record::unpack(words, Version::Two, lengths), Some(record));
                let is_listed = lengths.1.contains(&length);
                assert_eq!(Record::unpack(words, Version::Two, (4_096, &[])).is_none(), is_listed);
            }
        }
        let request = Request { direction: Direction::Write, length: 4_096, offset: 512 };
        let longer = Record { after: u32::MAX, latency: u64::MAX, request };
        let unpacked = Record::unpack(longer.pack(&[]), Version::Two, (4_096, &[]));
        assert_eq!(unpacked, Some(Record { latency: LONGEST, ..longer }));
        for kind in [FrameKind::Load, FrameKind::Records, FrameKind::End] {
            let frame = Frame {
                kind,
                load: 3,
                stream: 2,
                thread: 31,
                block_size: 4_096,
                base: u64::MAX,
                lost: 5,
                count: 9,
            };
            assert_eq!(Frame::unpack(&frame.pack()), Some(frame));
        }
    }

    #[test]
    fn records_of_version_1_are_read_and_unknown_ones_are_not() {
        let write_at_512 = [7 | 1_000 << 32, 1 << 8 | 1 << 9];
        let request = Request { direction: Direction::Write, length: 4_096, offset: 512 };
        let record = Record { after: 7, latency: 1_000, request };
        assert_eq!(Record::unpack(write_at_512, Version::One, (4_096, &[])), Some(record));
        for reserved in [1 << 10, 1 << 18] {
            assert_eq!(Record::unpack([0, reserved], Version::Two, (4_096, &[])), None);
        }
        for version in [Version::One, Version::Two] {
            assert_eq!(Version::from_magic(version.magic()), Some(version));
        }
        assert_eq!(Version::from_magic(*b"SSDGIOS3"), None);
        assert_eq!(Frame::unpack(&[0xff; Frame::LENGTH]), None);
        assert_eq!(Frame::unpack(&[0; Frame::LENGTH]), None);
    }
}
