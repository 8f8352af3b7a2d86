//! Durability of written data: flushes, and blocks that are read back.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// The flushes after a step: commands by which a drive writes its volatile data to its media
/// (NVMe: Flush; ATA: FLUSH CACHE EXT; SCSI: SYNCHRONIZE CACHE).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flush {
    /// The flushes that this program requested from the kernel.
    pub sent: u64,
    /// The time until the last one completed, in nanoseconds.
    pub elapsed: Nanos,
    /// The device that counts flushes, such as `nvme0n1`; `None` where none counts those of the
    /// target alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The flushes that this device completed meanwhile, by the counters of the kernel. The kernel
    /// sends none to a device without a volatile write cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<u64>,
}

/// Blocks that were read back after writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBack {
    /// The blocks that were read.
    pub read: u64,
    /// Those of them that do not hold the data that was written last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostWrite>,
    /// Where the first of them begins that holds data of others, in bytes; not recorded.
    #[serde(skip)]
    pub foreign_at: Option<u64>,
}

/// A block that does not hold the data that was written last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostWrite {
    /// Its start on the target, in bytes.
    pub offset: u64,
    /// The contents found, such as `zeros`.
    pub found: String,
}

/// The verification of everything that a run wrote: each block of 4 KiB, every byte of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// The bytes of the blocks whose data was compared.
    pub bytes: u64,
    /// The number of these blocks.
    pub blocks: u64,
    /// The blocks that were read and not compared: they hold no data of this run, or data that it has
    /// trimmed or overwritten with zeros.
    #[serde(default)]
    pub skipped: u64,
    /// The compared blocks that do not hold what was written.
    pub wrong: u64,
    /// The first of them, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<LostWrite>,
    /// The duration, in nanoseconds.
    pub elapsed: Nanos,
    /// Whether it was stopped before its end.
    #[serde(skip)]
    pub stopped: bool,
}

impl Verified {
    /// The most wrong blocks that are listed. Chosen: enough to see a pattern in their offsets.
    pub const PLACES: usize = 8;

    /// Returns the wrong blocks in words, with the first places; `None` where there are none.
    pub fn describe(&self) -> Option<String> {
        let places: Vec<String> = self.first.iter().map(LostWrite::describe).collect();
        (self.wrong > 0).then(|| {
            format!(
                "{} of {} blocks that were verified do not hold what was written: {}",
                self.wrong,
                self.blocks,
                places.join("; ")
            )
        })
    }
}

impl LostWrite {
    fn describe(&self) -> String {
        format!("the one at byte {} holds {}", self.offset, self.found)
    }
}

impl ReadBack {
    /// The number of blocks that are read back.
    ///
    /// Chosen: a drive that loses one write in twenty passes with a probability of 0.95^64, 4 %; 64
    /// reads take some milliseconds.
    pub const BLOCKS: usize = 64;

    /// Returns the lost writes in words, with the first place; `None` where there are none.
    pub fn describe(&self) -> Option<String> {
        let first = self.lost.first()?;
        let LostWrite { offset, found } = first;
        let (lost, read) = (self.lost.len(), self.read);
        Some(format!(
            "{lost} of {read} blocks that were read back do not hold the data that was written \
             last; the one at byte {offset} holds {found}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_blocks_are_described_by_their_number_and_places() {
        let first = vec![
            LostWrite { offset: 4_096, found: "zeros".into() },
            LostWrite { offset: 8_192, found: "other data".into() },
        ];
        let verified = Verified { blocks: 9, wrong: 2, first, ..Verified::default() };
        let expected = "2 of 9 blocks that were verified do not hold what was written: the one at \
                        byte 4096 holds zeros; the one at byte 8192 holds other data";
        assert_eq!(verified.describe().as_deref(), Some(expected));
        assert_eq!(Verified::default().describe(), None);
    }

    #[test]
    fn lost_writes_are_described_by_their_number_and_the_first_place() {
        let lost = |offset| LostWrite { offset, found: "zeros".into() };
        let read_back =
            ReadBack { read: 64, lost: vec![lost(8_192), lost(4_096)], foreign_at: None };
        let expected = "2 of 64 blocks that were read back do not hold the data that was written \
                        last; the one at byte 8192 holds zeros";
        assert_eq!(read_back.describe().as_deref(), Some(expected));
        assert_eq!(ReadBack { lost: Vec::new(), ..read_back }.describe(), None);
    }
}
