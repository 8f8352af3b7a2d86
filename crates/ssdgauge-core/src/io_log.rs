//! The binary log of single requests: sixteen bytes each, in frames.
//!
//! A file begins with [`MAGIC`]. Frames follow, each a [`Frame`] of [`Frame::LENGTH`] bytes and
//! its payload: the words that describe a load, or the records of one thread in the order of their
//! completion. All numbers are little endian. This module only packs and unpacks.

use crate::request::Request;
use crate::sample::Direction;

/// The first bytes of a log; the last of them is the version.
pub const MAGIC: [u8; 8] = *b"SSDGIOS1";

/// The bytes of a record.
pub const RECORD: usize = 16;

/// The unit in which a record counts its place, in bytes.
const SECTOR: u64 = 512;
/// The longest latency that a record holds, in nanoseconds: 18 minutes. Longer ones are cut.
pub const LONGEST: u64 = (1 << 40) - 1;
/// The longest time from the base of a frame to the completion of a record, in nanoseconds.
pub const MOST_APART: u64 = u32::MAX as u64;

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// The words that describe the load that begins, as UTF-8.
    Load,
    /// Records of one thread.
    Records,
    /// Nothing: the load has ended. `lost` is the sum over its threads.
    End,
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What follows.
    pub kind: FrameKind,
    /// The number of the load in its run, from 1.
    pub load: u32,
    /// The stream in its load, from 0.
    pub stream: u16,
    /// The thread in its load, from 0.
    pub thread: u16,
    /// The length of each request, in bytes.
    pub block_size: u32,
    /// Where the times of the records count from: nanoseconds since the start of the load.
    pub base: u64,
    /// Records that could not be kept up to here, in this load and thread.
    pub lost: u64,
    /// Records that follow, or bytes of text.
    pub count: u32,
}

impl Frame {
    /// The bytes of a frame's head.
    pub const LENGTH: usize = 40;

    /// Returns the head as bytes.
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

    /// Returns the head that `bytes` hold; `None` where no version of this format writes them.
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

    /// Returns how many bytes follow the head.
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
    /// From the base of its frame to its completion, in nanoseconds, at most [`MOST_APART`].
    pub after: u32,
    /// Its latency as in the histograms, in nanoseconds.
    pub latency: u64,
    /// Which way it went, and where it began.
    pub request: Request,
}

impl Record {
    /// Returns the record as two words: the time below the low half of the latency; the high
    /// byte of the latency, a bit for the direction and the place in sectors of 512 bytes.
    #[inline]
    pub fn pack(&self) -> [u64; 2] {
        let latency = self.latency.min(LONGEST);
        let sector = self.request.offset / SECTOR;
        let direction = self.request.direction as u64;
        [u64::from(self.after) | latency << 32, latency >> 32 | direction << 8 | sector << 9]
    }

    /// Returns the record that two words hold.
    pub fn unpack([low, high]: [u64; 2]) -> Record {
        let direction = if high & 1 << 8 == 0 { Direction::Read } else { Direction::Write };
        Record {
            after: low as u32,
            latency: low >> 32 | (high & 0xff) << 32,
            request: Request { direction, offset: (high >> 9) * SECTOR },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_and_frames_come_back_as_they_went() {
        for latency in [0, 1, 999, u64::from(u32::MAX), 1 << 33, LONGEST] {
            for (direction, offset) in [(Direction::Read, 0), (Direction::Write, 1 << 62)] {
                let request = Request { direction, offset };
                let record = Record { after: 77, latency, request };
                assert_eq!(Record::unpack(record.pack()), record);
            }
        }
        let request = Request { direction: Direction::Write, offset: 512 };
        let longer = Record { after: u32::MAX, latency: u64::MAX, request };
        assert_eq!(Record::unpack(longer.pack()), Record { latency: LONGEST, ..longer });
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
        assert_eq!(Frame::unpack(&[0xff; Frame::LENGTH]), None);
        assert_eq!(Frame::unpack(&[0; Frame::LENGTH]), None);
    }
}
